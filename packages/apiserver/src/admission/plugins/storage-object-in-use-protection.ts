import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { KubeObject } from '../../object.ts';
import { type AdmissionPlugin, draftOf, isAbout } from '../admission.ts';

/**
 * StorageObjectInUseProtection plugin: adds finalizers that keep deleted PersistentVolumes and PVCs while they are in
 * use.
 */
export const storageObjectInUseProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  handles: (attributes) =>
    attributes.operation === 'CREATE' &&
    (isAbout(attributes, persistentVolume) || isAbout(attributes, persistentVolumeClaim)),
  mutate(attributes) {
    const { metadata } = draftOf<KubeObject>(attributes);
    const finalizer = isAbout(attributes, persistentVolume)
      ? 'kubernetes.io/pv-protection'
      : 'kubernetes.io/pvc-protection';
    const finalizers = (metadata.finalizers ??= []);
    if (!finalizers.includes(finalizer)) finalizers.push(finalizer);
  },
};
