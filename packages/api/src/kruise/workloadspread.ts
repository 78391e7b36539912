import * as s from '@kruise/schema';
import { nodeSelectorTerm, preferredSchedulingTerm } from '../core/affinity.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import { toleration } from '../core/toleration.ts';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { condition, standardCondition } from './condition.ts';
import { targetReference } from './target-reference.ts';

const doc =
  'Spreads the Pods of a workload over subsets of nodes, by assigning each new Pod to the first subset with a free place.';

const requiredDoc = 'Required node selector term of the subset.';
const preferredDoc = 'Preferred node selector terms of the subset, by weight.';

const leadingSubsetFields = {
  name: s.required(s.string(), 'Name of the subset, unique in the WorkloadSpread.'),
};

const trailingSubsetFields = {
  tolerations: s.optional(s.list(toleration), 'Tolerations of the Pods.'),
  maxReplicas: s.pointer(
    s.intOrString(),
    'Maximum number of Pods: a number, or a percentage of the replicas rounded up. Unset: no limit.',
  ),
  patch: s.optional(s.preserved<PodTemplateSpec>(), 'A strategic merge patch for the Pods of the subset.'),
};

export const workloadSpreadSubset = s.object({
  ...leadingSubsetFields,
  requiredNodeSelector: s.pointer(nodeSelectorTerm, requiredDoc),
  preferredNodeSelector: s.optional(s.list(preferredSchedulingTerm), preferredDoc),
  ...trailingSubsetFields,
});
export type WorkloadSpreadSubset = s.TypeOf<typeof workloadSpreadSubset>;

const targetFilter = s.object({
  selector: s.pointer(labelSelector, 'Only Pods with these labels. Unset: all Pods of the workload.'),
  replicasPathList: s.optional(
    s.list(s.string()),
    'Path of the number of Pods in the workload, for example spec.workers.replicas; several are added.',
  ),
});

const adaptive = s.object({
  disableSimulationSchedule: s.optional(s.boolean(), 'Accepted for compatibility; has no effect.'),
  rescheduleCriticalSeconds: s.pointer(
    s.int32(),
    'Time in seconds after which an unschedulable Pod is deleted and recreated in another subset. Unset or 0: no limit.',
  ),
});

export const workloadSpreadScheduleStrategy = s.object({
  type: s.optional(
    s.enumeration(['Adaptive', 'Fixed', '']),
    'Fixed (the default) keeps Pods in their subset; Adaptive moves unschedulable Pods to another subset.',
  ),
  adaptive: s.pointer(adaptive, 'Parameters of Adaptive.'),
});
export type WorkloadSpreadScheduleStrategy = s.TypeOf<typeof workloadSpreadScheduleStrategy>;

function specWith<N extends s.Node>(subset: N) {
  return s.object({
    targetRef: s.required(
      targetReference,
      'The workload whose Pods are spread. Cannot be changed, but for the version.',
      {
        pointer: true,
      },
    ),
    targetFilter: s.pointer(targetFilter, 'Spread only some of its Pods.'),
    subsets: s.required(s.list(subset), 'The subsets, in the order in which they are filled; at least one.', {
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    }),
    scheduleStrategy: s.optional(workloadSpreadScheduleStrategy, 'Strategy for unschedulable Pods.'),
  });
}

export const workloadSpreadSpec = specWith(workloadSpreadSubset);
export type WorkloadSpreadSpec = s.TypeOf<typeof workloadSpreadSpec>;

function subsetStatusWith<N extends s.Node>(conditions: N) {
  return s.object({
    name: s.required(s.string(), 'Name of the subset.'),
    replicas: s.required(s.int32(), 'Number of Pods of the subset.'),
    conditions: s.optional(
      conditions,
      'Schedulable is False while the subset is considered to have no capacity on its nodes.',
    ),
    missingReplicas: s.required(s.int32(), 'Number of Pods that are missing in the subset; -1 if it has no limit.'),
    creatingPods: s.optional(
      s.map(s.dateTime()),
      'Pods that were admitted to the subset and have not been observed yet, with the time of admission.',
    ),
    deletingPods: s.optional(
      s.map(s.dateTime()),
      'Pods of the subset whose deletion was admitted and that still exist, with the time.',
    ),
  });
}

export const workloadSpreadSubsetStatus = subsetStatusWith(s.listMap(standardCondition, ['type']));
export type WorkloadSpreadSubsetStatus = s.TypeOf<typeof workloadSpreadSubsetStatus>;

function statusWith<N extends s.Node>(subsetStatus: N) {
  return s.object({
    observedGeneration: s.optional(s.int64(), 'The metadata.generation that this status was observed for.'),
    subsetStatuses: s.optional(s.list(subsetStatus), 'The subsets, in the order of the spec.'),
    versionedSubsetStatuses: s.optional(
      s.map(s.list(subsetStatus)),
      'Status of the subsets for each version of the Pods, so that an update does not fill a subset with outdated Pods.',
    ),
  });
}

export const workloadSpreadStatus = statusWith(workloadSpreadSubsetStatus);
export type WorkloadSpreadStatus = s.TypeOf<typeof workloadSpreadStatus>;

const facts = {
  group: 'apps.kruise.io',
  kind: 'WorkloadSpread',
  plural: 'workloadspreads',
  scope: 'Namespaced',
  shortNames: ['ws'],
  subresources: ['status'],
  columns: [
    { name: 'WorkloadName', type: 'string', jsonPath: '.spec.targetRef.name' },
    { name: 'WorkloadKind', type: 'string', jsonPath: '.spec.targetRef.kind' },
    {
      name: 'Adaptive',
      type: 'boolean',
      jsonPath: '.spec.scheduleStrategy.type[?(@ == "Adaptive")]',
      doc: 'Rescheduling of unschedulable Pods to another subset.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
} as const;

export const workloadSpread = kind('io.kruise.apps.v1beta1.WorkloadSpread', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(workloadSpreadSpec, 'Specification: workload and subsets.'),
    status: s.optional(workloadSpreadStatus, 'Status: Pods of each subset.'),
  },
});
export type WorkloadSpread = s.TypeOf<typeof workloadSpread>;

const subsetV1alpha1 = s.object({
  ...leadingSubsetFields,
  requiredNodeSelectorTerm: s.pointer(nodeSelectorTerm, requiredDoc),
  preferredNodeSelectorTerms: s.optional(s.list(preferredSchedulingTerm), preferredDoc),
  ...trailingSubsetFields,
});

export const workloadSpreadV1alpha1 = kind('io.kruise.apps.v1alpha1.WorkloadSpread', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(specWith(subsetV1alpha1), 'Specification: workload and subsets.'),
    status: s.optional(statusWith(subsetStatusWith(s.list(condition))), 'Status: Pods of each subset.'),
  },
});
export type WorkloadSpreadV1alpha1 = s.TypeOf<typeof workloadSpreadV1alpha1>;
