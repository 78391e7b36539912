import type { Draft } from '@kruise/schema/draft';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from './persistentvolumeclaim.ts';
import { defaultResourceList, defaultResources } from './resources.default.ts';

export function defaultPersistentVolumeClaim(claim: Draft<PersistentVolumeClaim>): void {
  const spec = (claim.spec ??= {});
  const status = (claim.status ??= {});
  status.phase ||= 'Pending';
  defaultResourceList(status.capacity);
  defaultResourceList(status.allocatedResources);
  defaultPersistentVolumeClaimSpec(spec);
}

export function defaultPersistentVolumeClaimSpec(spec: Draft<PersistentVolumeClaimSpec>): void {
  spec.volumeMode ??= 'Filesystem';
  defaultResources(spec.resources);
}
