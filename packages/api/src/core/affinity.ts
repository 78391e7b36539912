import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

export const nodeSelectorRequirement = s.object(
  'io.k8s.api.core.v1.NodeSelectorRequirement',
  'A demand on a label or field of a node.',
  {
    key: s.required(1, s.string(), 'Key of the label, or name of the field.'),
    operator: s.required(
      2,
      s.oneOf('v1.NodeSelectorOperator', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
      'Operator: In, NotIn, Exists, DoesNotExist, Gt or Lt. Gt and Lt compare integers.',
    ),
    values: s.optional(
      3,
      s.atomicList(s.string()),
      'Values to compare with: at least one for In and NotIn, none for Exists and DoesNotExist, one integer for Gt and Lt.',
    ),
  },
);
export type NodeSelectorRequirement = s.TypeOf<typeof nodeSelectorRequirement>;

export const nodeSelectorTerm = s.object(
  'io.k8s.api.core.v1.NodeSelectorTerm',
  'Demands a node must meet all of. An empty term matches no node.',
  {
    matchExpressions: s.optional(1, s.atomicList(nodeSelectorRequirement), 'Demands on labels of the node.'),
    matchFields: s.optional(
      2,
      s.atomicList(nodeSelectorRequirement),
      'Demands on fields of the node; metadata.name is the only one.',
    ),
  },
  { mapType: 'atomic' },
);
export type NodeSelectorTerm = s.TypeOf<typeof nodeSelectorTerm>;

export const nodeSelector = s.object(
  'io.k8s.api.core.v1.NodeSelector',
  'Nodes, by terms of which one suffices.',
  {
    nodeSelectorTerms: s.required(1, s.atomicList(nodeSelectorTerm), 'The terms; at least one.'),
  },
  { mapType: 'atomic' },
);
export type NodeSelector = s.TypeOf<typeof nodeSelector>;

export const preferredSchedulingTerm = s.object(
  'io.k8s.api.core.v1.PreferredSchedulingTerm',
  'Nodes that are preferred, and how much.',
  {
    weight: s.required(1, s.int32(), 'Weight of a matching node, 1 to 100.'),
    preference: s.required(
      2,
      nodeSelectorTerm,
      'Node selector term. An empty term matches all nodes and has no effect.',
    ),
  },
);
export type PreferredSchedulingTerm = s.TypeOf<typeof preferredSchedulingTerm>;

export const nodeAffinity = s.object(
  'io.k8s.api.core.v1.NodeAffinity',
  'Node affinity: required and preferred nodes.',
  {
    requiredDuringSchedulingIgnoredDuringExecution: s.pointer(
      1,
      nodeSelector,
      'Nodes the Pod must run on. A Pod stays if its node changes later.',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: s.optional(
      2,
      s.atomicList(preferredSchedulingTerm),
      'Nodes that are preferred; the greatest sum of weights wins.',
    ),
  },
);
export type NodeAffinity = s.TypeOf<typeof nodeAffinity>;

export const podAffinityTerm = s.object('io.k8s.api.core.v1.PodAffinityTerm', 'Other Pods, and how near is near.', {
  labelSelector: s.pointer(1, labelSelector, 'Label selector of the Pods. Unset: no Pods.'),
  namespaces: s.optional(
    2,
    s.atomicList(s.string()),
    'Namespaces of the Pods, by name. Unset, without namespaceSelector: the namespace of this Pod.',
  ),
  topologyKey: s.required(
    3,
    s.string(),
    'Key of the node label that defines the topology domain: nodes with the same value. Must not be empty.',
  ),
  namespaceSelector: s.pointer(
    4,
    labelSelector,
    'Namespaces of the Pods, by label, in addition to the named ones. An empty selector matches all.',
  ),
  matchLabelKeys: s.optional(
    5,
    s.atomicList(s.string()),
    'Label keys whose values in this Pod the other Pods must have; not keys of labelSelector.',
  ),
  mismatchLabelKeys: s.optional(
    6,
    s.atomicList(s.string()),
    'Label keys whose values in this Pod the other Pods must not have; not keys of labelSelector.',
  ),
});
export type PodAffinityTerm = s.TypeOf<typeof podAffinityTerm>;

export const weightedPodAffinityTerm = s.object(
  'io.k8s.api.core.v1.WeightedPodAffinityTerm',
  'Pods whose nearness is preferred or avoided, and how much.',
  {
    weight: s.required(1, s.int32(), 'Weight of the term, 1 to 100.'),
    podAffinityTerm: s.required(2, podAffinityTerm, 'The other Pods, and how near.'),
  },
);
export type WeightedPodAffinityTerm = s.TypeOf<typeof weightedPodAffinityTerm>;

export const podAffinity = s.object('io.k8s.api.core.v1.PodAffinity', 'Pod affinity: Pods near which to schedule.', {
  requiredDuringSchedulingIgnoredDuringExecution: s.optional(
    1,
    s.atomicList(podAffinityTerm),
    'Required terms, all of which must be satisfied by scheduling. The Pod keeps running if they are not satisfied later.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: s.optional(
    2,
    s.atomicList(weightedPodAffinityTerm),
    'Preferred terms; nodes with the highest sum of weights are preferred.',
  ),
});
export type PodAffinity = s.TypeOf<typeof podAffinity>;

export const podAntiAffinity = s.object(
  'io.k8s.api.core.v1.PodAntiAffinity',
  'Pod anti-affinity: Pods away from which to schedule.',
  {
    requiredDuringSchedulingIgnoredDuringExecution: s.optional(
      1,
      s.atomicList(podAffinityTerm),
      'Required terms, none of which may match when the Pod is scheduled. The Pod keeps running if one matches later.',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: s.optional(
      2,
      s.atomicList(weightedPodAffinityTerm),
      'Preferred terms; nodes with the lowest sum of weights are preferred.',
    ),
  },
);
export type PodAntiAffinity = s.TypeOf<typeof podAntiAffinity>;

export const affinity = s.object('io.k8s.api.core.v1.Affinity', 'Scheduling constraints of a Pod.', {
  nodeAffinity: s.pointer(1, nodeAffinity, 'Node affinity.'),
  podAffinity: s.pointer(2, podAffinity, 'Near other Pods, such as in their zone.'),
  podAntiAffinity: s.pointer(3, podAntiAffinity, 'Far from other Pods, such as on another node.'),
});
export type Affinity = s.TypeOf<typeof affinity>;
