/** Eviction manager: monitors the node's resources and evicts Pods before the node runs out of them. */
import type { Pod } from '@kruise/api/core/pod';
import type { Log } from '@kruise/client/log';
import { type Clock, every } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';
import type { ContainerStats } from '../../cri/messages.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { podUidLabel } from '../containers/sandbox-config.ts';
import type { Pressure } from '../node/node-status.ts';
import type { KillOptions, PodWorker } from '../pods/pod-worker.ts';
import { podDirectory } from '../volumes/pod-directory.ts';
import { evictedStatus, overLimitStatus } from './disruption.ts';
import {
  type Consumer,
  type DiskUsage,
  diskViolation,
  evictionMessage,
  limitsDisk,
  type Observations,
  rankForEviction,
  type Shortage,
  shortagesOf,
  type Threshold,
} from './eviction.ts';

/** Dependencies of the eviction manager. */
export type EvictionContext = {
  readonly runtime: NodeRuntime;
  readonly clock: Clock;
  readonly log: Log;
  readonly thresholds: readonly Threshold[];
  /** Maximum grace period of Pods evicted because of a soft eviction threshold. */
  readonly maxGraceSeconds: number;
  /** Reclaims disk space without evicting Pods. */
  readonly reclaimDisk: () => Promise<void>;
  readonly capacity: { readonly memoryBytes: number; readonly diskBytes: number };
  /** Observations of the node's resources; by default the capacity minus the usage of the containers. */
  readonly supplies?: () => Promise<Observations>;
  readonly rootDirectory: string;
  readonly workers: () => readonly PodWorker[];
  readonly setPressures: (pressures: ReadonlySet<Pressure>) => void;
  readonly recordPod: (pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string) => void;
  readonly countEviction: (signal: string) => void;
  readonly recordNode: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
};

const periodMs = 10_000;
/**
 * Pressure transition period: a pressure condition stays true for this time, so that new Pods do not bring the pressure
 * back at once.
 */
const pressureTransitionMs = 300_000;
const hardGraceSeconds = 1;

