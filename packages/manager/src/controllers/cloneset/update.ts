/** Which Pods are brought to another revision now (cloneset.md §9.1, §9.2). */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { type Action, patch } from '@kruise/client/actions';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { askBudget, budgetNameOf } from '../../budget/pod-unavailable-budget.ts';
import { earliestRequeue } from '../../earliest-requeue.ts';
import type { Attempted } from '../../inplace/attempt.ts';
import { isInGrace } from '../../inplace/state.ts';
import { type Refresh, refreshUpdate } from '../../inplace/update.ts';
import { advanceState } from '../../lifecycle/advance.ts';
import { lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { together } from '../../patch-pod.ts';
import { podTemplateHashLabel, revisionLabelOf, shortHash } from '../../revision/pod-revision.ts';
import { byPriority } from '../../update-order/priority.ts';
import { scattered } from '../../update-order/scatter.ts';
import { hasNode, isNew } from './new-pods.ts';
import { numbersOf } from './numbers.ts';
import { countingOf, nameOf, type Situation } from './situation.ts';
import { type Task, taskOf, updatePod } from './update-pod.ts';

export function update(situation: Situation): Attempted {
  const { updateStrategy } = situation.cloneSet.spec;
  // New Pods have to become ready whether updates are paused, or wait for deletions, or not.
  const refreshed = refreshPods(situation);
  if (refreshed.actions.length > 0) return refreshed;
  const rolling = updateStrategy?.rollingUpdate;
  if (updateStrategy?.type === 'OnDelete' || rolling?.paused) return refreshed;
  const updated = updatePods(situation, rolling ?? {});
  return { ...updated, ...earliestRequeue(refreshed.requeueAfterSeconds, updated.requeueAfterSeconds) };
}

/** Brings on what has begun with each Pod: its update in place, and the state it is in. */
function refreshPods(situation: Situation): Attempted {
  const { pods, now, cloneSet, settings } = situation;
  const { type, rollingUpdate = {} } = cloneSet.spec.updateStrategy ?? {};
  let moving: ReadonlySet<Pod> | undefined;
  // Whoever waits for an update that a raised partition has taken back takes traffic again.
  const isUpdated = (pod: Pod) => {
    moving ??= new Set(type === 'OnDelete' ? [] : moveOf(situation, rollingUpdate).pods);
    return !moving.has(pod);
  };
  const progress = { lifecycle: cloneSet.spec.lifecycle, gates: settings.gates, isUpdated, isMade: hasNode };
  const actions: Action[] = [];
  let again: Pick<Refresh, 'requeueAfterSeconds'> = {};
  for (const pod of pods) {
    // It is told by itself what it has to be told.
    if (isNew(pod)) continue;
    const { actions: due, requeueAfterSeconds } = refreshUpdate(pod, situation, now);
    if (requeueAfterSeconds !== undefined) again = earliestRequeue(again.requeueAfterSeconds, requeueAfterSeconds);
    const advances = advanceState(pod, progress, now);
    // Of thousands of Pods there is nothing to do for most.
    if (due.length + advances.length > 0) actions.push(...together([...due, ...advances]));
    if (lacksHash(pod)) actions.push(labelHash(pod));
  }
  return { actions, ...again };
}

/** Pods of older releases have no hash of their own. */
function lacksHash(pod: Pod): boolean {
  return pod.metadata.labels?.[podTemplateHashLabel] === undefined && revisionLabelOf(pod) !== '';
}

function labelHash(pod: Pod): Action {
  return patch(pod, { metadata: { labels: { [podTemplateHashLabel]: shortHash(revisionLabelOf(pod)) } } });
}

/** The Pods that are to be at another revision than they are, in the order in which they get there, and the revision. */
function moveOf(situation: Situation, rolling: CloneSetRollingUpdate) {
  const { cloneSet, pods, current, update: wanted, isUpdated } = situation;
  const { updateNumber, updateMaxUnavailable } = numbersOf(cloneSet, pods, countingOf(situation, isUpdated));
  const isForward = updateNumber > 0;
  const target = isForward ? wanted : current;
  const task = taskOf(situation, rolling, target);
  const ordered = updateNumber === 0 ? [] : candidates(situation, rolling, isForward);
  const { open, fault } = situation.permissions.hasRefusals() ? withoutRefused(ordered, task) : { open: ordered };
  return {
    task,
    pods: open.slice(0, Math.abs(updateNumber)),
    maxUnavailable: updateMaxUnavailable,
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Pods that the server refuses to update stay in service and block no other Pod; those it refused before go last. */
function withoutRefused(pods: readonly Pod[], task: Task) {
  const faults = pods.map(task.faultFor);
  const open = pods.filter((_, index) => faults[index] === undefined);
  const fault = faults.find((each) => each !== undefined);
  return { open: [...open.filter((pod) => !task.wasRefused(pod)), ...open.filter(task.wasRefused)], fault };
}

function updatePods(situation: Situation, rolling: CloneSetRollingUpdate): Attempted {
  const { task, pods: waiting, maxUnavailable, fault: refusal } = moveOf(situation, rolling);
  if (waiting.length === 0) return { actions: [], ...(refusal === undefined ? {} : { fault: refusal }) };
  const steps: Attempted[] = [];
  const budgets = budgetsOf(situation);
  for (const pod of withinLimit(situation, waiting, task.target, maxUnavailable)) {
    const step = updatePod(situation, pod, task);
    if (step.actions.length > 0 && !budgets.allow(pod)) {
      steps.push({ actions: [], requeueAfterSeconds: refusedSeconds });
      break;
    }
    steps.push(step);
    // What is wrong with one Pod would be wrong with those after it.
    if (step.fault !== undefined) break;
  }
  const { fault = refusal } = steps.at(-1) ?? {};
  return {
    actions: [...budgets.charges(), ...steps.flatMap(({ actions }) => actions)],
    ...earliestRequeue(...steps.map(({ requeueAfterSeconds }) => requeueAfterSeconds)),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** A budget that refused may have room again soon. */
const refusedSeconds = 1;

/** What the budgets of Pods have left while one Pod after the other is taken from them. */
function budgetsOf({ settings, budgetNamed, now }: Situation) {
  const left = new Map<string, PodUnavailableBudget>();
  return {
    allow(pod: Pod): boolean {
      const name = budgetNameOf(pod);
      if (!settings.gates.PodUnavailableBudgetUpdateGate || name === undefined) return true;
      const answer = askBudget(left.get(name) ?? budgetNamed(name), pod, 'UPDATE', settings.gates, now);
      if (answer.isAllowed && answer.left) left.set(name, answer.left);
      return answer.isAllowed;
    },
    /** Writes what was taken, at the version it was taken from: whoever else takes from it meanwhile is seen. */
    charges: (): readonly Action[] =>
      [...left.values()].map((object) => ({ type: 'update', object, subresource: 'status' })),
  };
}

/** The Pods that could be updated, in the order in which they are. */
function candidates(situation: Situation, rolling: CloneSetRollingUpdate, isForward: boolean): readonly Pod[] {
  const { pods, isUpdated } = situation;
  const found = pods.filter((pod) => {
    const state = lifecycleStateOf(pod);
    return isUpdated(pod) !== isForward && state !== 'PreparingDelete' && (state === 'Updated' || !isInGrace(pod));
  });
  const ranked = rankForDeletion(found, { heedsCost: false });
  const ordered = scattered(byPriority(ranked, rolling.priorityStrategy), rolling.scatterStrategy, pods);
  // Whoever is drained already is not left waiting.
  return [...ordered.filter(isBegun), ...ordered.filter((pod) => !isBegun(pod))];
}

function isBegun(pod: Pod): boolean {
  return lifecycleStateOf(pod) === 'PreparingUpdate';
}

/**
 * As many as may be unavailable. Pods at the revision that do not come up use up what is allowed, so that a bad revision
 * does not spread; Pods that are unavailable anyway cost nothing more.
 */
function withinLimit(
  { pods, isAvailable, revisionLabels }: Situation,
  waiting: readonly Pod[],
  target: ControllerRevision,
  maxUnavailable: number,
): readonly Pod[] {
  const down = pods.filter((pod) => !isAvailable(pod));
  let unavailable = down.length;
  const atTarget = down.filter((pod) => revisionLabels.isAt(pod, nameOf(target))).length;
  // Where others have gone since these were drained, no room may be left for them. They would stay down for good: with
  // PreparingUpdateAsUpdate no Pod is made ahead of what counts as updated. The reference leaves them so.
  const accepted = waiting.filter(isBegun);
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
