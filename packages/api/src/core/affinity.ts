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
      'In, NotIn, Exists, DoesNotExist, Gt or Lt. Gt and Lt compare whole numbers.',
    ),
    values: s.optional(
      3,
      s.atomicList(s.string()),
      'What to compare with: at least one for In and NotIn, none for Exists and DoesNotExist, one number for Gt and Lt.',
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
    weight: s.required(1, s.int32(), 'How much a node that matches is preferred, 1 to 100.'),
    preference: s.required(2, nodeSelectorTerm, 'Which nodes. An empty term matches all, and so changes nothing.'),
  },
);
export type PreferredSchedulingTerm = s.TypeOf<typeof preferredSchedulingTerm>;

export const nodeAffinity = s.object('io.k8s.api.core.v1.NodeAffinity', 'Which nodes a Pod wants.', {
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
});
export type NodeAffinity = s.TypeOf<typeof nodeAffinity>;

export const podAffinityTerm = s.object('io.k8s.api.core.v1.PodAffinityTerm', 'Other Pods, and how near is near.', {
  labelSelector: s.pointer(1, labelSelector, 'Which Pods, by label. Unset: none.'),
  namespaces: s.optional(
    2,
    s.atomicList(s.string()),
    'Namespaces the Pods are in, by name. Unset, and no namespaceSelector: that of this Pod.',
  ),
  topologyKey: s.required(
    3,
    s.string(),
    'Node label that says what is near: nodes with the same value. Must not be empty.',
  ),
  namespaceSelector: s.pointer(
    4,
    labelSelector,
    'Namespaces the Pods are in, by label, besides those named. An empty one means all.',
  ),
  matchLabelKeys: s.optional(
    5,
    s.atomicList(s.string()),
    'Labels whose values, taken from this Pod, the others must share; of a key labelSelector does not have.',
  ),
  mismatchLabelKeys: s.optional(
    6,
    s.atomicList(s.string()),
    'Labels whose values, taken from this Pod, the others must not have.',
  ),
});
export type PodAffinityTerm = s.TypeOf<typeof podAffinityTerm>;

export const weightedPodAffinityTerm = s.object(
  'io.k8s.api.core.v1.WeightedPodAffinityTerm',
  'Pods whose nearness is preferred or avoided, and how much.',
  {
    weight: s.required(1, s.int32(), 'How much it matters, 1 to 100.'),
    podAffinityTerm: s.required(2, podAffinityTerm, 'The other Pods, and how near.'),
  },
);
export type WeightedPodAffinityTerm = s.TypeOf<typeof weightedPodAffinityTerm>;

export const podAffinity = s.object('io.k8s.api.core.v1.PodAffinity', 'Which Pods a Pod wants to be near.', {
  requiredDuringSchedulingIgnoredDuringExecution: s.optional(
    1,
    s.atomicList(podAffinityTerm),
    'Pods it must be near, all of these terms. It stays if they go later.',
  ),
  preferredDuringSchedulingIgnoredDuringExecution: s.optional(
    2,
    s.atomicList(weightedPodAffinityTerm),
    'Pods it had better be near; the greatest sum of weights wins.',
  ),
});
export type PodAffinity = s.TypeOf<typeof podAffinity>;

export const podAntiAffinity = s.object(
  'io.k8s.api.core.v1.PodAntiAffinity',
  'Which Pods a Pod wants to be far from.',
  {
    requiredDuringSchedulingIgnoredDuringExecution: s.optional(
      1,
      s.atomicList(podAffinityTerm),
      'Pods it must not be near, any of these terms. It stays if they come later.',
    ),
    preferredDuringSchedulingIgnoredDuringExecution: s.optional(
      2,
      s.atomicList(weightedPodAffinityTerm),
      'Pods it had better not be near; the least sum of weights wins.',
    ),
  },
);
export type PodAntiAffinity = s.TypeOf<typeof podAntiAffinity>;

export const affinity = s.object('io.k8s.api.core.v1.Affinity', 'Where a Pod wants to run.', {
  nodeAffinity: s.pointer(1, nodeAffinity, 'By the nodes.'),
  podAffinity: s.pointer(2, podAffinity, 'Near other Pods, such as in their zone.'),
  podAntiAffinity: s.pointer(3, podAntiAffinity, 'Far from other Pods, such as on another node.'),
});
export type Affinity = s.TypeOf<typeof affinity>;
