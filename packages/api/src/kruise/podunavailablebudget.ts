import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { labelSelector } from '../meta/label-selector.ts';

const doc =
  'Limits the number of unavailable Pods of an application, for deletions, evictions, updates and resizes alike.';

// Unlike in the references of other kinds, the schema requires none of the three fields.
const targetRef = s.object({
  apiVersion: s.optional(s.string(), 'Group and version of the workload, such as apps.kruise.io/v1beta1.'),
  kind: s.optional(s.string(), 'Kind of the workload, such as CloneSet.'),
  name: s.optional(s.string(), 'Name of the workload.'),
});

/** Operations on a Pod that a budget may refuse. */
export const protectedOperation = s.enumeration(['DELETE', 'UPDATE', 'EVICT', 'RESIZE']);
export type ProtectedOperation = s.TypeOf<typeof protectedOperation>;

const specFields = {
  selector: s.pointer(
    labelSelector,
    'The Pods to protect, by label, in the same namespace. Not together with targetRef; cannot be changed.',
  ),
  targetRef: s.pointer(targetRef, 'The workload whose Pods to protect. Not together with selector; cannot be changed.'),
  maxUnavailable: s.pointer(
    s.intOrString(),
    'Maximum number of unavailable Pods: a number, or a percentage rounded up. Excludes minAvailable.',
  ),
  minAvailable: s.pointer(
    s.intOrString(),
    'Minimum number of available Pods: a number, or a percentage rounded up. Excludes maxUnavailable.',
  ),
};

export const podUnavailableBudgetSpec = s.object({
  ...specFields,
  protectOperations: s.optional(
    s.list(protectedOperation),
    'Operations that the budget protects from. Unset: DELETE, UPDATE and EVICT.',
  ),
  protectTotalReplicas: s.pointer(
    s.int32({ minimum: 1 }),
    'Total number of Pods, for percentages. Unset: the replicas of the workloads.',
  ),
  ignoredPodSelector: s.pointer(labelSelector, 'Pods with these labels are never held back.'),
});
export type PodUnavailableBudgetSpec = s.TypeOf<typeof podUnavailableBudgetSpec>;

const generationDoc = 'The metadata.generation that this status was observed for.';

const statusFields = {
  disruptedPods: s.optional(
    s.map(s.dateTime()),
    'Pods that may be deleted, evicted or resized and have not been seen to be, with the time it was allowed.',
  ),
  unavailablePods: s.optional(
    s.map(s.dateTime()),
    'Pods that may be updated and have not been seen to be, with the time it was allowed.',
  ),
  unavailableAllowed: s.required(s.int32(), 'Number of Pods that may become unavailable at present.'),
  currentAvailable: s.required(s.int32(), 'Pods that are available now.'),
  desiredAvailable: s.required(s.int32(), 'Pods that must stay available.'),
  totalReplicas: s.required(s.int32(), 'Pods there should be in all.'),
};

export const podUnavailableBudgetStatus = s.object({
  observedGeneration: s.optional(s.int64(), generationDoc),
  ...statusFields,
});
export type PodUnavailableBudgetStatus = s.TypeOf<typeof podUnavailableBudgetStatus>;

const facts = {
  group: 'policy.kruise.io',
  kind: 'PodUnavailableBudget',
  plural: 'podunavailablebudgets',
  scope: 'Namespaced',
  shortNames: ['pub'],
  subresources: ['status'],
  columns: [
    { name: 'Allowed', type: 'integer', jsonPath: '.status.unavailableAllowed' },
    { name: 'Current', type: 'integer', jsonPath: '.status.currentAvailable' },
    { name: 'Desired', type: 'integer', jsonPath: '.status.desiredAvailable' },
    { name: 'Total', type: 'integer', jsonPath: '.status.totalReplicas' },
  ],
} as const;

export const podUnavailableBudget = kind('io.kruise.policy.v1beta1.PodUnavailableBudget', doc, {
  ...facts,
  version: 'v1beta1',
  fields: {
    spec: s.present(podUnavailableBudgetSpec, 'Specification: protected Pods, and the limit.'),
    status: s.optional(podUnavailableBudgetStatus, 'Status: current counts and remaining disruptions.'),
  },
});
export type PodUnavailableBudget = s.TypeOf<typeof podUnavailableBudget>;

/** v1alpha1 writes a generation of 0, too: a new budget reports that none was observed. */
const podUnavailableBudgetStatusV1alpha1 = s.object({
  observedGeneration: s.optional(s.int64(), generationDoc, { omitEmpty: false }),
  ...statusFields,
});

export const podUnavailableBudgetV1alpha1 = kind('io.kruise.policy.v1alpha1.PodUnavailableBudget', doc, {
  ...facts,
  version: 'v1alpha1',
  fields: {
    spec: s.present(s.object(specFields), 'Specification: protected Pods, and the limit.'),
    status: s.optional(podUnavailableBudgetStatusV1alpha1, 'Status: current counts and remaining disruptions.'),
  },
});
export type PodUnavailableBudgetV1alpha1 = s.TypeOf<typeof podUnavailableBudgetV1alpha1>;
