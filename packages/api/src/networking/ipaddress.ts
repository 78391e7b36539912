import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const parentReference = s.object(
  'io.k8s.api.networking.v1.ParentReference',
  'Object to which an address is allocated.',
  {
    group: s.optional(1, s.string(), 'API group of the object; empty for the core group.'),
    resource: s.required(2, s.string(), 'Resource of the object, such as services.', { omitEmpty: true }),
    namespace: s.optional(3, s.string(), 'Namespace of the object.'),
    name: s.required(4, s.string(), 'Name of the object.', { omitEmpty: true }),
  },
);
export type ParentReference = s.TypeOf<typeof parentReference>;

export const ipAddressSpec = s.object('io.k8s.api.networking.v1.IPAddressSpec', 'The owner of an address.', {
  parentRef: s.required(1, parentReference, 'Object to which the address is allocated. Required; immutable.', {
    omitEmpty: true,
    pointer: true,
  }),
});
export type IPAddressSpec = s.TypeOf<typeof ipAddressSpec>;

export const ipAddress = kind(
  'io.k8s.api.networking.v1.IPAddress',
  'An address that has been given to a Service. Its name is the address.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'IPAddress',
    plural: 'ipaddresses',
    scope: 'Cluster',
    shortNames: ['ip'],
    fields: {
      spec: s.optional(2, ipAddressSpec, 'The owner of the address.'),
    },
  },
);
export type IPAddress = s.TypeOf<typeof ipAddress>;
