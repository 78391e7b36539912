import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const limitRangeItem = s.object('io.k8s.api.core.v1.LimitRangeItem', '', {
  type: s.required(1, s.string({ goType: 'v1.LimitType' }), ''),
  max: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  min: s.optional(3, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  default: s.optional(4, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  defaultRequest: s.optional(5, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  maxLimitRequestRatio: s.optional(6, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
});
export type LimitRangeItem = s.TypeOf<typeof limitRangeItem>;

export const limitRangeSpec = s.object('io.k8s.api.core.v1.LimitRangeSpec', '', {
  limits: s.required(1, s.atomicList(limitRangeItem), ''),
});
export type LimitRangeSpec = s.TypeOf<typeof limitRangeSpec>;

export const limitRange = kind('io.k8s.api.core.v1.LimitRange', '', {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  scope: 'Namespaced',
  shortNames: ['limits'],
  fields: {
    spec: s.optional(2, limitRangeSpec, ''),
  },
});
export type LimitRange = s.TypeOf<typeof limitRange>;
