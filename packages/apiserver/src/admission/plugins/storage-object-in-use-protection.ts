import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { KubeObject } from '../../object.ts';
import { type AdmissionPlugin, draftOf, isWriteTo } from '../admission.ts';

/**
 * StorageObjectInUseProtection plugin: adds finalizers that keep deleted PersistentVolumes and PVCs while they are in
 * use.
 */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (attributes) =>
    attributes.operation === 'CREATE' &&
    (isWriteTo(attributes, persistentVolume) || isWriteTo(attributes, persistentVolumeClaim)),
  mutate(attributes) {
    const { metadata } = draftOf<KubeObject>(attributes);
    const finalizer = isWriteTo(attributes, persistentVolume)
      ? 'kubernetes.io/pv-protection'
      : 'kubernetes.io/pvc-protection';
    const finalizers = (metadata.finalizers ??= []);
    if (!finalizers.includes(finalizer)) finalizers.push(finalizer);
  },
};
