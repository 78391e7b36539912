/** Scaling of a CloneSet: creates and deletes Pods. */
import type { Pod } from '@kruise/api/core/pod';
import {
  type Action,
  create,
  parallel,
  parallelByKind,
  record,
  remove,
  type Step,
  sequence,
  withOutcomeEvents,
} from '@kruise/client/actions';
import { nameOfRevision, podTemplateOf } from '@kruise/machinery/controller-revision';
import { changeState, isHooked, lifecycleStateOf } from '../workload/lifecycle/lifecycle.ts';
import { isServing } from '../workload/pod-availability.ts';
import { instanceIdOf, newClaims, newInstanceIds, newPod } from './instances.ts';
import { type Numbers, numbersOf, replicasOf } from './numbers.ts';
import { rankForScaleIn } from './ranking.ts';
import { countingOf, type State } from './state.ts';

export type ScalingStep = {
  readonly actions: readonly Step[];
  /** Set where the step changes Pods, so that the next step is decided in the next reconcile. */
  readonly changesPods: boolean;
};

/** Returns the first scaling step that has something to do. */
export function scale(state: State): ScalingStep {
  const specified = state.pods.filter(state.isSpecifiedDelete);
  const preparing = state.pods.filter((pod) => lifecycleStateOf(pod) === 'PreparingDelete');
  const deletingCount = new Set([...specified, ...preparing]).size;

  const cancelled = cancelDeletions(state, preparing, deletingCount);
  if (cancelled.length > 0) return { actions: cancelled, changesPods: true };

  const numbers = numbersOf(state.cloneSet, state.pods, countingOf(state, state.isUpdatedForScaling));
  const limitEvents = numbers.scaleUp > numbers.scaleUpLimit ? [scaleUpLimitedEvent(state, numbers)] : [];
  if (numbers.scaleUpLimit > 0) return { actions: [...limitEvents, ...createPods(state, numbers)], changesPods: true };

  // Terminating Pods count as unavailable: when they use up scaleStrategy.maxUnavailable, no Pod can be created before
  // they are gone. OpenKruise waits forever in this case.
  const preparedDeletions = deletePods(state, preparing);
  if (preparedDeletions.length > 0) return { actions: [...limitEvents, ...preparedDeletions], changesPods: true };
  // No other Pods are deleted while Pods are missing.
  if (numbers.scaleUp > 0) return { actions: limitEvents, changesPods: false };

  // Unavailable Pods first, though they may serve: for example a Pod in a hook after its update.
  const waiting = specified
    .filter((pod) => lifecycleStateOf(pod) !== 'PreparingDelete')
    .sort((a, b) => Number(state.isAvailable(a)) - Number(state.isAvailable(b)));
  // Unavailable Pods with the specified-delete label are deleted in any case, and the numbers do not count them as
  // unavailable: OpenKruise deletes one serving Pod with each of them, however few Pods are left.
  const down = waiting.filter((pod) => canDeleteAnyTime(state, pod)).length;
  const chosen = deletePods(state, withinLimit(state, waiting, numbers.deleteReadyLimit - down));
  if (chosen.length > 0) return { actions: chosen, changesPods: true };

  // While specified Pods are terminating, no other Pods are selected.
  if (numbers.scaleDown === 0 || deletingCount > 0) return { actions: [], changesPods: false };
  const victims = selectVictims(state, numbers);
  const actions = deletePods(state, withinLimit(state, victims, numbers.deleteReadyLimit));
  return { actions, changesPods: actions.length > 0 };
}

/**
 * Cancels the deletion of Pods in PreparingDelete where otherwise too few Pods would be left. Pods that the hook marked
 * as not ready are deleted anyway: the mark cannot be undone.
 */
function cancelDeletions(
  { cloneSet, pods, now, isSpecifiedDelete }: State,
  preparing: readonly Pod[],
  deletingCount: number,
) {
  const { preDelete, inPlaceUpdate } = cloneSet.spec.lifecycle ?? {};
  if (preDelete?.markPodNotReady || inPlaceUpdate?.markPodNotReady) return [];
  const missing = replicasOf(cloneSet.spec) - pods.length + deletingCount;
  if (missing <= 0) return [];
  const kept = preparing.filter((pod) => !isSpecifiedDelete(pod)).slice(0, missing);
  return parallel(kept.flatMap((pod) => sequence(changeState(pod, { to: 'PreparingNormal' }, now))));
}

