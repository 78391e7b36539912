/** Resource usage of simulated containers: from their annotations, or that of an idle process. */

import type { ContainerStats, CpuUsage, MemoryUsage, PodSandboxStats } from '../messages.ts';
import { instantOfNanoseconds } from '../nanoseconds.ts';
import type { SimulatedContainer } from './container.ts';
import { imageMountpoint } from './image-service.ts';
import type { SimulatedSandbox } from './sandbox.ts';
import { sandboxMessage } from './sandbox.ts';

const idleCores = 0.001;
const idleBytes = 4 * 1024 * 1024;
const sandboxBytes = 512 * 1024;

export function containerStats(container: SimulatedContainer, timestamp: bigint): ContainerStats {
  const { id, config } = container;
  return {
    attributes: {
      id,
      metadata: config.metadata,
      labels: config.labels ?? {},
      annotations: config.annotations ?? {},
    },
    cpu: cpuOf(container, timestamp),
    memory: memoryOf(container, timestamp),
    writableLayer: {
      timestamp,
      fsId: { mountpoint: imageMountpoint },
      usedBytes: container.script.diskBytes ?? 4096,
      inodesUsed: 10,
    },
    swap: { timestamp, swapAvailableBytes: 0, swapUsageBytes: 0 },
  };
}

export function sandboxStats(sandbox: SimulatedSandbox, timestamp: bigint): PodSandboxStats {
  const running = [...sandbox.containers].filter(({ state }) => state === 'CONTAINER_RUNNING');
  const containers = running.map((container) => containerStats(container, timestamp));
  const total = (value: (stats: ContainerStats) => number | undefined) =>
    containers.reduce((sum, stats) => sum + (value(stats) ?? 0), 0);
  const { id, metadata, labels, annotations } = sandboxMessage(sandbox);
  const workingSetBytes = total((stats) => stats.memory?.workingSetBytes) + sandboxBytes;
  return {
    attributes: { id, metadata, labels, annotations },
    linux: {
      cpu: {
        timestamp,
        usageCoreNanoSeconds: total((stats) => stats.cpu?.usageCoreNanoSeconds),
        usageNanoCores: total((stats) => stats.cpu?.usageNanoCores),
      },
      memory: {
        timestamp,
        workingSetBytes,
        availableBytes: 0,
        usageBytes: workingSetBytes,
        rssBytes: total((stats) => stats.memory?.rssBytes) + sandboxBytes,
        pageFaults: 0,
        majorPageFaults: 0,
      },
      network: {
        timestamp,
        defaultInterface: { name: 'eth0', rxBytes: 0, rxErrors: 0, txBytes: 0, txErrors: 0 },
        interfaces: [],
      },
      process: { timestamp, processCount: running.reduce((sum, { processes }) => sum + processes.size, 1) },
      containers,
    },
  };
}

/** The CPU rate is constant, so the usage is the rate times the elapsed time. */
function cpuOf({ script, startedAt, resources }: SimulatedContainer, timestamp: bigint): CpuUsage {
  const { cpuQuota = 0, cpuPeriod = 0 } = resources;
  const limit = cpuQuota > 0 && cpuPeriod > 0 ? cpuQuota / cpuPeriod : Number.POSITIVE_INFINITY;
  // As with a real CFS quota, the usage cannot exceed the limit.
  const cores = Math.min(script.cpuCores ?? idleCores, limit);
  const elapsedMs = Math.max(0, instantOfNanoseconds(timestamp) - instantOfNanoseconds(startedAt));
  return {
    timestamp,
    usageCoreNanoSeconds: Math.round(cores * elapsedMs * 1e6),
    usageNanoCores: Math.round(cores * 1e9),
  };
}

function memoryOf({ script, resources }: SimulatedContainer, timestamp: bigint): MemoryUsage {
  const bytes = script.memoryBytes ?? idleBytes;
  const limit = resources.memoryLimitInBytes ?? 0;
  return {
    timestamp,
    workingSetBytes: bytes,
    availableBytes: limit > 0 ? Math.max(0, limit - bytes) : 0,
    usageBytes: bytes,
    rssBytes: bytes,
    pageFaults: 0,
    majorPageFaults: 0,
  };
}
