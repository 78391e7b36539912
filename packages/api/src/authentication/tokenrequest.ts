import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const boundObjectReference = s.object(
  'io.k8s.api.authentication.v1.BoundObjectReference',
  'The object a token lives and dies with.',
  {
    kind: s.optional(1, s.string(), 'Pod, Secret or Node.'),
    apiVersion: s.optional(2, s.string(), 'Its version: v1.'),
    name: s.optional(3, s.string(), 'Name of the object.'),
    uid: s.optional(4, s.string({ goType: 'types.UID' }), 'The uid of the object.'),
  },
);
export type BoundObjectReference = s.TypeOf<typeof boundObjectReference>;

export const tokenRequestSpec = s.object(
  'io.k8s.api.authentication.v1.TokenRequestSpec',
  'The token that is asked for.',
  {
    audiences: s.required(
      1,
      s.atomicList(s.string()),
      'Audiences of the token. Empty: the API server. Other recipients must reject the token.',
    ),
    expirationSeconds: s.pointer(
      4,
      s.int64(),
      'How long it is to be good for; at least 600, 3600 by default. The server may decide otherwise.',
      { omitEmpty: false },
    ),
    boundObjectRef: s.pointer(3, boundObjectReference, 'The object with which it ceases to be good.', {
      omitEmpty: false,
    }),
  },
);
export type TokenRequestSpec = s.TypeOf<typeof tokenRequestSpec>;

export const tokenRequestStatus = s.object(
  'io.k8s.api.authentication.v1.TokenRequestStatus',
  'The token that was made.',
  {
    token: s.required(1, s.string(), 'The token.'),
    expirationTimestamp: s.required(2, s.time(), 'When it ceases to be good.'),
  },
);
export type TokenRequestStatus = s.TypeOf<typeof tokenRequestStatus>;

export const tokenRequest = kind('io.k8s.api.authentication.v1.TokenRequest', 'Asks for a token of a ServiceAccount.', {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenRequest',
  plural: 'tokenrequests',
  scope: 'Namespaced',
  verbs: [],
  fields: {
    spec: s.required(2, tokenRequestSpec, 'What it is to be good for.'),
    status: s.optional(3, tokenRequestStatus, 'The token.'),
  },
});
export type TokenRequest = s.TypeOf<typeof tokenRequest>;
