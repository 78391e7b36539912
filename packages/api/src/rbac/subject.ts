import * as s from '@kruise/schema';


export const subject = s.object('io.k8s.api.rbac.v1.Subject', '', {
  kind: s.required(1, s.string(), ''),
  apiGroup: s.optional(2, s.string(), ''),
  name: s.required(3, s.string(), ''),
  namespace: s.optional(4, s.string(), ''),
}, { mapType: 'atomic' });
export type Subject = s.TypeOf<typeof subject>;

export const roleRef = s.object('io.k8s.api.rbac.v1.RoleRef', '', {
  apiGroup: s.required(1, s.string(), ''),
  kind: s.required(2, s.string(), ''),
  name: s.required(3, s.string(), ''),
}, { mapType: 'atomic' });
export type RoleRef = s.TypeOf<typeof roleRef>;