function scaleUpLimitedEvent({ cloneSet }: State, { scaleUpLimit }: Numbers): Action {
  return record({
    about: cloneSet,
    type: 'Warning',
    reason: 'ScaleUpLimited',
    message: `scaleUp is limited because of scaleStrategy.maxUnavailable, limit: ${scaleUpLimit}`,
  });
}

/** Creates Pods, those of the old revision first, and before them the PVCs that are missing. */
function createPods(state: State, { scaleUpLimit, scaleUpOld }: Numbers): readonly Step[] {
  const { cloneSet, claims, current, update, revisionLabels, permissions, now } = state;
  const ids = newInstanceIds(cloneSet, scaleUpLimit, state, now);
  const present = new Set(claims.map(({ metadata }) => metadata.name));
  const blueprints = [current, update].map((revision) => ({
    template: podTemplateOf(revision) ?? cloneSet.spec.template,
    revisionLabels: revisionLabels.labelsOf(nameOfRevision(revision)),
  }));
  const newClaim = ids
    .flatMap((id) => newClaims(cloneSet, id))
    .filter(({ metadata }) => !present.has(metadata.name))
    // The names of PVCs differ each time, like the names of Pods, but PVCs have no `generateName`.
    .map((claim) => ({ ...create(claim), refusalId: 'create PersistentVolumeClaim' }))
    .map((creation) => withOutcomeEvents(creation, { about: cloneSet, failed: failedToCreate('pvc') }));
  const pods = ids.map((id, index) => {
    const pod = newPod(cloneSet, id, blueprints[index < scaleUpOld ? 0 : 1]!, now);
    const done = { reason: 'SuccessfulCreate', message: 'succeed to create pod {name}' };
    return withOutcomeEvents(create(pod), { about: cloneSet, done, failed: failedToCreate('pod') });
  });
  // PVCs of Pods that are not created would be deleted again, and created for other IDs, in an endless loop.
  return pods[0] && permissions.isHeld(pods[0]) ? parallel(pods) : [...parallel(newClaim), ...parallel(pods)];
}

function failedToCreate(what: 'pod' | 'pvc') {
  return { reason: 'FailedCreate', message: `failed to create ${what}: {error}, ${what}: {object}` };
}

/** Deletes Pods and their PVCs. A Pod with a preDelete hook moves to PreparingDelete instead. */
function deletePods({ cloneSet, claims, now }: State, pods: readonly Pod[]): readonly Step[] {
  const hook = cloneSet.spec.lifecycle?.preDelete;
  const claimsById = Map.groupBy(claims, instanceIdOf);
  const deletions = pods.flatMap((pod): readonly Action[] => {
    if (isHooked(hook, pod)) {
      return changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now);
    }
    return [
      withOutcomeEvents(remove(pod), {
        about: cloneSet,
        done: { reason: 'SuccessfulDelete', message: 'succeed to delete pod {name}' },
        failed: { reason: 'FailedDelete', message: 'failed to delete pod {name}: {error}' },
      }),
      ...(claimsById.get(instanceIdOf(pod)) ?? []).map((claim) =>
        withOutcomeEvents(remove(claim), {
          about: cloneSet,
          failed: { reason: 'FailedDelete', message: 'failed to delete pvc {name}: {error}' },
        }),
      ),
    ];
  });
  return parallelByKind(deletions);
}

/**
 * Unavailable Pods can be deleted at any time, others up to the limit. OpenKruise tests readiness instead of
 * availability: with a long minReadySeconds excess Pods would then remain for the same time.
 */
function withinLimit(state: State, pods: readonly Pod[], limit: number): readonly Pod[] {
  let left = limit;
  return pods.filter((pod) => canDeleteAnyTime(state, pod) || left-- > 0);
}

function canDeleteAnyTime({ cloneSet, now }: State, pod: Pod): boolean {
  return !isServing(pod, cloneSet.spec.minReadySeconds ?? 0, now);
}

/** Selects the Pods to delete: the excess Pods of the old revision first, the rest from the update revision. */
function selectVictims(state: State, { scaleDown, scaleDownOld }: Numbers): readonly Pod[] {
  const { pods, isUpdatedForScaling } = state;
  const old = Math.min(scaleDown, scaleDownOld);
  const choose = (from: readonly Pod[], count: number) =>
    count >= from.length ? from : rankForScaleIn(state, from).slice(0, count);
  return [
    ...choose(
      pods.filter((pod) => !isUpdatedForScaling(pod)),
      old,
    ),
    ...choose(pods.filter(isUpdatedForScaling), scaleDown - old),
  ];
}
