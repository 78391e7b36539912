import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const leaseSpec = s.object('io.k8s.api.coordination.v1.LeaseSpec', 'The holder of a lease, and its duration.', {
  holderIdentity: s.pointer(1, s.string(), 'Identity of the holder; empty if the lease is not held.'),
  leaseDurationSeconds: s.pointer(
    2,
    s.int32(),
    'Duration of the lease in seconds: the time until a lease that is not renewed expires.',
  ),
  acquireTime: s.pointer(3, s.microTime(), 'Time at which the holder acquired the lease.'),
  renewTime: s.pointer(4, s.microTime(), 'Time at which the holder last renewed the lease.'),
  leaseTransitions: s.pointer(5, s.int32(), 'Number of transitions between holders.'),
  strategy: s.pointer(
    6,
    s.string({ goType: 'v1.CoordinatedLeaseStrategy' }),
    'Strategy of the leader election, for example OldestEmulationVersion. Alpha, behind a feature gate.',
  ),
  preferredHolder: s.pointer(7, s.string(), 'Preferred next holder of the lease. Needs strategy.'),
});
export type LeaseSpec = s.TypeOf<typeof leaseSpec>;

export const lease = kind(
  'io.k8s.api.coordination.v1.Lease',
  'A claim that has to be renewed: for electing a leader, or for showing that a node is alive.',
  {
    group: 'coordination.k8s.io',
    version: 'v1',
    kind: 'Lease',
    plural: 'leases',
    scope: 'Namespaced',
    fields: {
      spec: s.optional(2, leaseSpec, 'The holder of the lease, and its duration.'),
    },
  },
);
export type Lease = s.TypeOf<typeof lease>;
