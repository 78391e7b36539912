/**
 * kube-scheduler: assigns pending Pods to nodes. `event-handlers.ts` handles cluster events, `decide.ts` contains the
 * scheduling algorithm, and this file runs the loop. Scheduling cycles are serial and synchronous, and assume that
 * earlier Pods are on their nodes; binding cycles run asynchronously.
 */
import assert from 'node:assert/strict';
import { node as nodeKind } from '@kruise/api/core/node';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { type ControllerContext, type Runnable, watch } from '@kruise/client/controller';
import { createSeriesRecorder } from '@kruise/client/event-series';
import type { Informer } from '@kruise/client/informer';
import { type RunOptions, runControllers } from '@kruise/client/manager';
import { aborted } from '@kruise/values/aborted';
import { createAttempts } from './attempt.ts';
import { createCluster } from './cluster/cluster.ts';
import { lookedUpKinds, lookupIn } from './cluster/lookup.ts';
import type { PodInfo } from './cluster/pod-info.ts';
import { defaultConfiguration, type SchedulerConfiguration } from './configuration.ts';
import { handleClusterEvents } from './event-handlers.ts';
import { createExtender, type Extender, type Post } from './extenders/extender.ts';
import { createLimit } from './limit.ts';
import type { SchedulerMetrics } from './metrics.ts';
import { createProfile } from './profile.ts';
import { createSchedulingQueue } from './queue/scheduling-queue.ts';
import { createStorage, storageIn, storageKinds } from './volumes/storage.ts';

export type SchedulerOptions = RunOptions & {
  /** Host name in reported events. */
  readonly host: string;
  readonly configuration?: SchedulerConfiguration;
  readonly schedulerMetrics?: SchedulerMetrics;
  /** HTTP client of extenders, if there are any. */
  readonly post?: Post;
};

/**
 * Maximum number of concurrent writes: as many as the store commits at once; with more, other clients would wait too
 * long.
 */
const maxInFlight = 128;

/** Finished Pods use no resources. */
const unfinished = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };

export async function runScheduler(options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  await runControllers([schedulerOf(options)], options, signal);
}

function schedulerOf(options: SchedulerOptions): Runnable {
  // Shared caches contain all Pods; otherwise finished Pods are not watched.
  const selection = options.caches ? undefined : unfinished;
  return {
    name: 'kube-scheduler',
    component: 'default-scheduler',
    watches: [watch(podKind, () => [], selection ? { selection } : {}), watch(nodeKind, () => [])],
    uses: [...lookedUpKinds, ...storageKinds],
    async run(context, signal) {
      const { caches } = context;
      const pods = caches.informer(podKind, selection);
      const informers = [
        pods,
        caches.informer(nodeKind),
        ...[...lookedUpKinds, ...storageKinds].map((kind) => caches.informer(kind)),
      ];
      await Promise.race([Promise.all(informers.map(({ synced }) => synced)), aborted(signal)]);
      if (signal.aborted) return;
      await schedule(context, options, pods, signal);
    },
  };
}

/** Returns the extenders of a configuration, ignorable ones last. */
function extendersOf({ extenders }: SchedulerConfiguration, post: Post | undefined): readonly Extender[] {
  if (extenders.length === 0) return [];
  assert(post, 'extenders can be reached');
  const made = extenders.map((each) => createExtender(each, post));
  return [...made.filter(({ isIgnorable }) => !isIgnorable), ...made.filter(({ isIgnorable }) => isIgnorable)];
}

async function schedule(
  context: ControllerContext,
  { host, configuration = defaultConfiguration, schedulerMetrics, post }: SchedulerOptions,
  pods: Informer<Pod>,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, random, caches, log } = context;
  const lookup = lookupIn(caches);
  const preempting = new Set<string>();
  const storage = createStorage(storageIn(caches));
  const exists = ({ key, uid }: PodInfo) => pods.get(key)?.metadata.uid === uid;
  const parts = { lookup, preempting, volumes: { client, clock, storage, exists } };
  const profiles = new Map(configuration.profiles.map((each) => [each.schedulerName, createProfile(each, parts)]));
  const cluster = createCluster();
  const { podInitialBackoffSeconds, podMaxBackoffSeconds } = configuration;
  const backoff = { initialMs: podInitialBackoffSeconds * 1000, maxMs: podMaxBackoffSeconds * 1000 };
  const queue = createSchedulingQueue(clock, { profiles, backoff }, signal);
  schedulerMetrics?.watchQueue(queue);
  // The last events are still to be written when the loop ends.
  const recording = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'failed to record event');
  const recorder = createSeriesRecorder(client, clock, random, { host, onError }, recording.signal);
  const limit = createLimit(maxInFlight);
  // Binding volumes may take minutes and must not block other Pods.
  const waits = createLimit(Number.POSITIVE_INFINITY);
  const attempt = createAttempts({
    client,
    clock,
    random,
    log,
    recorder,
    profiles,
    cluster,
    queue,
    lookup,
    extenders: extendersOf(configuration, post),
    preempting,
    pods,
    limit,
    waits,
    ...(schedulerMetrics ? { metrics: schedulerMetrics } : {}),
    signal,
  });

  handleClusterEvents({ pods, nodes: caches.informer(nodeKind), cluster, queue, profiles, caches, storage }, signal);
  while (!signal.aborted) {
    const queued = queue.pop();
    if (queued) await attempt(queued);
    await (queued ? limit.free() : queue.ready);
  }
  await waits.settled();
  await limit.settled();
  await recorder.flush();
  recording.abort();
}
