/** Pod sync actions: a pure function of the Pod spec, the runtime state and the probe results. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { containerHash } from './containers.ts';
import {
  hasActiveRegularContainer,
  newestOf,
  type RuntimeContainer,
  type RuntimePod,
  restartsOnFailure,
  sandboxChange,
  shouldStart,
} from './runtime-pod.ts';

/** Reason to kill a container, if it affects the grace period. */
export type KillReason = 'LivenessProbe' | 'StartupProbe' | 'Unknown' | undefined;

/** A container to kill. */
export type Kill = {
  readonly container: Container;
  readonly target: RuntimeContainer;
  readonly message: string;
  readonly reason: KillReason;
};

/** Actions of one sync, in the order of the fields. */
export type PodActions = {
  /** Kills the whole Pod: its sandbox is unusable, or no container is left to run. */
  readonly killsPod: boolean;
  readonly createsSandbox: boolean;
  /** The current sandbox, or the one to replace. */
  readonly sandboxId: string | undefined;
  readonly attempt: number;
  readonly kills: readonly Kill[];
  readonly ephemeral: readonly Container[];
  readonly init: readonly Container[];
  /** Running containers whose resources are updated in place. */
  readonly resizes: readonly RuntimeContainer[];
  readonly regular: readonly Container[];
};

/** Probe results by container ID. */
export type ProbeFindings = {
  liveness(containerId: string): 'success' | 'failure' | undefined;
  startup(containerId: string): 'success' | 'failure' | undefined;
};

/** Action that brings a running container to its allocated resources. */
export type ResizeNeed = 'none' | 'update' | 'restart';

/** Inputs of `decideActions`. */
export type ActionFacts = {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  readonly probes: ProbeFindings;
  readonly resizeNeed: (container: Container, running: RuntimeContainer) => ResizeNeed;
};

/** Decides the next actions for a Pod that should run. */
export function decideActions(facts: ActionFacts): PodActions {
  const { pod, runtimePod } = facts;
  const { isNeeded, attempt, sandboxId } = sandboxChange(pod, runtimePod);
  return isNeeded ? inNewSandbox(pod, runtimePod, { attempt, sandboxId }) : inSandbox(facts, { attempt, sandboxId });
}

type Sandbox = Pick<PodActions, 'attempt' | 'sandboxId'>;

const nothing = { kills: [], ephemeral: [], init: [], resizes: [], regular: [] };

function inNewSandbox(pod: Pod, runtimePod: RuntimePod, sandbox: Sandbox): PodActions {
  const done = { ...nothing, ...sandbox, killsPod: true, createsSandbox: false };
  if (!restartsOnFailure(pod) && sandbox.attempt !== 0 && runtimePod.containers.length > 0) return done;
  const { initContainers = [], containers = [], restartPolicy } = pod.spec ?? {};
  const regular = containers.filter(
    ({ name }) => restartPolicy !== 'OnFailure' || !hasSucceeded(newestOf(runtimePod, name)),
  );
  const wasInitialized = containers.some(({ name }) => {
    const newest = newestOf(runtimePod, name);
    return newest !== undefined && newest.state !== 'unknown';
  });
  if (regular.length === 0 && wasInitialized) return done;
  const [first] = initContainers;
  return { ...done, createsSandbox: true, ...(first ? { init: [first] } : { regular }) };
}

function hasSucceeded(container: RuntimeContainer | undefined): boolean {
  return container?.state === 'exited' && container.exitCode === 0;
}

function inSandbox(facts: ActionFacts, sandbox: Sandbox): PodActions {
  const { pod, runtimePod } = facts;
  const kept = { ...nothing, ...sandbox, killsPod: false, createsSandbox: false };
  const ephemeral = (pod.spec?.ephemeralContainers ?? [])
    // An ephemeral container that was created but never started counts as missing: a previous kubelet stopped in
    // between.
    .filter(({ name }) => (newestOf(runtimePod, name)?.state ?? 'created') === 'created')
    // The cast is safe: an ephemeral container has no fields that a container lacks.
    .map(({ targetContainerName: _, ...container }) => container as Container);
  const initialization = decideInit(facts);
  if (initialization === 'failed') return { ...kept, killsPod: true };
  const { kills, starts, resizes, isDone } = initialization;
  if (!isDone) return { ...kept, ephemeral, kills, init: starts, resizes };

  const main = decideRegular(facts);
  // Sidecars alone do not keep a Pod running.
  if (main.keptCount === 0 && main.starts.length === 0) return { ...kept, killsPod: true };
  return {
    ...kept,
    ephemeral,
    kills: [...kills, ...main.kills],
    init: starts,
    resizes: [...resizes, ...main.resizes],
    regular: main.starts,
  };
}

type Decided = {
  readonly kills: Kill[];
  readonly starts: Container[];
  readonly resizes: RuntimeContainer[];
};

/**
 * Checks init containers from last to first. Completed init containers may already be garbage-collected, so the last
 * known one shows the progress of the initialization. Earlier sidecars are kept running.
 */
