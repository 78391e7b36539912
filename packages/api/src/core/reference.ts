import * as s from '@kruise/schema';

export const objectReference = s.object(
  'io.k8s.api.core.v1.ObjectReference',
  'Points at another object, or at a part of it.',
  {
    kind: s.optional(1, s.string(), 'Kind of the object, such as Pod.'),
    namespace: s.optional(2, s.string(), 'Namespace of the object; empty if its kind has none.'),
    name: s.optional(3, s.string(), 'Name of the object.'),
    uid: s.optional(
      4,
      s.string({ goType: 'types.UID' }),
      'UID of the object, which distinguishes it from later objects of the same name.',
    ),
    apiVersion: s.optional(5, s.string(), 'Group and version of the object, such as apps/v1.'),
    resourceVersion: s.optional(6, s.string(), 'The very version of the object that is meant, if any.'),
    fieldPath: s.optional(
      7,
      s.string(),
      'The part of the object that is meant, such as spec.containers{web}; empty for the whole.',
    ),
  },
  { mapType: 'atomic' },
);
export type ObjectReference = s.TypeOf<typeof objectReference>;

export const secretReference = s.object(
  'io.k8s.api.core.v1.SecretReference',
  'Points at a Secret in any namespace.',
  {
    name: s.optional(1, s.string(), 'Name of the Secret.'),
    namespace: s.optional(2, s.string(), 'Namespace of the Secret.'),
  },
  { mapType: 'atomic' },
);
export type SecretReference = s.TypeOf<typeof secretReference>;

export const typedLocalObjectReference = s.object(
  'io.k8s.api.core.v1.TypedLocalObjectReference',
  'Points at an object of any kind in the same namespace.',
  {
    apiGroup: s.pointer(1, s.string(), 'API group of the object; unset for the core group.', { omitEmpty: false }),
    kind: s.required(2, s.string(), 'Kind of the object.'),
    name: s.required(3, s.string(), 'Name of the object.'),
  },
  { mapType: 'atomic' },
);
export type TypedLocalObjectReference = s.TypeOf<typeof typedLocalObjectReference>;

export const typedObjectReference = s.object(
  'io.k8s.api.core.v1.TypedObjectReference',
  'Points at an object of any kind, in another namespace if allowed.',
  {
    apiGroup: s.pointer(1, s.string(), 'API group of the object; unset for the core group.', { omitEmpty: false }),
    kind: s.required(2, s.string(), 'Kind of the object.'),
    name: s.required(3, s.string(), 'Name of the object.'),
    namespace: s.pointer(
      4,
      s.string(),
      'Namespace of the object, if another one. A ReferenceGrant there must allow it.',
    ),
  },
);
export type TypedObjectReference = s.TypeOf<typeof typedObjectReference>;

export const localObjectReference = s.object(
  'io.k8s.api.core.v1.LocalObjectReference',
  'Points at an object in the same namespace.',
  {
    name: s.optional(1, s.string({ default: '' }), 'Name of the object.'),
  },
  { mapType: 'atomic' },
);
export type LocalObjectReference = s.TypeOf<typeof localObjectReference>;
