import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { storageClass } from '@kruise/api/storage/storageclass';
import { storageClassOf } from '@kruise/machinery/quota';
import { compareQuantities, parseQuantity, type Quantity, zeroQuantity } from '@kruise/values/quantity';
import { type AdmissionPlugin, forbiddenWrite, isWriteTo } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

/** PersistentVolumeClaimResize plugin: a PVC may only grow if its StorageClass allows volume expansion. */
export function persistentVolumeClaimResize(lookup: Lookup): AdmissionPlugin {
  const classes = lookup.of(storageClass);

  function canGrow(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
    const name = storageClassOf(claim);
    if (name === '' || name !== storageClassOf(old)) return false;
    return classes.get(name)?.allowVolumeExpansion ?? false;
  }

  return {
    name: 'PersistentVolumeClaimResize',
    handles: (attributes) => attributes.operation === 'UPDATE' && isWriteTo(attributes, persistentVolumeClaim),
    validate(attributes) {
      const claim = attributes.object as PersistentVolumeClaim;
      const old = attributes.oldObject as PersistentVolumeClaim;
      if (compareQuantities(sizeOf(claim), sizeOf(old)) <= 0) return;
      if (old.status?.phase !== 'Bound') {
        throw forbiddenWrite(attributes, 'Only bound persistent volume claims can be expanded');
      }
      if (canGrow(claim, old)) return;
      throw forbiddenWrite(
        attributes,
        'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
      );
    },
  };
}

function sizeOf({ spec }: PersistentVolumeClaim): Quantity {
  const storage = spec?.resources?.requests?.['storage'];
  return storage === undefined ? zeroQuantity : parseQuantity(storage);
}
