import * as s from '@kruise/schema';
import type { DeploymentSpec } from '../apps/deployment.ts';
import type { StatefulSetSpec as BuiltinStatefulSetSpec } from '../apps/statefulset.ts';
import { nodeSelectorTerm } from '../core/affinity.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { toleration } from '../core/toleration.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import { cloneSetSpec, cloneSetSpecAsWritten } from './cloneset.ts';
import { ageColumn } from './columns.ts';
import { condition } from './condition.ts';
import { scalePaths } from './scale.ts';
import { statefulSetSpec } from './statefulset.ts';

const doc = 'Runs one workload in each of several subsets, such as zones, and distributes the replicas among them.';

function templateOf<N extends s.Node>(spec: N) {
  return s.object({
    metadata: s.optional(s.preserved<ObjectMeta>(), 'Labels and annotations for the workloads.'),
    spec: s.required(spec, 'Specification of each workload; its replicas and partition are set by the controller.'),
  });
}

/** The templates in Go's order. The CloneSet template is encoded differently in the two versions. */
function templatesWith<N extends s.Node>(cloneSet: N) {
  return s.object({
    statefulSetTemplate: s.pointer(
      templateOf(s.preserved<BuiltinStatefulSetSpec>()),
      'Run a StatefulSet of Kubernetes in each subset.',
    ),
    advancedStatefulSetTemplate: s.pointer(templateOf(statefulSetSpec), 'Run a StatefulSet of Kruise in each subset.'),
    cloneSetTemplate: s.pointer(templateOf(cloneSet), 'Run a CloneSet in each subset.'),
    deploymentTemplate: s.pointer(templateOf(s.preserved<DeploymentSpec>()), 'Run a Deployment in each subset.'),
  });
}

export const subsetTemplate = templatesWith(cloneSetSpec);
export type SubsetTemplate = s.TypeOf<typeof subsetTemplate>;

export const subset = s.object({
  name: s.required(
    s.string(),
    'Name of the subset, a DNS label, unique in the UnitedDeployment; part of the name of its workload.',
  ),
  nodeSelectorTerm: s.optional(nodeSelectorTerm, 'The nodes of the subset, by matchExpressions. Cannot be changed.'),
  tolerations: s.optional(s.list(toleration), 'Tolerations of the Pods. Immutable.'),
  replicas: s.pointer(
    s.intOrString(),
    'Number of replicas of the subset: a number, or a percentage of all replicas rounded to the nearest. Unset: an equal part of what the ' +
      'others leave. Not together with minReplicas and maxReplicas anywhere, nor with Adaptive.',
  ),
  minReplicas: s.pointer(
    s.intOrString(),
    'Minimum number of Pods, which the subset gets before any other exceeds its own minimum: a number or a percentage. Default 0.',
  ),
  maxReplicas: s.pointer(
    s.intOrString(),
    'Maximum number of Pods: a number or a percentage. Unset: no limit; at least one subset must have none.',
  ),
  patch: s.optional(
    s.preserved<PodTemplateSpec>(),
    'A strategic merge patch for the Pod template of this subset. Overrides nodeSelectorTerm and tolerations.',
  ),
});
export type Subset = s.TypeOf<typeof subset>;

const adaptive = s.object({
  rescheduleCriticalSeconds: s.pointer(
    s.int32(),
    'Seconds a Pod may be unschedulable before its subset counts as full. Default 30.',
  ),
  unschedulableDuration: s.pointer(
    s.int32(),
    'Seconds a subset counts as full before it is tried again. With reserveUnschedulablePods: seconds a reserved ' +
      'Pod must have been ready before its substitute is deleted. Default 300.',
  ),
  reserveUnschedulablePods: s.optional(
    s.boolean(),
    'Reserve unschedulable Pods, with a substitute in another subset. Default false; for CloneSets and ' +
      'Deployments only.',
  ),
});

export const unitedDeploymentScheduleStrategy = s.object({
  type: s.optional(
    s.enumeration(['Adaptive', 'Fixed', '']),
    'Fixed (the default) keeps the distribution; Adaptive moves unschedulable Pods to another subset.',
  ),
  adaptive: s.pointer(adaptive, 'Parameters of Adaptive.'),
});
export type UnitedDeploymentScheduleStrategy = s.TypeOf<typeof unitedDeploymentScheduleStrategy>;

