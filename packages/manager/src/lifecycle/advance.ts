import type { Pod } from '@kruise/api/core/pod';
import type { Lifecycle } from '@kruise/api/kruise/lifecycle';
import type { PatchAction } from '@kruise/client/actions';
import type { Instant } from '@kruise/values/time';
import type { FeatureGates } from '../feature-gates.ts';
import { updateObstacle } from '../inplace/completion.ts';
import { changeState, forgetHolds, isAllHooked, lifecycleStateOf } from './lifecycle.ts';

/** What decides whether a Pod is done with the state it is in. */
export type Progress = {
  readonly lifecycle: Lifecycle | undefined;
  readonly gates: FeatureGates;
  /** Whether a Pod is at the revision it should be at. */
  readonly isUpdated: (pod: Pod) => boolean;
  /** Whether a new Pod that no hook holds is done being made. */
  readonly isMade: (pod: Pod) => boolean;
};

/** The state a Pod goes on to, if it is done with the one it is in (inplace-update.md §11). */
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
      // What it was to be updated to has been taken back, or it is not to be updated any more.
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
      return forgetHolds(pod, now);
  }
}
