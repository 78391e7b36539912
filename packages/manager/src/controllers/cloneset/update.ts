/** Bringing Pods to another revision, in place or by replacing them (cloneset.md §9). */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSetRollingUpdate } from '@kruise/api/kruise/cloneset';
import { type Action, announced, type PatchAction, patch } from '@kruise/client/actions';
import { rankForDeletion } from '@kruise/machinery/pod-ranking';
import { updateObstacle } from '../../inplace/completion.ts';
import { isInGrace } from '../../inplace/state.ts';
import { refreshUpdate, startUpdate } from '../../inplace/update.ts';
import { updateSpecOf } from '../../inplace/update-spec.ts';
import { changeState, isAllHooked, isHooked, lifecycleStateOf, stateMarks } from '../../lifecycle/lifecycle.ts';
import { podTemplateHashLabel, revisionLabelOf, shortHash } from '../../revision/pod-revision.ts';
import { isSpecifiedDelete, specifyDelete } from '../../specified-delete.ts';
import { byPriority } from '../../update-order/priority.ts';
import { scattered } from '../../update-order/scatter.ts';
import { numbersOf } from './numbers.ts';
import { countingOf, nameOf, type Situation } from './situation.ts';

export type Updating = {
  readonly actions: readonly Action[];
  readonly requeueAfterSeconds?: number;
  /** What keeps Pods from being updated as asked. */
  readonly fault?: string;
};

export function update(situation: Situation): Updating {
  const { updateStrategy } = situation.cloneSet.spec;
  // New Pods have to become ready whether updates are paused, or wait for deletions, or not.
  const refreshed = refreshPods(situation);
  if (refreshed.actions.length > 0) return refreshed;
  const rolling = updateStrategy?.rollingUpdate;
  if (updateStrategy?.type === 'OnDelete' || rolling?.paused) return refreshed;
  return combined(refreshed, updatePods(situation, rolling ?? {}));
}

function combined(first: Updating, second: Updating): Updating {
  const seconds = [first, second].flatMap(({ requeueAfterSeconds }) => requeueAfterSeconds ?? []);
  const requeue = seconds.length > 0 ? { requeueAfterSeconds: Math.min(...seconds) } : {};
  return { ...second, ...requeue };
}

/** Brings on what has begun with each Pod: its update in place, and the state it is in. */
function refreshPods(situation: Situation): Updating {
  const { pods, now } = situation;
  const actions: Action[] = [];
  const seconds: number[] = [];
  for (const pod of pods) {
    const refresh = refreshUpdate(pod, situation, now);
    actions.push(...refresh.actions);
    if (refresh.requeueAfterSeconds !== undefined) seconds.push(refresh.requeueAfterSeconds);
    actions.push(...advanceState(situation, pod), ...labelHash(pod));
  }
  return { actions, ...(seconds.length > 0 ? { requeueAfterSeconds: Math.min(...seconds) } : {}) };
}

/** The state a Pod goes on to, if it is done with the one it is in. */
function advanceState({ cloneSet, settings, isUpdated, now }: Situation, pod: Pod): readonly PatchAction[] {
  const { lifecycle } = cloneSet.spec;
  const { inPlaceUpdate, preNormal } = lifecycle ?? {};
  const afterUpdate = lifecycle && !isAllHooked(inPlaceUpdate, pod) ? 'Updated' : 'Normal';
  const markNotReady = inPlaceUpdate?.markPodNotReady;
  switch (lifecycleStateOf(pod)) {
    case 'PreparingNormal': {
      // Older schedulers take a Pod for another when its labels change before it has a node.
      const isDone = preNormal ? isAllHooked(preNormal, pod) : Boolean(pod.spec?.nodeName);
      return isDone ? changeState(pod, { to: 'Normal' }, now) : [];
    }
    case 'PreparingUpdate':
      // What it was to be updated to has been taken back.
      return isUpdated(pod) ? changeState(pod, { to: afterUpdate, markNotReady }, now) : [];
    case 'Updating':
      return updateObstacle(pod, settings.gates) === undefined
        ? changeState(pod, { to: afterUpdate, markNotReady }, now)
        : [];
    case 'Updated':
      return inPlaceUpdate === undefined || isAllHooked(inPlaceUpdate, pod)
        ? changeState(pod, { to: 'Normal', markNotReady }, now)
        : [];
    default:
      return [];
  }
}

/** Pods of older releases have no hash of their own. */
function labelHash(pod: Pod): readonly Action[] {
  const revision = revisionLabelOf(pod);
  if (revision === '' || pod.metadata.labels?.[podTemplateHashLabel] !== undefined) return [];
  return [patch(pod, { metadata: { labels: { [podTemplateHashLabel]: shortHash(revision) } } })];
}

