/** UnitedDeployment status. */
import {
  type UnitedDeployment,
  type UnitedDeploymentCondition,
  type UnitedDeploymentStatus,
  type UnitedDeploymentSubsetStatus,
  unitedDeploymentStatus,
} from '@kruise/api/kruise/uniteddeployment';
import { reservedPodLabel } from '@kruise/api/kruise/well-known';
import { findCondition } from '@kruise/machinery/conditions';
import { formatLabelSelector } from '@kruise/machinery/label-selector';
import { codecOf } from '@kruise/schema/codec';
import { formatTime, type Instant } from '@kruise/values/time';
import type { Assessment, Schedulable } from './assess.ts';
import type { PlannedRevisions } from './revisions.ts';
import { isReserving } from './strategy.ts';
import type { ExistingSubset, ExistingSubsets } from './subsets.ts';

/** Status of the last reconcile, with entries for new subsets and the condition of the current update. */
export type ReportedStatus = {
  /** One entry for each subset, including removed subsets, in the order of their creation. */
  readonly subsetStatuses: readonly UnitedDeploymentSubsetStatus[];
  readonly conditions: readonly UnitedDeploymentCondition[];
};

export function reportedStatusOf(
  owner: UnitedDeployment,
  plannedRevisions: PlannedRevisions,
  now: Instant,
): ReportedStatus {
  const conditions = withUpdated(owner.status?.conditions ?? [], plannedRevisions, now);
  return { subsetStatuses: withNewSubsets(owner, now), conditions };
}

function withNewSubsets({ spec, status }: UnitedDeployment, now: Instant): readonly UnitedDeploymentSubsetStatus[] {
  const present = status?.subsetStatuses ?? [];
  const { subsets = [], scheduleStrategy } = spec.topology ?? {};
  const known = new Set(present.map(({ name }) => name));
  // A subset that is added to others must first prove that its Pods are schedulable. If all subsets are new, there is
  // no other subset for replacement Pods.
  const isUnproven = present.length > 0 && isReserving(scheduleStrategy);
  const message = 'newly-created subsets in reservation strategy';
  const unproven = { status: 'False', reason: 'created', message } as const;
  const added = subsets
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => (isUnproven ? withSchedulable({ name }, unproven, now) : { name }));
  return [...present, ...added];
}

/** Sets the Schedulable condition of a subset; a new reason also resets the transition time. */
function withSchedulable(
  status: UnitedDeploymentSubsetStatus,
  schedulable: Schedulable,
  now: Instant,
): UnitedDeploymentSubsetStatus {
  const { conditions = [] } = status;
  const known = findCondition(conditions, 'Schedulable');
  if (known?.status === schedulable.status && known.reason === schedulable.reason) return status;
  const condition = { type: 'Schedulable', lastTransitionTime: formatTime(now), ...schedulable };
  return {
    ...status,
    conditions: known ? conditions.map((each) => (each === known ? condition : each)) : [...conditions, condition],
  };
}

/** Sets the condition that reports an update of the template; reason and message change only with the status. */
function withUpdated(
  conditions: readonly UnitedDeploymentCondition[],
  { current, update }: PlannedRevisions,
  now: Instant,
): readonly UnitedDeploymentCondition[] {
  const status = current === update ? 'True' : 'False';
  const known = conditions.find(({ type }) => type === 'UnitedDeploymentUpdated');
  if (known?.status === status) return conditions;
  const reported =
    status === 'True'
      ? { reason: 'UnitedDeploymentRevisionUpdated', message: `updated to revision ${update}` }
      : { reason: 'UnitedDeploymentRevisionUpdating', message: `updating to revision ${update}` };
  return withCondition(conditions, { type: 'UnitedDeploymentUpdated', status, ...reported }, now);
}

/** Sets a condition; a condition with the same status and reason is not changed. */
function withCondition(
  conditions: readonly UnitedDeploymentCondition[],
  condition: UnitedDeploymentCondition,
  now: Instant,
): readonly UnitedDeploymentCondition[] {
  const known = conditions.find(({ type }) => type === condition.type);
  if (known?.status === condition.status && (known?.reason ?? '') === (condition.reason ?? '')) return conditions;
  const since = known?.status === condition.status ? known?.lastTransitionTime : undefined;
  const others = conditions.filter((each) => each !== known);
  return [...others, { ...condition, lastTransitionTime: since ?? formatTime(now) }];
}

