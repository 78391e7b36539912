/** Scaling of a CloneSet: creates and deletes Pods. */
import type { Pod } from '@kruise/api/core/pod';
import { type Action, announced, create, record, remove } from '@kruise/client/actions';
import { podTemplateOf } from '@kruise/machinery/controller-revision';
import { changeState, isHooked, lifecycleStateOf } from '../../lifecycle/lifecycle.ts';
import { isServing } from '../../pod-availability.ts';
import { instanceIdOf, newClaims, newInstanceIds, newPod } from './instances.ts';
import { type Numbers, numbersOf, replicasOf } from './numbers.ts';
import { inOrderOfSparing } from './ranking.ts';
import { countingOf, nameOf, type Situation } from './situation.ts';

export type Step = {
  readonly actions: readonly Action[];
  /** Set where the step changes Pods, so that the next step is decided in the next reconcile. */
  readonly changesPods: boolean;
};

/** Returns the first scaling step that has something to do. */
export function scale(situation: Situation): Step {
  const specified = situation.pods.filter(situation.isSpecifiedDelete);
  const preparing = situation.pods.filter((pod) => lifecycleStateOf(pod) === 'PreparingDelete');
  const leaving = new Set([...specified, ...preparing]).size;

  const cancelled = cancelDeletions(situation, preparing, leaving);
  if (cancelled.length > 0) return { actions: cancelled, changesPods: true };

  const numbers = numbersOf(situation.cloneSet, situation.pods, countingOf(situation, situation.isUpdatedForScaling));
  const told = numbers.scaleUp > numbers.scaleUpLimit ? [limited(situation, numbers)] : [];
  if (numbers.scaleUpLimit > 0) return { actions: [...told, ...makePods(situation, numbers)], changesPods: true };

  // Terminating Pods count as unavailable: when they use up scaleStrategy.maxUnavailable, no Pod can be created before
  // they are gone. OpenKruise waits forever in this case.
  const already = deletePods(situation, preparing);
  if (already.length > 0) return { actions: [...told, ...already], changesPods: true };
  // No other Pods are deleted while Pods are missing.
  if (numbers.scaleUp > 0) return { actions: told, changesPods: false };

  // Unavailable Pods first, though they may serve: for example a Pod in a hook after its update.
  const waiting = specified
    .filter((pod) => lifecycleStateOf(pod) !== 'PreparingDelete')
    .sort((a, b) => Number(situation.isAvailable(a)) - Number(situation.isAvailable(b)));
  // Unavailable Pods with the specified-delete label are deleted in any case, and the numbers do not count them as
  // unavailable: OpenKruise deletes one serving Pod with each of them, however few Pods are left.
  const down = waiting.filter((pod) => mayGoAnyTime(situation, pod)).length;
  const chosen = deletePods(situation, withinLimit(situation, waiting, numbers.deleteReadyLimit - down));
  if (chosen.length > 0) return { actions: chosen, changesPods: true };

  // While specified Pods are terminating, no other Pods are selected.
  if (numbers.scaleDown === 0 || leaving > 0) return { actions: [], changesPods: false };
  const spared = podsToSpare(situation, numbers);
  const actions = deletePods(situation, withinLimit(situation, spared, numbers.deleteReadyLimit));
  return { actions, changesPods: actions.length > 0 };
}

/**
 * Cancels the deletion of Pods in PreparingDelete where otherwise too few Pods would be left. Pods that the hook marked
 * as not ready are deleted anyway: the mark cannot be undone.
 */
function cancelDeletions(
  { cloneSet, pods, now, isSpecifiedDelete }: Situation,
  preparing: readonly Pod[],
  leaving: number,
) {
  const { preDelete, inPlaceUpdate } = cloneSet.spec.lifecycle ?? {};
  if (preDelete?.markPodNotReady || inPlaceUpdate?.markPodNotReady) return [];
  const missing = replicasOf(cloneSet.spec) - pods.length + leaving;
  if (missing <= 0) return [];
  return preparing
    .filter((pod) => !isSpecifiedDelete(pod))
    .slice(0, missing)
    .flatMap((pod) => changeState(pod, { to: 'PreparingNormal' }, now));
}

function limited({ cloneSet }: Situation, { scaleUpLimit }: Numbers): Action {
  return record({
    about: cloneSet,
    type: 'Warning',
    reason: 'ScaleUpLimited',
    message: `scaleUp is limited because of scaleStrategy.maxUnavailable, limit: ${scaleUpLimit}`,
  });
}

