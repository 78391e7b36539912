import * as s from '@kruise/schema';
import { probe } from '../core/probe.ts';
import { kind } from '../meta/kind.ts';
import { probeState } from './podprobemarker.ts';

const containerProbe = s.object({
  name: s.required(s.string(), 'Names of the PodProbeMarker and of its probe, joined by a #.'),
  containerName: s.required(s.string(), 'The container to probe.'),
  probe: s.required(probe, 'Probe of the container.'),
});
export type ContainerProbe = s.TypeOf<typeof containerProbe>;

const podProbe = s.object({
  name: s.required(s.string(), 'Name of the Pod.'),
  namespace: s.required(s.string(), 'Namespace of the Pod.'),
  uid: s.required(s.string(), 'The uid of the Pod, which distinguishes it from a later one of the same name.'),
  IP: s.required(s.string(), 'IP address for network probes.'),
  probes: s.optional(s.list(containerProbe), 'Probes of the Pod.'),
});
export type PodProbe = s.TypeOf<typeof podProbe>;

export const nodePodProbeSpec = s.object({
  podProbes: s.optional(s.list(podProbe), 'Pods of the node to probe.'),
});
export type NodePodProbeSpec = s.TypeOf<typeof nodePodProbeSpec>;

const containerProbeState = s.object({
  name: s.required(s.string(), 'Names of the PodProbeMarker and of its probe, joined by a #.'),
  state: s.required(probeState, 'Result of the probe: Succeeded, Failed or Unknown.'),
  lastProbeTime: s.optional(s.dateTime(), 'Time at which the container was last probed.'),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the result last changed.'),
  message: s.optional(s.string(), 'Output of the probe, or the reason of its failure.'),
});
export type ContainerProbeState = s.TypeOf<typeof containerProbeState>;

const podProbeStatus = s.object({
  name: s.required(s.string(), 'Name of the Pod.'),
  namespace: s.required(s.string(), 'Namespace of the Pod.'),
  uid: s.required(s.string(), 'The uid of the Pod that was probed.'),
  probeStates: s.optional(s.list(containerProbeState), 'Results of the probes.'),
});
export type PodProbeStatus = s.TypeOf<typeof podProbeStatus>;

export const nodePodProbeStatus = s.object({
  podProbeStatuses: s.optional(s.list(podProbeStatus), 'The results, Pod by Pod.'),
});
export type NodePodProbeStatus = s.TypeOf<typeof nodePodProbeStatus>;

export const nodePodProbe = kind(
  'io.kruise.apps.v1alpha1.NodePodProbe',
  'Probes that a node executes for PodProbeMarkers, and their results. Has the name of its node; written by Kruise.',
  {
    group: 'apps.kruise.io',
    version: 'v1alpha1',
    kind: 'NodePodProbe',
    plural: 'nodepodprobes',
    scope: 'Cluster',
    subresources: ['status'],
    fields: {
      spec: s.present(nodePodProbeSpec, 'Specification: Pods and probes.'),
      status: s.optional(nodePodProbeStatus, 'Status: results of the probes.'),
    },
  },
);
export type NodePodProbe = s.TypeOf<typeof nodePodProbe>;
