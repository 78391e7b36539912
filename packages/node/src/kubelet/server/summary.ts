/** What runs on a node and how much it uses: `/stats/summary`. */
import { formatTime } from '@kruise/values/time';
import type { ContainerStats, CpuUsage, FilesystemUsage, MemoryUsage, PodSandboxStats } from '../../cri/messages.ts';
import { instantOfNanoseconds } from '../../cri/nanoseconds.ts';
import type { PodWorker } from '../pod-worker.ts';
import { newestOf } from '../runtime-pod.ts';
import { podUidLabel } from '../sandbox-config.ts';
import type { KubeletView } from './view.ts';

/** The usage of a node and its Pods. */
export async function summaryOf(view: KubeletView, isShort: boolean): Promise<object> {
  const { stats } = await view.runtime.listPodSandboxStats({});
  const byUid = new Map(stats.map((each) => [each.attributes.labels[podUidLabel] ?? '', each]));
  const pods = view.workers().flatMap((worker) => {
    const found = byUid.get(worker.uid);
    return found ? [podSummary(worker, found, isShort)] : [];
  });
  const time = formatTime(view.clock.now());
  const total = totalOf(stats);
  return {
    node: {
      nodeName: view.nodeName,
      startTime: formatTime(view.startedAt),
      cpu: { time, usageNanoCores: total.nanoCores, usageCoreNanoSeconds: total.coreNanoSeconds },
      memory: {
        time,
        availableBytes: Math.max(0, view.memoryCapacity() - total.memoryBytes),
        usageBytes: total.memoryBytes,
        workingSetBytes: total.memoryBytes,
        rssBytes: total.memoryBytes,
        pageFaults: 0,
        majorPageFaults: 0,
      },
      ...(isShort
        ? {}
        : { runtime: { imageFs: filesystem((await view.runtime.imageFsInfo({})).imageFilesystems[0]) } }),
    },
    pods,
  };
}

/** What all Pods use together. */
export function totalOf(stats: readonly PodSandboxStats[]) {
  const total = { nanoCores: 0, coreNanoSeconds: 0, memoryBytes: 0 };
  for (const { linux } of stats) {
    for (const { cpu, memory } of linux?.containers ?? []) {
      total.nanoCores += cpu?.usageNanoCores ?? 0;
      total.coreNanoSeconds += cpu?.usageCoreNanoSeconds ?? 0;
      total.memoryBytes += memory?.workingSetBytes ?? 0;
    }
  }
  return total;
}

function podSummary(worker: PodWorker, { linux }: PodSandboxStats, isShort: boolean): object {
  const { name, namespace, uid } = worker.pod().metadata;
  const network = linux?.network;
  return {
    podRef: { name, namespace, uid },
    startTime: worker.status().startTime,
    containers: (linux?.containers ?? []).map((each) => containerSummary(worker, each, isShort)),
    ...(linux?.cpu ? { cpu: cpuOf(linux.cpu) } : {}),
    ...(linux?.memory ? { memory: memoryOf(linux.memory) } : {}),
    ...(network && !isShort
      ? { network: { time: timeOf(network.timestamp), ...network.defaultInterface, interfaces: network.interfaces } }
      : {}),
    ...(linux?.process && !isShort ? { process_stats: { process_count: linux.process.processCount ?? 0 } } : {}),
  };
}

function containerSummary(worker: PodWorker, stats: ContainerStats, isShort: boolean): object {
  const { name } = stats.attributes.metadata;
  const startedAt = newestOf(worker.runtimePod(), name)?.startedAt;
  return {
    name,
    ...(startedAt === undefined ? {} : { startTime: formatTime(startedAt) }),
    ...(stats.cpu ? { cpu: cpuOf(stats.cpu) } : {}),
    ...(stats.memory ? { memory: memoryOf(stats.memory) } : {}),
    ...(stats.writableLayer && !isShort ? { rootfs: filesystem(stats.writableLayer) } : {}),
    ...(stats.swap
      ? {
          swap: {
            time: timeOf(stats.swap.timestamp),
            swapAvailableBytes: stats.swap.swapAvailableBytes,
            swapUsageBytes: stats.swap.swapUsageBytes,
          },
        }
      : {}),
  };
}

function cpuOf({ timestamp, usageNanoCores, usageCoreNanoSeconds }: CpuUsage): object {
  return { time: timeOf(timestamp), usageNanoCores, usageCoreNanoSeconds };
}

function memoryOf({ timestamp, psi: _, ...usage }: MemoryUsage): object {
  return { time: timeOf(timestamp), ...usage };
}

function filesystem(usage: FilesystemUsage | undefined): object | undefined {
  return usage && { time: timeOf(usage.timestamp), usedBytes: usage.usedBytes, inodesUsed: usage.inodesUsed };
}

function timeOf(nanoseconds: bigint): string {
  return formatTime(instantOfNanoseconds(nanoseconds));
}
