/**
 * Pod worker: manages the lifecycle of one Pod on its node. A worker syncs, terminates and cleans up the Pod, one sync
 * at a time. It is event-driven: a change of the Pod, a runtime event, a probe result or the end of a backoff triggers
 * a sync.
 */
import type { Pod, PodStatus } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { formatTime } from '@kruise/values/time';
import type { Rejection } from '../admission/allocations.ts';
import { resizeContainers } from '../admission/resize-containers.ts';
import { createContainerStarts } from '../containers/container-starts.ts';
import { containersOf, fieldPathOf, type PodContainer } from '../containers/containers.ts';
import type { DownwardContext } from '../containers/downward-api.ts';
import { type KillContext, killContainer, killPod } from '../containers/kill.ts';
import { configureSandbox, createSandbox, pullSecretsOf } from '../containers/pod-sandbox.ts';
import { logDirectoryOf, logLinkOf } from '../containers/sandbox-config.ts';
import type { NodeContext } from '../node/node-context.ts';
import type { ProbeType } from '../probes/probe-state.ts';
import { createPodProbes, hasProbes, noProbes, type PodProbes } from '../probes/probes.ts';
import { readRuntimePod, sandboxIdsOf } from '../runtime/read-runtime-pod.ts';
import { descriptionOf, isNotFoundError, rpcTextOf } from '../runtime/runtime-error.ts';
import { addressesOf, emptyRuntimePod, isHostNetwork, newestOf, type RuntimePod } from '../runtime/runtime-pod.ts';
import { createPodVolumeManager } from '../volumes/pod-volume-manager.ts';
import { hasMetadataFiles, referencesOf } from '../volumes/volume-content.ts';
import type { MountedVolume } from '../volumes/volumes.ts';
import { isTerminalPhase } from './phase.ts';
import { decideActions, type PodActions } from './pod-actions.ts';
import { type ConditionValue, isKubeletCondition } from './pod-conditions.ts';
import { deadlineMessage, deadlineOf, podStatusOf, terminatedStatus } from './pod-status.ts';

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

type Stage = 'starting' | 'syncing' | 'terminating' | 'terminated' | 'finished' | 'gone';

/** Retry interval for failures without a backoff. */
const retryMs = 10_000;
const networkRetryMs = 1000;
/** Time after which a long sync refreshes the reported status; Kubernetes relists every second, too. */
const statusRefreshMs = 1000;
/** Debounce interval of status updates while a sync is in progress: a Pod that starts quickly is written once. */
const statusDebounceMs = 100;

