import * as s from '@kruise/schema';


export const objectReference = s.object('io.k8s.api.core.v1.ObjectReference', '', {
  kind: s.optional(1, s.string(), ''),
  namespace: s.optional(2, s.string(), ''),
  name: s.optional(3, s.string(), ''),
  uid: s.optional(4, s.string({ goType: 'types.UID' }), ''),
  apiVersion: s.optional(5, s.string(), ''),
  resourceVersion: s.optional(6, s.string(), ''),
  fieldPath: s.optional(7, s.string(), ''),
}, { mapType: 'atomic' });
export type ObjectReference = s.TypeOf<typeof objectReference>;

export const secretReference = s.object('io.k8s.api.core.v1.SecretReference', '', {
  name: s.optional(1, s.string(), ''),
  namespace: s.optional(2, s.string(), ''),
}, { mapType: 'atomic' });
export type SecretReference = s.TypeOf<typeof secretReference>;

export const typedLocalObjectReference = s.object('io.k8s.api.core.v1.TypedLocalObjectReference', '', {
  apiGroup: s.pointer(1, s.string(), '', { omitEmpty: false }),
  kind: s.required(2, s.string(), ''),
  name: s.required(3, s.string(), ''),
}, { mapType: 'atomic' });
export type TypedLocalObjectReference = s.TypeOf<typeof typedLocalObjectReference>;

export const typedObjectReference = s.object('io.k8s.api.core.v1.TypedObjectReference', '', {
  apiGroup: s.pointer(1, s.string(), '', { omitEmpty: false }),
  kind: s.required(2, s.string(), ''),
  name: s.required(3, s.string(), ''),
  namespace: s.pointer(4, s.string(), ''),
});
export type TypedObjectReference = s.TypeOf<typeof typedObjectReference>;

export const localObjectReference = s.object('io.k8s.api.core.v1.LocalObjectReference', '', {
  name: s.optional(1, s.string({ default: '' }), ''),
}, { mapType: 'atomic' });
export type LocalObjectReference = s.TypeOf<typeof localObjectReference>;