export const topology = s.object({
  subsets: s.optional(s.list(subset), 'The subsets, in the order in which they are filled.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  scheduleStrategy: s.optional(unitedDeploymentScheduleStrategy, 'Strategy for unschedulable Pods.'),
});
export type Topology = s.TypeOf<typeof topology>;

const manualUpdate = s.object({
  partitions: s.optional(s.map(s.int32()), 'Number of Pods that stay at the old revision, by subset. Default 0.'),
});

export const unitedDeploymentUpdateStrategy = s.object({
  type: s.optional(s.enumeration(['Manual', '']), 'Manual, the only one there is.'),
  manualUpdate: s.pointer(manualUpdate, 'Partitions of the subsets.'),
});
export type UnitedDeploymentUpdateStrategy = s.TypeOf<typeof unitedDeploymentUpdateStrategy>;

function specWith<N extends s.Node>(template: N) {
  return s.object({
    replicas: s.pointer(s.int32(), 'Number of desired Pods in all subsets together. Default 1.'),
    selector: s.required(labelSelector, 'Label selector of the Pods. Must match the labels of the template.', {
      pointer: true,
    }),
    template: s.optional(template, 'The workload of each subset: exactly one of the templates.'),
    topology: s.optional(topology, 'The subsets, and the distribution of the replicas.'),
    updateStrategy: s.optional(unitedDeploymentUpdateStrategy, 'Strategy for updating Pods to a changed template.'),
    revisionHistoryLimit: s.pointer(s.int32(), 'Number of unused revisions to keep. Default 10.'),
  });
}

export const unitedDeploymentSpec = specWith(subsetTemplate);
export type UnitedDeploymentSpec = s.TypeOf<typeof unitedDeploymentSpec>;

// Conversion to v1alpha1 goes through Go's types, and no default is applied to its result.
const unitedDeploymentSpecV1alpha1 = specWith(templatesWith(cloneSetSpecAsWritten));

const unitedDeploymentCondition = s.object({
  type: s.optional(
    s.oneOf(['SubsetProvisioned', 'SubsetUpdated', 'SubsetFailure', 'UnitedDeploymentUpdated']),
    'Type of the condition: the workloads exist, are updated, failed, or are all at the current revision.',
  ),
  status: s.optional(s.oneOf(['True', 'False', 'Unknown']), 'Status of the condition: True, False or Unknown.'),
  lastTransitionTime: s.optional(s.dateTime(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(s.string(), 'Human-readable message with details.'),
});
export type UnitedDeploymentCondition = s.TypeOf<typeof unitedDeploymentCondition>;

export const unitedDeploymentSubsetStatus = s.object({
  name: s.optional(s.string(), 'Name of the subset.'),
  replicas: s.optional(s.int32(), 'Number of desired Pods of the subset.'),
  readyReplicas: s.optional(s.int32(), 'Pods of the subset that are ready.'),
  partition: s.optional(s.int32(), 'Desired Pods of the subset at the old revision.'),
  reservedPods: s.optional(s.int32(), 'Reserved Pods of the subset, whose substitutes run in other subsets.'),
  conditions: s.optional(s.list(condition), 'Schedulable is False while the subset counts as full.'),
});
export type UnitedDeploymentSubsetStatus = s.TypeOf<typeof unitedDeploymentSubsetStatus>;

const leadingStatusFields = {
  observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
  readyReplicas: s.optional(s.int32(), 'Pods that are ready, in all subsets.'),
  replicas: s.required(s.int32(), 'Pods in all subsets, without reserved ones.'),
  updatedReplicas: s.required(s.int32(), 'Pods at the present revision.'),
  reservedPods: s.optional(s.int32(), 'Reserved Pods, whose substitutes run in other subsets.'),
  updatedReadyReplicas: s.optional(s.int32(), 'Pods at the present revision that are ready.'),
  collisionCount: s.pointer(s.int32(), 'Number of hash collisions of revision names.'),
  currentRevision: s.required(
    s.string(),
    'Name of the ControllerRevision every Pod was at before; becomes the present one when all Pods have it.',
  ),
};

const trailingStatusFields = {
  subsetStatuses: s.optional(s.list(unitedDeploymentSubsetStatus), 'Status of each subset.'),
  conditions: s.optional(s.list(unitedDeploymentCondition), 'Conditions of creating and updating the workloads.'),
  labelSelector: s.optional(s.string(), 'The selector as text, for autoscalers.'),
};

export const unitedDeploymentStatus = s.object({
  ...leadingStatusFields,
  updatedRevision: s.optional(s.string(), 'Name of the ControllerRevision of the current template.'),
  ...trailingStatusFields,
});
export type UnitedDeploymentStatus = s.TypeOf<typeof unitedDeploymentStatus>;

const updateStatus = s.object({
  updatedRevision: s.optional(s.string(), 'Name of the ControllerRevision of the current template.'),
  currentPartitions: s.optional(s.map(s.int32()), 'Desired Pods at the old revision, by subset.'),
});

export const unitedDeploymentStatusV1alpha1 = s.object({
  ...leadingStatusFields,
  subsetReplicas: s.optional(s.map(s.int32()), 'Desired Pods of each subset, by name.'),
  ...trailingStatusFields,
  updateStatus: s.pointer(updateStatus, 'Progress of the update.'),
});

const facts = {
  group: 'apps.kruise.io',
  kind: 'UnitedDeployment',
  plural: 'uniteddeployments',
  scope: 'Namespaced',
  shortNames: ['ud'],
  subresources: ['scale', 'status'],
  scale: scalePaths,
  columns: [
    { name: 'DESIRED', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'CURRENT', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'UPDATED', type: 'integer', jsonPath: '.status.updatedReplicas' },
    { name: 'READY', type: 'integer', jsonPath: '.status.readyReplicas' },
    ageColumn,
  ],
} as const;

export const unitedDeployment = kind('io.kruise.apps.v1beta1.UnitedDeployment', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(unitedDeploymentSpec, 'Desired state of the Pods, and their distribution.'),
    status: s.optional(unitedDeploymentStatus, 'Observed state of the Pods.'),
  },
});
export type UnitedDeployment = s.TypeOf<typeof unitedDeployment>;

export const unitedDeploymentV1alpha1 = kind('io.kruise.apps.v1alpha1.UnitedDeployment', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(unitedDeploymentSpecV1alpha1, 'Desired state of the Pods, and their distribution.'),
    status: s.optional(unitedDeploymentStatusV1alpha1, 'Observed state of the Pods.'),
  },
});
export type UnitedDeploymentV1alpha1 = s.TypeOf<typeof unitedDeploymentV1alpha1>;
