import type { PersistentVolumeClaim } from './persistentvolumeclaim.ts';
import { claimSpecWarnings } from './pod.warnings.ts';

const storageClassAnnotation = 'volume.beta.kubernetes.io/storage-class';

export function* persistentVolumeClaimWarnings({ metadata, spec = {} }: PersistentVolumeClaim): Generator<string> {
  if (metadata.annotations?.[storageClassAnnotation] !== undefined) {
    yield `metadata.annotations[${storageClassAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`;
  }
  yield* claimSpecWarnings(spec, 'spec');
}
