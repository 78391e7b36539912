import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const limitRangeItem = s.object('io.k8s.api.core.v1.LimitRangeItem', 'Limits for one type of thing.', {
  type: s.required(1, s.string({ goType: 'v1.LimitType' }), 'Limited type: Pod, Container or PersistentVolumeClaim.'),
  max: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Maximum usage of each object, by resource.'),
  min: s.optional(3, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Minimum usage of each object, by resource.'),
  default: s.optional(
    4,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'Limits given to containers that name none.',
  ),
  defaultRequest: s.optional(
    5,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'Requests given to containers that name none.',
  ),
  maxLimitRequestRatio: s.optional(
    6,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'Maximum ratio of limit and request; requires both to be set.',
  ),
});
export type LimitRangeItem = s.TypeOf<typeof limitRangeItem>;

export const limitRangeSpec = s.object('io.k8s.api.core.v1.LimitRangeSpec', 'The limits of a namespace.', {
  limits: s.required(1, s.atomicList(limitRangeItem), 'Limits, one entry for each type.'),
});
export type LimitRangeSpec = s.TypeOf<typeof limitRangeSpec>;

export const limitRange = kind(
  'io.k8s.api.core.v1.LimitRange',
  'Keeps the Pods, containers and volume claims of a namespace within bounds, and gives them defaults, as they are created.',
  {
    group: '',
    version: 'v1',
    kind: 'LimitRange',
    plural: 'limitranges',
    scope: 'Namespaced',
    shortNames: ['limits'],
    fields: {
      spec: s.optional(2, limitRangeSpec, 'The bounds and defaults.'),
    },
  },
);
export type LimitRange = s.TypeOf<typeof limitRange>;
