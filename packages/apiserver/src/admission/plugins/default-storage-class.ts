import { type PersistentVolumeClaim, persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { storageClass } from '@kruise/api/storage/storageclass';
import { defaultStorageClassAnnotations } from '@kruise/machinery/default-class';
import { type AdmissionPlugin, draftOf, isWriteTo } from '../admission.ts';
import type { Lookup } from '../lookup.ts';
import { defaultClassOf } from './default-class.ts';

/**
 * DefaultStorageClass plugin: sets the default class on a PVC without a class. A PVC with an empty class name opts out.
 */
export function defaultStorageClass(lookup: Lookup): AdmissionPlugin {
  const defaultClass = defaultClassOf(lookup.of(storageClass), defaultStorageClassAnnotations);
  return {
    name: 'DefaultStorageClass',
    handles: (attributes) => attributes.operation === 'CREATE' && isWriteTo(attributes, persistentVolumeClaim),
    mutate(attributes) {
      const { metadata, spec } = draftOf<PersistentVolumeClaim>(attributes);
      if (metadata.annotations?.['volume.beta.kubernetes.io/storage-class'] !== undefined) return;
      if (!spec || spec.storageClassName != null) return;
      const name = defaultClass();
      if (name !== undefined) spec.storageClassName = name;
    },
  };
}
