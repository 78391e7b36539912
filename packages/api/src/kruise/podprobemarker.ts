import * as s from '@kruise/schema';
import { probe } from '../core/probe.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

/** The result of a probe. */
export const probeState = s.oneOf(['Succeeded', 'Failed', 'Unknown']);
export type ProbeState = s.TypeOf<typeof probeState>;

const markerPolicy = s.object({
  state: s.required(probeState, 'Act on this result: Succeeded or Failed.'),
  labels: s.optional(s.map(s.string()), 'Labels to set on the Pod.'),
  annotations: s.optional(s.map(s.string()), 'Annotations to set on the Pod.'),
});

export const podContainerProbe = s.object({
  name: s.required(s.string(), 'Name of the probe, unique here and without a #.'),
  containerName: s.required(s.string(), 'The container to probe.'),
  probe: s.required(probe, 'Action of the probe: exactly one of exec, httpGet and tcpSocket.'),
  markerPolicy: s.optional(
    s.list(markerPolicy),
    'Labels and annotations for each result. This or podConditionType must be given.',
    { patchStrategy: 'merge', patchMergeKey: 'state' },
  ),
  podConditionType: s.optional(
    s.string(),
    'The Pod condition that shows the result, unique here and none of those Kubernetes and Kruise use themselves.',
  ),
});
export type PodContainerProbe = s.TypeOf<typeof podContainerProbe>;

export const podProbeMarkerSpec = s.object({
  selector: s.required(
    labelSelector,
    'The Pods to probe, by label, in the same namespace. Not empty; cannot be changed.',
    { pointer: true },
  ),
  probes: s.required(s.list(podContainerProbe), 'Probes of each Pod; at least one.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});
export type PodProbeMarkerSpec = s.TypeOf<typeof podProbeMarkerSpec>;

export const podProbeMarkerStatus = s.object({
  observedGeneration: s.required(s.int64(), 'The metadata.generation that the controller has observed.'),
  matchedPods: s.optional(s.int64(), 'Pods that are probed.'),
});
export type PodProbeMarkerStatus = s.TypeOf<typeof podProbeMarkerStatus>;

export const podProbeMarker = kind(
  'io.kruise.apps.v1alpha1.PodProbeMarker',
  'PodProbeMarker defines additional probes of containers, and reports the results as conditions, labels and annotations of the Pods.',
  {
    group: 'apps.kruise.io',
    version: 'v1alpha1',
    kind: 'PodProbeMarker',
    plural: 'podprobemarkers',
    scope: 'Namespaced',
    subresources: ['status'],
    fields: {
      spec: s.present(podProbeMarkerSpec, 'Specification: Pods, probes, and the effects of the results.'),
      status: s.optional(podProbeMarkerStatus, 'Status: number of matched Pods.'),
    },
  },
);
export type PodProbeMarker = s.TypeOf<typeof podProbeMarker>;
