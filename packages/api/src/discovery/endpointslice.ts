import * as s from '@kruise/schema';
import { objectReference } from '../core/reference.ts';
import { kind } from '../meta/kind.ts';

export const endpointConditions = s.object('io.k8s.api.discovery.v1.EndpointConditions', 'Conditions of an endpoint.', {
  ready: s.pointer(
    1,
    s.boolean(),
    'Ready for traffic: the endpoint is serving and not terminating. Unset counts as true.',
  ),
  serving: s.pointer(
    2,
    s.boolean(),
    'Serving: as ready, but also true for a terminating endpoint that still serves. Unset: as ready.',
  ),
  terminating: s.pointer(3, s.boolean(), 'Terminating endpoint. Unset counts as false.'),
});
export type EndpointConditions = s.TypeOf<typeof endpointConditions>;

export const forZone = s.object('io.k8s.api.discovery.v1.ForZone', 'A zone an endpoint is for.', {
  name: s.required(1, s.string(), 'Name of the zone.'),
});
export type ForZone = s.TypeOf<typeof forZone>;

export const forNode = s.object('io.k8s.api.discovery.v1.ForNode', 'A node an endpoint is for.', {
  name: s.required(1, s.string(), 'Name of the node.'),
});
export type ForNode = s.TypeOf<typeof forNode>;

export const endpointHints = s.object(
  'io.k8s.api.discovery.v1.EndpointHints',
  'Hints for the clients that should use an endpoint.',
  {
    forZones: s.optional(1, s.atomicList(forZone), 'Clients in these zones; up to 8.'),
    forNodes: s.optional(
      2,
      s.atomicList(forNode),
      'Clients on these nodes; up to 8. Of alpha quality, behind a feature gate.',
    ),
  },
);
export type EndpointHints = s.TypeOf<typeof endpointHints>;

export const endpoint = s.object('io.k8s.api.discovery.v1.Endpoint', 'Somewhere that answers for a Service.', {
  addresses: s.required(
    1,
    s.set(s.string()),
    'Addresses of the endpoint, of the address type of the slice; at most 100, which are equivalent. Clients use only the first.',
  ),
  conditions: s.optional(2, endpointConditions, 'Conditions of the endpoint.'),
  hostname: s.pointer(3, s.string(), 'Host name in the DNS of the Service.'),
  targetRef: s.pointer(4, objectReference, 'Object behind the endpoint, usually a Pod.'),
  deprecatedTopology: s.optional(5, s.map(s.string()), 'Topology labels of v1beta1. Read-only.'),
  nodeName: s.pointer(6, s.string(), 'Node of the endpoint.'),
  zone: s.pointer(7, s.string(), 'Zone of the endpoint.'),
  hints: s.pointer(8, endpointHints, 'Hints about the clients that should use the endpoint.'),
});
export type Endpoint = s.TypeOf<typeof endpoint>;

export const endpointPort = s.object(
  'io.k8s.api.discovery.v1.EndpointPort',
  'A port endpoints answer on.',
  {
    name: s.pointer(
      1,
      s.string(),
      'Name of the port of the Service; unique in the slice, and empty if there is one only.',
    ),
    protocol: s.pointer(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), 'TCP (the default), UDP or SCTP.'),
    port: s.pointer(3, s.int32(), 'The port number. Unset: the consumer decides.'),
    appProtocol: s.pointer(
      4,
      s.string(),
      'The protocol spoken on top, as a hint: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss, or a prefixed name of your own.',
    ),
  },
  { mapType: 'atomic' },
);
export type EndpointPort = s.TypeOf<typeof endpointPort>;

export const endpointSlice = kind(
  'io.k8s.api.discovery.v1.EndpointSlice',
  'EndpointSlice contains a part of the endpoints of a Service; all slices together contain all of them.',
  {
    group: 'discovery.k8s.io',
    version: 'v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    scope: 'Namespaced',
    fields: {
      addressType: s.required(4, s.string({ goType: 'v1.AddressType' }), 'IPv4, IPv6 or FQDN. Cannot be changed.'),
      endpoints: s.required(2, s.atomicList(endpoint), 'The endpoints; up to 1000.'),
      ports: s.optional(
        3,
        s.atomicList(endpointPort),
        'The ports of every endpoint; up to 100. Empty: none is known.',
        { omitEmpty: false },
      ),
    },
  },
);
export type EndpointSlice = s.TypeOf<typeof endpointSlice>;
