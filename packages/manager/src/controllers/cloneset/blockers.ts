/** What holds up a rollout of a CloneSet, in words: for whoever asks, and for the events of one that is stuck. */
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

/** Each cause in a sentence; none where nothing is held up. */
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
    ...say(isPaused, `paused: ${names(old)} wait`),
    ...say(isKeptBack, `partition: ${names(old)} stay at their revision`),
    ...say(draining.length > 0, `the hook inPlaceUpdate holds ${names(draining)}`),
    ...say(leaving.length > 0, `the hook preDelete holds ${names(leaving)}`),
    ...down.slice(0, maxNames).map((pod) => `${nameOf(pod)} is not available: ${trouble(pod, situation)}`),
    ...say(down.length > maxNames, `${down.length - maxNames} more Pods are not available`),
    ...say(
      isPending && down.length >= numbers.updateMaxUnavailable,
      `no more than ${Math.max(numbers.updateMaxUnavailable, 0)} Pods may be unavailable`,
    ),
    ...(isPending ? [...refusals(situation, old), ...impossibilities(situation, old)] : []),
  ];
}

/** The event of a rollout that has run out of time. */
export function stuckEvent(cloneSet: CloneSet, blockers: readonly string[]): NewEvent {
  const message = blockers.length > 0 ? blockers.join('; ') : 'nothing is seen that holds it up';
  return { about: cloneSet, type: 'Warning', reason: 'RolloutStuck', message };
}

/** Budgets that do not let a Pod go. */
function refusals({ settings, budgetNamed, now }: Situation, old: readonly Pod[]): readonly string[] {
  if (!settings.gates.PodUnavailableBudgetUpdateGate) return [];
  const budgets = new Set(old.flatMap((pod) => budgetNameOf(pod) ?? []));
  return [...budgets].flatMap((name) => {
    const pod = old.find((each) => budgetNameOf(each) === name);
    const isRefused = pod && !askBudget(budgetNamed(name), pod, 'UPDATE', settings.gates, now).isAllowed;
    return isRefused ? [`PodUnavailableBudget ${name} has nothing left`] : [];
  });
}

/** What can be updated neither in place nor otherwise. */
function impossibilities(situation: Situation, old: readonly Pod[]): readonly string[] {
  const task = taskOf(situation, situation.cloneSet.spec.updateStrategy?.rollingUpdate ?? {}, situation.update);
  if (task.policy !== 'InPlaceOnly') return [];
  const why = new Set(old.flatMap((pod) => task.obstacleFor(pod) ?? []));
  return [...why].map((each) => `InPlaceOnly: Pods would have to be replaced, because ${each}`);
}

/** Why a Pod is not available, from what is nearest to the cause. */
function trouble(pod: Pod, { settings }: Situation): string {
  const scheduled = findCondition(pod.status?.conditions, 'PodScheduled');
  if (scheduled?.status === 'False') return scheduled.message ?? 'it has no node';
  for (const { name, state, ready } of pod.status?.containerStatuses ?? []) {
    if (state?.waiting?.reason) return `container ${name} waits: ${state.waiting.reason}`;
    if (state?.terminated) return `container ${name} has ended with ${state.terminated.exitCode}`;
    if (ready === false) return `container ${name} is not ready`;
  }
  const obstacle = updateObstacle(pod, settings.gates);
  if (obstacle !== undefined) return obstacle;
  const isReady = findCondition(pod.status?.conditions, 'Ready')?.status === 'True';
  return isReady ? 'it has not been ready for long enough' : 'it is not ready';
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
