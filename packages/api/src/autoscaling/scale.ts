import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const scaleSpec = s.object('io.k8s.api.autoscaling.v1.ScaleSpec', 'Desired size.', {
  replicas: s.optional(1, s.int32(), 'Desired number of Pods.'),
});
export type ScaleSpec = s.TypeOf<typeof scaleSpec>;

export const scaleStatus = s.object('io.k8s.api.autoscaling.v1.ScaleStatus', 'The size there is.', {
  replicas: s.required(1, s.int32(), 'Current number of Pods.'),
  selector: s.optional(2, s.string(), 'The selector of the Pods as text.'),
});
export type ScaleStatus = s.TypeOf<typeof scaleStatus>;

export const scale = kind('io.k8s.api.autoscaling.v1.Scale', 'The size of a workload, of whichever kind.', {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  plural: 'scales',
  scope: 'Namespaced',
  verbs: [],
  fields: {
    spec: s.optional(2, scaleSpec, 'Desired size.'),
    status: s.optional(3, scaleStatus, 'The size there is.'),
  },
});
export type Scale = s.TypeOf<typeof scale>;
