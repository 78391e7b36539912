/** What a UnitedDeployment reports of itself (uniteddeployment.md §8). */
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
import type { Course } from './revisions.ts';
import { isReserving } from './strategy.ts';
import type { ExistingSubset, ExistingSubsets } from './subsets.ts';

/** What was told the last time, and what is to be told before anything else is known. */
export type Told = {
  /** One entry for each domain, those that are gone included, in the order in which they came. */
  readonly subsetStatuses: readonly UnitedDeploymentSubsetStatus[];
  readonly conditions: readonly UnitedDeploymentCondition[];
};

export function whatIsTold(owner: UnitedDeployment, course: Course, now: Instant): Told {
  const conditions = withUpdated(owner.status?.conditions ?? [], course, now);
  return { subsetStatuses: withNewDomains(owner, now), conditions };
}

function withNewDomains({ spec, status }: UnitedDeployment, now: Instant): readonly UnitedDeploymentSubsetStatus[] {
  const present = status?.subsetStatuses ?? [];
  const { subsets = [], scheduleStrategy } = spec.topology ?? {};
  const known = new Set(present.map(({ name }) => name));
  // A domain that joins others has yet to show that Pods find nodes there; were all new, nothing could stand in.
  const isDoubtful = present.length > 0 && isReserving(scheduleStrategy);
  const message = 'newly-created subsets in reservation strategy';
  const doubt = { status: 'False', reason: 'created', message } as const;
  const added = subsets
    .filter(({ name }) => !known.has(name))
    .map(({ name }) => (isDoubtful ? withSchedulable({ name }, doubt, now) : { name }));
  return [...present, ...added];
}

/** The status of a domain that says whether its Pods find nodes; since when changes with the reason, too. */
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

/** Whether an update of the template is under way; what it says is only written anew when that changes. */
function withUpdated(
  conditions: readonly UnitedDeploymentCondition[],
  { current, update }: Course,
  now: Instant,
): readonly UnitedDeploymentCondition[] {
  const status = current === update ? 'True' : 'False';
  const known = conditions.find(({ type }) => type === 'UnitedDeploymentUpdated');
  if (known?.status === status) return conditions;
  const told =
    status === 'True'
      ? { reason: 'UnitedDeploymentRevisionUpdated', message: `updated to revision ${update}` }
      : { reason: 'UnitedDeploymentRevisionUpdating', message: `updating to revision ${update}` };
  return withCondition(conditions, { type: 'UnitedDeploymentUpdated', status, ...told }, now);
}

/** The conditions with one more; one that is there with the same status and reason stays as it is. */
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

/** What came of a look at a UnitedDeployment. */
export type Findings = {
  readonly course: Course;
  readonly subsets: ExistingSubsets;
  readonly assessments: ReadonlyMap<string, Assessment>;
  readonly replicas: ReadonlyMap<string, number>;
  readonly partitions: ReadonlyMap<string, number>;
  /** Whether workloads are made or deleted. */
  readonly hasProvisioned: boolean;
};

const statuses = codecOf(unitedDeploymentStatus);

export function statusOf(
  { metadata, spec, status: former }: UnitedDeployment,
  told: Told,
  findings: Findings,
  now: Instant,
): UnitedDeploymentStatus {
  const { course, subsets, assessments } = findings;
  const sum = (figure: (subset: ExistingSubset) => number) =>
    [...subsets.values()].reduce((some, subset) => some + figure(subset), 0);
  const reservedOf = ({ name }: ExistingSubset) => assessments.get(name)?.reservedPods ?? 0;
  const reservedPods = sum(reservedOf);
  const replicas = sum(({ statusReplicas }) => statusReplicas) - reservedPods;
  const updatedReadyReplicas = sum((subset) => subset.updatedReadyReplicas);
  // Workloads and Pods are not heard of at once: for a moment there may seem to be fewer Pods than are updated already.
  const isUpdated = updatedReadyReplicas >= replicas && sum((subset) => subset.outdatedReplicas) === 0;
  const selector = formatLabelSelector(spec.selector);
  // Figures that are none are left out.
  return statuses.canonical({
    ...former,
    observedGeneration: metadata.generation ?? 0,
    replicas,
    reservedPods,
    readyReplicas: sum(({ readyReplicas }) => readyReplicas),
    updatedReplicas: sum(({ updatedReplicas }) => updatedReplicas),
    updatedReadyReplicas,
    currentRevision: isUpdated ? course.update : former?.currentRevision || course.current,
    updatedRevision: course.update,
    labelSelector: isReserving(spec.topology?.scheduleStrategy) ? `${selector},${reservedPodLabel}=false` : selector,
    subsetStatuses: told.subsetStatuses.map((status) => subsetStatus(status, findings, now)),
    // Nothing ever reports that a workload failed.
    conditions: withProgress(told.conditions, findings, now).filter(({ type }) => type !== 'SubsetFailure'),
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
 * What is told of a domain. Where one that was full has room again and grows, its new Pods have yet to show that they
 * find nodes: until then it counts as full, and their stand-ins stay.
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
