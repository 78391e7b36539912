import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';

export const serviceCIDRSpec = s.object('io.k8s.api.networking.v1.ServiceCIDRSpec', '', {
  cidrs: s.optional(1, s.atomicList(s.string()), ''),
});
export type ServiceCIDRSpec = s.TypeOf<typeof serviceCIDRSpec>;

export const serviceCIDRStatus = s.object('io.k8s.api.networking.v1.ServiceCIDRStatus', '', {
  conditions: s.optional(1, s.listMap(condition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type ServiceCIDRStatus = s.TypeOf<typeof serviceCIDRStatus>;

export const serviceCIDR = kind('io.k8s.api.networking.v1.ServiceCIDR', '', {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
  subresources: ['status'],
  fields: {
    spec: s.optional(2, serviceCIDRSpec, ''),
    status: s.optional(3, serviceCIDRStatus, ''),
  },
});
export type ServiceCIDR = s.TypeOf<typeof serviceCIDR>;
