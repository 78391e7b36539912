import * as s from '@kruise/schema';
import { listMeta } from './list-meta.ts';
import { typeMeta } from './type-meta.ts';

export const statusCause = s.object('io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause', 'Cause of a failed request.', {
  reason: s.optional(1, s.string({ goType: 'v1.CauseType' }), 'Machine-readable reason, such as FieldValueInvalid.'),
  message: s.optional(2, s.string(), 'Human-readable message.'),
  field: s.optional(3, s.string(), 'The field at fault, such as spec.containers[0].name.'),
});
export type StatusCause = s.TypeOf<typeof statusCause>;

export const statusDetails = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails',
  'Details of a failed request.',
  {
    name: s.optional(1, s.string(), 'Name of the object.'),
    group: s.optional(2, s.string(), 'API group of the object.'),
    kind: s.optional(3, s.string(), 'Kind or resource of the object.'),
    uid: s.optional(6, s.string({ goType: 'types.UID' }), 'The uid of the object, if there was one.'),
    causes: s.optional(4, s.atomicList(statusCause), 'Causes of the failure.'),
    retryAfterSeconds: s.optional(5, s.int32(), 'Seconds to wait before asking again, if that may help.'),
  },
);
export type StatusDetails = s.TypeOf<typeof statusDetails>;

export const status = s.object(
  'io.k8s.apimachinery.pkg.apis.meta.v1.Status',
  'Result of a request that returns no object.',
  {
    ...typeMeta,
    metadata: s.optional(1, listMeta, 'Metadata of a list, normally empty.'),
    status: s.optional(2, s.string(), 'Success or Failure.'),
    message: s.optional(3, s.string(), 'Human-readable message.'),
    reason: s.optional(
      4,
      s.string({ goType: 'v1.StatusReason' }),
      'Machine-readable reason, such as NotFound or Conflict.',
    ),
    details: s.pointer(5, statusDetails, 'Details of the request, if they are known.', { listType: 'atomic' }),
    code: s.optional(6, s.int32(), 'The HTTP status; 0 if none was given.'),
  },
);
export type Status = s.TypeOf<typeof status>;
