import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

export const nodeSelectorRequirement = s.object('io.k8s.api.core.v1.NodeSelectorRequirement', '', {
  key: s.required(1, s.string(), ''),
  operator: s.required(2, s.oneOf('v1.NodeSelectorOperator', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']), ''),
  values: s.optional(3, s.atomicList(s.string()), ''),
});
export type NodeSelectorRequirement = s.TypeOf<typeof nodeSelectorRequirement>;

export const nodeSelectorTerm = s.object('io.k8s.api.core.v1.NodeSelectorTerm', '', {
  matchExpressions: s.optional(1, s.atomicList(nodeSelectorRequirement), ''),
  matchFields: s.optional(2, s.atomicList(nodeSelectorRequirement), ''),
}, { mapType: 'atomic' });
export type NodeSelectorTerm = s.TypeOf<typeof nodeSelectorTerm>;

export const nodeSelector = s.object('io.k8s.api.core.v1.NodeSelector', '', {
  nodeSelectorTerms: s.required(1, s.atomicList(nodeSelectorTerm), ''),
}, { mapType: 'atomic' });
export type NodeSelector = s.TypeOf<typeof nodeSelector>;

export const preferredSchedulingTerm = s.object('io.k8s.api.core.v1.PreferredSchedulingTerm', '', {
  weight: s.required(1, s.int32(), ''),
  preference: s.required(2, nodeSelectorTerm, ''),
});
export type PreferredSchedulingTerm = s.TypeOf<typeof preferredSchedulingTerm>;

export const nodeAffinity = s.object('io.k8s.api.core.v1.NodeAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: s.pointer(1, nodeSelector, ''),
  preferredDuringSchedulingIgnoredDuringExecution: s.optional(2, s.atomicList(preferredSchedulingTerm), ''),
});
export type NodeAffinity = s.TypeOf<typeof nodeAffinity>;

export const podAffinityTerm = s.object('io.k8s.api.core.v1.PodAffinityTerm', '', {
  labelSelector: s.pointer(1, labelSelector, ''),
  namespaces: s.optional(2, s.atomicList(s.string()), ''),
  topologyKey: s.required(3, s.string(), ''),
  namespaceSelector: s.pointer(4, labelSelector, ''),
  matchLabelKeys: s.optional(5, s.atomicList(s.string()), ''),
  mismatchLabelKeys: s.optional(6, s.atomicList(s.string()), ''),
});
export type PodAffinityTerm = s.TypeOf<typeof podAffinityTerm>;

export const weightedPodAffinityTerm = s.object('io.k8s.api.core.v1.WeightedPodAffinityTerm', '', {
  weight: s.required(1, s.int32(), ''),
  podAffinityTerm: s.required(2, podAffinityTerm, ''),
});
export type WeightedPodAffinityTerm = s.TypeOf<typeof weightedPodAffinityTerm>;

export const podAffinity = s.object('io.k8s.api.core.v1.PodAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: s.optional(1, s.atomicList(podAffinityTerm), ''),
  preferredDuringSchedulingIgnoredDuringExecution: s.optional(2, s.atomicList(weightedPodAffinityTerm), ''),
});
export type PodAffinity = s.TypeOf<typeof podAffinity>;

export const podAntiAffinity = s.object('io.k8s.api.core.v1.PodAntiAffinity', '', {
  requiredDuringSchedulingIgnoredDuringExecution: s.optional(1, s.atomicList(podAffinityTerm), ''),
  preferredDuringSchedulingIgnoredDuringExecution: s.optional(2, s.atomicList(weightedPodAffinityTerm), ''),
});
export type PodAntiAffinity = s.TypeOf<typeof podAntiAffinity>;

export const affinity = s.object('io.k8s.api.core.v1.Affinity', '', {
  nodeAffinity: s.pointer(1, nodeAffinity, ''),
  podAffinity: s.pointer(2, podAffinity, ''),
  podAntiAffinity: s.pointer(3, podAntiAffinity, ''),
});
export type Affinity = s.TypeOf<typeof affinity>;
