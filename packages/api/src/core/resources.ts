import * as s from '@kruise/schema';

export const volumeResourceRequirements = s.object(
  'io.k8s.api.core.v1.VolumeResourceRequirements',
  'Resource requirements of a volume.',
  {
    limits: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Maximum amount of storage.'),
    requests: s.optional(
      2,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Minimum amount of storage, under the key storage.',
    ),
  },
);
export type VolumeResourceRequirements = s.TypeOf<typeof volumeResourceRequirements>;

export const resourceClaim = s.object(
  'io.k8s.api.core.v1.ResourceClaim',
  'Reference of a container to a resource claim of the Pod.',
  {
    name: s.required(1, s.string(), 'Name of an entry of resourceClaims of the Pod.'),
    request: s.optional(2, s.string(), 'Name of one request of that claim. Unset: all of it.'),
  },
);
export type ResourceClaim = s.TypeOf<typeof resourceClaim>;

export const resourceRequirements = s.object(
  'io.k8s.api.core.v1.ResourceRequirements',
  'Resource requests and limits of a container.',
  {
    limits: s.optional(
      1,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Limits by resource. A container that exceeds its memory limit is killed; above its cpu limit it is throttled.',
    ),
    requests: s.optional(
      2,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Resources that are reserved on the node; the scheduler uses them. Default: the limits.',
    ),
    claims: s.optional(
      3,
      s.listMap(resourceClaim, ['name']),
      'Resource claims of the Pod that the container uses. Immutable.',
    ),
  },
);
export type ResourceRequirements = s.TypeOf<typeof resourceRequirements>;
