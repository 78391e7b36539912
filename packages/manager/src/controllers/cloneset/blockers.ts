/** CloneSet rollout blockers as sentences, for rollout plans and for the events of a stuck rollout. */
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { NewEvent } from '@kruise/client/actions';
import { findCondition } from '@kruise/machinery/conditions';
import { askBudget, budgetNameOf } from '../../budget/pod-unavailable-budget.ts';
import { updateObstacle } from '../../inplace/completion.ts';
import { isHooked, lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { numbersOf } from './numbers.ts';
import { countingOf, type Situation } from './situation.ts';
import { taskOf } from './update-pod.ts';

/** Returns one sentence for each blocker; empty where nothing blocks the rollout. */
export function blockersOf(situation: Situation): readonly string[] {
  const { cloneSet, pods, isUpdated, isAvailable } = situation;
  const { updateStrategy, lifecycle } = cloneSet.spec;
  const rolling = updateStrategy?.rollingUpdate ?? {};
  const numbers = numbersOf(cloneSet, pods, countingOf(situation, isUpdated));
  const old = pods.filter((pod) => !isUpdated(pod));
  const isIn = (state: string) => (pod: Pod) => lifecycleStateOf(pod) === state;
  const draining = pods.filter((pod) => isIn('PreparingUpdate')(pod) && isHooked(lifecycle?.inPlaceUpdate, pod));
  const leaving = pods.filter((pod) => isIn('PreparingDelete')(pod) && isHooked(lifecycle?.preDelete, pod));
  const down = pods.filter((pod) => !isAvailable(pod) && !draining.includes(pod) && !leaving.includes(pod));
  const isOnDelete = updateStrategy?.type === 'OnDelete';
  const isPaused = !isOnDelete && rolling.paused === true && numbers.updateNumber !== 0;
  const isPending = !isOnDelete && !isPaused && numbers.updateNumber !== 0;
  const isKeptBack = !isOnDelete && numbers.updateNumber === 0 && old.length > 0;
  return [
    ...say(isOnDelete && old.length > 0, `OnDelete: ${names(old)} stay until they are deleted`),
    ...say(isPaused, `paused: ${names(old)} are not updated`),
    ...say(isKeptBack, `partition: ${names(old)} stay at their revision`),
    ...say(draining.length > 0, `inPlaceUpdate hook blocks ${names(draining)}`),
    ...say(leaving.length > 0, `preDelete hook blocks ${names(leaving)}`),
    ...down.slice(0, maxNames).map((pod) => `${nameOf(pod)} is not available: ${trouble(pod, situation)}`),
    ...say(down.length > maxNames, `${down.length - maxNames} more Pods are not available`),
    ...say(
      isPending && down.length >= numbers.updateMaxUnavailable,
      `no more than ${Math.max(numbers.updateMaxUnavailable, 0)} Pods may be unavailable`,
    ),
    ...(isPending ? [...refusals(situation, old), ...impossibilities(situation, old)] : []),
  ];
}

/** Returns the event for a rollout that has exceeded its progress deadline. */
export function stuckEvent(cloneSet: CloneSet, blockers: readonly string[]): NewEvent {
  const message = blockers.length > 0 ? blockers.join('; ') : 'no blocker found';
  return { about: cloneSet, type: 'Warning', reason: 'RolloutStuck', message };
}

/** Returns the PodUnavailableBudgets that do not allow an update. */
function refusals({ settings, budgetNamed, now }: Situation, old: readonly Pod[]): readonly string[] {
  if (!settings.gates.PodUnavailableBudgetUpdateGate) return [];
  const budgets = new Set(old.flatMap((pod) => budgetNameOf(pod) ?? []));
  return [...budgets].flatMap((name) => {
    const pod = old.find((each) => budgetNameOf(each) === name);
    const isRefused = pod && !askBudget(budgetNamed(name), pod, 'UPDATE', settings.gates, now).isAllowed;
    return isRefused ? [`PodUnavailableBudget ${name} allows no disruption`] : [];
  });
}

/** Returns the reasons why Pods cannot be updated in place where the policy does not allow to recreate them. */
function impossibilities(situation: Situation, old: readonly Pod[]): readonly string[] {
  const task = taskOf(situation, situation.cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, situation.update);
  if (task.policy !== 'InPlaceOnly') return [];
  const why = new Set(old.flatMap((pod) => task.obstacleFor(pod) ?? []));
  return [...why].map((each) => `InPlaceOnly: Pods would have to be recreated, because ${each}`);
}

/** Returns the reason why a Pod is not available, preferring the reason closest to the root cause. */
function trouble(pod: Pod, { settings }: Situation): string {
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

function say(isSo: boolean, what: string): readonly string[] {
  return isSo ? [what] : [];
}
