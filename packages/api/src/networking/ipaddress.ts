import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const parentReference = s.object('io.k8s.api.networking.v1.ParentReference', '', {
  group: s.optional(1, s.string(), ''),
  resource: s.required(2, s.string(), '', { omitEmpty: true }),
  namespace: s.optional(3, s.string(), ''),
  name: s.required(4, s.string(), '', { omitEmpty: true }),
});
export type ParentReference = s.TypeOf<typeof parentReference>;

export const ipAddressSpec = s.object('io.k8s.api.networking.v1.IPAddressSpec', '', {
  parentRef: s.required(1, parentReference, '', { omitEmpty: true, pointer: true }),
});
export type IPAddressSpec = s.TypeOf<typeof ipAddressSpec>;

export const ipAddress = kind('io.k8s.api.networking.v1.IPAddress', '', {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  scope: 'Cluster',
  shortNames: ['ip'],
  fields: {
    spec: s.optional(2, ipAddressSpec, ''),
  },
});
export type IPAddress = s.TypeOf<typeof ipAddress>;
