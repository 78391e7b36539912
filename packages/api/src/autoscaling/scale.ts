import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const scaleSpec = s.object('io.k8s.api.autoscaling.v1.ScaleSpec', '', {
  replicas: s.optional(1, s.int32(), ''),
});
export type ScaleSpec = s.TypeOf<typeof scaleSpec>;

export const scaleStatus = s.object('io.k8s.api.autoscaling.v1.ScaleStatus', '', {
  replicas: s.required(1, s.int32(), ''),
  selector: s.optional(2, s.string(), ''),
});
export type ScaleStatus = s.TypeOf<typeof scaleStatus>;

export const scale = kind('io.k8s.api.autoscaling.v1.Scale', '', {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  scope: 'Namespaced',
  verbs: [],
  fields: {
    spec: s.optional(2, scaleSpec, ''),
    status: s.optional(3, scaleStatus, ''),
  },
});
export type Scale = s.TypeOf<typeof scale>;
