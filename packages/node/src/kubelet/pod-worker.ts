/**
 * One Pod's life on its node. A worker does one thing at a time: it brings the Pod up and keeps it so, ends it when it
 * is to end, and clears away what is left. It looks when something has happened — the Pod changed, the runtime told of a
 * container, a probe's result is another, a back-off is over — and rests otherwise.
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

/** How a Pod is ended before its time. */
export type Ending = {
  /** Takes the place of the Pod's own grace period. */
  readonly graceSeconds?: number;
  /** What is said of it. */
  readonly verdict?: (status: PodStatus) => PodStatus;
};

/** What looks after a Pod. */
export type PodWorker = {
  readonly uid: string;
  readonly pod: () => Pod;
  /** What was last said of it, whether it is in the API yet or not. */
  readonly status: () => PodStatus;
  readonly runtimePod: () => RuntimePod;
  /** Where its volumes are, by their names. */
  readonly volumes: () => ReadonlyMap<string, MountedVolume>;
  /** Whether the Pod was let in, and has not ended. */
  readonly isActive: () => boolean;
  readonly isFinished: () => boolean;
  /** The node does not take the Pod: it is over before it began. */
  reject(refusal: Refusal): void;
  /** The Pod is in the API in another state. */
  update(pod: Pod): void;
  /** The Pod is gone from where it came from: it ends, and all that is left of it goes. */
  remove(): void;
  /** Ends the Pod. */
  end(ending: Ending): void;
  /** The runtime told of a container or sandbox of the Pod. */
  runtimeChanged(): void;
  /** Something the Pod depends on has changed, or its time has come. */
  wake(): void;
  /** The kubelet stops: whatever is under way is left as it is, for the next one to go on from. */
  halt(): void;
  /** Resolves when nothing of the Pod runs any more, and others may have what it had. */
  readonly ended: Promise<void>;
  /** Resolves when nothing of the Pod is left on the node. */
  readonly gone: Promise<void>;
};

type Stage = 'starting' | 'syncing' | 'terminating' | 'terminated' | 'finished' | 'gone';

/** What goes wrong without a known time to try again is tried after so long. */
const retryMs = 10_000;
const networkRetryMs = 1000;
/** How long a pass may go on before what happens meanwhile is shown: Kubernetes looks every second, too. */
const lookMs = 1000;
/** How long a word waits for a better one while something is under way: of what starts at once nothing else is told. */
const holdMs = 100;

/** The worker of a Pod that is to run, or that was found running. */
export function createPodWorker(node: NodeContext, first: Pod): PodWorker {
  const { runtime, clock } = node;
  const uid = first.metadata.uid ?? '';
  const { promise: gone, resolve: announceGone } = Promise.withResolvers<void>();
  const { promise: ended, resolve: announceEnded } = Promise.withResolvers<void>();
  const seenAt = clock.now();
  let pod = first;
  /** What the Pod is to run, with the resources it has been given. */
  let givenSpec = first.spec;
  let resizeClaims: readonly Claim[] = [];
  /** Why containers could not be given what they are to have. */
  let resizeFault: string | undefined;
  let runtimePod: RuntimePod = nothingRuns;
  /** Nobody but this worker makes sandboxes of the Pod, so they need not be looked for each time. */
  let sandboxIds: readonly string[] | undefined;
  let said: PodStatus | undefined;
  /** Whether something has happened since. */
  let isOutdated = false;
  let stage: Stage = 'starting';
  let isRemoved = false;
  let graceSeconds: number | undefined;
  let isWoken = false;
  let isBusy = false;
  let isDeadlineTold = false;
  let pass: AbortController | undefined;
  /** When the last pass was over. */
  let passedAt = Number.NEGATIVE_INFINITY;
  let cancelLook: (() => void) | undefined;
  /** Whether there is something to tell, and until when that may wait. */
  let isUntold = false;
  let heldUntil = Number.NEGATIVE_INFINITY;
  let cancelHold: (() => void) | undefined;
  const containerStarts = createContainerStarts(node);
  let probes: PodProbes = noProbes;
  const mounting = createPodMounting(node, uid);

  /** The Pod with the resources it has been given. */
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
    node.log.warn({ pod: name, error }, 'a Pod could not be brought to where it should be');
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

  /** Asks the runtime what it has of the Pod; what keeps it from answering is told, in these words. */
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

  /** Asks the runtime, and says what comes of it. */
  async function observe(): Promise<void> {
    await read({ reason: 'FailedSync', what: 'error determining status' });
    probes.observe(pod, containerStarts.settled(runtimePod), addressesOf(runtimePod)[0] ?? node.hostIPs()[0] ?? '');
    say();
  }

  /** Has others know how the Pod is now. What that is is made out when it is told, for by then there may be more. */
  function say(): void {
    isOutdated = true;
    publish();
  }

  /** What there is to be said of the Pod now. */
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
    // A Pod all of whose containers have ended is about to be cleared away; then all of it is told at once.
    if (couldRun && isFinal(now.phase) && !runtimePod.containers.some(({ state }) => state === 'running')) return;
    isUntold = false;
    node.statuses.report(pod, { status: now, couldRun, isFinished: stage === 'finished' });
  }

  // --- Bringing the Pod up, and keeping it so ---

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
    // What runs already has its volumes; only nothing new starts without.
    const mounted = found ?? (startsNothing(actions) ? mounting.mounted() : undefined);
    if (!mounted) return;
    signal.throwIfAborted();
    await carryOut(actions, mounted, signal);
  }

  /** Whether the Pod was not over when last looked at, and cannot be now: all its containers are started again. */
  function goesOn(): boolean {
    const { restartPolicy = 'Always', activeDeadlineSeconds } = pod.spec ?? {};
    if (!said || isFinal(said.phase) || isFinal(pod.status?.phase)) return false;
    return restartPolicy === 'Always' && activeDeadlineSeconds == null;
  }

  /** What has come to an end by itself is cleared away like what was ended. */
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
      // Should this be cut off, nobody knows what there is.
      sandboxIds = undefined;
      sandboxId = await createSandbox(node, given(), sandboxConfig, signal);
      if (sandboxId !== undefined) sandboxIds = [...before, sandboxId];
      else {
        node.wakeAt(uid, clock.now() + retryMs);
        return;
      }
      // Nothing is said of it yet: in most Pods containers follow at once.
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

  /** One dead container of a name is kept, for whoever wants to know how it ended. */
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
    // Readiness is for others to know; nothing is done about it here.
    if (type !== 'Readiness') wake();
  }

  // --- Ending it ---

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
      throw new Error('containers run that were ended');
    }
    stage = 'terminated';
    // From here on others may have what it had.
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
    // Nobody is left to be told anything.
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
      // A pass that waits for something, an image say, is not to hide what happens meanwhile.
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

/** Whether a change gives the Pod's worker something to do: most are its own words coming back. */
function asksForMore(before: Pod, after: Pod): boolean {
  const { metadata: a } = before;
  const { metadata: b } = after;
  if (a.generation !== b.generation || (a.generation === undefined && !isSame(before.spec, after.spec))) return true;
  // What containers were given of these when they started they keep; files are kept up to date.
  return hasFilesOfMetadata(after) && (!isSame(a.labels, b.labels) || !isSame(a.annotations, b.annotations));
}

/** Whether others say something else of a Pod, on which its readiness may depend. */
function isJudgedAnew(before: Pod, after: Pod): boolean {
  if (before.status === after.status) return false;
  const foreign = (pod: Pod) => (pod.status?.conditions ?? []).filter(({ type }) => !isKubeletCondition(type));
  return !isSame(foreign(before), foreign(after));
}
