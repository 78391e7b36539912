import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import { hasFinalizer, isBeingDeleted, update, withFinalizer, withoutFinalizer } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';

const finalizer = 'kubernetes.io/pv-protection';

/** Adds the protection finalizer from the start, and removes it when the terminating volume is not bound. */
export function decide(volume: PersistentVolume): Decision<never> {
  const hasProtectionFinalizer = hasFinalizer(volume, finalizer);
  if (!isBeingDeleted(volume))
    return { actions: hasProtectionFinalizer ? [] : [update(withFinalizer(volume, finalizer))] };
  const isNeeded = volume.status?.phase === 'Bound';
  return { actions: hasProtectionFinalizer && !isNeeded ? [update(withoutFinalizer(volume, finalizer))] : [] };
}
