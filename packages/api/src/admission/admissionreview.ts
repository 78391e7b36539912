import * as s from '@kruise/schema';
import { groupVersionKind, groupVersionResource } from '../meta/group-version.ts';
import { status } from '../meta/status.ts';
import { typeMeta } from '../meta/type-meta.ts';
import { userInfo } from '../authentication/user-info.ts';

export const admissionRequest = s.object('io.k8s.api.admission.v1.AdmissionRequest', '', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), ''),
  kind: s.required(2, groupVersionKind, ''),
  resource: s.required(3, groupVersionResource, ''),
  subResource: s.optional(4, s.string(), ''),
  requestKind: s.pointer(13, groupVersionKind, ''),
  requestResource: s.pointer(14, groupVersionResource, ''),
  requestSubResource: s.optional(15, s.string(), ''),
  name: s.optional(5, s.string(), ''),
  namespace: s.optional(6, s.string(), ''),
  operation: s.required(7, s.string({ goType: 'v1.Operation' }), ''),
  userInfo: s.required(8, userInfo, ''),
  object: s.optional(9, s.rawExtension(), ''),
  oldObject: s.optional(10, s.rawExtension(), ''),
  dryRun: s.pointer(11, s.boolean(), ''),
  options: s.optional(12, s.rawExtension(), ''),
});
export type AdmissionRequest = s.TypeOf<typeof admissionRequest>;

export const admissionResponse = s.object('io.k8s.api.admission.v1.AdmissionResponse', '', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), ''),
  allowed: s.required(2, s.boolean(), ''),
  status: s.pointer(3, status, ''),
  patch: s.optional(4, s.bytes(), ''),
  patchType: s.pointer(5, s.string({ goType: 'v1.PatchType' }), ''),
  auditAnnotations: s.optional(6, s.map(s.string()), ''),
  warnings: s.optional(7, s.list(s.string()), ''),
});
export type AdmissionResponse = s.TypeOf<typeof admissionResponse>;

export const admissionReview = s.object('io.k8s.api.admission.v1.AdmissionReview', '', {
  ...typeMeta,
  request: s.pointer(1, admissionRequest, ''),
  response: s.pointer(2, admissionResponse, ''),
});
export type AdmissionReview = s.TypeOf<typeof admissionReview>;
