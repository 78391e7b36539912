import type { PersistentVolume } from './persistentvolume.ts';
import { nodeTermWarnings } from './pod.warnings.ts';

const deprecatedAnnotations = [
  ['volume.beta.kubernetes.io/storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
  ['volume.beta.kubernetes.io/mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
] as const;

/** Volume sources that are no longer supported. */
const deprecatedSources = [
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

export function* persistentVolumeWarnings({ metadata, spec = {} }: PersistentVolume): Generator<string> {
  for (const [annotation, message] of deprecatedAnnotations) {
    if (metadata.annotations?.[annotation] !== undefined) yield `metadata.annotations[${annotation}]: ${message}`;
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    yield 'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
  }
  for (const [index, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    yield* nodeTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`);
  }
  for (const [source, message] of deprecatedSources) {
    if (spec[source]) yield `spec.${source === 'storageos' ? 'storageOS' : source}: ${message}`;
  }
}
