import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

export const crossVersionObjectReference = s.object(
  'io.k8s.api.autoscaling.v2.CrossVersionObjectReference',
  'Points at an object in the same namespace, whatever its version.',
  {
    kind: s.required(1, s.string(), 'Kind of the object.'),
    name: s.required(2, s.string(), 'Name of the object.'),
    apiVersion: s.optional(3, s.string(), 'Group and version of the object.'),
  },
);
export type CrossVersionObjectReference = s.TypeOf<typeof crossVersionObjectReference>;

export const metricTarget = s.object('io.k8s.api.autoscaling.v2.MetricTarget', 'Target value of a metric.', {
  type: s.required(
    1,
    s.string({ goType: 'v2.MetricTargetType' }),
    'Utilization, Value or AverageValue: which of the others is given.',
  ),
  value: s.pointer(2, s.quantity(), 'The value itself.'),
  averageValue: s.pointer(3, s.quantity(), 'The value, divided by the number of Pods.'),
  averageUtilization: s.pointer(
    4,
    s.int32(),
    'The average, in percent of the requests of the Pods. For Resource and ContainerResource only.',
  ),
});
export type MetricTarget = s.TypeOf<typeof metricTarget>;

export const metricIdentifier = s.object(
  'io.k8s.api.autoscaling.v2.MetricIdentifier',
  'A measure, by name and labels.',
  {
    name: s.required(1, s.string(), 'Name of the measure.'),
    selector: s.pointer(2, labelSelector, 'Label selector of the metric, interpreted by the metrics server.'),
  },
);
export type MetricIdentifier = s.TypeOf<typeof metricIdentifier>;

export const objectMetricSource = s.object(
  'io.k8s.api.autoscaling.v2.ObjectMetricSource',
  'A measure of one object, such as requests of an Ingress.',
  {
    describedObject: s.required(1, crossVersionObjectReference, 'The object.'),
    target: s.required(2, metricTarget, 'Target of the metric: type Value or AverageValue.'),
    metric: s.required(3, metricIdentifier, 'The measure.'),
  },
);
export type ObjectMetricSource = s.TypeOf<typeof objectMetricSource>;

export const podsMetricSource = s.object(
  'io.k8s.api.autoscaling.v2.PodsMetricSource',
  'A measure of each Pod, such as transactions per second.',
  {
    metric: s.required(1, metricIdentifier, 'The measure.'),
    target: s.required(2, metricTarget, 'Target of the metric, as averageValue.'),
  },
);
export type PodsMetricSource = s.TypeOf<typeof podsMetricSource>;

export const resourceMetricSource = s.object(
  'io.k8s.api.autoscaling.v2.ResourceMetricSource',
  'The use of cpu or memory by the Pods.',
  {
    name: s.required(1, s.string({ goType: 'v1.ResourceName' }), 'The resource.'),
    target: s.required(2, metricTarget, 'Target of the metric: type Utilization or AverageValue.'),
  },
);
export type ResourceMetricSource = s.TypeOf<typeof resourceMetricSource>;

export const containerResourceMetricSource = s.object(
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricSource',
  'The use of cpu or memory by one container of each Pod.',
  {
    name: s.required(1, s.string({ goType: 'v1.ResourceName' }), 'The resource.'),
    target: s.required(2, metricTarget, 'Target of the metric: type Utilization or AverageValue.'),
    container: s.required(3, s.string(), 'Name of the container.'),
  },
);
export type ContainerResourceMetricSource = s.TypeOf<typeof containerResourceMetricSource>;

export const externalMetricSource = s.object(
  'io.k8s.api.autoscaling.v2.ExternalMetricSource',
  'A measure of something outside the cluster, such as the length of a queue.',
  {
    metric: s.required(1, metricIdentifier, 'The measure.'),
    target: s.required(2, metricTarget, 'Target of the metric: type Value or AverageValue.'),
  },
);
export type ExternalMetricSource = s.TypeOf<typeof externalMetricSource>;

export const metricSpec = s.object('io.k8s.api.autoscaling.v2.MetricSpec', 'A measure to scale by.', {
  type: s.required(
    1,
    s.string({ goType: 'v2.MetricSourceType' }),
    'Source of the metric: Object, Pods, Resource, ContainerResource or External. Determines the field that is set.',
  ),
  object: s.pointer(2, objectMetricSource, 'A measure of one object.'),
  pods: s.pointer(3, podsMetricSource, 'A measure of each Pod.'),
  resource: s.pointer(4, resourceMetricSource, 'The use of a resource by the Pods.'),
  containerResource: s.pointer(7, containerResourceMetricSource, 'The use of a resource by one container of each Pod.'),
  external: s.pointer(5, externalMetricSource, 'A measure of something outside the cluster.'),
});
export type MetricSpec = s.TypeOf<typeof metricSpec>;

