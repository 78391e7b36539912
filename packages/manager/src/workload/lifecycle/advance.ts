import type { Pod } from '@kruise/api/core/pod';
import type { Lifecycle } from '@kruise/api/kruise/lifecycle';
import type { PatchAction } from '@kruise/client/actions';
import type { Instant } from '@kruise/values/time';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { updateObstacle } from '../inplace/completion.ts';
import { changeState, isAllHooked, lifecycleStateOf, removeStaleHolds } from './lifecycle.ts';

/** Predicates that decide whether a Pod can leave its lifecycle state. */
export type Progress = {
  readonly lifecycle: Lifecycle | undefined;
  readonly gates: FeatureGates;
  /** Reports whether a Pod is at the update revision. */
  readonly isUpdated: (pod: Pod) => boolean;
  /** Reports whether a newly created Pod without a hook has completed its creation. */
  readonly isMade: (pod: Pod) => boolean;
};

/** Moves a Pod to the next lifecycle state if it has completed its current one. */
export function advanceState(
  pod: Pod,
  { lifecycle, gates, isUpdated, isMade }: Progress,
  now: Instant,
): readonly PatchAction[] {
  const { inPlaceUpdate, preNormal } = lifecycle ?? {};
  const afterUpdate = lifecycle && !isAllHooked(inPlaceUpdate, pod) ? 'Updated' : 'Normal';
  const markNotReady = inPlaceUpdate?.markPodNotReady;
  switch (lifecycleStateOf(pod)) {
    case 'PreparingNormal':
      return (preNormal ? isAllHooked(preNormal, pod) : isMade(pod)) ? changeState(pod, { to: 'Normal' }, now) : [];
    case 'PreparingUpdate':
      // The update was reverted, or the Pod is no longer selected for the update.
      return isUpdated(pod) ? changeState(pod, { to: afterUpdate, markNotReady }, now) : [];
    case 'Updating':
      return updateObstacle(pod, gates) === undefined ? changeState(pod, { to: afterUpdate, markNotReady }, now) : [];
    case 'Updated':
      return inPlaceUpdate === undefined || isAllHooked(inPlaceUpdate, pod)
        ? changeState(pod, { to: 'Normal', markNotReady }, now)
        : [];
    case 'PreparingDelete':
      return [];
    default:
      return removeStaleHolds(pod, now);
  }
}
