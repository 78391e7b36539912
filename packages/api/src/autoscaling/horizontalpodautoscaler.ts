import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const crossVersionObjectReference = s.object('io.k8s.api.autoscaling.v2.CrossVersionObjectReference', '', {
  kind: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
  apiVersion: s.optional(3, s.string(), ''),
});
export type CrossVersionObjectReference = s.TypeOf<typeof crossVersionObjectReference>;

export const metricTarget = s.object('io.k8s.api.autoscaling.v2.MetricTarget', '', {
  type: s.required(1, s.string({ goType: 'v2.MetricTargetType' }), ''),
  value: s.pointer(2, s.quantity(), ''),
  averageValue: s.pointer(3, s.quantity(), ''),
  averageUtilization: s.pointer(4, s.int32(), ''),
});
export type MetricTarget = s.TypeOf<typeof metricTarget>;

export const metricIdentifier = s.object('io.k8s.api.autoscaling.v2.MetricIdentifier', '', {
  name: s.required(1, s.string(), ''),
  selector: s.pointer(2, labelSelector, ''),
});
export type MetricIdentifier = s.TypeOf<typeof metricIdentifier>;

export const objectMetricSource = s.object('io.k8s.api.autoscaling.v2.ObjectMetricSource', '', {
  describedObject: s.required(1, crossVersionObjectReference, ''),
  target: s.required(2, metricTarget, ''),
  metric: s.required(3, metricIdentifier, ''),
});
export type ObjectMetricSource = s.TypeOf<typeof objectMetricSource>;

export const podsMetricSource = s.object('io.k8s.api.autoscaling.v2.PodsMetricSource', '', {
  metric: s.required(1, metricIdentifier, ''),
  target: s.required(2, metricTarget, ''),
});
export type PodsMetricSource = s.TypeOf<typeof podsMetricSource>;

export const resourceMetricSource = s.object('io.k8s.api.autoscaling.v2.ResourceMetricSource', '', {
  name: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  target: s.required(2, metricTarget, ''),
});
export type ResourceMetricSource = s.TypeOf<typeof resourceMetricSource>;

export const containerResourceMetricSource = s.object('io.k8s.api.autoscaling.v2.ContainerResourceMetricSource', '', {
  name: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  target: s.required(2, metricTarget, ''),
  container: s.required(3, s.string(), ''),
});
export type ContainerResourceMetricSource = s.TypeOf<typeof containerResourceMetricSource>;

export const externalMetricSource = s.object('io.k8s.api.autoscaling.v2.ExternalMetricSource', '', {
  metric: s.required(1, metricIdentifier, ''),
  target: s.required(2, metricTarget, ''),
});
export type ExternalMetricSource = s.TypeOf<typeof externalMetricSource>;

export const metricSpec = s.object('io.k8s.api.autoscaling.v2.MetricSpec', '', {
  type: s.required(1, s.string({ goType: 'v2.MetricSourceType' }), ''),
  object: s.pointer(2, objectMetricSource, ''),
  pods: s.pointer(3, podsMetricSource, ''),
  resource: s.pointer(4, resourceMetricSource, ''),
  containerResource: s.pointer(7, containerResourceMetricSource, ''),
  external: s.pointer(5, externalMetricSource, ''),
});
export type MetricSpec = s.TypeOf<typeof metricSpec>;

export const hpaScalingPolicy = s.object('io.k8s.api.autoscaling.v2.HPAScalingPolicy', '', {
  type: s.required(1, s.string({ goType: 'v2.HPAScalingPolicyType' }), ''),
  value: s.required(2, s.int32(), ''),
  periodSeconds: s.required(3, s.int32(), ''),
});
export type HPAScalingPolicy = s.TypeOf<typeof hpaScalingPolicy>;

export const hpaScalingRules = s.object('io.k8s.api.autoscaling.v2.HPAScalingRules', '', {
  stabilizationWindowSeconds: s.pointer(3, s.int32(), ''),
  selectPolicy: s.pointer(1, s.string({ goType: 'v2.ScalingPolicySelect' }), ''),
  policies: s.optional(2, s.atomicList(hpaScalingPolicy), ''),
  tolerance: s.pointer(4, s.quantity(), ''),
});
export type HPAScalingRules = s.TypeOf<typeof hpaScalingRules>;