/** Creates the worker of a Pod that should run or already runs. */
export function createPodWorker(node: NodeContext, initialPod: Pod): PodWorker {
  const { runtime, clock } = node;
  const uid = initialPod.metadata.uid ?? '';
  const { promise: gone, resolve: resolveGone } = Promise.withResolvers<void>();
  const { promise: ended, resolve: resolveTerminated } = Promise.withResolvers<void>();
  const firstSeenAt = clock.now();
  let pod = initialPod;
  /** Pod spec with the allocated resources. */
  let allocatedSpec = initialPod.spec;
  let resizeConditions: readonly ConditionValue[] = [];
  /** Error of the last resize attempt. */
  let resizeError: string | undefined;
  let runtimePod: RuntimePod = emptyRuntimePod;
  /** Only this worker creates sandboxes of the Pod, so their IDs are cached. */
  let sandboxIds: readonly string[] | undefined;
  let lastStatus: PodStatus | undefined;
  /** True if the status must be recomputed. */
  let isStatusStale = false;
  let stage: Stage = 'starting';
  let isRemoved = false;
  let graceSeconds: number | undefined;
  let isSyncPending = false;
  let isSyncing = false;
  let isDeadlineRecorded = false;
  let currentSync: AbortController | undefined;
  /** End of the last sync. */
  let lastSyncAt = Number.NEGATIVE_INFINITY;
  let cancelStatusRefresh: (() => void) | undefined;
  /** True if a status update is pending; the debounce limits how long it waits. */
  let isStatusPending = false;
  let debounceUntil = Number.NEGATIVE_INFINITY;
  let cancelDebounce: (() => void) | undefined;
  const containerStarts = createContainerStarts(node);
  let probes: PodProbes = noProbes;
  const volumeManager = createPodVolumeManager(node, uid);

  /** Returns the Pod with its allocated resources. */
  const allocatedPod = (): Pod =>
    allocatedSpec === pod.spec || !allocatedSpec ? pod : { ...pod, spec: allocatedSpec };
  const record = (podContainer: PodContainer, type: 'Normal' | 'Warning', reason: string, message: string) =>
    node.record(pod, type, reason, message, fieldPathOf(podContainer));
  const killContext: KillContext = { runtime, clock, record, podIP: () => addressesOf(runtimePod)[0] ?? '' };

  function requestSync(): void {
    isSyncPending = true;
    if (!isSyncing && stage !== 'gone') void runSyncLoop();
  }

  async function runSyncLoop(): Promise<void> {
    isSyncing = true;
    while (isSyncPending && stage !== 'gone' && !node.signal.aborted) {
      if (node.listings) await node.listings.waitForRelistAfter(lastSyncAt);
      isSyncPending = false;
      const current = new AbortController();
      currentSync = current;
      try {
        await runStage(current.signal);
      } catch (error) {
        if (!current.signal.aborted && !node.signal.aborted) onSyncError(error);
      }
      currentSync = undefined;
      lastSyncAt = clock.now();
      cancelStatusRefresh?.();
      cancelStatusRefresh = undefined;
    }
    isSyncing = false;
    if (!probes.isAwaitingFirstResult()) flushStatus();
  }

  function onSyncError(error: unknown): void {
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    node.log.warn({ pod: name, error }, 'pod sync failed');
    node.syncAt(uid, clock.now() + retryMs);
  }

  async function runStage(signal: AbortSignal): Promise<void> {
    switch (stage) {
      case 'starting':
      case 'syncing':
        return sync(signal);
      case 'terminating':
        return terminate(signal);
      case 'terminated':
        return finish();
      case 'finished':
        if (isRemoved) await cleanUp();
    }
  }

  /** Reads the state of the Pod from the runtime; a failure is recorded with the given event reason. */
  async function read(eventOnError?: { readonly reason: string; readonly what: string }): Promise<void> {
    try {
      sandboxIds ??= await sandboxIdsOf(runtime, uid);
      runtimePod = await readRuntimePod(runtime, sandboxIds, runtimePod);
    } catch (error) {
      if (eventOnError && !node.signal.aborted) {
        node.record(pod, 'Warning', eventOnError.reason, `${eventOnError.what}: ${rpcTextOf(error)}`);
      }
      throw error;
    }
  }

  /** Reads the runtime state and updates probes and status. */
  async function observe(): Promise<void> {
    await read({ reason: 'FailedSync', what: 'error determining status' });
    probes.observe(
      pod,
      containerStarts.visibleState(runtimePod),
      addressesOf(runtimePod)[0] ?? node.hostIPs()[0] ?? '',
    );
    markStatusDirty();
  }

  /** Marks the status as stale. The status is computed only when it is written, to include later changes. */
  function markStatusDirty(): void {
    isStatusStale = true;
    scheduleStatusUpdate();
  }

  /** Returns the current status. */
  function status(): PodStatus {
    const previous = lastStatus ?? pod.status ?? {};
    if (!isStatusStale) return previous;
    isStatusStale = false;
    const found = podStatusOf({
      pod: allocatedPod(),
      runtimePod: containerStarts.visibleState(runtimePod),
      previous,
      failures: containerStarts.failures,
      probes,
      runtimeName: node.runtimeName(),
      resourcesOf: (container, running) => node.allocations.statusOf(uid, container, running),
      resizeClaims: resizeConditions,
      isEnding: stage === 'terminated' || stage === 'finished',
      hostIPs: node.hostIPs(),
      now: clock.now(),
    });
    if (found.phase === 'Running' && previous.phase === 'Pending') {
      node.metrics.observePodStartDuration((clock.now() - firstSeenAt) / 1000);
    }
    lastStatus = stage === 'finished' ? terminatedStatus(pod, found) : found;
    return lastStatus;
  }

  function scheduleStatusUpdate(): void {
    isStatusPending = true;
    if (isSyncing || probes.isAwaitingFirstResult()) {
      debounceUntil = clock.elapsedMs() + statusDebounceMs;
      cancelDebounce ??= clock.setTimer(statusDebounceMs, onDebounceEnd);
    } else flushStatus();
  }

  function onDebounceEnd(): void {
    const left = debounceUntil - clock.elapsedMs();
    if (left > 0) cancelDebounce = clock.setTimer(left, onDebounceEnd);
    else flushStatus();
  }

  function flushStatus(): void {
    cancelDebounce?.();
    cancelDebounce = undefined;
    if (!isStatusPending) return;
    const couldRun = stage !== 'terminated' && stage !== 'finished';
    const now = status();
    // A Pod whose containers have all exited is about to be cleaned up, so the final status is written once.
    if (couldRun && isTerminalPhase(now.phase) && !runtimePod.containers.some(({ state }) => state === 'running'))
      return;
    isStatusPending = false;
    node.statuses.report(pod, { status: now, couldRun, isFinished: stage === 'finished' });
  }

  // --- Sync ---

  async function sync(signal: AbortSignal): Promise<void> {
    if (stage === 'starting') {
      stage = 'syncing';
      if (hasProbes(pod)) {
        const { random, probeMetrics } = node;
        probes = createPodProbes(pod, {
          runtime,
          clock,
          random,
          metrics: probeMetrics,
          record,
          onChange: probeChanged,
        });
      }
      node.sources.watchReferences(uid, referencesOf(pod), () => {
        volumeManager.markStale();
        requestSync();
      });
    }
    resize();
    await observe();
    if (!cannotBeTerminal()) {
      if (isTerminalPhase(status().phase)) return complete();
      const deadline = deadlineOf(pod, status());
      if (deadline !== undefined) node.syncAt(uid, deadline);
    }

    const networkFault = isHostNetwork(pod) ? undefined : node.networkFault();
    if (networkFault !== undefined) {
      node.record(pod, 'Warning', 'NetworkNotReady', `network is not ready: ${networkFault}`);
      node.syncAt(uid, clock.now() + networkRetryMs);
      return;
    }
    const actions = decide();
    const found = await volumeManager.ensureMounted(allocatedPod(), downwardContextFor(addressesOf(runtimePod)));
    // Running containers have their volumes; only new containers need all volumes to be mounted.
    const mounted = found ?? (startsNothing(actions) ? volumeManager.mounted() : undefined);
    if (!mounted) return;
    signal.throwIfAborted();
    await applyActions(actions, mounted, signal);
  }

  /** Reports whether the Pod cannot be in a terminal phase: all its containers restart, and it has no deadline. */
  function cannotBeTerminal(): boolean {
    const { restartPolicy = 'Always', activeDeadlineSeconds } = pod.spec ?? {};
    if (!lastStatus || isTerminalPhase(lastStatus.phase) || isTerminalPhase(pod.status?.phase)) return false;
    return restartPolicy === 'Always' && activeDeadlineSeconds == null;
  }

  /** A completed Pod is cleaned up like a terminated one. */
  function complete(): void {
    if (status().reason === 'DeadlineExceeded' && !isDeadlineRecorded) {
      isDeadlineRecorded = true;
      node.record(pod, 'Normal', 'DeadlineExceeded', deadlineMessage);
    }
    kill({});
  }

  function resize(): void {
    const resized = node.allocations.resize(pod, { allocatable: node.allocatable(), admits: node.findRejectionFor });
    const { pending, changed } = resized;
    allocatedSpec = resized.pod.spec;
    const containers = containersOf(allocatedPod()).map(({ container }) => container);
    for (const container of containers) if (changed.includes(container.name)) containerStarts.resetBackOff(container);
    const isResizing = containers.some((container) => {
      const newest = newestOf(runtimePod, container.name);
      return newest?.state === 'running' && node.allocations.resizeActionFor(uid, container, newest) !== 'none';
    });
    const inProgress: ConditionValue = {
      type: 'PodResizeInProgress',
      status: 'True',
      ...(resizeError === undefined ? {} : { reason: 'Error', message: resizeError }),
    };
    resizeConditions = [...(pending ? [pending] : []), ...(isResizing ? [inProgress] : [])];
    if (pending?.reason === 'Deferred') node.syncAt(uid, clock.now() + retryMs);
  }

  function decide(): PodActions {
    return decideActions({
      pod: allocatedPod(),
      runtimePod,
      probes,
      resizeActionFor: (container, running) => node.allocations.resizeActionFor(uid, container, running),
    });
  }

  function downwardContextFor(podIPs: readonly string[]): DownwardContext {
    return { podIPs, hostIPs: node.hostIPs(), allocatable: node.allocatable() };
  }

  async function applyActions(
    actions: PodActions,
    mounted: ReadonlyMap<string, MountedVolume>,
    signal: AbortSignal,
  ): Promise<void> {
    if (actions.createsSandbox && actions.sandboxId !== undefined) {
      node.record(pod, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    }
    if (actions.killsPod) {
      await killPod(killContext, allocatedPod(), runtimePod, undefined, signal);
      if (!actions.createsSandbox) return observe();
    }
    for (const { target, message, reason } of actions.kills) {
      await killContainer(killContext, { pod: allocatedPod(), target, message, reason }, signal);
    }
    const starts = [...actions.ephemeral, ...actions.init, ...actions.regular];
    if (actions.kills.length > 0) await read();
    await updateResources(actions);
    if (starts.length === 0 && !actions.createsSandbox) return;

    const sandboxConfig = await configureSandbox(node, allocatedPod(), actions.attempt);
    if (!sandboxConfig) {
      node.syncAt(uid, clock.now() + retryMs);
      return;
    }
    let { sandboxId } = actions;
    if (actions.createsSandbox) {
      const before = sandboxIds ?? [];
      // If this sync is aborted, the sandboxes are unknown.
      sandboxIds = undefined;
      sandboxId = await createSandbox(node, allocatedPod(), sandboxConfig, signal);
      if (sandboxId !== undefined) sandboxIds = [...before, sandboxId];
      else {
        node.syncAt(uid, clock.now() + retryMs);
        return;
      }
      // The status is not updated yet: in most Pods the containers start right after the sandbox.
      await read({ reason: 'FailedPodSandBoxStatus', what: 'Unable to get pod sandbox status' });
    }
    const podIPs = isHostNetwork(pod) ? node.hostIPs() : addressesOf(runtimePod);
    const { initContainerStatuses = [], containerStatuses = [] } = status();
    const startContext = {
      pod: allocatedPod(),
      statuses: [...initContainerStatuses, ...containerStatuses],
      runtimePod,
      sandboxId: sandboxId!,
      sandboxConfig,
      facts: downwardContextFor(podIPs),
      volumes: mounted,
      pullSecrets: await pullSecretsOf(node, pod),
    };
    const { retryAt, hasNews } = await containerStarts.startAll(startContext, starts, signal);
    if (retryAt !== undefined) node.syncAt(uid, retryAt);
    if (hasNews) markStatusDirty();
    await removeDeadContainers();
  }

  async function updateResources({ resizes }: PodActions): Promise<void> {
    if (resizes.length === 0) return;
    try {
      await resizeContainers(node, allocatedPod(), resizes);
      resizeError = undefined;
    } catch (error) {
      resizeError = descriptionOf(error);
      node.syncAt(uid, clock.now() + retryMs);
    }
    resize();
    await observe();
  }

  /** Garbage-collects exited containers, keeping the newest instance of each name for debugging. */
  async function removeDeadContainers(): Promise<void> {
    const kept = new Set<string>();
    for (const { id, name, state } of runtimePod.containers) {
      if (state !== 'exited') continue;
      if (!kept.has(name)) {
        kept.add(name);
        continue;
      }
      await runtime.removeContainer({ containerId: id });
      await runtime.files.remove(logLinkOf(pod, { name, id }, node.settings));
    }
  }

  function probeChanged(type: ProbeType): void {
    markStatusDirty();
    // Readiness affects only the status; no action is needed.
    if (type !== 'Readiness') requestSync();
  }

  // --- Termination ---

  function kill({ graceSeconds: requested, verdict }: KillOptions): void {
    if (verdict) lastStatus = verdict(status());
    if (stage === 'terminated' || stage === 'finished' || stage === 'gone') {
      if (verdict) scheduleStatusUpdate();
      requestSync();
      return;
    }
    const own = pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
    const next = Math.max(1, Math.min(requested ?? own, graceSeconds ?? Number.POSITIVE_INFINITY));
    const isShorter = graceSeconds !== undefined && next < graceSeconds;
    if (stage !== 'terminating') {
      stage = 'terminating';
      currentSync?.abort();
    } else if (isShorter) currentSync?.abort();
    else if (graceSeconds !== undefined) return;
    graceSeconds = next;
    requestSync();
  }

  async function terminate(signal: AbortSignal): Promise<void> {
    probes.stopLivenessAndStartup();
    await observe();
    try {
      await killPod(killContext, allocatedPod(), runtimePod, graceSeconds, signal);
    } catch (error) {
      signal.throwIfAborted();
      node.record(pod, 'Warning', 'FailedKillPod', `error killing pod: ${descriptionOf(error)}`);
      throw error;
    }
    probes.stop();
    await read();
    if (runtimePod.containers.some(({ state }) => state === 'running')) {
      throw new Error('containers are still running after termination');
    }
    stage = 'terminated';
    // The allocated resources are free from here on.
    node.allocations.remove(uid);
    resolveTerminated();
    probes = noProbes;
    markStatusDirty();
    isSyncPending = true;
  }

  async function finish(): Promise<void> {
    await volumeManager.remove(pod);
    node.sources.unwatchReferences(uid);
    node.tokens.remove(uid);
    stage = 'finished';
    markStatusDirty();
    isSyncPending = true;
  }

  async function cleanUp(): Promise<void> {
    for (const id of await sandboxIdsOf(runtime, uid)) {
      await runtime.removePodSandbox({ podSandboxId: id }).catch((error: unknown) => {
        if (!isNotFoundError(error)) throw error;
      });
    }
    for (const each of runtimePod.containers) await runtime.files.remove(logLinkOf(pod, each, node.settings));
    await runtime.files.remove(logDirectoryOf(pod, node.settings));
    node.statuses.remove(uid);
    // No status update is left to write.
    isStatusPending = false;
    stage = 'gone';
    resolveGone();
  }

  return {
    uid,
    ended,
    gone,
    pod: () => pod,
    status,
    runtimePod: () => runtimePod,
    volumes: volumeManager.mounted,
    isActive: () => stage === 'starting' || stage === 'syncing' || stage === 'terminating',
    isFinished: () => stage === 'finished' || stage === 'gone',
    reject({ reason, message }) {
      node.metrics.countRejection(reason);
      node.record(pod, 'Warning', reason, message);
      stage = 'finished';
      lastStatus = {
        ...pod.status,
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
        startTime: pod.status?.startTime ?? formatTime(clock.now()),
      };
      scheduleStatusUpdate();
    },
    update(next) {
      const before = pod;
      pod = next;
      volumeManager.markStale();
      node.statuses.observe(next);
      if (next.metadata.deletionTimestamp != null) {
        const grace = next.metadata.deletionGracePeriodSeconds;
        kill(grace == null ? {} : { graceSeconds: grace });
        return;
      }
      const isUp = stage === 'starting' || stage === 'syncing';
      if (isUp && isTerminalPhase(next.status?.phase)) kill({});
      else if (stage === 'starting' || (isUp && requiresSync(before, next))) requestSync();
      else if (isUp && lastStatus && haveForeignConditionsChanged(before, next)) markStatusDirty();
    },
    remove() {
      isRemoved = true;
      if (stage === 'finished') return requestSync();
      kill({ graceSeconds: pod.metadata.deletionTimestamp == null ? 1 : (graceSeconds ?? 1) });
    },
    kill,
    stop() {
      currentSync?.abort();
      probes.stop();
      cancelStatusRefresh?.();
      cancelDebounce?.();
    },
    runtimeChanged() {
      isSyncPending = true;
      if (!isSyncing) return requestSync();
      // A sync that waits, for example for an image pull, must not delay the status of other containers.
      cancelStatusRefresh ??= clock.setTimer(statusRefreshMs, () => {
        cancelStatusRefresh = undefined;
        if (stage === 'syncing' || stage === 'terminating') void observe().then(flushStatus, onSyncError);
      });
    },
    requestSync,
  };
}

function startsNothing({ ephemeral, init, regular }: PodActions): boolean {
  return ephemeral.length + init.length + regular.length === 0;
}

/** Reports whether an update requires a sync: most updates are the kubelet's own status writes. */
function requiresSync(before: Pod, after: Pod): boolean {
  const { metadata: a } = before;
  const { metadata: b } = after;
  if (a.generation !== b.generation || (a.generation === undefined && !isSame(before.spec, after.spec))) return true;
  // Environment variables keep the metadata of the container start; files of downward API volumes are updated.
  return hasMetadataFiles(after) && (!isSame(a.labels, b.labels) || !isSame(a.annotations, b.annotations));
}

/** Reports whether conditions of other controllers changed, which readiness gates may depend on. */
function haveForeignConditionsChanged(before: Pod, after: Pod): boolean {
  if (before.status === after.status) return false;
  const foreign = (pod: Pod) => (pod.status?.conditions ?? []).filter(({ type }) => !isKubeletCondition(type));
  return !isSame(foreign(before), foreign(after));
}
