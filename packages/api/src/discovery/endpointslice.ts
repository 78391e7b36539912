import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectReference } from '../core/reference.ts';

export const endpointConditions = s.object('io.k8s.api.discovery.v1.EndpointConditions', '', {
  ready: s.pointer(1, s.boolean(), ''),
  serving: s.pointer(2, s.boolean(), ''),
  terminating: s.pointer(3, s.boolean(), ''),
});
export type EndpointConditions = s.TypeOf<typeof endpointConditions>;

export const forZone = s.object('io.k8s.api.discovery.v1.ForZone', '', {
  name: s.required(1, s.string(), ''),
});
export type ForZone = s.TypeOf<typeof forZone>;

export const forNode = s.object('io.k8s.api.discovery.v1.ForNode', '', {
  name: s.required(1, s.string(), ''),
});
export type ForNode = s.TypeOf<typeof forNode>;

export const endpointHints = s.object('io.k8s.api.discovery.v1.EndpointHints', '', {
  forZones: s.optional(1, s.atomicList(forZone), ''),
  forNodes: s.optional(2, s.atomicList(forNode), ''),
});
export type EndpointHints = s.TypeOf<typeof endpointHints>;

export const endpoint = s.object('io.k8s.api.discovery.v1.Endpoint', '', {
  addresses: s.required(1, s.set(s.string()), ''),
  conditions: s.optional(2, endpointConditions, ''),
  hostname: s.pointer(3, s.string(), ''),
  targetRef: s.pointer(4, objectReference, ''),
  deprecatedTopology: s.optional(5, s.map(s.string()), ''),
  nodeName: s.pointer(6, s.string(), ''),
  zone: s.pointer(7, s.string(), ''),
  hints: s.pointer(8, endpointHints, ''),
});
export type Endpoint = s.TypeOf<typeof endpoint>;

export const endpointPort = s.object('io.k8s.api.discovery.v1.EndpointPort', '', {
  name: s.pointer(1, s.string(), ''),
  protocol: s.pointer(2, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), ''),
  port: s.pointer(3, s.int32(), ''),
  appProtocol: s.pointer(4, s.string(), ''),
}, { mapType: 'atomic' });
export type EndpointPort = s.TypeOf<typeof endpointPort>;

export const endpointSlice = kind('io.k8s.api.discovery.v1.EndpointSlice', '', {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  fields: {
    addressType: s.required(4, s.string({ goType: 'v1.AddressType' }), ''),
    endpoints: s.required(2, s.atomicList(endpoint), ''),
    ports: s.optional(3, s.atomicList(endpointPort), '', { omitEmpty: false }),
  },
});
export type EndpointSlice = s.TypeOf<typeof endpointSlice>;