export const hpaScalingPolicy = s.object(
  'io.k8s.api.autoscaling.v2.HPAScalingPolicy',
  'Limit of the change in one period.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v2.HPAScalingPolicyType' }),
      'Pods for a number, Percent for a share of the Pods there are.',
    ),
    value: s.required(2, s.int32(), 'Limit of the change, in Pods or percent; greater than 0.'),
    periodSeconds: s.required(3, s.int32(), 'The period, in seconds, 1 to 1800.'),
  },
);
export type HPAScalingPolicy = s.TypeOf<typeof hpaScalingPolicy>;

export const hpaScalingRules = s.object(
  'io.k8s.api.autoscaling.v2.HPAScalingRules',
  'Rules for scaling in one direction.',
  {
    stabilizationWindowSeconds: s.pointer(
      3,
      s.int32(),
      'Stabilization window in seconds: only recommendations that held in the whole window are applied; 0 to 3600. Default 0 for scaling up, 300 for scaling down.',
    ),
    selectPolicy: s.pointer(
      1,
      s.string({ goType: 'v2.ScalingPolicySelect' }),
      'Selection among policies: Max (the default) uses the largest change, Min the smallest, Disabled forbids scaling in this direction.',
    ),
    // An empty list is refused. A missing list gets the default policies.
    policies: s.pointer(
      2,
      s.atomicList(hpaScalingPolicy),
      'Limits of the change. Default: 4 Pods or 100% in 15 seconds for scaling up, 100% in 15 seconds for scaling down.',
    ),
    tolerance: s.pointer(
      4,
      s.quantity(),
      'Tolerance of the deviation from the target, as a fraction of it; smaller deviations cause no scaling. Default: that of the cluster, 10%. Alpha, behind a feature gate.',
    ),
  },
);
export type HPAScalingRules = s.TypeOf<typeof hpaScalingRules>;

export const horizontalPodAutoscalerBehavior = s.object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior',
  'Scaling behavior in both directions.',
  {
    scaleUp: s.pointer(1, hpaScalingRules, 'Rules for scaling up.'),
    scaleDown: s.pointer(2, hpaScalingRules, 'Rules for scaling down.'),
  },
);
export type HorizontalPodAutoscalerBehavior = s.TypeOf<typeof horizontalPodAutoscalerBehavior>;

export const horizontalPodAutoscalerSpec = s.object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec',
  'Specification: target, limits and metrics of the autoscaler.',
  {
    scaleTargetRef: s.required(1, crossVersionObjectReference, 'Workload to scale; must have a scale subresource.'),
    minReplicas: s.pointer(
      2,
      s.int32(),
      'The fewest Pods. Default 1; 0 only behind a feature gate, and with an Object or External measure.',
    ),
    maxReplicas: s.required(3, s.int32(), 'The most Pods. Not less than minReplicas.'),
    metrics: s.optional(
      4,
      s.atomicList(metricSpec),
      'Metrics; the highest recommended number of Pods is used. Default 80% of cpu.',
    ),
    behavior: s.pointer(5, horizontalPodAutoscalerBehavior, 'Scaling behavior in both directions.'),
  },
);
export type HorizontalPodAutoscalerSpec = s.TypeOf<typeof horizontalPodAutoscalerSpec>;

export const metricValueStatus = s.object(
  'io.k8s.api.autoscaling.v2.MetricValueStatus',
  'Current value of the metric.',
  {
    value: s.pointer(1, s.quantity(), 'The value itself.'),
    averageValue: s.pointer(2, s.quantity(), 'The value, divided by the number of Pods.'),
    averageUtilization: s.pointer(3, s.int32(), 'The average, in percent of the requests of the Pods.'),
  },
);
export type MetricValueStatus = s.TypeOf<typeof metricValueStatus>;

export const objectMetricStatus = s.object(
  'io.k8s.api.autoscaling.v2.ObjectMetricStatus',
  'A measure of one object, as it is.',
  {
    metric: s.required(1, metricIdentifier, 'The measure.'),
    current: s.required(2, metricValueStatus, 'Current value of the metric.'),
    describedObject: s.required(3, crossVersionObjectReference, 'The object.'),
  },
);
export type ObjectMetricStatus = s.TypeOf<typeof objectMetricStatus>;

export const podsMetricStatus = s.object(
  'io.k8s.api.autoscaling.v2.PodsMetricStatus',
  'A measure of each Pod, as it is.',
  {
    metric: s.required(1, metricIdentifier, 'The measure.'),
    current: s.required(2, metricValueStatus, 'Current value of the metric.'),
  },
);
export type PodsMetricStatus = s.TypeOf<typeof podsMetricStatus>;

