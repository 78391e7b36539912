import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const crossVersionObjectReference = s.object('io.k8s.api.autoscaling.v1.CrossVersionObjectReference', '', {
  kind: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
  apiVersion: s.optional(3, s.string(), ''),
}, { mapType: 'atomic' });
export type CrossVersionObjectReference = s.TypeOf<typeof crossVersionObjectReference>;

export const horizontalPodAutoscalerSpec = s.object('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec', '', {
  scaleTargetRef: s.required(1, crossVersionObjectReference, ''),
  minReplicas: s.pointer(2, s.int32(), ''),
  maxReplicas: s.required(3, s.int32(), ''),
  targetCPUUtilizationPercentage: s.pointer(4, s.int32(), ''),
});
export type HorizontalPodAutoscalerSpec = s.TypeOf<typeof horizontalPodAutoscalerSpec>;

export const horizontalPodAutoscalerStatus = s.object('io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus', '', {
  observedGeneration: s.pointer(1, s.int64(), ''),
  lastScaleTime: s.pointer(2, s.time(), ''),
  currentReplicas: s.required(3, s.int32(), ''),
  desiredReplicas: s.required(4, s.int32(), ''),
  currentCPUUtilizationPercentage: s.pointer(5, s.int32(), ''),
});
export type HorizontalPodAutoscalerStatus = s.TypeOf<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind('io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler', '', {
  group: 'autoscaling',
  version: 'v1',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  scope: 'Namespaced',
  shortNames: ['hpa'],
  categories: ['all'],
  subresources: ['status'],
  fields: {
    spec: s.optional(2, horizontalPodAutoscalerSpec, ''),
    status: s.optional(3, horizontalPodAutoscalerStatus, ''),
  },
});
export type HorizontalPodAutoscaler = s.TypeOf<typeof horizontalPodAutoscaler>;
