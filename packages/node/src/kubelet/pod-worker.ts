/**
 * Pod worker: manages the lifecycle of one Pod on its node. A worker syncs, terminates and cleans up the Pod, one sync
 * at a time. It is event-driven: a change of the Pod, a runtime event, a probe result or the end of a backoff triggers
 * a sync.
 */
import type { Pod, PodStatus } from '@kruise/api/core/pod';
import { isSame } from '@kruise/machinery/json-value';
import { formatTime } from '@kruise/values/time';
import type { Refusal } from './allocations.ts';
import { createContainerStarts } from './container-starts.ts';
import { containersOf, fieldPathOf, type PodContainer } from './containers.ts';
import type { NodeFacts } from './downward.ts';
import { type KillContext, killContainer, killPod } from './kill.ts';
import type { NodeContext } from './node-context.ts';
import { isFinal } from './phase.ts';
import { decideActions, type PodActions } from './pod-actions.ts';
import { type Claim, isKubeletCondition } from './pod-conditions.ts';
import { createPodMounting } from './pod-mounting.ts';
import { configureSandbox, createSandbox, pullSecretsOf } from './pod-sandbox.ts';
import { deadlineMessage, deadlineOf, finishedStatus, podStatusOf } from './pod-status.ts';
import type { ProbeType } from './probe-state.ts';
import { createPodProbes, hasProbes, noProbes, type PodProbes } from './probes.ts';
import { readRuntimePod, sandboxIdsOf } from './read-runtime-pod.ts';
import { resizeContainers } from './resize-containers.ts';
import { descriptionOf, isGone, rpcTextOf } from './runtime-error.ts';
import { addressesOf, isHostNetwork, newestOf, nothingRuns, type RuntimePod } from './runtime-pod.ts';
import { logDirectoryOf, logLinkOf } from './sandbox-config.ts';
import { hasFilesOfMetadata, referencesOf } from './volume-content.ts';
import type { MountedVolume } from './volumes.ts';