function updatePods(situation: Situation, rolling: CloneSetRollingUpdate): Updating {
  const { cloneSet, pods, current, update: wanted, isUpdated } = situation;
  const { updateNumber, updateMaxUnavailable } = numbersOf(cloneSet, pods, countingOf(situation, isUpdated));
  if (updateNumber === 0) return { actions: [] };
  const target = updateNumber > 0 ? wanted : current;
  const waiting = candidates(situation, rolling, updateNumber > 0).slice(0, Math.abs(updateNumber));
  const steps = withinLimit(situation, waiting, target, updateMaxUnavailable).map((pod) =>
    updatePod(situation, rolling, pod, target),
  );
  const actions: Action[] = [];
  const seconds: number[] = [];
  for (const step of steps) {
    actions.push(...step.actions);
    if (step.requeueAfterSeconds !== undefined) seconds.push(step.requeueAfterSeconds);
    if (step.fault !== undefined) return { actions, fault: step.fault };
  }
  return { actions, ...(seconds.length > 0 ? { requeueAfterSeconds: Math.min(...seconds) } : {}) };
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
  const isBegun = (pod: Pod) => lifecycleStateOf(pod) === 'PreparingUpdate';
  return [...ordered.filter(isBegun), ...ordered.filter((pod) => !isBegun(pod))];
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
  const accepted: Pod[] = [];
  for (const pod of waiting) {
    if (atTarget + accepted.length >= maxUnavailable) break;
    if (isAvailable(pod)) {
      if (unavailable >= maxUnavailable) break;
      unavailable++;
    }
    accepted.push(pod);
  }
  return accepted;
}

function updatePod(
  situation: Situation,
  rolling: CloneSetRollingUpdate,
  pod: Pod,
  target: ControllerRevision,
): Updating {
  const { cloneSet, settings, revisions, revisionLabels, now } = situation;
  const { podUpdatePolicy = 'ReCreate', inPlaceUpdateStrategy } = rolling;
  const name = pod.metadata.name ?? '';
  if (podUpdatePolicy !== 'ReCreate') {
    const from = revisions.find((each) => revisionLabels.isAt(pod, nameOf(each)));
    const spec = updateSpecOf(from, target, {
      gates: settings.gates,
      graceSeconds: inPlaceUpdateStrategy?.gracePeriodSeconds ?? 0,
      ignoresVolumeClaims: podUpdatePolicy === 'InPlaceOnly',
    });
    const hook = cloneSet.spec.lifecycle?.inPlaceUpdate;
    if (spec) {
      const markNotReady = hook?.markPodNotReady;
      switch (lifecycleStateOf(pod)) {
        case undefined:
        case 'PreparingNormal':
        case 'Normal':
          if (isHooked(hook, pod)) return { actions: changeState(pod, { to: 'PreparingUpdate', markNotReady }, now) };
          break;
        case 'Updated':
          // The hook is put back on, so that whoever it is for is asked again.
          return hook
            ? { actions: changeState(pod, { to: 'PreparingUpdate', markNotReady, restoring: hook }, now) }
            : { actions: [] };
        case 'PreparingUpdate':
          if (isHooked(hook, pod)) return { actions: [] };
          break;
        case 'Updating':
          break;
        default:
          return {
            actions: [],
            fault: `not allowed to in-place update pod ${name} in state ${lifecycleStateOf(pod)}`,
          };
      }
      const actions = startUpdate(pod, spec, situation, now, (begun) => markUpdating(begun, now));
      const grace = spec.graceSeconds > 0 ? { requeueAfterSeconds: spec.graceSeconds } : {};
      return { actions: announceUpdate(cloneSet, actions, target), ...grace };
    }
    if (podUpdatePolicy === 'InPlaceOnly') {
      return {
        actions: [],
        fault: `find Pod ${name} update strategy is InPlaceOnly but can not update in-place`,
      };
    }
  }
  if (isSpecifiedDelete(pod)) return { actions: [] };
  const why = `for update(revision ${nameOf(target)})`;
  return {
    actions: [
      announced(specifyDelete(pod), {
        about: cloneSet,
        done: {
          reason: 'SuccessfulUpdatePodReCreate',
          message: `successfully patch pod {name} specified-delete ${why}`,
        },
        failed: {
          reason: 'FailedUpdatePodReCreate',
          message: `failed to patch pod specified-delete {name} ${why}: {error}`,
        },
      }),
    ],
  };
}

function markUpdating(pod: Pod, now: Situation['now']): Pod {
  const { labels, annotations } = stateMarks('Updating', now);
  const { metadata } = pod;
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}

/** Success is told once all is done, failure wherever it happens. */
function announceUpdate(
  about: Situation['cloneSet'],
  actions: readonly PatchAction[],
  target: ControllerRevision,
): readonly Action[] {
  const what = `update pod {name} in-place(revision ${nameOf(target)})`;
  const failed = { reason: 'FailedUpdatePodInPlace', message: `failed to ${what}: {error}` };
  const done = { reason: 'SuccessfulUpdatePodInPlace', message: `successfully ${what}` };
  return actions.map((action, index) =>
    announced(action, { about, failed, ...(index === actions.length - 1 ? { done } : {}) }),
  );
}
