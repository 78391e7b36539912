import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';

export const serviceCIDRSpec = s.object(
  'io.k8s.api.networking.v1.ServiceCIDRSpec',
  'A range for addresses of Services.',
  {
    cidrs: s.optional(1, s.atomicList(s.string()), 'One range for each IP family; two at most. Cannot be changed.'),
  },
);
export type ServiceCIDRSpec = s.TypeOf<typeof serviceCIDRSpec>;

export const serviceCIDRStatus = s.object(
  'io.k8s.api.networking.v1.ServiceCIDRStatus',
  'Whether a range can be used.',
  {
    conditions: s.optional(1, s.listMap(condition, ['type']), 'Ready says whether addresses are taken from it.', {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    }),
  },
);
export type ServiceCIDRStatus = s.TypeOf<typeof serviceCIDRStatus>;

export const serviceCIDR = kind(
  'io.k8s.api.networking.v1.ServiceCIDR',
  'A range addresses of Services are taken from.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.optional(2, serviceCIDRSpec, 'The range.'),
      status: s.optional(3, serviceCIDRStatus, 'Whether it can be used.'),
    },
  },
);
export type ServiceCIDR = s.TypeOf<typeof serviceCIDR>;
