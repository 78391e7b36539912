import * as s from '@kruise/schema';
import { typeMeta } from './type-meta.ts';

export const preconditions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions', '', {
  uid: s.pointer(1, s.string({ goType: 'types.UID' }), ''),
  resourceVersion: s.pointer(2, s.string(), ''),
});
export type Preconditions = s.TypeOf<typeof preconditions>;

export const deleteOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', '', {
  ...typeMeta,
  gracePeriodSeconds: s.pointer(1, s.int64(), ''),
  preconditions: s.pointer(2, preconditions, ''),
  orphanDependents: s.pointer(3, s.boolean(), ''),
  propagationPolicy: s.pointer(4, s.string({ goType: 'v1.DeletionPropagation' }), ''),
  dryRun: s.optional(5, s.atomicList(s.string()), ''),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.pointer(6, s.boolean(), ''),
});
export type DeleteOptions = s.TypeOf<typeof deleteOptions>;

export const createOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.CreateOptions', '', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), ''),
  fieldManager: s.optional(3, s.string(), ''),
  fieldValidation: s.optional(4, s.string(), ''),
});
export type CreateOptions = s.TypeOf<typeof createOptions>;

export const updateOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.UpdateOptions', '', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), ''),
  fieldManager: s.optional(2, s.string(), ''),
  fieldValidation: s.optional(3, s.string(), ''),
});
export type UpdateOptions = s.TypeOf<typeof updateOptions>;

export const patchOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.PatchOptions', '', {
  ...typeMeta,
  dryRun: s.optional(1, s.list(s.string()), ''),
  force: s.pointer(2, s.boolean(), ''),
  fieldManager: s.optional(3, s.string(), ''),
  fieldValidation: s.optional(4, s.string(), ''),
});
export type PatchOptions = s.TypeOf<typeof patchOptions>;

export const listOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.ListOptions', '', {
  ...typeMeta,
  labelSelector: s.optional(1, s.string(), ''),
  fieldSelector: s.optional(2, s.string(), ''),
  watch: s.optional(3, s.boolean(), ''),
  allowWatchBookmarks: s.optional(9, s.boolean(), ''),
  resourceVersion: s.optional(4, s.string(), ''),
  resourceVersionMatch: s.optional(10, s.string({ goType: 'v1.ResourceVersionMatch' }), ''),
  timeoutSeconds: s.pointer(5, s.int64(), ''),
  limit: s.optional(7, s.int64(), ''),
  continue: s.optional(8, s.string(), ''),
  sendInitialEvents: s.pointer(11, s.boolean(), ''),
});
export type ListOptions = s.TypeOf<typeof listOptions>;

export const getOptions = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.GetOptions', '', {
  ...typeMeta,
  resourceVersion: s.optional(1, s.string(), ''),
});
export type GetOptions = s.TypeOf<typeof getOptions>;