/** Options for terminating a Pod. */
export type Ending = {
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
  reject(refusal: Refusal): void;
  /** Handles an update of the Pod object. */
  update(pod: Pod): void;
  /** Handles the deletion of the Pod object: terminates the Pod and removes its leftovers. */
  remove(): void;
  /** Terminates the Pod. */
  end(ending: Ending): void;
  /** Handles a runtime event of a container or sandbox of the Pod. */
  runtimeChanged(): void;
  /** Triggers a sync. */
  wake(): void;
  /** Stops the worker with the kubelet: the state stays as it is for the next kubelet. */
  halt(): void;
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
const lookMs = 1000;
/** Debounce interval of status updates while a sync is in progress: a Pod that starts quickly is written once. */
const holdMs = 100;

/** Creates the worker of a Pod that should run or already runs. */
export function createPodWorker(node: NodeContext, first: Pod): PodWorker {
  const { runtime, clock } = node;
  const uid = first.metadata.uid ?? '';
  const { promise: gone, resolve: announceGone } = Promise.withResolvers<void>();
  const { promise: ended, resolve: announceEnded } = Promise.withResolvers<void>();
  const seenAt = clock.now();
  let pod = first;
  /** Pod spec with the allocated resources. */
  let givenSpec = first.spec;
  let resizeClaims: readonly Claim[] = [];
  /** Error of the last resize attempt. */
  let resizeFault: string | undefined;
  let runtimePod: RuntimePod = nothingRuns;
  /** Only this worker creates sandboxes of the Pod, so their IDs are cached. */
  let sandboxIds: readonly string[] | undefined;
  let said: PodStatus | undefined;
  /** True if the status must be recomputed. */
  let isOutdated = false;
  let stage: Stage = 'starting';
  let isRemoved = false;
  let graceSeconds: number | undefined;
  let isWoken = false;
  let isBusy = false;
  let isDeadlineTold = false;
  let pass: AbortController | undefined;
  /** End of the last sync. */
  let passedAt = Number.NEGATIVE_INFINITY;
  let cancelLook: (() => void) | undefined;
  /** True if a status update is pending; the debounce limits how long it waits. */
  let isUntold = false;
  let heldUntil = Number.NEGATIVE_INFINITY;
  let cancelHold: (() => void) | undefined;
  const containerStarts = createContainerStarts(node);
  let probes: PodProbes = noProbes;
  const mounting = createPodMounting(node, uid);

  /** Returns the Pod with its allocated resources. */
  const given = (): Pod => (givenSpec === pod.spec || !givenSpec ? pod : { ...pod, spec: givenSpec });
  const record = (podContainer: PodContainer, type: 'Normal' | 'Warning', reason: string, message: string) =>
    node.record(pod, type, reason, message, fieldPathOf(podContainer));
  const killing: KillContext = { runtime, clock, record, podIP: () => addressesOf(runtimePod)[0] ?? '' };

  function wake(): void {
    isWoken = true;
    if (!isBusy && stage !== 'gone') void work();
  }

  async function work(): Promise<void> {
    isBusy = true;
    while (isWoken && stage !== 'gone' && !node.signal.aborted) {
      if (node.listings) await node.listings.newerThan(passedAt);
      isWoken = false;
      const current = new AbortController();
      pass = current;
      try {
        await look(current.signal);
      } catch (error) {
        if (!current.signal.aborted && !node.signal.aborted) failed(error);
      }
      pass = undefined;
      passedAt = clock.now();
      cancelLook?.();
      cancelLook = undefined;
    }
    isBusy = false;
    if (!probes.areFirstUnderWay()) tell();
  }

  function failed(error: unknown): void {
    const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
    node.log.warn({ pod: name, error }, 'pod sync failed');
    node.wakeAt(uid, clock.now() + retryMs);
  }

  async function look(signal: AbortSignal): Promise<void> {
    switch (stage) {
      case 'starting':
      case 'syncing':
        return sync(signal);
      case 'terminating':
        return terminate(signal);
      case 'terminated':
        return finish();
      case 'finished':
        if (isRemoved) await clearAway();
    }
  }

  /** Reads the state of the Pod from the runtime; a failure is recorded with the given event reason. */
  async function read(words?: { readonly reason: string; readonly what: string }): Promise<void> {
    try {
      sandboxIds ??= await sandboxIdsOf(runtime, uid);
      runtimePod = await readRuntimePod(runtime, sandboxIds, runtimePod);
    } catch (error) {
      if (words && !node.signal.aborted) {
        node.record(pod, 'Warning', words.reason, `${words.what}: ${rpcTextOf(error)}`);
      }
      throw error;
    }
  }

  /** Reads the runtime state and updates probes and status. */
  async function observe(): Promise<void> {
    await read({ reason: 'FailedSync', what: 'error determining status' });
    probes.observe(pod, containerStarts.settled(runtimePod), addressesOf(runtimePod)[0] ?? node.hostIPs()[0] ?? '');
    say();
  }

  /** Marks the status as stale. The status is computed only when it is written, to include later changes. */
  function say(): void {
    isOutdated = true;
    publish();
  }

  /** Returns the current status. */
  function status(): PodStatus {
    const previous = said ?? pod.status ?? {};
    if (!isOutdated) return previous;
    isOutdated = false;
    const found = podStatusOf({
      pod: given(),
      runtimePod: containerStarts.settled(runtimePod),
      previous,
      failures: containerStarts.failures,
      probes,
      runtimeName: node.runtimeName(),
      resourcesOf: (container, running) => node.allocations.statusOf(uid, container, running),
      resizeClaims,
      isEnding: stage === 'terminated' || stage === 'finished',
      hostIPs: node.hostIPs(),
      now: clock.now(),
    });
    if (found.phase === 'Running' && previous.phase === 'Pending') {
      node.metrics.podRuns((clock.now() - seenAt) / 1000);
    }
    said = stage === 'finished' ? finishedStatus(pod, found) : found;
    return said;
  }

  function publish(): void {
    isUntold = true;
    if (isBusy || probes.areFirstUnderWay()) {
      heldUntil = clock.elapsedMs() + holdMs;
      cancelHold ??= clock.setTimer(holdMs, endHold);
    } else tell();
  }

  function endHold(): void {
    const left = heldUntil - clock.elapsedMs();
    if (left > 0) cancelHold = clock.setTimer(left, endHold);
    else tell();
  }

  function tell(): void {
    cancelHold?.();
    cancelHold = undefined;
    if (!isUntold) return;
    const couldRun = stage !== 'terminated' && stage !== 'finished';
    const now = status();
    // A Pod whose containers have all exited is about to be cleaned up, so the final status is written once.
    if (couldRun && isFinal(now.phase) && !runtimePod.containers.some(({ state }) => state === 'running')) return;
    isUntold = false;
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
      node.sources.hold(uid, referencesOf(pod), () => {
        mounting.outdate();
        wake();
      });
    }
    resize();
    await observe();
    if (!goesOn()) {
      if (isFinal(status().phase)) return becomeFinal();
      const deadline = deadlineOf(pod, status());
      if (deadline !== undefined) node.wakeAt(uid, deadline);
    }

    const fault = isHostNetwork(pod) ? undefined : node.networkFault();
    if (fault !== undefined) {
      node.record(pod, 'Warning', 'NetworkNotReady', `network is not ready: ${fault}`);
      node.wakeAt(uid, clock.now() + networkRetryMs);
      return;
    }
    const actions = decide();
    const found = await mounting.ensure(given(), factsOf(addressesOf(runtimePod)));
    // Running containers have their volumes; only new containers need all volumes to be mounted.
    const mounted = found ?? (startsNothing(actions) ? mounting.mounted() : undefined);
    if (!mounted) return;
    signal.throwIfAborted();
    await carryOut(actions, mounted, signal);
  }

  /** Reports whether the Pod cannot be in a terminal phase: all its containers restart, and it has no deadline. */
  function goesOn(): boolean {
    const { restartPolicy = 'Always', activeDeadlineSeconds } = pod.spec ?? {};
    if (!said || isFinal(said.phase) || isFinal(pod.status?.phase)) return false;
    return restartPolicy === 'Always' && activeDeadlineSeconds == null;
  }

  /** A completed Pod is cleaned up like a terminated one. */
  function becomeFinal(): void {
    if (status().reason === 'DeadlineExceeded' && !isDeadlineTold) {
      isDeadlineTold = true;
      node.record(pod, 'Normal', 'DeadlineExceeded', deadlineMessage);
    }
    end({});
  }

  function resize(): void {
    const resized = node.allocations.resize(pod, { allocatable: node.allocatable(), admits: node.admits });
    const { pending, changed } = resized;
    givenSpec = resized.pod.spec;
    const containers = containersOf(given()).map(({ container }) => container);
    for (const container of containers) if (changed.includes(container.name)) containerStarts.forgive(container);
    const isUnderWay = containers.some((container) => {
      const newest = newestOf(runtimePod, container.name);
      return newest?.state === 'running' && node.allocations.needOf(uid, container, newest) !== 'none';
    });
    const underWay: Claim = {
      type: 'PodResizeInProgress',
      status: 'True',
      ...(resizeFault === undefined ? {} : { reason: 'Error', message: resizeFault }),
    };
    resizeClaims = [...(pending ? [pending] : []), ...(isUnderWay ? [underWay] : [])];
    if (pending?.reason === 'Deferred') node.wakeAt(uid, clock.now() + retryMs);
  }

  function decide(): PodActions {
    return decideActions({
      pod: given(),
      runtimePod,
      probes,
      resizeNeed: (container, running) => node.allocations.needOf(uid, container, running),
    });
  }

  function factsOf(podIPs: readonly string[]): NodeFacts {
    return { podIPs, hostIPs: node.hostIPs(), allocatable: node.allocatable() };
  }

  async function carryOut(
    actions: PodActions,
    mounted: ReadonlyMap<string, MountedVolume>,
    signal: AbortSignal,
  ): Promise<void> {
    if (actions.createsSandbox && actions.sandboxId !== undefined) {
      node.record(pod, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    }
    if (actions.killsPod) {
      await killPod(killing, given(), runtimePod, undefined, signal);
      if (!actions.createsSandbox) return observe();
    }
    for (const { target, message, reason } of actions.kills) {
      await killContainer(killing, { pod: given(), target, message, reason }, signal);
    }
    const starts = [...actions.ephemeral, ...actions.init, ...actions.regular];
    if (actions.kills.length > 0) await read();
    await updateResources(actions);
    if (starts.length === 0 && !actions.createsSandbox) return;

    const sandboxConfig = await configureSandbox(node, given(), actions.attempt);
    if (!sandboxConfig) {
      node.wakeAt(uid, clock.now() + retryMs);
      return;
    }
    let { sandboxId } = actions;
    if (actions.createsSandbox) {
      const before = sandboxIds ?? [];
      // If this sync is aborted, the sandboxes are unknown.
      sandboxIds = undefined;
      sandboxId = await createSandbox(node, given(), sandboxConfig, signal);
      if (sandboxId !== undefined) sandboxIds = [...before, sandboxId];
      else {
        node.wakeAt(uid, clock.now() + retryMs);
        return;
      }
      // The status is not updated yet: in most Pods the containers start right after the sandbox.
      await read({ reason: 'FailedPodSandBoxStatus', what: 'Unable to get pod sandbox status' });
    }
    const podIPs = isHostNetwork(pod) ? node.hostIPs() : addressesOf(runtimePod);
    const { initContainerStatuses = [], containerStatuses = [] } = status();
    const scene = {
      pod: given(),
      statuses: [...initContainerStatuses, ...containerStatuses],
      runtimePod,
      sandboxId: sandboxId!,
      sandboxConfig,
      facts: factsOf(podIPs),
      volumes: mounted,
      pullSecrets: await pullSecretsOf(node, pod),
    };
    const { retryAt, hasNews } = await containerStarts.startAll(scene, starts, signal);
    if (retryAt !== undefined) node.wakeAt(uid, retryAt);
    if (hasNews) say();
    await prune();
  }

  async function updateResources({ resizes }: PodActions): Promise<void> {
    if (resizes.length === 0) return;
    try {
      await resizeContainers(node, given(), resizes);
      resizeFault = undefined;
    } catch (error) {
      resizeFault = descriptionOf(error);
      node.wakeAt(uid, clock.now() + retryMs);
    }
    resize();
    await observe();
  }

  /** Garbage-collects exited containers, keeping the newest instance of each name for debugging. */
  async function prune(): Promise<void> {
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
    say();
    // Readiness affects only the status; no action is needed.
    if (type !== 'Readiness') wake();
  }

  // --- Termination ---

  function end({ graceSeconds: wanted, verdict }: Ending): void {
    if (verdict) said = verdict(status());
    if (stage === 'terminated' || stage === 'finished' || stage === 'gone') {
      if (verdict) publish();
      wake();
      return;
    }
    const own = pod.metadata.deletionGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
    const next = Math.max(1, Math.min(wanted ?? own, graceSeconds ?? Number.POSITIVE_INFINITY));
    const isShorter = graceSeconds !== undefined && next < graceSeconds;
    if (stage !== 'terminating') {
      stage = 'terminating';
      pass?.abort();
    } else if (isShorter) pass?.abort();
    else if (graceSeconds !== undefined) return;
    graceSeconds = next;
    wake();
  }

  async function terminate(signal: AbortSignal): Promise<void> {
    probes.stopLethal();
    await observe();
    try {
      await killPod(killing, given(), runtimePod, graceSeconds, signal);
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
    node.allocations.forget(uid);
    announceEnded();
    probes = noProbes;
    say();
    isWoken = true;
  }

  async function finish(): Promise<void> {
    await mounting.remove(pod);
    node.sources.release(uid);
    node.tokens.forget(uid);
    stage = 'finished';
    say();
    isWoken = true;
  }

  async function clearAway(): Promise<void> {
    for (const id of await sandboxIdsOf(runtime, uid)) {
      await runtime.removePodSandbox({ podSandboxId: id }).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    }
    for (const each of runtimePod.containers) await runtime.files.remove(logLinkOf(pod, each, node.settings));
    await runtime.files.remove(logDirectoryOf(pod, node.settings));
    node.statuses.forget(uid);
    // No status update is left to write.
    isUntold = false;
    stage = 'gone';
    announceGone();
  }

  return {
    uid,
    ended,
    gone,
    pod: () => pod,
    status,
    runtimePod: () => runtimePod,
    volumes: mounting.mounted,
    isActive: () => stage === 'starting' || stage === 'syncing' || stage === 'terminating',
    isFinished: () => stage === 'finished' || stage === 'gone',
    reject({ reason, message }) {
      node.metrics.rejected(reason);
      node.record(pod, 'Warning', reason, message);
      stage = 'finished';
      said = {
        ...pod.status,
        phase: 'Failed',
        reason,
        message: `Pod was rejected: ${message}`,
        startTime: pod.status?.startTime ?? formatTime(clock.now()),
      };
      publish();
    },
    update(next) {
      const before = pod;
      pod = next;
      mounting.outdate();
      node.statuses.seen(next);
      if (next.metadata.deletionTimestamp != null) {
        const grace = next.metadata.deletionGracePeriodSeconds;
        end(grace == null ? {} : { graceSeconds: grace });
        return;
      }
      const isUp = stage === 'starting' || stage === 'syncing';
      if (isUp && isFinal(next.status?.phase)) end({});
      else if (stage === 'starting' || (isUp && asksForMore(before, next))) wake();
      else if (isUp && said && isJudgedAnew(before, next)) say();
    },
    remove() {
      isRemoved = true;
      if (stage === 'finished') return wake();
      end({ graceSeconds: pod.metadata.deletionTimestamp == null ? 1 : (graceSeconds ?? 1) });
    },
    end,
    halt() {
      pass?.abort();
      probes.stop();
      cancelLook?.();
      cancelHold?.();
    },
    runtimeChanged() {
      isWoken = true;
      if (!isBusy) return wake();
      // A sync that waits, for example for an image pull, must not delay the status of other containers.
      cancelLook ??= clock.setTimer(lookMs, () => {
        cancelLook = undefined;
        if (stage === 'syncing' || stage === 'terminating') void observe().then(tell, failed);
      });
    },
    wake,
  };
}

function startsNothing({ ephemeral, init, regular }: PodActions): boolean {
  return ephemeral.length + init.length + regular.length === 0;
}

/** Reports whether an update requires a sync: most updates are the kubelet's own status writes. */
function asksForMore(before: Pod, after: Pod): boolean {
  const { metadata: a } = before;
  const { metadata: b } = after;
  if (a.generation !== b.generation || (a.generation === undefined && !isSame(before.spec, after.spec))) return true;
  // Environment variables keep the metadata of the container start; files of downward API volumes are updated.
  return hasFilesOfMetadata(after) && (!isSame(a.labels, b.labels) || !isSame(a.annotations, b.annotations));
}

/** Reports whether conditions of other controllers changed, which readiness gates may depend on. */
function isJudgedAnew(before: Pod, after: Pod): boolean {
  if (before.status === after.status) return false;
  const foreign = (pod: Pod) => (pod.status?.conditions ?? []).filter(({ type }) => !isKubeletCondition(type));
  return !isSame(foreign(before), foreign(after));
}
