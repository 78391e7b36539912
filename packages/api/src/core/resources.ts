import * as s from '@kruise/schema';


export const volumeResourceRequirements = s.object('io.k8s.api.core.v1.VolumeResourceRequirements', '', {
  limits: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  requests: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
});
export type VolumeResourceRequirements = s.TypeOf<typeof volumeResourceRequirements>;

export const resourceClaim = s.object('io.k8s.api.core.v1.ResourceClaim', '', {
  name: s.required(1, s.string(), ''),
  request: s.optional(2, s.string(), ''),
});
export type ResourceClaim = s.TypeOf<typeof resourceClaim>;

export const resourceRequirements = s.object('io.k8s.api.core.v1.ResourceRequirements', '', {
  limits: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  requests: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  claims: s.optional(3, s.listMap(resourceClaim, ['name']), ''),
});
export type ResourceRequirements = s.TypeOf<typeof resourceRequirements>;