/** Creates Pods, those of the old revision first, and before them the PVCs that are missing. */
function makePods(situation: Situation, { scaleUpLimit, scaleUpOld }: Numbers): readonly Action[] {
  const { cloneSet, claims, current, update, revisionLabels, permissions, now } = situation;
  const ids = newInstanceIds(cloneSet, scaleUpLimit, situation, now);
  const present = new Set(claims.map(({ metadata }) => metadata.name));
  const blueprints = [current, update].map((revision) => ({
    template: podTemplateOf(revision) ?? cloneSet.spec.template,
    revisionLabels: revisionLabels.labelsOf(nameOf(revision)),
  }));
  const newClaim = ids
    .flatMap((id) => newClaims(cloneSet, id))
    .filter(({ metadata }) => !present.has(metadata.name))
    // The names of PVCs differ each time, like the names of Pods, but PVCs have no `generateName`.
    .map((claim) => ({ ...create(claim), refusalId: 'create PersistentVolumeClaim' }))
    .map((creation) => announced(creation, { about: cloneSet, failed: failedToCreate('pvc') }));
  const pods = ids.map((id, index) => {
    const pod = newPod(cloneSet, id, blueprints[index < scaleUpOld ? 0 : 1]!, now);
    const done = { reason: 'SuccessfulCreate', message: 'succeed to create pod {name}' };
    return announced(create(pod), { about: cloneSet, done, failed: failedToCreate('pod') });
  });
  // PVCs of Pods that are not created would be deleted again, and created for other IDs, in an endless loop.
  return pods[0] && permissions.isHeld(pods[0]) ? pods : [...newClaim, ...pods];
}

function failedToCreate(what: 'pod' | 'pvc') {
  return { reason: 'FailedCreate', message: `failed to create ${what}: {error}, ${what}: {object}` };
}

/** Deletes Pods and their PVCs. A Pod with a preDelete hook moves to PreparingDelete instead. */
function deletePods({ cloneSet, claims, now }: Situation, pods: readonly Pod[]): readonly Action[] {
  const hook = cloneSet.spec.lifecycle?.preDelete;
  const claimsById = Map.groupBy(claims, instanceIdOf);
  return pods.flatMap((pod): readonly Action[] => {
    if (isHooked(hook, pod)) {
      return changeState(pod, { to: 'PreparingDelete', markNotReady: hook?.markPodNotReady }, now);
    }
    return [
      announced(remove(pod), {
        about: cloneSet,
        done: { reason: 'SuccessfulDelete', message: 'succeed to delete pod {name}' },
        failed: { reason: 'FailedDelete', message: 'failed to delete pod {name}: {error}' },
      }),
      ...(claimsById.get(instanceIdOf(pod)) ?? []).map((claim) =>
        announced(remove(claim), {
          about: cloneSet,
          failed: { reason: 'FailedDelete', message: 'failed to delete pvc {name}: {error}' },
        }),
      ),
    ];
  });
}

/**
 * Unavailable Pods can be deleted at any time, others up to the limit. OpenKruise tests readiness instead of
 * availability: with a long minReadySeconds excess Pods would then remain for the same time.
 */
function withinLimit(situation: Situation, pods: readonly Pod[], limit: number): readonly Pod[] {
  let left = limit;
  return pods.filter((pod) => mayGoAnyTime(situation, pod) || left-- > 0);
}

function mayGoAnyTime({ cloneSet, now }: Situation, pod: Pod): boolean {
  return !isServing(pod, cloneSet.spec.minReadySeconds ?? 0, now);
}

/** Selects the Pods to delete: the excess Pods of the old revision first, the rest from the update revision. */
function podsToSpare(situation: Situation, { scaleDown, scaleDownOld }: Numbers): readonly Pod[] {
  const { pods, isUpdatedForScaling } = situation;
  const old = Math.min(scaleDown, scaleDownOld);
  const choose = (from: readonly Pod[], count: number) =>
    count >= from.length ? from : inOrderOfSparing(situation, from).slice(0, count);
  return [
    ...choose(
      pods.filter((pod) => !isUpdatedForScaling(pod)),
      old,
    ),
    ...choose(pods.filter(isUpdatedForScaling), scaleDown - old),
  ];
}
