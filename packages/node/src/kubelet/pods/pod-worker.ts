/**
 * Pod worker: manages one Pod on its node. The worker turns updates, runtime events and probe results into events of the
 * Pod's lifecycle (`pod-lifecycle.ts`) and applies their effects; each sync does the work of the current stage
 * (`sync-pod.ts`, `terminate-pod.ts`), one sync at a time.
 */
import type { Pod, PodStatus } from '@kruise/api/core/pod';
import { formatTime } from '@kruise/values/time';
import type { Rejection } from '../admission/allocations.ts';
import { createPodResize } from '../admission/pod-resize.ts';
import { createContainerStarts } from '../containers/container-starts.ts';
import type { NodeContext } from '../node/node-context.ts';
import type { RuntimePod } from '../runtime/runtime-pod.ts';
import { createPodVolumeManager } from '../volumes/pod-volume-manager.ts';
import { referencesOf } from '../volumes/volume-content.ts';
import type { MountedVolume } from '../volumes/volumes.ts';
import { isTerminalPhase } from './phase.ts';
import { allocatedPodOf, type PodContext, retryLater } from './pod-context.ts';
import {
  hasTerminated,
  initialLifecycle,
  isActive,
  isFinished,
  type LifecycleEffect,
  type LifecycleEvent,
  transition,
  workOf,
} from './pod-lifecycle.ts';
import { createPodObserver, observePod, removeProbes, startProbes, visibleStateOf } from './pod-observer.ts';
import { podStatusOf, terminatedStatus } from './pod-status.ts';
import {
  createStatusPublisher,
  currentStatus,
  dropStatusUpdate,
  flushStatus,
  markStatusDirty,
  replaceStatus,
  scheduleStatusUpdate,
  stopPublisher,
} from './status-publisher.ts';
import { abortSync, createSyncLoop, requestSync, requestSyncAfterEvent, stopSyncLoop } from './sync-loop.ts';
import { syncPod } from './sync-pod.ts';
import { cleanUpPod, syncTerminatedPod, syncTerminatingPod } from './terminate-pod.ts';

/** Options for terminating a Pod. */
export type KillOptions = {
  /** Overrides the grace period of the Pod. */
  readonly graceSeconds?: number;
  /** Status to report for the terminated Pod. */
  readonly verdict?: (status: PodStatus) => PodStatus;
};

/** Worker of one Pod. */
export type PodWorker = {
  readonly uid: string;
  readonly pod: () => Pod;
  /** Returns the current status, which may not be written to the API yet. */
  readonly status: () => PodStatus;
  readonly runtimePod: () => RuntimePod;
  /** Returns the mounted volumes by name. */
  readonly volumes: () => ReadonlyMap<string, MountedVolume>;
  /** Reports whether the Pod is admitted and not terminated. */
  readonly isActive: () => boolean;
  readonly isFinished: () => boolean;
  /** Rejects the Pod at admission: the Pod fails before it starts. */
  reject(rejection: Rejection): void;
  /** Handles an update of the Pod object. */
  update(pod: Pod): void;
  /** Handles the deletion of the Pod object: terminates the Pod and removes its leftovers. */
  remove(): void;
  /** Terminates the Pod. */
  kill(options: KillOptions): void;
  /** Handles a runtime event of a container or sandbox of the Pod. */
  runtimeChanged(): void;
  /** Triggers a sync. */
  requestSync(): void;
  /** Stops the worker with the kubelet: the state stays as it is for the next kubelet. */
  stop(): void;
  /** Resolves when all containers of the Pod have terminated and its resources are free. */
  readonly ended: Promise<void>;
  /** Resolves when the Pod is completely removed from the node. */
  readonly gone: Promise<void>;
};

