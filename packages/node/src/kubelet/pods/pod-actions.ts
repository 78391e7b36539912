/** Pod sync actions: a pure function of the Pod spec, the runtime state and the probe results. */
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { containerHash } from '../containers/containers.ts';
import {
  hasActiveRegularContainer,
  newestOf,
  type RuntimeContainer,
  type RuntimePod,
  restartsOnFailure,
  sandboxChange,
  shouldStart,
} from '../runtime/runtime-pod.ts';

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
export type ProbeOutcomes = {
  liveness(containerId: string): 'success' | 'failure' | undefined;
  startup(containerId: string): 'success' | 'failure' | undefined;
};

/** Action that brings a running container to its allocated resources. */
export type ResizeAction = 'none' | 'update' | 'restart';

/** Inputs of `decideActions`. */
export type ActionInputs = {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  readonly probes: ProbeOutcomes;
  readonly resizeActionFor: (container: Container, running: RuntimeContainer) => ResizeAction;
};

/** Decides the next actions for a Pod that should run. */
export function decideActions(inputs: ActionInputs): PodActions {
  const { pod, runtimePod } = inputs;
  const { isNeeded, attempt, sandboxId } = sandboxChange(pod, runtimePod);
  return isNeeded
    ? actionsInNewSandbox(pod, runtimePod, { attempt, sandboxId })
    : actionsInSandbox(inputs, { attempt, sandboxId });
}

type Sandbox = Pick<PodActions, 'attempt' | 'sandboxId'>;

const noActions = { kills: [], ephemeral: [], init: [], resizes: [], regular: [] };

