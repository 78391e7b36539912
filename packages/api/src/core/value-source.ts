import * as s from '@kruise/schema';
import { localObjectReference } from './reference.ts';

export const objectFieldSelector = s.object('io.k8s.api.core.v1.ObjectFieldSelector', '', {
  apiVersion: s.optional(1, s.string(), ''),
  fieldPath: s.required(2, s.string(), ''),
}, { mapType: 'atomic' });
export type ObjectFieldSelector = s.TypeOf<typeof objectFieldSelector>;

export const resourceFieldSelector = s.object('io.k8s.api.core.v1.ResourceFieldSelector', '', {
  containerName: s.optional(1, s.string(), ''),
  resource: s.required(2, s.string(), ''),
  divisor: s.optional(3, s.quantity(), ''),
}, { mapType: 'atomic' });
export type ResourceFieldSelector = s.TypeOf<typeof resourceFieldSelector>;

export const configMapKeySelector = s.object('io.k8s.api.core.v1.ConfigMapKeySelector', '', {
  localObjectReference: s.inline(1, localObjectReference),
  key: s.required(2, s.string(), ''),
  optional: s.pointer(3, s.boolean(), ''),
}, { mapType: 'atomic' });
export type ConfigMapKeySelector = s.TypeOf<typeof configMapKeySelector>;

export const secretKeySelector = s.object('io.k8s.api.core.v1.SecretKeySelector', '', {
  localObjectReference: s.inline(1, localObjectReference),
  key: s.required(2, s.string(), ''),
  optional: s.pointer(3, s.boolean(), ''),
}, { mapType: 'atomic' });
export type SecretKeySelector = s.TypeOf<typeof secretKeySelector>;
