/** CloneSet rollout blockers as sentences, for rollout plans and for the events of a stuck rollout. */
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { NewEvent } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { budgetNameOf, checkBudget } from '../podunavailablebudget/pod-unavailable-budget.ts';
import { updateObstacle } from '../workload/inplace/completion.ts';
import { isHooked, lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { numbersOf } from './numbers.ts';
import { countingOf, type State } from './state.ts';
import { taskOf } from './update-pod.ts';

/** Returns one sentence for each blocker; empty where nothing blocks the rollout. */
export function blockersOf(state: State): readonly string[] {
  const { cloneSet, pods, isUpdated, isAvailable } = state;
  const { updateStrategy, lifecycle } = cloneSet.spec;
  const rolling = updateStrategy?.rollingUpdate ?? {};
  const numbers = numbersOf(cloneSet, pods, countingOf(state, isUpdated));
  const old = pods.filter((pod) => !isUpdated(pod));
  const isInLifecycle = (state: string) => (pod: Pod) => lifecycleStateOf(pod) === state;
  const draining = pods.filter(
    (pod) => isInLifecycle('PreparingUpdate')(pod) && isHooked(lifecycle?.inPlaceUpdate, pod),
  );
  const preparingDelete = pods.filter(
    (pod) => isInLifecycle('PreparingDelete')(pod) && isHooked(lifecycle?.preDelete, pod),
  );
  const unavailable = pods.filter(
    (pod) => !isAvailable(pod) && !draining.includes(pod) && !preparingDelete.includes(pod),
  );
  const isOnDelete = updateStrategy?.type === 'OnDelete';
  const isPaused = !isOnDelete && rolling.paused === true && numbers.updateNumber !== 0;
  const isPending = !isOnDelete && !isPaused && numbers.updateNumber !== 0;
  const isPartitioned = !isOnDelete && numbers.updateNumber === 0 && old.length > 0;
  return [
    ...messageIf(isOnDelete && old.length > 0, `OnDelete: ${names(old)} stay until they are deleted`),
    ...messageIf(isPaused, `paused: ${names(old)} are not updated`),
    ...messageIf(isPartitioned, `partition: ${names(old)} stay at their revision`),
    ...messageIf(draining.length > 0, `inPlaceUpdate hook blocks ${names(draining)}`),
    ...messageIf(preparingDelete.length > 0, `preDelete hook blocks ${names(preparingDelete)}`),
    ...unavailable
      .slice(0, maxNames)
      .map((pod) => `${nameOf(pod)} is not available: ${unavailabilityReason(pod, state)}`),
    ...messageIf(unavailable.length > maxNames, `${unavailable.length - maxNames} more Pods are not available`),
    ...messageIf(
      isPending && unavailable.length >= numbers.updateMaxUnavailable,
      `no more than ${Math.max(numbers.updateMaxUnavailable, 0)} Pods may be unavailable`,
    ),
    ...(isPending ? [...budgetBlockers(state, old), ...inPlaceBlockers(state, old)] : []),
  ];
}

/** Returns the event for a rollout that has exceeded its progress deadline. */
export function stuckEvent(cloneSet: CloneSet, blockers: readonly string[]): NewEvent {
  const message = blockers.length > 0 ? blockers.join('; ') : 'no blocker found';
  return { about: cloneSet, type: 'Warning', reason: 'RolloutStuck', message };
}

/** Returns the PodUnavailableBudgets that do not allow an update. */
function budgetBlockers({ settings, findBudget, now }: State, old: readonly Pod[]): readonly string[] {
  if (!settings.gates.PodUnavailableBudgetUpdateGate) return [];
  const budgets = new Set(old.flatMap((pod) => budgetNameOf(pod) ?? []));
  return [...budgets].flatMap((name) => {
    const pod = old.find((each) => budgetNameOf(each) === name);
    const isRefused = pod && !checkBudget(findBudget(name), pod, 'UPDATE', settings.gates, now).isAllowed;
    return isRefused ? [`PodUnavailableBudget ${name} allows no disruption`] : [];
  });
}

/** Returns the reasons why Pods cannot be updated in place where the policy does not allow to recreate them. */
function inPlaceBlockers(state: State, old: readonly Pod[]): readonly string[] {
  const task = taskOf(state, state.cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, state.update);
  if (task.policy !== 'InPlaceOnly') return [];
  const reasons = new Set(old.flatMap((pod) => task.obstacleFor(pod) ?? []));
  return [...reasons].map((each) => `InPlaceOnly: Pods would have to be recreated, because ${each}`);
}

/** Returns the reason why a Pod is not available, preferring the reason closest to the root cause. */
function unavailabilityReason(pod: Pod, { settings }: State): string {
  const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.message ?? 'it is not scheduled';
  for (const { name, state, ready } of pod.status?.containerStatuses ?? []) {
    if (state?.waiting?.reason) return `container ${name} is waiting: ${state.waiting.reason}`;
    if (state?.terminated) return `container ${name} terminated with exit code ${state.terminated.exitCode}`;
    if (ready === false) return `container ${name} is not ready`;
  }
  const obstacle = updateObstacle(pod, settings.gates);
  if (obstacle !== undefined) return obstacle;
  const isReady = findCondition(pod.status?.conditions, 'Ready')?.status === 'True';
  return isReady ? 'it has been ready for less than minReadySeconds' : 'it is not ready';
}

const maxNames = 3;

function names(pods: readonly Pod[]): string {
  const some = pods.slice(0, maxNames).map(nameOf).join(', ');
  return pods.length > maxNames ? `${some} and ${pods.length - maxNames} more` : some;
}

function nameOf({ metadata }: Pod): string {
  return metadata.name ?? '';
}

function messageIf(applies: boolean, message: string): readonly string[] {
  return applies ? [message] : [];
}
