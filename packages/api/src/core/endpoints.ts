import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { objectReference } from './reference.ts';

export const endpointAddress = s.object('io.k8s.api.core.v1.EndpointAddress', '', {
  ip: s.required(1, s.string(), ''),
  hostname: s.optional(3, s.string(), ''),
  nodeName: s.pointer(4, s.string(), ''),
  targetRef: s.pointer(2, objectReference, ''),
}, { mapType: 'atomic' });
export type EndpointAddress = s.TypeOf<typeof endpointAddress>;

export const endpointPort = s.object('io.k8s.api.core.v1.EndpointPort', '', {
  name: s.optional(1, s.string(), ''),
  port: s.required(2, s.int32(), ''),
  protocol: s.optional(3, s.oneOf('v1.Protocol', ['TCP', 'UDP', 'SCTP']), ''),
  appProtocol: s.pointer(4, s.string(), ''),
}, { mapType: 'atomic' });
export type EndpointPort = s.TypeOf<typeof endpointPort>;

export const endpointSubset = s.object('io.k8s.api.core.v1.EndpointSubset', '', {
  addresses: s.optional(1, s.atomicList(endpointAddress), ''),
  notReadyAddresses: s.optional(2, s.atomicList(endpointAddress), ''),
  ports: s.optional(3, s.atomicList(endpointPort), ''),
});
export type EndpointSubset = s.TypeOf<typeof endpointSubset>;

export const endpoints = kind('io.k8s.api.core.v1.Endpoints', '', {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  scope: 'Namespaced',
  shortNames: ['ep'],
  fields: {
    subsets: s.optional(2, s.atomicList(endpointSubset), ''),
  },
});
export type Endpoints = s.TypeOf<typeof endpoints>;
