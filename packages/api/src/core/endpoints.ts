import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectReference } from './reference.ts';

export const endpointAddress = s.object(
  'io.k8s.api.core.v1.EndpointAddress',
  'An address behind a Service.',
  {
    ip: s.required(1, s.string(), 'The address; not one of loopback, link-local or link-local multicast.'),
    hostname: s.optional(3, s.string(), 'The name the address has in the DNS below the Service.'),
    nodeName: s.pointer(4, s.string(), 'The node the address is on.'),
    targetRef: s.pointer(2, objectReference, 'Object behind the address, usually a Pod.'),
  },
  { mapType: 'atomic' },
);
export type EndpointAddress = s.TypeOf<typeof endpointAddress>;

export const endpointPort = s.object(
  'io.k8s.api.core.v1.EndpointPort',
  'A port behind a Service.',
  {
    name: s.optional(1, s.string(), 'Name of the port of the Service. Must be given if there are several.'),
    port: s.required(2, s.int32(), 'The port number at the addresses.'),
    protocol: s.optional(3, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), 'TCP (the default), UDP or SCTP.'),
    appProtocol: s.pointer(
      4,
      s.string(),
      'The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a prefixed name of your own.',
    ),
  },
  { mapType: 'atomic' },
);
export type EndpointPort = s.TypeOf<typeof endpointPort>;

export const endpointSubset = s.object(
  'io.k8s.api.core.v1.EndpointSubset',
  'Addresses with common ports; the endpoints are all combinations of addresses and ports.',
  {
    addresses: s.optional(1, s.atomicList(endpointAddress), 'Addresses that are ready for traffic.'),
    notReadyAddresses: s.optional(
      2,
      s.atomicList(endpointAddress),
      'Addresses that receive no traffic, because their Pods are not ready.',
    ),
    ports: s.optional(3, s.atomicList(endpointPort), 'The ports at these addresses.'),
  },
);
export type EndpointSubset = s.TypeOf<typeof endpointSubset>;

export const endpoints = kind(
  'io.k8s.api.core.v1.Endpoints',
  'The addresses behind a Service, in one object. Deprecated in favour of EndpointSlice.',
  {
    group: '',
    version: 'v1',
    kind: 'Endpoints',
    plural: 'endpoints',
    scope: 'Namespaced',
    shortNames: ['ep'],
    fields: {
      subsets: s.optional(2, s.atomicList(endpointSubset), 'Addresses of the endpoints, grouped by their ports.'),
    },
  },
);
export type Endpoints = s.TypeOf<typeof endpoints>;
