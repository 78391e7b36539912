import * as s from '@kruise/schema';
import { condition } from '../meta/condition.ts';
import { kind } from '../meta/kind.ts';

export const serviceCIDRSpec = s.object(
  'io.k8s.api.networking.v1.ServiceCIDRSpec',
  'A range for addresses of Services.',
  {
    cidrs: s.optional(1, s.atomicList(s.string()), 'Ranges, one for each IP family; at most two. Immutable.'),
  },
);
export type ServiceCIDRSpec = s.TypeOf<typeof serviceCIDRSpec>;

export const serviceCIDRStatus = s.object(
  'io.k8s.api.networking.v1.ServiceCIDRStatus',
  'Status of a range: its readiness.',
  {
    conditions: s.optional(
      1,
      s.listMap(condition, ['type']),
      'Conditions; Ready is True if addresses are allocated from the range.',
      {
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      },
    ),
  },
);
export type ServiceCIDRStatus = s.TypeOf<typeof serviceCIDRStatus>;

export const serviceCIDR = kind(
  'io.k8s.api.networking.v1.ServiceCIDR',
  'Range from which addresses of Services are allocated.',
  {
    group: 'networking.k8s.io',
    version: 'v1',
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.optional(2, serviceCIDRSpec, 'The range.'),
      status: s.optional(3, serviceCIDRStatus, 'Status: readiness of the range.'),
    },
  },
);
export type ServiceCIDR = s.TypeOf<typeof serviceCIDR>;
