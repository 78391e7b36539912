import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const leaseSpec = s.object('io.k8s.api.coordination.v1.LeaseSpec', '', {
  holderIdentity: s.pointer(1, s.string(), ''),
  leaseDurationSeconds: s.pointer(2, s.int32(), ''),
  acquireTime: s.pointer(3, s.microTime(), ''),
  renewTime: s.pointer(4, s.microTime(), ''),
  leaseTransitions: s.pointer(5, s.int32(), ''),
  strategy: s.pointer(6, s.string({ goType: 'v1.CoordinatedLeaseStrategy' }), ''),
  preferredHolder: s.pointer(7, s.string(), ''),
});
export type LeaseSpec = s.TypeOf<typeof leaseSpec>;

export const lease = kind('io.k8s.api.coordination.v1.Lease', '', {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  fields: {
    spec: s.optional(2, leaseSpec, ''),
  },
});
export type Lease = s.TypeOf<typeof lease>;
