import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { targetReference } from './target-reference.ts';

const doc =
  'PersistentPodState schedules each recreated Pod of a stateful workload to the node or zone of its predecessor.';

const requiredDoc =
  'Required topology: node labels that must have the values recorded for the previous Pod of the same name.';
const preferredDoc = 'Preferred topology: node labels whose recorded values are preferred, by weight.';
const keysDoc = 'Keys of node labels, such as kubernetes.io/hostname or topology.kubernetes.io/zone.';
const weightDoc = 'Weight of equal labels, 1 to 100.';
const preferenceDoc = 'The labels this weight is for.';
const retentionDoc =
  'WhenScaled (the default) forgets a Pod that is scaled in; WhenDeleted remembers it as long as the workload exists.';

const annotationKey = s.object({
  key: s.required(s.string(), 'Key of a Pod annotation.'),
});

const leadingFields = {
  targetRef: s.required(
    targetReference,
    'The StatefulSet, of Kubernetes or of Kruise, or a workload the administrator has allowed. Cannot be changed.',
  ),
  persistentPodAnnotations: s.optional(
    s.list(annotationKey),
    'Pod annotations that are recorded in the status. They are not set on new Pods.',
  ),
};

// A missing list and an empty one differ: conversion must not turn either into the other, or into null.
const keysPresence = { omitEmpty: true, pointer: true };

const topology = s.object({ keys: s.required(s.list(s.string()), keysDoc, keysPresence) });

export const persistentPodStateSpec = s.object({
  ...leadingFields,
  requiredPersistentTopology: s.pointer(topology, requiredDoc),
  preferredPersistentTopology: s.optional(
    s.list(
      s.object({
        weight: s.required(s.int32({ minimum: 0 }), weightDoc),
        preference: s.required(topology, preferenceDoc),
      }),
    ),
    preferredDoc,
  ),
  persistentPodStateRetentionPolicy: s.optional(s.enumeration(['WhenScaled', 'WhenDeleted']), retentionDoc),
});
export type PersistentPodStateSpec = s.TypeOf<typeof persistentPodStateSpec>;

const topologyV1alpha1 = s.object({ nodeTopologyKeys: s.required(s.list(s.string()), keysDoc, keysPresence) });

export const persistentPodStateSpecV1alpha1 = s.object({
  ...leadingFields,
  requiredPersistentTopology: s.pointer(topologyV1alpha1, requiredDoc),
  preferredPersistentTopology: s.optional(
    s.list(
      s.object({
        weight: s.required(s.int32(), weightDoc),
        preference: s.required(topologyV1alpha1, preferenceDoc),
      }),
    ),
    preferredDoc,
  ),
  persistentPodStateRetentionPolicy: s.optional(s.oneOf(['WhenScaled', 'WhenDeleted']), retentionDoc),
});

const podState = s.object({
  nodeName: s.optional(s.string(), 'The node the Pod last was ready on.'),
  nodeTopologyLabels: s.optional(s.map(s.string()), 'Labels of the node that the recreated Pod requires.'),
  annotations: s.optional(s.map(s.string()), 'Recorded annotations of the Pod.'),
});
export type PodState = s.TypeOf<typeof podState>;

export const persistentPodStateStatus = s.object({
  observedGeneration: s.required(s.int64(), 'The metadata.generation these records were made for.'),
  podStates: s.optional(s.map(podState), 'Recorded state of each Pod, by name.'),
});
export type PersistentPodStateStatus = s.TypeOf<typeof persistentPodStateStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'PersistentPodState',
  plural: 'persistentpodstates',
  scope: 'Namespaced',
  subresources: ['status'],
} as const;

export const persistentPodState = kind('io.kruise.apps.v1beta1.PersistentPodState', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(persistentPodStateSpec, 'Specification: workload, and the topology to keep.'),
    status: s.optional(persistentPodStateStatus, 'Status: recorded state of the Pods.'),
  },
});
export type PersistentPodState = s.TypeOf<typeof persistentPodState>;

export const persistentPodStateV1alpha1 = kind('io.kruise.apps.v1alpha1.PersistentPodState', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(persistentPodStateSpecV1alpha1, 'Specification: workload, and the topology to keep.'),
    status: s.optional(persistentPodStateStatus, 'Status: recorded state of the Pods.'),
  },
});
export type PersistentPodStateV1alpha1 = s.TypeOf<typeof persistentPodStateV1alpha1>;
