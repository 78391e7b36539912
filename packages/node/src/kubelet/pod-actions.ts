/**
 * What is to be done so that a Pod runs as it should: pure, from its spec, what the runtime has of it, and what its
 * probes say (kubelet.md §4).
 */
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

/** Why a container is killed, where that decides how long it is given. */
export type KillReason = 'LivenessProbe' | 'StartupProbe' | 'Unknown' | undefined;

/** A container to be killed. */
export type Kill = {
  readonly container: Container;
  readonly target: RuntimeContainer;
  readonly message: string;
  readonly reason: KillReason;
};

/** What is to be done, in the order of the fields. */
export type PodActions = {
  /** Everything is stopped: its sandbox is no good, or nothing is left to run. */
  readonly killsPod: boolean;
  readonly createsSandbox: boolean;
  /** The sandbox to go on with, or the one that is replaced. */
  readonly sandboxId: string | undefined;
  readonly attempt: number;
  readonly kills: readonly Kill[];
  readonly ephemeral: readonly Container[];
  readonly init: readonly Container[];
  /** Containers whose resources are changed while they run. */
  readonly resizes: readonly RuntimeContainer[];
  readonly regular: readonly Container[];
};

/** What probes have found out about a container, by the runtime's ID of it. */
export type ProbeFindings = {
  liveness(containerId: string): 'success' | 'failure' | undefined;
  startup(containerId: string): 'success' | 'failure' | undefined;
};

/** What a running container needs so as to have the resources it is given. */
export type ResizeNeed = 'none' | 'update' | 'restart';

/** What `decideActions` looks at. */
export type ActionFacts = {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  readonly probes: ProbeFindings;
  readonly resizeNeed: (container: Container, running: RuntimeContainer) => ResizeNeed;
};

/** Decides what to do next for a Pod that is to run. */
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
    // One that was made and never started is as good as none: whoever made it did not live to start it.
    .filter(({ name }) => (newestOf(runtimePod, name)?.state ?? 'created') === 'created')
    // What an ephemeral container lacks of a container it may not have.
    .map(({ targetContainerName: _, ...container }) => container as Container);
  const initialization = decideInit(facts);
  if (initialization === 'failed') return { ...kept, killsPod: true };
  const { kills, starts, resizes, isDone } = initialization;
  if (!isDone) return { ...kept, ephemeral, kills, init: starts, resizes };

  const main = decideRegular(facts);
  // Sidecars keep nothing alive.
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
 * Looks at init containers from the last to the first: records of those that are through may be gone, so the last one
 * that is known tells how far initialization has come. Sidecars before it are kept running.
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
    if (outcome === 'through') {
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

type InitOutcome = 'through' | 'under way' | 'failed';

function decideInitContainer(
  pod: Pod,
  container: Container,
  newest: RuntimeContainer,
  { kills, starts }: Decided,
): InitOutcome {
  if (newest.state === 'running') return 'under way';
  // A container killed for want of memory has failed, whatever its exit code.
  const hasFailed = newest.exitCode !== 0 || newest.reason === 'OOMKilled';
  if (newest.state === 'exited' && !hasFailed) return 'through';
  if (newest.state !== 'created' && !restartsOnFailure(pod)) return 'failed';
  if (newest.state === 'unknown') kills.push(killOfUnknown('Init container', container, newest));
  starts.push(container);
  return 'under way';
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
    return 'under way';
  }
  const restart = (what: string, reason: KillReason, word = 'Init container') => {
    kills.push({ container, target: newest, message: `${word} ${container.name} ${what}`, reason });
    starts.push(container);
  };
  if (container.startupProbe && probes.startup(newest.id) !== 'success') {
    if (probes.startup(newest.id) === 'failure') restart('failed startup probe', 'StartupProbe');
    return 'under way';
  }
  if (newest.hash !== containerHash(container)) restart('definition changed', undefined);
  else if (probes.liveness(newest.id) === 'failure') restart('failed liveness probe', 'LivenessProbe');
  else if (resizeNeed(container, newest) === 'restart') restart('resize requires restart', undefined, 'Container');
  else if (resizeNeed(container, newest) === 'update') resizes.push(newest);
  return 'through';
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
  /** The Pod itself asks for another container. */
  readonly isWanted?: boolean;
  readonly isResize?: boolean;
};

/** Why a running container cannot stay. What its Pod now wants otherwise is started again whatever its policy. */
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
