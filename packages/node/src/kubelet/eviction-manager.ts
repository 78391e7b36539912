/** Watches what a node has left, and evicts Pods before it has nothing. */
import type { Pod } from '@kruise/api/core/pod';
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { ContainerStats } from '../cri/messages.ts';
import type { NodeRuntime } from '../cri/runtime.ts';
import { evictedStatus, overLimitStatus } from './disruption.ts';
import {
  type Consumer,
  type DiskUsage,
  diskViolation,
  evictionMessage,
  limitsDisk,
  ranked,
  type Shortage,
  type Supplies,
  shortagesOf,
  type Threshold,
} from './eviction.ts';
import type { Pressure } from './node-status.ts';
import type { Ending, PodWorker } from './pod-worker.ts';
import { podUidLabel } from './sandbox-config.ts';
import { podDirectory } from './volumes.ts';

/** What eviction works with. */
export type EvictionContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly thresholds: readonly Threshold[];
  readonly capacity: { readonly memoryBytes: number; readonly diskBytes: number };
  /** What the machine has left; by default what it has without what containers use. */
  readonly supplies?: () => Promise<Supplies>;
  readonly rootDirectory: string;
  readonly workers: () => readonly PodWorker[];
  readonly setPressures: (pressures: ReadonlySet<Pressure>) => void;
  readonly recordPod: (pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly evicted: (signal: string) => void;
  readonly recordNode: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
};

const periodMs = 10_000;
/** A want that has just passed is still told of for so long, lest new Pods come and bring it back. */
const holdMs = 300_000;
const hardGraceSeconds = 1;

/** Looks after what a node has left until the signal is aborted. */
export function startEviction(context: EvictionContext, signal: AbortSignal): void {
  const { runtime, clock, log, workers } = context;
  const lastSeen = new Map<Pressure, Instant>();
  let told = '';
  let isBusy = false;

  async function look(): Promise<void> {
    const active = workers().filter((worker) => worker.isActive());
    if (active.length === 0 && lastSeen.size === 0) return;
    const { stats } = await runtime.listContainerStats({}, { signal });
    const byPod = Map.groupBy(stats, ({ attributes }) => attributes.labels[podUidLabel] ?? '');
    const supplies = context.supplies ? await context.supplies() : suppliesOf(context, stats);
    const shortages = shortagesOf(context.thresholds, supplies);
    tell(shortages);
    if (await evictOverLimit(active, byPod)) return;
    const [worst] = shortages;
    if (worst) evictWorst(worst, active, byPod);
  }

  function tell(shortages: readonly Shortage[]): void {
    const now = clock.now();
    for (const { pressure } of shortages) lastSeen.set(pressure, now);
    for (const [pressure, at] of lastSeen) if (now - at >= holdMs) lastSeen.delete(pressure);
    const pressures = [...lastSeen.keys()].sort();
    if (pressures.join() === told) return;
    told = pressures.join();
    context.setPressures(new Set(pressures));
  }

  /** Those who break their own rules go first; whether any had to. */
  async function evictOverLimit(
    active: readonly PodWorker[],
    byPod: ReadonlyMap<string, ContainerStats[]>,
  ): Promise<boolean> {
    for (const worker of active) {
      const pod = worker.pod();
      if (!limitsDisk(pod)) continue;
      const message = diskViolation(pod, await diskUsageOf(context, pod, byPod.get(worker.uid) ?? []));
      if (message === undefined) continue;
      evict(worker, message, (status) => overLimitStatus(status, message));
      context.evicted('ephemeral-storage');
      return true;
    }
    return false;
  }

  function evictWorst(
    shortage: Shortage,
    active: readonly PodWorker[],
    byPod: ReadonlyMap<string, ContainerStats[]>,
  ): void {
    context.recordNode('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${shortage.resource}`);
    const consumers = active.map((worker): Consumer & { readonly worker: PodWorker } => ({
      worker,
      pod: worker.pod(),
      usage: usageOf(shortage, byPod.get(worker.uid) ?? []),
    }));
    const [first] = ranked(consumers, shortage.resource);
    const victim = consumers.find(({ pod }) => pod === first?.pod);
    if (!victim) return;
    const message = evictionMessage(shortage, victim);
    evict(victim.worker, message, (status) => evictedStatus(status, message, clock.now()));
    context.evicted(shortage.signal);
  }

  function evict(worker: PodWorker, message: string, verdict: NonNullable<Ending['verdict']>): void {
    context.recordPod(worker.pod(), 'Warning', 'Evicted', message);
    worker.end({ graceSeconds: hardGraceSeconds, verdict });
  }

  every(
    clock,
    periodMs,
    () => {
      if (isBusy) return;
      isBusy = true;
      look()
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn({ error }, 'what the node has left could not be found out');
        })
        .finally(() => {
          isBusy = false;
        });
    },
    signal,
  );
}

function suppliesOf({ capacity }: EvictionContext, stats: readonly ContainerStats[]): Supplies {
  let memory = 0;
  let disk = 0;
  for (const { memory: used, writableLayer } of stats) {
    memory += used?.workingSetBytes ?? 0;
    disk += writableLayer?.usedBytes ?? 0;
  }
  return {
    'memory.available': { available: capacity.memoryBytes - memory, capacity: capacity.memoryBytes },
    'nodefs.available': { available: capacity.diskBytes - disk, capacity: capacity.diskBytes },
  };
}

function usageOf({ resource }: Shortage, stats: readonly ContainerStats[]): ReadonlyMap<string, number> {
  return new Map(
    stats.map(({ attributes, memory, writableLayer }) => [
      attributes.metadata.name,
      (resource === 'memory' ? memory?.workingSetBytes : writableLayer?.usedBytes) ?? 0,
    ]),
  );
}

async function diskUsageOf(
  { runtime, rootDirectory }: EvictionContext,
  pod: Pod,
  stats: readonly ContainerStats[],
): Promise<DiskUsage> {
  const containers = new Map(
    stats.map(({ attributes, writableLayer }) => [attributes.metadata.name, writableLayer?.usedBytes ?? 0]),
  );
  const emptyDirs = new Map<string, number>();
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    if (!emptyDir) continue;
    const path = `${podDirectory(pod, rootDirectory)}/volumes/kubernetes.io~empty-dir/${name}`;
    if (await runtime.files.stat(path)) emptyDirs.set(name, (await runtime.files.usage(path)).bytes);
  }
  return { containers, emptyDirs };
}
