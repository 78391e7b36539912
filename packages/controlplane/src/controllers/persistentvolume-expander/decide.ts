import type { PersistentVolume } from '@kruise/api/core/persistentvolume';
import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Decision } from '@kruise/client/controller';
import { requestOf } from '@kruise/machinery/volume-binding';
import { compareQuantities, parseQuantity, type Quantity } from '@kruise/values/quantity';

export type Observed = {
  readonly claim: PersistentVolumeClaim;
  /** Volume of the PVC. */
  readonly volume: PersistentVolume | undefined;
};

/** Emits an event that an external resizer must expand the volume; in-tree expansion does not exist any more. */
export function decide({ claim, volume }: Observed): Decision<never> {
  const isItsOwn = volume?.spec?.claimRef?.uid === claim.metadata.uid;
  if (claim.status?.phase !== 'Bound' || !isItsOwn || !wantsMore(claim)) return { actions: [] };
  const message = 'waiting for an external controller to expand this PVC';
  return { actions: [], events: [{ about: claim, type: 'Normal', reason: 'ExternalExpanding', message }] };
}

function wantsMore(claim: PersistentVolumeClaim): boolean {
  return compareQuantities(requestOf(claim), sizeOf(claim)) > 0;
}

/** Reports whether a PVC requests more storage than before, or has more. */
export function hasGrown(claim: PersistentVolumeClaim, before: PersistentVolumeClaim): boolean {
  return (
    compareQuantities(requestOf(claim), requestOf(before)) > 0 || compareQuantities(sizeOf(claim), sizeOf(before)) > 0
  );
}

function sizeOf({ status }: PersistentVolumeClaim): Quantity {
  return parseQuantity(status?.capacity?.storage ?? '0');
}