export const resourceMetricStatus = s.object(
  'io.k8s.api.autoscaling.v2.ResourceMetricStatus',
  'The use of a resource by the Pods, as it is.',
  {
    name: s.required(1, s.string({ goType: 'v1.ResourceName' }), 'The resource.'),
    current: s.required(2, metricValueStatus, 'Current value of the metric.'),
  },
);
export type ResourceMetricStatus = s.TypeOf<typeof resourceMetricStatus>;

export const containerResourceMetricStatus = s.object(
  'io.k8s.api.autoscaling.v2.ContainerResourceMetricStatus',
  'The use of a resource by one container of each Pod, as it is.',
  {
    name: s.required(1, s.string({ goType: 'v1.ResourceName' }), 'The resource.'),
    current: s.required(2, metricValueStatus, 'Current value of the metric.'),
    container: s.required(3, s.string(), 'Name of the container.'),
  },
);
export type ContainerResourceMetricStatus = s.TypeOf<typeof containerResourceMetricStatus>;

export const externalMetricStatus = s.object(
  'io.k8s.api.autoscaling.v2.ExternalMetricStatus',
  'A measure of something outside the cluster, as it is.',
  {
    metric: s.required(1, metricIdentifier, 'The measure.'),
    current: s.required(2, metricValueStatus, 'Current value of the metric.'),
  },
);
export type ExternalMetricStatus = s.TypeOf<typeof externalMetricStatus>;

export const metricStatus = s.object(
  'io.k8s.api.autoscaling.v2.MetricStatus',
  'A measure that is scaled by, as it is.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v2.MetricSourceType' }),
      'Source of the metric: Object, Pods, Resource, ContainerResource or External. Determines the field that is set.',
    ),
    object: s.pointer(2, objectMetricStatus, 'A measure of one object.'),
    pods: s.pointer(3, podsMetricStatus, 'A measure of each Pod.'),
    resource: s.pointer(4, resourceMetricStatus, 'The use of a resource by the Pods.'),
    containerResource: s.pointer(
      7,
      containerResourceMetricStatus,
      'The use of a resource by one container of each Pod.',
    ),
    external: s.pointer(5, externalMetricStatus, 'A measure of something outside the cluster.'),
  },
);
export type MetricStatus = s.TypeOf<typeof metricStatus>;

export const horizontalPodAutoscalerCondition = s.object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerCondition',
  'A condition of an autoscaler.',
  {
    type: s.required(
      1,
      s.string({ goType: 'v2.HorizontalPodAutoscalerConditionType' }),
      'AbleToScale, ScalingActive or ScalingLimited.',
    ),
    status: s.required(
      2,
      s.string({ goType: 'v1.ConditionStatus' }),
      'Status of the condition: True, False or Unknown.',
    ),
    lastTransitionTime: s.optional(3, s.time(), 'Time at which the status of the condition last changed.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason for the status.'),
    message: s.optional(5, s.string(), 'Human-readable message with details.'),
  },
);
export type HorizontalPodAutoscalerCondition = s.TypeOf<typeof horizontalPodAutoscalerCondition>;

export const horizontalPodAutoscalerStatus = s.object(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerStatus',
  'Status: last observed metrics and replicas.',
  {
    observedGeneration: s.pointer(1, s.int64(), 'The metadata.generation that the controller has observed.'),
    lastScaleTime: s.pointer(2, s.time(), 'Time at which the autoscaler last changed the number of replicas.'),
    currentReplicas: s.optional(3, s.int32(), 'Pods there are, as last seen.'),
    desiredReplicas: s.required(4, s.int32(), 'Pods there should be, as last computed.'),
    currentMetrics: s.optional(5, s.atomicList(metricStatus), 'The measures, as last read.', { omitEmpty: false }),
    conditions: s.optional(
      6,
      s.listMap(horizontalPodAutoscalerCondition, ['type']),
      'Conditions: AbleToScale, ScalingActive and ScalingLimited.',
      { patchStrategy: 'merge', patchMergeKey: 'type' },
    ),
  },
);
export type HorizontalPodAutoscalerStatus = s.TypeOf<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind(
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
  'HorizontalPodAutoscaler scales a workload by its metrics.',
  {
    group: 'autoscaling',
    version: 'v2',
    kind: 'HorizontalPodAutoscaler',
    plural: 'horizontalpodautoscalers',
    scope: 'Namespaced',
    shortNames: ['hpa'],
    categories: ['all'],
    subresources: ['status'],
    fields: {
      spec: s.optional(2, horizontalPodAutoscalerSpec, 'Specification: target, limits and metrics of the autoscaler.'),
      status: s.optional(3, horizontalPodAutoscalerStatus, 'Status: last observed metrics and replicas.'),
    },
  },
);
export type HorizontalPodAutoscaler = s.TypeOf<typeof horizontalPodAutoscaler>;
