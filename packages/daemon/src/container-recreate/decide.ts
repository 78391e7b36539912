/** ContainerRecreateRequest reconciler on the node: restarts the containers of a request, one after the other. */
import type {
  ContainerRecreateRequest,
  ContainerRecreateRequestStatus,
} from '@kruise/api/kruise/containerrecreaterequest';
import { preRecreateGraceCondition } from '@kruise/api/kruise/well-known';
import { effect, isBeingDeleted } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import { compareStrings } from '@kruise/values/go-syntax';
import { formatTime, type Instant, parseTime } from '@kruise/values/time';
import { type FoundContainers, type State, statesOf } from './states.ts';

export type Observed = {
  readonly request: ContainerRecreateRequest;
  /** All requests of the Pod, including this one. */
  readonly podRequests: readonly ContainerRecreateRequest[];
  /** The runtime of its containers, or the reason why there is none. */
  readonly runtime: { readonly name: string } | { readonly fault: string };
  /** The Pod's containers in the runtime. Empty until the request is the active one. */
  readonly found: FoundContainers;
};

/** A container to stop. The effect writes the result, even if the request has changed meanwhile. */
export type Stop = { readonly request: ContainerRecreateRequest; readonly container: string };

type Decided = Decision<ContainerRecreateRequestStatus>;

const nothing: Decided = { actions: [] };

export function decide(observed: Observed, now: Instant): Decided {
  const { request, podRequests, runtime } = observed;
  const { spec, status } = request;
  if (isDone(request)) return nothing;
  if (findActiveRequest(podRequests) !== request) {
    return status?.phase ? nothing : { actions: [], status: { ...status, phase: 'Pending' } };
  }
  if (status?.phase !== 'Recreating') return { actions: [], status: { ...status, phase: 'Recreating' } };
  const graceMs = remainingGraceMs(request, now);
  // The manager reports when the Pod is not ready any more, which enqueues the request.
  if (graceMs === undefined) return nothing;
  if (graceMs > 0) return { actions: [], requeueAfterSeconds: graceMs / 1000 };
  if ('fault' in runtime) return complete(status, `failed to find runtime service: ${runtime.fault}`, now);
  const states = statesOf(request, observed.found, now);
  const known = status.containerRecreateStates ?? [];
  if (!isSame(states, known)) return { actions: [], status: { ...status, containerRecreateStates: states } };
  const step = nextStep(observed, states);
  if (step.stop !== undefined) {
    const order: Stop = { request, container: step.stop };
    return { actions: [effect('stop', order)] };
  }
  const marked = { ...status, containerRecreateStates: step.states };
  if (step.isComplete) return complete(marked, undefined, now);
  const { minStartedSeconds = 0 } = spec.strategy ?? {};
  return { actions: [], status: marked, ...(minStartedSeconds > 0 ? { requeueAfterSeconds: minStartedSeconds } : {}) };
}

function isDone(request: ContainerRecreateRequest): boolean {
  return isBeingDeleted(request) || request.status?.completionTime != null;
}

/** Returns the active request of a Pod: one in progress, otherwise the oldest. */
export function findActiveRequest(requests: readonly ContainerRecreateRequest[]): ContainerRecreateRequest | undefined {
  const weights = ['Recreating', 'Pending'];
  const weightOf = ({ status }: ContainerRecreateRequest) => {
    const weight = weights.indexOf(status?.phase ?? '');
    return weight < 0 ? weights.length : weight;
  };
  const ageOf = ({ metadata }: ContainerRecreateRequest) => metadata.creationTimestamp ?? '';
  const nameOf = ({ metadata }: ContainerRecreateRequest) => metadata.name ?? '';
  return requests
    .filter((each) => !isDone(each))
    .sort(
      (a, b) => weightOf(a) - weightOf(b) || compareStrings(ageOf(a), ageOf(b)) || compareStrings(nameOf(a), nameOf(b)),
    )[0];
}

/** Returns the remaining time of the unready grace period; undefined until the Pod is known to be not ready. */
function remainingGraceMs({ spec, status }: ContainerRecreateRequest, now: Instant): number | undefined {
  const seconds = spec.strategy?.unreadyGracePeriodSeconds;
  if (seconds === undefined) return 0;
  const acquired = findCondition(status?.conditions, preRecreateGraceCondition);
  if (acquired?.status !== 'True') return undefined;
  return Math.max(0, parseTime(acquired.lastTransitionTime) + Number(seconds) * 1000 - now);
}

type Step = {
  readonly states: readonly State[];
  /** The container to stop now. */
  readonly stop?: string;
  readonly isComplete: boolean;
};

/** Iterates over the containers up to the first one to wait for or to stop. */
function nextStep({ request, found }: Observed, states: readonly State[]): Step {
  const { failurePolicy, orderedRecreate } = request.spec.strategy ?? {};
  const visited: State[] = [];
  for (const state of states) {
    if (state.phase === 'Failed' && failurePolicy !== 'Ignore') return { states, isComplete: true };
    if (state.phase === 'Pending')
      return found.has(state.name) ? { states, stop: state.name, isComplete: false } : waiting();
    visited.push(state.phase === 'Recreating' ? { ...state, isKilled: true } : state);
    if (state.phase === 'Recreating' && orderedRecreate) return waiting();
  }
  return { states: visited, isComplete: visited.every(({ phase }) => phase === 'Succeeded' || phase === 'Failed') };

  function waiting(): Step {
    return { states: [...visited, ...states.slice(visited.length)], isComplete: false };
  }
}

function complete(status: ContainerRecreateRequestStatus, message: string | undefined, now: Instant): Decided {
  const end = { phase: 'Completed' as const, completionTime: formatTime(now) };
  return { actions: [], status: { ...status, ...end, ...(message === undefined ? {} : { message }) } };
}
