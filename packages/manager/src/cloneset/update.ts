/** Selection of the Pods that a CloneSet updates in this reconcile. */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type Action, parallel, patch, type SequentialActions, type Step, sequence } from '@kruise/client/actions';
import { nameOfRevision, revisionLabelOf } from '@kruise/machinery/controller-revision';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { budgetNameOf, checkBudget } from '../podunavailablebudget/pod-unavailable-budget.ts';
import type { AttemptResult } from '../workload/inplace/attempt.ts';
import { isInGrace } from '../workload/inplace/state.ts';
import { type Refresh, refreshUpdate } from '../workload/inplace/update.ts';
import { advanceState } from '../workload/lifecycle/advance.ts';
import { lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { mergePatches } from '../workload/patch-pod.ts';
import { isNewlyCreated, isScheduled } from '../workload/readiness/first-readiness.ts';
import { podTemplateHashLabel, shortHash } from '../workload/revision/pod-revision.ts';
import { byPriority } from '../workload/update-order/priority.ts';
import { scattered } from '../workload/update-order/scatter.ts';
import { numbersOf } from './numbers.ts';
import { countingOf, type State } from './state.ts';
import { type Task, taskOf, updatePod } from './update-pod.ts';

/** Actions of all Pods, grouped, and the results of their attempts. */
export type Update = Omit<AttemptResult, 'actions'> & { readonly actions: readonly Step[] };

export function update(state: State): Update {
  const { updateStrategy } = state.cloneSet.spec;
  // Newly created Pods must become ready even if updates are paused or wait for deletions.
  const refreshed = refreshPods(state);
  if (refreshed.actions.length > 0) return refreshed;
  const rolling = updateStrategy?.rollingUpdate;
  if (updateStrategy?.type === 'OnDelete' || rolling?.paused) return refreshed;
  const updated = updatePods(state, rolling ?? {});
  return { ...updated, ...earliestRequeue(refreshed.requeueAfterSeconds, updated.requeueAfterSeconds) };
}

/** Continues what is in progress for each Pod: its in-place update and its lifecycle state. */
function refreshPods(state: State): Update {
  const { pods, now, cloneSet, settings } = state;
  const { type, rollingUpdate = {} } = cloneSet.spec.updateStrategy ?? {};
  let moving: ReadonlySet<Pod> | undefined;
  // Pods that wait for an update which a raised partition has cancelled go back to serving traffic.
  const isUpdated = (pod: Pod) => {
    moving ??= new Set(type === 'OnDelete' ? [] : selectUpdates(state, rollingUpdate).pods);
    return !moving.has(pod);
  };
  const progress = { lifecycle: cloneSet.spec.lifecycle, gates: settings.gates, isUpdated, isMade: isScheduled };
  const actions: (Action | SequentialActions)[] = [];
  let requeue: Pick<Refresh, 'requeueAfterSeconds'> = {};
  for (const pod of pods) {
    // The new-pods controller handles newly created Pods.
    if (isNewlyCreated(pod)) continue;
    const { actions: due, requeueAfterSeconds } = refreshUpdate(pod, state, now);
    if (requeueAfterSeconds !== undefined) requeue = earliestRequeue(requeue.requeueAfterSeconds, requeueAfterSeconds);
    const advances = advanceState(pod, progress, now);
    const labels = lacksHash(pod) ? [labelHash(pod)] : [];
    // Most of thousands of Pods need no action.
    if (due.length + advances.length + labels.length === 0) continue;
    actions.push(...sequence([...mergePatches([...due, ...advances]), ...labels]));
  }
  return { actions: parallel(actions), ...requeue };
}

/** Reports whether a Pod lacks the template hash label, like Pods of older releases. */
function lacksHash(pod: Pod): boolean {
  return pod.metadata.labels?.[podTemplateHashLabel] === undefined && revisionLabelOf(pod) !== '';
}

function labelHash(pod: Pod): Action {
  return patch(pod, { metadata: { labels: { [podTemplateHashLabel]: shortHash(revisionLabelOf(pod)) } } });
}

/** Returns the Pods to move to another revision, in update order, and the target revision. */
function selectUpdates(state: State, rolling: CloneSetRollingUpdate) {
  const { cloneSet, pods, current, update: wanted, isUpdated } = state;
  const { updateNumber, updateMaxUnavailable } = numbersOf(cloneSet, pods, countingOf(state, isUpdated));
  const isForward = updateNumber > 0;
  const target = isForward ? wanted : current;
  const task = taskOf(state, rolling, target);
  const ordered = updateNumber === 0 ? [] : candidates(state, rolling, isForward);
  const { open, fault } = state.permissions.hasRefusals() ? withoutRefused(ordered, task) : { open: ordered };
  return {
    task,
    pods: open.slice(0, Math.abs(updateNumber)),
    maxUnavailable: updateMaxUnavailable,
    ...(fault === undefined ? {} : { fault }),
  };
}

/**
 * Skips Pods that the API server refuses to update: they keep serving and block no other Pod. Pods that were refused
 * before come last.
 */
function withoutRefused(pods: readonly Pod[], task: Task) {
  const faults = pods.map(task.faultFor);
  const open = pods.filter((_, index) => faults[index] === undefined);
  const fault = faults.find((each) => each !== undefined);
  return { open: [...open.filter((pod) => !task.wasRefused(pod)), ...open.filter(task.wasRefused)], fault };
}

function updatePods(state: State, rolling: CloneSetRollingUpdate): Update {
  const { task, pods: waiting, maxUnavailable, fault: refusal } = selectUpdates(state, rolling);
  if (waiting.length === 0) return { actions: [], ...(refusal === undefined ? {} : { fault: refusal }) };
  const steps: AttemptResult[] = [];
  const budgets = budgetsOf(state);
  for (const pod of withinLimit(state, waiting, task.target, maxUnavailable)) {
    const step = updatePod(state, pod, task);
    if (step.actions.length > 0 && !budgets.allow(pod)) {
      steps.push({ actions: [], requeueAfterSeconds: budgetRetrySeconds });
      break;
    }
    steps.push(step);
    // A fault of one Pod would repeat for the Pods after it.
    if (step.fault !== undefined) break;
  }
  const { fault = refusal } = steps.at(-1) ?? {};
  return {
    actions: [...budgets.charges(), ...parallel(steps.flatMap(({ actions }) => sequence(actions)))],
    ...earliestRequeue(...steps.map(({ requeueAfterSeconds }) => requeueAfterSeconds)),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Delay before a budget that refused is asked again: it may allow a disruption soon. */
const budgetRetrySeconds = 1;

/** Tracks the remaining budgets while Pods are updated one after the other. */
function budgetsOf({ settings, findBudget, now }: State) {
  const left = new Map<string, PodUnavailableBudget>();
  return {
    allow(pod: Pod): boolean {
      const name = budgetNameOf(pod);
      if (!settings.gates.PodUnavailableBudgetUpdateGate || name === undefined) return true;
      const answer = checkBudget(left.get(name) ?? findBudget(name), pod, 'UPDATE', settings.gates, now);
      if (answer.isAllowed && answer.left) left.set(name, answer.left);
      return answer.isAllowed;
    },
    /** Writes the charges with the observed resourceVersion: a concurrent charge results in a conflict. */
    charges: (): readonly Action[] =>
      [...left.values()].map((object) => ({ type: 'update', object, subresource: 'status' })),
  };
}

/** Returns the Pods that can be updated, in update order. */
function candidates(state: State, rolling: CloneSetRollingUpdate, isForward: boolean): readonly Pod[] {
  const { pods, isUpdated } = state;
  const found = pods.filter((pod) => {
    const state = lifecycleStateOf(pod);
    return isUpdated(pod) !== isForward && state !== 'PreparingDelete' && (state === 'Updated' || !isInGrace(pod));
  });
  const ranked = rankForDeletion(found, { usesDeletionCost: false });
  const ordered = scattered(byPriority(ranked, rolling.priorityStrategy), rolling.scatterStrategy, pods);
  // Pods that are drained already come first.
  return [...ordered.filter(isPreparingUpdate), ...ordered.filter((pod) => !isPreparingUpdate(pod))];
}

function isPreparingUpdate(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingUpdate';
}

/**
 * Limits the Pods to maxUnavailable. Pods at the target revision that do not become available use up the limit, so that
 * a bad revision does not spread. Pods that are already unavailable cost nothing more.
 */
function withinLimit(
  { pods, isAvailable, revisionLabels }: State,
  waiting: readonly Pod[],
  target: ControllerRevision,
  maxUnavailable: number,
): readonly Pod[] {
  const unavailablePods = pods.filter((pod) => !isAvailable(pod));
  let unavailable = unavailablePods.length;
  const atTarget = unavailablePods.filter((pod) => revisionLabels.isAt(pod, nameOfRevision(target))).length;
  // Other Pods may have become unavailable since these Pods were drained, so that the limit leaves no room for them.
  // They would stay unavailable forever: with PreparingUpdateAsUpdate there is no surge for Pods that count as updated.
  // OpenKruise has this flaw.
  const accepted = waiting.filter(isPreparingUpdate);
  for (const pod of waiting.slice(accepted.length)) {
    if (atTarget + accepted.length >= maxUnavailable) break;
    if (isAvailable(pod)) {
      if (unavailable >= maxUnavailable) break;
      unavailable++;
    }
    accepted.push(pod);
  }
  return accepted;
}