/** Monitors the node's resources until the signal is aborted. */
export function startEviction(context: EvictionContext, signal: AbortSignal): void {
  const { runtime, clock, log, workers } = context;
  const lastPressureAt = new Map<Pressure, Instant>();
  const thresholdMetSince = new Map<Threshold, Instant>();
  let reportedPressures = '';
  let isBusy = false;

  async function synchronize(): Promise<void> {
    const active = workers().filter((worker) => worker.isActive());
    if (active.length === 0 && lastPressureAt.size === 0) return;
    const { stats } = await runtime.listContainerStats({}, { signal });
    const byPod = Map.groupBy(stats, ({ attributes }) => attributes.labels[podUidLabel] ?? '');
    const shortages = await observeShortages(stats);
    reportPressures(shortages);
    const pastGracePeriod = shortagesPastGracePeriod(shortages);
    if (await evictOverLimit(active, byPod)) return;
    const [worst] = pastGracePeriod;
    if (!worst) return;
    context.recordNode('Warning', 'EvictionThresholdMet', `Attempting to reclaim ${worst.resource}`);
    if (worst.pressure === 'DiskPressure') {
      await context.reclaimDisk();
      if (!(await observeShortages(stats)).some(({ threshold }) => threshold === worst.threshold)) return;
    }
    const usage = worst.resource === 'pids' ? await processesOf(runtime) : usageOf(worst, byPod);
    evictWorst(worst, active, usage);
  }

  async function observeShortages(stats: readonly ContainerStats[]): Promise<readonly Shortage[]> {
    const supplies = context.supplies ? await context.supplies() : await defaultObservations(context, stats);
    return shortagesOf(context.thresholds, supplies);
  }

  /** Returns the shortages that have lasted for the grace period of their threshold. */
  function shortagesPastGracePeriod(shortages: readonly Shortage[]): readonly Shortage[] {
    const now = clock.now();
    const metThresholds = new Set(shortages.map(({ threshold }) => threshold));
    for (const threshold of thresholdMetSince.keys())
      if (!metThresholds.has(threshold)) thresholdMetSince.delete(threshold);
    for (const threshold of metThresholds) if (!thresholdMetSince.has(threshold)) thresholdMetSince.set(threshold, now);
    return shortages.filter(
      ({ threshold }) => now - (thresholdMetSince.get(threshold) ?? now) >= (threshold.patienceSeconds ?? 0) * 1000,
    );
  }

  function reportPressures(shortages: readonly Shortage[]): void {
    const now = clock.now();
    for (const { pressure } of shortages) lastPressureAt.set(pressure, now);
    for (const [pressure, at] of lastPressureAt) if (now - at >= pressureTransitionMs) lastPressureAt.delete(pressure);
    const pressures = [...lastPressureAt.keys()].sort();
    if (pressures.join() === reportedPressures) return;
    reportedPressures = pressures.join();
    context.setPressures(new Set(pressures));
  }

  /** Evicts a Pod that exceeds its own limits, before any Pod that does not; returns whether a Pod was evicted. */
  async function evictOverLimit(
    active: readonly PodWorker[],
    byPod: ReadonlyMap<string, ContainerStats[]>,
  ): Promise<boolean> {
    for (const worker of active) {
      const pod = worker.pod();
      if (!limitsDisk(pod)) continue;
      const message = diskViolation(pod, await diskUsageOf(context, pod, byPod.get(worker.uid) ?? []));
      if (message === undefined) continue;
      const verdict: KillOptions['verdict'] = (status) => overLimitStatus(status, message);
      evict(worker, { message, graceSeconds: hardGraceSeconds, verdict });
      context.countEviction('ephemeral-storage');
      return true;
    }
    return false;
  }

  function evictWorst(
    shortage: Shortage,
    active: readonly PodWorker[],
    usage: ReadonlyMap<string, Consumer['usage']>,
  ): void {
    const consumers = active.map((worker): Consumer & { readonly worker: PodWorker } => ({
      worker,
      pod: worker.pod(),
      usage: usage.get(worker.uid) ?? new Map(),
    }));
    const [victim] = rankForEviction(consumers, shortage.resource);
    if (!victim) return;
    const message = evictionMessage(shortage, victim);
    evict(victim.worker, {
      message,
      graceSeconds: gracePeriodFor(shortage, victim.pod),
      verdict: (status) => evictedStatus(status, message, clock.now()),
    });
    context.countEviction(shortage.signal);
  }

  function gracePeriodFor({ threshold }: Shortage, { spec }: Pod): number {
    if (threshold.patienceSeconds === undefined) return hardGraceSeconds;
    return Math.min(context.maxGraceSeconds, spec?.terminationGracePeriodSeconds ?? context.maxGraceSeconds);
  }

  function evict(
    worker: PodWorker,
    { message, ...ending }: Required<KillOptions> & { readonly message: string },
  ): void {
    context.recordPod(worker.pod(), 'Warning', 'Evicted', message);
    worker.kill(ending);
  }

  every(
    clock,
    periodMs,
    () => {
      if (isBusy) return;
      isBusy = true;
      synchronize()
        .catch((error: unknown) => {
          if (!signal.aborted) log.warn({ error }, 'eviction manager sync failed');
        })
        .finally(() => {
          isBusy = false;
        });
    },
    signal,
  );
}

async function defaultObservations(
  { capacity, runtime }: EvictionContext,
  stats: readonly ContainerStats[],
): Promise<Observations> {
  const { imageFilesystems } = await runtime.imageFsInfo({});
  let memory = 0;
  // Images and containers share one filesystem.
  let disk = imageFilesystems[0]?.usedBytes ?? 0;
  for (const { memory: used, writableLayer } of stats) {
    memory += used?.workingSetBytes ?? 0;
    disk += writableLayer?.usedBytes ?? 0;
  }
  return {
    'memory.available': { available: capacity.memoryBytes - memory, capacity: capacity.memoryBytes },
    'nodefs.available': { available: capacity.diskBytes - disk, capacity: capacity.diskBytes },
  };
}

type UsageByPod = ReadonlyMap<string, Consumer['usage']>;

/** Returns the usage of the scarce resource by Pod and container. */
function usageOf({ resource }: Shortage, byPod: ReadonlyMap<string, ContainerStats[]>): UsageByPod {
  const amountOf = ({ memory, writableLayer }: ContainerStats) =>
    (resource === 'memory' ? memory?.workingSetBytes : writableLayer?.usedBytes) ?? 0;
  const ofPod = (stats: readonly ContainerStats[]) =>
    new Map(stats.map((each) => [each.attributes.metadata.name, amountOf(each)]));
  return new Map([...byPod].map(([uid, stats]) => [uid, ofPod(stats)]));
}

/** Returns the process count of each Pod. The runtime does not report it per container. */
async function processesOf(runtime: NodeRuntime): Promise<UsageByPod> {
  const { stats } = await runtime.listPodSandboxStats({});
  return new Map(
    stats.map(({ attributes, linux }) => [
      attributes.labels[podUidLabel] ?? '',
      new Map([['', linux?.process?.processCount ?? 0]]),
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