/** Creates the worker of a Pod that should run or already runs. */
export function createPodWorker(node: NodeContext, initialPod: Pod): PodWorker {
  const { clock } = node;
  const uid = initialPod.metadata.uid ?? '';
  const { promise: gone, resolve: resolveGone } = Promise.withResolvers<void>();
  const { promise: ended, resolve: resolveEnded } = Promise.withResolvers<void>();
  const firstSeenAt = clock.now();
  let pod = initialPod;
  let lifecycle = initialLifecycle;

  const currentPod = () => pod;
  const starts = createContainerStarts(node);
  const resize = createPodResize(initialPod);
  const status = createStatusPublisher({
    clock,
    apiStatus: () => pod.status,
    compute: computeStatus,
    isDebounced: () => loop.isSyncing || observer.probes.isAwaitingFirstResult(),
    isWithheld,
    report: (found) =>
      node.statuses.report(pod, {
        status: found,
        couldRun: !hasTerminated(lifecycle),
        isFinished: lifecycle.stage === 'finished',
      }),
  });
  const observer = createPodObserver({ node, uid, pod: currentPod, starts, onObserved: () => markStatusDirty(status) });
  const volumes = createPodVolumeManager(node, uid);
  const loop = createSyncLoop({
    clock,
    listings: node.listings,
    hasEnded: () => lifecycle.stage === 'gone' || node.signal.aborted,
    sync,
    observe() {
      if (lifecycle.stage === 'syncing' || lifecycle.stage === 'terminating') {
        void observePod(observer).then(() => flushStatus(status), onSyncError);
      }
    },
    onError: onSyncError,
    onIdle() {
      if (!observer.probes.isAwaitingFirstResult()) flushStatus(status);
    },
  });
  const context: PodContext = {
    node,
    uid,
    pod: currentPod,
    lifecycle: () => lifecycle,
    dispatch,
    observer,
    resize,
    starts,
    volumes,
    status,
  };

  function dispatch(event: LifecycleEvent): void {
    const { next, effects } = transition(lifecycle, event);
    lifecycle = next;
    for (const effect of effects) apply(effect);
  }

  function apply(effect: LifecycleEffect): void {
    switch (effect) {
      case 'prepareSync':
        prepareSync();
        break;
      case 'abortSync':
        abortSync(loop);
        break;
      case 'requestSync':
        requestSync(loop);
        break;
      case 'reportStatus':
        scheduleStatusUpdate(status);
        break;
      case 'refreshStatus':
        markStatusDirty(status);
        break;
      case 'freeAllocations':
        node.allocations.remove(uid);
        resolveEnded();
        removeProbes(observer);
        break;
      case 'dropStatus':
        node.statuses.remove(uid);
        dropStatusUpdate(status);
        resolveGone();
    }
  }

  function prepareSync(): void {
    startProbes(observer, (type) => {
      markStatusDirty(status);
      // Readiness affects only the status; no action is needed.
      if (type !== 'Readiness') requestSync(loop);
    });
    node.sources.watchReferences(uid, referencesOf(pod), () => {
      volumes.markStale();
      requestSync(loop);
    });
  }

  async function sync(signal: AbortSignal): Promise<void> {
    switch (workOf(lifecycle)) {
      case 'syncPod':
        dispatch({ type: 'syncStarted' });
        return syncPod(context, signal);
      case 'syncTerminatingPod':
        return syncTerminatingPod(context, signal);
      case 'syncTerminatedPod':
        return syncTerminatedPod(context);
      case 'cleanUpPod':
        await cleanUpPod(context);
    }
  }

  function onSyncError(error: unknown): void {
    node.log.warn({ pod: `${pod.metadata.namespace}/${pod.metadata.name}`, error }, 'pod sync failed');
    retryLater(context);
  }

  function computeStatus(previous: PodStatus): PodStatus {
    const found = podStatusOf({
      pod: allocatedPodOf(context),
      runtimePod: visibleStateOf(observer),
      previous,
      failures: starts.failures,
      probes: observer.probes,
      runtimeName: node.runtimeName(),
      supportsRecursiveReadOnly: node.supportsRecursiveReadOnly(),
      resourcesOf: (container, running) => node.allocations.statusOf(uid, container, running),
      resizeClaims: resize.conditions,
      isEnding: hasTerminated(lifecycle),
      hostIPs: node.hostIPs(),
      now: clock.now(),
    });
    if (found.phase === 'Running' && previous.phase === 'Pending') {
      node.metrics.observePodStartDuration((clock.now() - firstSeenAt) / 1000);
    }
    return lifecycle.stage === 'finished' ? terminatedStatus(pod, found) : found;
  }

  /** A Pod whose containers have all exited is about to be cleaned up, so the final status is written once. */
  function isWithheld({ phase }: PodStatus): boolean {
    if (hasTerminated(lifecycle) || !isTerminalPhase(phase)) return false;
    return !observer.runtimePod.containers.some(({ state }) => state === 'running');
  }

  return {
    uid,
    ended,
    gone,
    pod: currentPod,
    status: () => currentStatus(status),
    runtimePod: () => observer.runtimePod,
    volumes: volumes.mounted,
    isActive: () => isActive(lifecycle),
    isFinished: () => isFinished(lifecycle),
    reject({ reason, message }) {
      node.metrics.countRejection(reason);
      node.record(pod, 'Warning', reason, message);
      replaceStatus(status, {
        ...pod.status,
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
        startTime: pod.status?.startTime ?? formatTime(clock.now()),
      });
      dispatch({ type: 'rejected' });
    },
    update(next) {
      const before = pod;
      pod = next;
      volumes.markStale();
      node.statuses.observe(next);
      dispatch({ type: 'updated', before, after: next, hasStatus: status.lastStatus !== undefined });
    },
    remove() {
      dispatch({ type: 'removed', pod });
    },
    kill({ graceSeconds, verdict }) {
      if (verdict) replaceStatus(status, verdict(currentStatus(status)));
      dispatch({ type: 'killed', pod, graceSeconds, hasVerdict: verdict !== undefined });
    },
    stop() {
      stopSyncLoop(loop);
      observer.probes.stop();
      stopPublisher(status);
    },
    runtimeChanged: () => requestSyncAfterEvent(loop),
    requestSync: () => requestSync(loop),
  };
}
