import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const crossVersionObjectReference = s.object(
  'io.k8s.api.autoscaling.v1.CrossVersionObjectReference',
  'Points at an object in the same namespace, whatever its version.',
  {
    kind: s.required(1, s.string(), 'Kind of the object.'),
    name: s.required(2, s.string(), 'Name of the object.'),
    apiVersion: s.optional(3, s.string(), 'Group and version of the object.'),
  },
  { mapType: 'atomic' },
);
export type CrossVersionObjectReference = s.TypeOf<typeof crossVersionObjectReference>;

export const horizontalPodAutoscalerSpec = s.object(
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec',
  'Specification: target, limits and metrics of the autoscaler.',
  {
    scaleTargetRef: s.required(1, crossVersionObjectReference, 'Workload to scale; must have a scale subresource.'),
    minReplicas: s.pointer(2, s.int32(), 'The fewest Pods. Default 1; 0 only behind a feature gate.'),
    maxReplicas: s.required(3, s.int32(), 'The most Pods. Not less than minReplicas.'),
    targetCPUUtilizationPercentage: s.pointer(
      4,
      s.int32(),
      'The average use of cpu to aim at, in percent of the requests. Default 80.',
    ),
  },
);
export type HorizontalPodAutoscalerSpec = s.TypeOf<typeof horizontalPodAutoscalerSpec>;

export const horizontalPodAutoscalerStatus = s.object(
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerStatus',
  'Status: last observed metrics and replicas.',
  {
    observedGeneration: s.pointer(1, s.int64(), 'The metadata.generation that the controller has observed.'),
    lastScaleTime: s.pointer(2, s.time(), 'Time at which the autoscaler last changed the number of replicas.'),
    currentReplicas: s.required(3, s.int32(), 'Pods there are, as last seen.'),
    desiredReplicas: s.required(4, s.int32(), 'Pods there should be, as last computed.'),
    currentCPUUtilizationPercentage: s.pointer(5, s.int32(), 'The average use of cpu, in percent of the requests.'),
  },
);
export type HorizontalPodAutoscalerStatus = s.TypeOf<typeof horizontalPodAutoscalerStatus>;

export const horizontalPodAutoscaler = kind(
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler',
  'Scales a workload by its use of cpu. Version 2 knows more measures.',
  {
    group: 'autoscaling',
    version: 'v1',
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