export const horizontalPodAutoscalerBehavior = s.object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior', '', {
  scaleUp: s.pointer(1, hpaScalingRules, ''),
  scaleDown: s.pointer(2, hpaScalingRules, ''),
});
export type HorizontalPodAutoscalerBehavior = s.TypeOf<typeof horizontalPodAutoscalerBehavior>;

export const horizontalPodAutoscalerSpec = s.object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec', '', {
  scaleTargetRef: s.required(1, crossVersionObjectReference, ''),
  minReplicas: s.pointer(2, s.int32(), ''),
  maxReplicas: s.required(3, s.int32(), ''),
  metrics: s.optional(4, s.atomicList(metricSpec), ''),
  behavior: s.pointer(5, horizontalPodAutoscalerBehavior, ''),
});
export type HorizontalPodAutoscalerSpec = s.TypeOf<typeof horizontalPodAutoscalerSpec>;

export const metricValueStatus = s.object('io.k8s.api.autoscaling.v2.MetricValueStatus', '', {
  value: s.pointer(1, s.quantity(), ''),
  averageValue: s.pointer(2, s.quantity(), ''),
  averageUtilization: s.pointer(3, s.int32(), ''),
});
export type MetricValueStatus = s.TypeOf<typeof metricValueStatus>;

export const objectMetricStatus = s.object('io.k8s.api.autoscaling.v2.ObjectMetricStatus', '', {
  metric: s.required(1, metricIdentifier, ''),
  current: s.required(2, metricValueStatus, ''),
  describedObject: s.required(3, crossVersionObjectReference, ''),
});
export type ObjectMetricStatus = s.TypeOf<typeof objectMetricStatus>;

export const podsMetricStatus = s.object('io.k8s.api.autoscaling.v2.PodsMetricStatus', '', {
  metric: s.required(1, metricIdentifier, ''),
  current: s.required(2, metricValueStatus, ''),
});
export type PodsMetricStatus = s.TypeOf<typeof podsMetricStatus>;

export const resourceMetricStatus = s.object('io.k8s.api.autoscaling.v2.ResourceMetricStatus', '', {
  name: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  current: s.required(2, metricValueStatus, ''),
});
export type ResourceMetricStatus = s.TypeOf<typeof resourceMetricStatus>;

export const containerResourceMetricStatus = s.object('io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus', '', {
  name: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  current: s.required(2, metricValueStatus, ''),
  container: s.required(3, s.string(), ''),
});
export type ContainerResourceMetricStatus = s.TypeOf<typeof containerResourceMetricStatus>;

export const externalMetricStatus = s.object('io.k8s.api.autoscaling.v2.ExternalMetricStatus', '', {
  metric: s.required(1, metricIdentifier, ''),
  current: s.required(2, metricValueStatus, ''),
});
export type ExternalMetricStatus = s.TypeOf<typeof externalMetricStatus>;

export const metricStatus = s.object('io.k8s.api.autoscaling.v2.MetricStatus', '', {
  type: s.required(1, s.string({ goType: 'v2.MetricSourceType' }), ''),
  object: s.pointer(2, objectMetricStatus, ''),
  pods: s.pointer(3, podsMetricStatus, ''),
  resource: s.pointer(4, resourceMetricStatus, ''),
  containerResource: s.pointer(7, containerResourceMetricStatus, ''),
  external: s.pointer(5, externalMetricStatus, ''),
});
export type MetricStatus = s.TypeOf<typeof metricStatus>;

export const horizontalPodAutoscalerCondition = s.object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition', '', {
  type: s.required(1, s.string({ goType: 'v2.HorizontalPodAutoscalerConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastTransitionTime: s.optional(3, s.time(), ''),
  reason: s.optional(4, s.string(), ''),
  message: s.optional(5, s.string(), ''),
});
export type HorizontalPodAutoscalerCondition = s.TypeOf<typeof horizontalPodAutoscalerCondition>;

export const horizontalPodAutoscalerStatus = s.object('io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus', '', {
  observedGeneration: s.pointer(1, s.int64(), ''),
  lastScaleTime: s.pointer(2, s.time(), ''),
  currentReplicas: s.optional(3, s.int32(), ''),
  desiredReplicas: s.required(4, s.int32(), ''),
  currentMetrics: s.optional(5, s.atomicList(metricStatus), '', { omitEmpty: false }),
  conditions: s.optional(6, s.listMap(horizontalPodAutoscalerCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
});
export type HorizontalPodAutoscalerStatus = s.TypeOf<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind('io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler', '', {
  group: 'autoscaling',
  version: 'v2',
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