function decideInit(facts: ActionFacts): (Decided & { readonly isDone: boolean }) | 'failed' {
  const { pod, runtimePod } = facts;
  const containers = pod.spec?.initContainers ?? [];
  const decided: Decided = { kills: [], starts: [], resizes: [] };
  if (containers.length === 0) return { ...decided, isDone: true };
  let isDone = hasActiveRegularContainer(pod, runtimePod);
  let isPast = isDone;

  for (const [index, container] of [...containers.entries()].reverse()) {
    const newest = newestOf(runtimePod, container.name);
    if (!newest) {
      if (isPast && isSidecar(container)) decided.starts.push(container);
      continue;
    }
    if (isPast && !isSidecar(container)) continue;
    const outcome = isSidecar(container)
      ? decideSidecar(facts, container, newest, decided)
      : decideInitContainer(pod, container, newest, decided);
    if (outcome === 'failed') return 'failed';
    if (outcome === 'completed') {
      const next = containers[index + 1];
      if (!next) isDone = true;
      else if (!isPast) decided.starts.push(next);
    }
    isPast = true;
  }
  if (!isPast) decided.starts.push(containers[0]!);
  decided.starts.reverse();
  return { ...decided, isDone };
}

type InitOutcome = 'completed' | 'in progress' | 'failed';

function decideInitContainer(
  pod: Pod,
  container: Container,
  newest: RuntimeContainer,
  { kills, starts }: Decided,
): InitOutcome {
  if (newest.state === 'running') return 'in progress';
  // An OOM-killed container has failed, whatever its exit code is.
  const hasFailed = newest.exitCode !== 0 || newest.reason === 'OOMKilled';
  if (newest.state === 'exited' && !hasFailed) return 'completed';
  if (newest.state !== 'created' && !restartsOnFailure(pod)) return 'failed';
  if (newest.state === 'unknown') kills.push(killOfUnknown('Init container', container, newest));
  starts.push(container);
  return 'in progress';
}

function decideSidecar(
  { probes, resizeNeed }: ActionFacts,
  container: Container,
  newest: RuntimeContainer,
  { kills, starts, resizes }: Decided,
): InitOutcome {
  if (newest.state !== 'running') {
    if (newest.state === 'unknown') kills.push(killOfUnknown('Init container', container, newest));
    starts.push(container);
    return 'in progress';
  }
  const restart = (what: string, reason: KillReason, word = 'Init container') => {
    kills.push({ container, target: newest, message: `${word} ${container.name} ${what}`, reason });
    starts.push(container);
  };
  if (container.startupProbe && probes.startup(newest.id) !== 'success') {
    if (probes.startup(newest.id) === 'failure') restart('failed startup probe', 'StartupProbe');
    return 'in progress';
  }
  if (newest.hash !== containerHash(container)) restart('definition changed', undefined);
  else if (probes.liveness(newest.id) === 'failure') restart('failed liveness probe', 'LivenessProbe');
  else if (resizeNeed(container, newest) === 'restart') restart('resize requires restart', undefined, 'Container');
  else if (resizeNeed(container, newest) === 'update') resizes.push(newest);
  return 'completed';
}

function decideRegular(facts: ActionFacts): Decided & { readonly keptCount: number } {
  const { pod, runtimePod, resizeNeed } = facts;
  const decided: Decided = { kills: [], starts: [], resizes: [] };
  let keptCount = 0;
  for (const container of pod.spec?.containers ?? []) {
    const newest = newestOf(runtimePod, container.name);
    if (newest?.state !== 'running') {
      if (!shouldStart(container, pod, runtimePod)) continue;
      decided.starts.push(container);
      if (newest?.state === 'unknown') decided.kills.push(killOfUnknown('Container', container, newest));
      continue;
    }
    const fault = faultOf(facts, container, newest);
    if (!fault) {
      keptCount++;
      if (resizeNeed(container, newest) === 'update') decided.resizes.push(newest);
      continue;
    }
    const restarts = fault.isWanted || restartsOnFailure(pod);
    const message = `Container ${container.name} ${fault.what}${restarts && !fault.isResize ? ', will be restarted' : ''}`;
    decided.kills.push({ container, target: newest, message, reason: fault.reason });
    if (restarts) decided.starts.push(container);
  }
  return { ...decided, keptCount };
}

type Fault = {
  readonly what: string;
  readonly reason?: KillReason;
  /** The Pod spec requires a new container. */
  readonly isWanted?: boolean;
  readonly isResize?: boolean;
};

/**
 * Returns why a running container must be killed. A container whose spec changed restarts whatever the restart policy
 * is.
 */
function faultOf(
  { probes, resizeNeed }: ActionFacts,
  container: Container,
  running: RuntimeContainer,
): Fault | undefined {
  if (running.hash !== containerHash(container)) {
    return { what: 'definition changed', isWanted: true };
  }
  if (probes.liveness(running.id) === 'failure') {
    return { what: 'failed liveness probe', reason: 'LivenessProbe' };
  }
  if (probes.startup(running.id) === 'failure') {
    return { what: 'failed startup probe', reason: 'StartupProbe' };
  }
  if (resizeNeed(container, running) === 'restart') {
    return { what: 'resize requires restart', isWanted: true, isResize: true };
  }
  return undefined;
}

function killOfUnknown(what: string, container: Container, target: RuntimeContainer): Kill {
  const message = `${what} is in "unknown" state, try killing it before restart`;
  return { container, target, message, reason: 'Unknown' };
}
