import * as s from '@kruise/schema';
import { userInfo } from '../authentication/user-info.ts';
import { groupVersionKind, groupVersionResource } from '../meta/group-version.ts';
import { status } from '../meta/status.ts';
import { typeMeta } from '../meta/type-meta.ts';

export const admissionRequest = s.object('io.k8s.api.admission.v1.AdmissionRequest', 'An admission request.', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), 'To be returned in the answer.'),
  kind: s.required(2, groupVersionKind, 'Kind of the object, as it is sent here.'),
  resource: s.required(
    3,
    groupVersionResource,
    "Resource of the request, converted to the version of the webhook's rule.",
  ),
  subResource: s.optional(4, s.string(), 'The subresource, if there is one.'),
  requestKind: s.pointer(
    13,
    groupVersionKind,
    'Kind of the object as the user sent it, if it was converted for this webhook.',
  ),
  requestResource: s.pointer(
    14,
    groupVersionResource,
    'Resource of the original request, if the request was converted.',
  ),
  requestSubResource: s.optional(15, s.string(), 'Subresource of the original request, if the request was converted.'),
  name: s.optional(5, s.string(), 'Name of the object. May be empty when it is still to be chosen.'),
  namespace: s.optional(6, s.string(), 'Namespace of the object, if it has one.'),
  operation: s.required(7, s.string({ goType: 'v1.Operation' }), 'CREATE, UPDATE, DELETE or CONNECT.'),
  userInfo: s.required(8, userInfo, 'User who sent the request.'),
  object: s.optional(9, s.rawExtension(), 'Object of the request. Unset for DELETE.'),
  oldObject: s.optional(10, s.rawExtension(), 'Existing object. Unset for CREATE and CONNECT.'),
  dryRun: s.pointer(11, s.boolean(), 'Dry run: nothing is stored. Default false.'),
  options: s.optional(12, s.rawExtension(), 'The options of the call, such as CreateOptions.'),
});
export type AdmissionRequest = s.TypeOf<typeof admissionRequest>;

export const admissionResponse = s.object('io.k8s.api.admission.v1.AdmissionResponse', 'An admission response.', {
  uid: s.required(1, s.string({ goType: 'types.UID' }), 'UID of the request.'),
  allowed: s.required(2, s.boolean(), 'Decision of the webhook: true admits the request.'),
  status: s.pointer(3, status, 'Reason and HTTP code of a rejection. Ignored if the request is allowed.'),
  patch: s.optional(4, s.bytes(), 'Changes to the object, as a JSON patch.'),
  patchType: s.pointer(5, s.string({ goType: 'v1.PatchType' }), 'JSONPatch, the only one there is.'),
  auditAnnotations: s.optional(
    6,
    s.map(s.string()),
    'Audit annotations by key; each key is prefixed with the name of the webhook.',
  ),
  warnings: s.optional(7, s.list(s.string()), 'Warnings for the user, also if the request is allowed; short lines.'),
});
export type AdmissionResponse = s.TypeOf<typeof admissionResponse>;

export const admissionReview = s.object(
  'io.k8s.api.admission.v1.AdmissionReview',
  'A review by an admission webhook: its request and its response.',
  {
    ...typeMeta,
    request: s.pointer(1, admissionRequest, 'The admission request.'),
    response: s.pointer(2, admissionResponse, 'The admission response.'),
  },
);
export type AdmissionReview = s.TypeOf<typeof admissionReview>;
