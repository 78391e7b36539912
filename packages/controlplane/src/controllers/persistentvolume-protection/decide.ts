import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { hasFinalizer, isBeingDeleted, update, withFinalizer, withoutFinalizer } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

const finalizer = 'kubernetes.io/pv-protection';

/** A volume is held from the beginning, and stays as long as it is bound to a claim. */
export function decide(volume: PersistentVolume): Decision<never> {
  const isHeld = hasFinalizer(volume, finalizer);
  if (!isBeingDeleted(volume)) return { actions: isHeld ? [] : [update(withFinalizer(volume, finalizer))] };
  const isNeeded = volume.status?.phase === 'Bound';
  return { actions: isHeld && !isNeeded ? [update(withoutFinalizer(volume, finalizer))] : [] };
}
