import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { typeMeta } from './type-meta.ts';

export const statusCause = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause', '', {
  reason: s.optional(1, s.string({ goType: 'v1.CauseType' }), ''),
  message: s.optional(2, s.string(), ''),
  field: s.optional(3, s.string(), ''),
});
export type StatusCause = s.TypeOf<typeof statusCause>;

export const statusDetails = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails', '', {
  name: s.optional(1, s.string(), ''),
  group: s.optional(2, s.string(), ''),
  kind: s.optional(3, s.string(), ''),
  uid: s.optional(6, s.string({ goType: 'types.UID' }), ''),
  causes: s.optional(4, s.atomicList(statusCause), ''),
  retryAfterSeconds: s.optional(5, s.int32(), ''),
});
export type StatusDetails = s.TypeOf<typeof statusDetails>;

export const status = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.Status', '', {
  ...typeMeta,
  metadata: s.optional(1, listMeta, ''),
  status: s.optional(2, s.string(), ''),
  message: s.optional(3, s.string(), ''),
  reason: s.optional(4, s.string({ goType: 'v1.StatusReason' }), ''),
  details: s.pointer(5, statusDetails, ''),
  code: s.optional(6, s.int32(), ''),
});
export type Status = s.TypeOf<typeof status>;
