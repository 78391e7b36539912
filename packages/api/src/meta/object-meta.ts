import * as s from '@kruise/schema';


export const ownerReference = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', '', {
  apiVersion: s.required(5, s.string(), ''),
  kind: s.required(1, s.string(), ''),
  name: s.required(3, s.string(), ''),
  uid: s.required(4, s.string({ goType: 'types.UID' }), ''),
  controller: s.pointer(6, s.boolean(), ''),
  blockOwnerDeletion: s.pointer(7, s.boolean(), ''),
}, { mapType: 'atomic' });
export type OwnerReference = s.TypeOf<typeof ownerReference>;

export const managedFieldsEntry = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry', '', {
  manager: s.optional(1, s.string(), ''),
  operation: s.optional(2, s.string({ goType: 'v1.ManagedFieldsOperationType' }), ''),
  apiVersion: s.optional(3, s.string(), ''),
  time: s.pointer(4, s.time(), ''),
  fieldsType: s.optional(6, s.string(), ''),
  fieldsV1: s.pointer(7, s.fieldsV1(), ''),
  subresource: s.optional(8, s.string(), ''),
});
export type ManagedFieldsEntry = s.TypeOf<typeof managedFieldsEntry>;

export const objectMeta = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', '', {
  name: s.optional(1, s.string(), ''),
  generateName: s.optional(2, s.string(), ''),
  namespace: s.optional(3, s.string(), ''),
  selfLink: s.optional(4, s.string(), ''),
  uid: s.optional(5, s.string({ goType: 'types.UID' }), ''),
  resourceVersion: s.optional(6, s.string(), ''),
  generation: s.optional(7, s.int64(), ''),
  creationTimestamp: s.optional(8, s.time(), ''),
  deletionTimestamp: s.pointer(9, s.time(), ''),
  deletionGracePeriodSeconds: s.pointer(10, s.int64(), ''),
  labels: s.optional(11, s.map(s.string()), ''),
  annotations: s.optional(12, s.map(s.string()), ''),
  ownerReferences: s.optional(13, s.listMap(ownerReference, ['uid']), '', { patchStrategy: 'merge', patchMergeKey: 'uid' }),
  finalizers: s.optional(14, s.set(s.string()), '', { patchStrategy: 'merge' }),
  managedFields: s.optional(17, s.atomicList(managedFieldsEntry), ''),
});
export type ObjectMeta = s.TypeOf<typeof objectMeta>;
