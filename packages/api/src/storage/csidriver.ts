import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const tokenRequest = s.object('io.k8s.api.storage.v1.TokenRequest', '', {
  audience: s.required(1, s.string(), ''),
  expirationSeconds: s.pointer(2, s.int64(), ''),
});
export type TokenRequest = s.TypeOf<typeof tokenRequest>;

export const csiDriverSpec = s.object('io.k8s.api.storage.v1.CSIDriverSpec', '', {
  attachRequired: s.pointer(1, s.boolean(), ''),
  podInfoOnMount: s.pointer(2, s.boolean(), ''),
  volumeLifecycleModes: s.optional(3, s.set(s.string({ goType: 'v1.VolumeLifecycleMode' })), ''),
  storageCapacity: s.pointer(4, s.boolean(), ''),
  fsGroupPolicy: s.pointer(5, s.string({ goType: 'v1.FSGroupPolicy' }), ''),
  tokenRequests: s.optional(6, s.atomicList(tokenRequest), ''),
  requiresRepublish: s.pointer(7, s.boolean(), ''),
  seLinuxMount: s.pointer(8, s.boolean(), ''),
  nodeAllocatableUpdatePeriodSeconds: s.pointer(9, s.int64(), ''),
});
export type CSIDriverSpec = s.TypeOf<typeof csiDriverSpec>;

export const csiDriver = kind('io.k8s.api.storage.v1.CSIDriver', '', {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  fields: {
    spec: s.required(2, csiDriverSpec, ''),
  },
});
export type CSIDriver = s.TypeOf<typeof csiDriver>;
