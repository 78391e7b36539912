import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const boundObjectReference = s.object('io.k8s.api.authentication.v1.BoundObjectReference', '', {
  kind: s.optional(1, s.string(), ''),
  apiVersion: s.optional(2, s.string(), ''),
  name: s.optional(3, s.string(), ''),
  uid: s.optional(4, s.string({ goType: 'types.UID' }), ''),
});
export type BoundObjectReference = s.TypeOf<typeof boundObjectReference>;

export const tokenRequestSpec = s.object('io.k8s.api.authentication.v1.TokenRequestSpec', '', {
  audiences: s.required(1, s.atomicList(s.string()), ''),
  expirationSeconds: s.pointer(4, s.int64(), '', { omitEmpty: false }),
  boundObjectRef: s.pointer(3, boundObjectReference, '', { omitEmpty: false }),
});
export type TokenRequestSpec = s.TypeOf<typeof tokenRequestSpec>;

export const tokenRequestStatus = s.object('io.k8s.api.authentication.v1.TokenRequestStatus', '', {
  token: s.required(1, s.string(), ''),
  expirationTimestamp: s.required(2, s.time(), ''),
});
export type TokenRequestStatus = s.TypeOf<typeof tokenRequestStatus>;

export const tokenRequest = kind('io.k8s.api.authentication.v1.TokenRequest', '', {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  verbs: [],
  fields: {
    spec: s.required(2, tokenRequestSpec, ''),
    status: s.optional(3, tokenRequestStatus, ''),
  },
});
export type TokenRequest = s.TypeOf<typeof tokenRequest>;
