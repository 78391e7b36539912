import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const boundObjectReference = s.object(
  'io.k8s.api.authentication.v1.BoundObjectReference',
  'The object a token lives and dies with.',
  {
    kind: s.optional(1, s.string(), 'Pod, Secret or Node.'),
    apiVersion: s.optional(2, s.string(), 'Version of the protocol: v1.'),
    name: s.optional(3, s.string(), 'Name of the object.'),
    uid: s.optional(4, s.string({ goType: 'types.UID' }), 'The uid of the object.'),
  },
);
export type BoundObjectReference = s.TypeOf<typeof boundObjectReference>;

export const tokenRequestSpec = s.object('io.k8s.api.authentication.v1.TokenRequestSpec', 'Requested token.', {
  audiences: s.required(
    1,
    s.atomicList(s.string()),
    'Audiences of the token. Empty: the API server. Other recipients must reject the token.',
  ),
  expirationSeconds: s.pointer(
    4,
    s.int64(),
    'Requested lifetime of the token in seconds; at least 600, 3600 by default. The server may choose another one.',
    { omitEmpty: false },
  ),
  boundObjectRef: s.pointer(3, boundObjectReference, 'Object whose deletion invalidates the token.', {
    omitEmpty: false,
  }),
});
export type TokenRequestSpec = s.TypeOf<typeof tokenRequestSpec>;

export const tokenRequestStatus = s.object(
  'io.k8s.api.authentication.v1.TokenRequestStatus',
  'The token that was made.',
  {
    token: s.required(1, s.string(), 'The token.'),
    expirationTimestamp: s.required(2, s.time(), 'Time at which the token expires.'),
  },
);
export type TokenRequestStatus = s.TypeOf<typeof tokenRequestStatus>;

export const tokenRequest = kind(
  'io.k8s.api.authentication.v1.TokenRequest',
  'TokenRequest requests a token of a ServiceAccount.',
  {
    group: 'authentication.k8s.io',
    version: 'v1',
    kind: 'TokenRequest',
    plural: 'tokenrequests',
    scope: 'Namespaced',
    verbs: [],
    fields: {
      spec: s.required(2, tokenRequestSpec, 'Specification: audiences, lifetime and bound object of the token.'),
      status: s.optional(3, tokenRequestStatus, 'The token.'),
    },
  },
);
export type TokenRequest = s.TypeOf<typeof tokenRequest>;