/** Results of a UnitedDeployment reconcile. */
export type Findings = {
  readonly plannedRevisions: PlannedRevisions;
  readonly subsets: ExistingSubsets;
  readonly assessments: ReadonlyMap<string, Assessment>;
  readonly replicas: ReadonlyMap<string, number>;
  readonly partitions: ReadonlyMap<string, number>;
  /** Set where workloads are created or deleted. */
  readonly hasProvisioned: boolean;
};

const statuses = codecOf(unitedDeploymentStatus);

export function statusOf(
  { metadata, spec, status: former }: UnitedDeployment,
  reported: ReportedStatus,
  findings: Findings,
  now: Instant,
): UnitedDeploymentStatus {
  const { plannedRevisions, subsets, assessments } = findings;
  const sum = (figure: (subset: ExistingSubset) => number) =>
    [...subsets.values()].reduce((some, subset) => some + figure(subset), 0);
  const reservedOf = ({ name }: ExistingSubset) => assessments.get(name)?.reservedPods ?? 0;
  const reservedPods = sum(reservedOf);
  const replicas = sum(({ statusReplicas }) => statusReplicas) - reservedPods;
  const updatedReadyReplicas = sum((subset) => subset.updatedReadyReplicas);
  // Events of workloads and Pods arrive at different times: for a moment there may seem to be fewer Pods than are
  // updated already.
  const isUpdated = updatedReadyReplicas >= replicas && sum((subset) => subset.outdatedReplicas) === 0;
  const selector = formatLabelSelector(spec.selector);
  // Zero numbers are omitted.
  return statuses.canonical({
    ...former,
    observedGeneration: metadata.generation ?? 0,
    replicas,
    reservedPods,
    readyReplicas: sum(({ readyReplicas }) => readyReplicas),
    updatedReplicas: sum(({ updatedReplicas }) => updatedReplicas),
    updatedReadyReplicas,
    currentRevision: isUpdated ? plannedRevisions.update : former?.currentRevision || plannedRevisions.current,
    updatedRevision: plannedRevisions.update,
    labelSelector: isReserving(spec.topology?.scheduleStrategy) ? `${selector},${reservedPodLabel}=false` : selector,
    subsetStatuses: reported.subsetStatuses.map((status) => subsetStatus(status, findings, now)),
    // Nothing reports workload failures.
    conditions: withProgress(reported.conditions, findings, now).filter(({ type }) => type !== 'SubsetFailure'),
  });
}

function subsetStatus(
  former: UnitedDeploymentSubsetStatus,
  { subsets, assessments, replicas, partitions }: Findings,
  now: Instant,
): UnitedDeploymentSubsetStatus {
  const { name = '' } = former;
  const subset = subsets.get(name);
  const assessment = assessments.get(name);
  if (!subset || !assessment) return former;
  const schedulable = schedulableOf(assessment, replicas.get(name));
  return {
    ...schedulable.reduce((status, each) => withSchedulable(status, each, now), former),
    replicas: replicas.get(name) ?? 0,
    readyReplicas: subset.readyReplicas,
    partition: partitions.get(name) ?? 0,
    reservedPods: assessment.reservedPods,
  };
}

/**
 * Returns the Schedulable conditions of a subset. Where a subset has recovered and scales out, its new Pods must first
 * prove to be schedulable: until then the subset counts as unschedulable, and the replacement Pods stay.
 */
function schedulableOf(assessment: Assessment, replicas = 0): readonly Schedulable[] {
  const { isUnschedulable, wasUnschedulable, schedulable } = assessment;
  if (isUnschedulable || !wasUnschedulable || replicas <= assessment.replicas) return schedulable;
  return [...schedulable, { status: 'False', reason: 'reschedule', message: 'subset just recovered scaled up' }];
}

function withProgress(
  conditions: readonly UnitedDeploymentCondition[],
  { hasProvisioned }: Findings,
  now: Instant,
): readonly UnitedDeploymentCondition[] {
  const provisioned = hasProvisioned
    ? withCondition(conditions, { type: 'SubsetProvisioned', status: 'True' }, now)
    : conditions;
  return withCondition(provisioned, { type: 'SubsetUpdated', status: 'True' }, now);
}