function actionsInNewSandbox(pod: Pod, runtimePod: RuntimePod, sandbox: Sandbox): PodActions {
  const done = { ...noActions, ...sandbox, killsPod: true, createsSandbox: false };
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

function actionsInSandbox(inputs: ActionInputs, sandbox: Sandbox): PodActions {
  const { pod, runtimePod } = inputs;
  const kept = { ...noActions, ...sandbox, killsPod: false, createsSandbox: false };
  const ephemeral = (pod.spec?.ephemeralContainers ?? [])
    // An ephemeral container that was created but never started counts as missing: a previous kubelet stopped in
    // between.
    .filter(({ name }) => (newestOf(runtimePod, name)?.state ?? 'created') === 'created')
    // The cast is safe: an ephemeral container has no fields that a container lacks.
    .map(({ targetContainerName: _, ...container }) => container as Container);
  const initialization = decideInit(inputs);
  if (initialization === 'failed') return { ...kept, killsPod: true };
  const { kills, starts, resizes, isDone } = initialization;
  if (!isDone) return { ...kept, ephemeral, kills, init: starts, resizes };

  const main = decideRegular(inputs);
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

type ContainerDecisions = {
  readonly kills: Kill[];
  readonly starts: Container[];
  readonly resizes: RuntimeContainer[];
};

/**
 * Checks init containers from last to first. Completed init containers may already be garbage-collected, so the last
 * known one shows the progress of the initialization. Earlier sidecars are kept running.
 */
function decideInit(inputs: ActionInputs): (ContainerDecisions & { readonly isDone: boolean }) | 'failed' {
  const { pod, runtimePod } = inputs;
  const containers = pod.spec?.initContainers ?? [];
  const decisions: ContainerDecisions = { kills: [], starts: [], resizes: [] };
  if (containers.length === 0) return { ...decisions, isDone: true };
  let isDone = hasActiveRegularContainer(pod, runtimePod);
  let isPastLastKnown = isDone;

  for (const [index, container] of [...containers.entries()].reverse()) {
    const newest = newestOf(runtimePod, container.name);
    if (!newest) {
      if (isPastLastKnown && isSidecar(container)) decisions.starts.push(container);
      continue;
    }
    if (isPastLastKnown && !isSidecar(container)) continue;
    const outcome = isSidecar(container)
      ? decideSidecar(inputs, container, newest, decisions)
      : decideInitContainer(pod, container, newest, decisions);
    if (outcome === 'failed') return 'failed';
    if (outcome === 'completed') {
      const next = containers[index + 1];
      if (!next) isDone = true;
      else if (!isPastLastKnown) decisions.starts.push(next);
    }
    isPastLastKnown = true;
  }
  if (!isPastLastKnown) decisions.starts.push(containers[0]!);
  decisions.starts.reverse();
  return { ...decisions, isDone };
}

type InitOutcome = 'completed' | 'in progress' | 'failed';

function decideInitContainer(
  pod: Pod,
  container: Container,
  newest: RuntimeContainer,
  { kills, starts }: ContainerDecisions,
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
  { probes, resizeActionFor }: ActionInputs,
  container: Container,
  newest: RuntimeContainer,
  { kills, starts, resizes }: ContainerDecisions,
): InitOutcome {
  if (newest.state !== 'running') {
    if (newest.state === 'unknown') kills.push(killOfUnknown('Init container', container, newest));
    starts.push(container);
    return 'in progress';
  }
  const restart = (what: string, reason: KillReason, subject = 'Init container') => {
    kills.push({ container, target: newest, message: `${subject} ${container.name} ${what}`, reason });
    starts.push(container);
  };
  if (container.startupProbe && probes.startup(newest.id) !== 'success') {
    if (probes.startup(newest.id) === 'failure') restart('failed startup probe', 'StartupProbe');
    return 'in progress';
  }
  if (newest.hash !== containerHash(container)) restart('definition changed', undefined);
  else if (probes.liveness(newest.id) === 'failure') restart('failed liveness probe', 'LivenessProbe');
  else if (resizeActionFor(container, newest) === 'restart') restart('resize requires restart', undefined, 'Container');
  else if (resizeActionFor(container, newest) === 'update') resizes.push(newest);
  return 'completed';
}

function decideRegular(inputs: ActionInputs): ContainerDecisions & { readonly keptCount: number } {
  const { pod, runtimePod, resizeActionFor } = inputs;
  const decisions: ContainerDecisions = { kills: [], starts: [], resizes: [] };
  let keptCount = 0;
  for (const container of pod.spec?.containers ?? []) {
    const newest = newestOf(runtimePod, container.name);
    if (newest?.state !== 'running') {
      if (!shouldStart(container, pod, runtimePod)) continue;
      decisions.starts.push(container);
      if (newest?.state === 'unknown') decisions.kills.push(killOfUnknown('Container', container, newest));
      continue;
    }
    const cause = restartCause(inputs, container, newest);
    if (!cause) {
      keptCount++;
      if (resizeActionFor(container, newest) === 'update') decisions.resizes.push(newest);
      continue;
    }
    const restarts = cause.isWanted || restartsOnFailure(pod);
    const message = `Container ${container.name} ${cause.what}${restarts && !cause.isResize ? ', will be restarted' : ''}`;
    decisions.kills.push({ container, target: newest, message, reason: cause.reason });
    if (restarts) decisions.starts.push(container);
  }
  return { ...decisions, keptCount };
}

type RestartCause = {
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
function restartCause(
  { probes, resizeActionFor }: ActionInputs,
  container: Container,
  running: RuntimeContainer,
): RestartCause | undefined {
  if (running.hash !== containerHash(container)) {
    return { what: 'definition changed', isWanted: true };
  }
  if (probes.liveness(running.id) === 'failure') {
    return { what: 'failed liveness probe', reason: 'LivenessProbe' };
  }
  if (probes.startup(running.id) === 'failure') {
    return { what: 'failed startup probe', reason: 'StartupProbe' };
  }
  if (resizeActionFor(container, running) === 'restart') {
    return { what: 'resize requires restart', isWanted: true, isResize: true };
  }
  return undefined;
}

function killOfUnknown(what: string, container: Container, target: RuntimeContainer): Kill {
  const message = `${what} is in "unknown" state, try killing it before restart`;
  return { container, target, message, reason: 'Unknown' };
}
