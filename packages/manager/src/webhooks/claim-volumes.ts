import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';

/** Adds a volume for each PVC template, because containers may mount PVCs that are created with the Pod. */
export function withClaimVolumes(
  template: PodTemplateSpec,
  claims: readonly PersistentVolumeClaim[] = [],
): PodTemplateSpec {
  if (claims.length === 0) return template;
  const volumes = claims.map(({ metadata }) => ({
    name: metadata?.name ?? '',
    persistentVolumeClaim: { claimName: metadata?.name ?? '' },
  }));
  const spec = template.spec ?? { containers: [] };
  return { ...template, spec: { ...spec, volumes: [...(spec.volumes ?? []), ...volumes] } };
}
