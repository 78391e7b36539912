import * as s from '@kruise/schema';
import { localObjectReference } from './reference.ts';

export const objectFieldSelector = s.object(
  'io.k8s.api.core.v1.ObjectFieldSelector',
  'A field of the Pod itself.',
  {
    apiVersion: s.optional(1, s.string(), 'The version the path is written for; v1 by default.'),
    fieldPath: s.required(
      2,
      s.string(),
      "The field, such as metadata.name, metadata.labels['app'], spec.nodeName or status.podIP.",
    ),
  },
  { mapType: 'atomic' },
);
export type ObjectFieldSelector = s.TypeOf<typeof objectFieldSelector>;

export const resourceFieldSelector = s.object(
  'io.k8s.api.core.v1.ResourceFieldSelector',
  'Reference to a resource request or limit of a container.',
  {
    containerName: s.optional(
      1,
      s.string(),
      'Name of the container. Required in a volume; defaults to the container itself in an environment variable.',
    ),
    resource: s.required(
      2,
      s.string(),
      'Resource, for example limits.cpu or requests.memory. The value of an unset limit is the allocatable amount of the node.',
    ),
    divisor: s.optional(
      3,
      s.quantity(),
      'The unit of the result, such as 1m or 1Mi; 1 by default. The quotient is rounded up.',
    ),
  },
  { mapType: 'atomic' },
);
export type ResourceFieldSelector = s.TypeOf<typeof resourceFieldSelector>;

export const configMapKeySelector = s.object(
  'io.k8s.api.core.v1.ConfigMapKeySelector',
  'Reference to a key of a ConfigMap in the namespace of the Pod.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    key: s.required(2, s.string(), 'Key to select.'),
    optional: s.pointer(
      3,
      s.boolean(),
      'Missing ConfigMaps or keys are permitted. Default false: the container waits.',
    ),
  },
  { mapType: 'atomic' },
);
export type ConfigMapKeySelector = s.TypeOf<typeof configMapKeySelector>;

export const secretKeySelector = s.object(
  'io.k8s.api.core.v1.SecretKeySelector',
  'Reference to a key of a Secret in the namespace of the Pod.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    key: s.required(2, s.string(), 'Key to select.'),
    optional: s.pointer(3, s.boolean(), 'Missing Secrets or keys are permitted. Default false: the container waits.'),
  },
  { mapType: 'atomic' },
);
export type SecretKeySelector = s.TypeOf<typeof secretKeySelector>;
