/**
 * UnitedDeployment reconciler: keeps a workload for each subset. A reconcile determines the revision of the template,
 * the existing workloads, the allocation of replicas, and the writes. Missing and excess workloads come before changed
 * workloads.
 */
import type { ControllerRevision } from '@kruise/api/apps/controllerrevision';
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeployment, UnitedDeploymentStatus } from '@kruise/api/kruise/uniteddeployment';
import { type Action, isBeingDeleted, parallel, record } from '@kruise/client/actions';
import { claimActions } from '@kruise/client/adoption';
import type { Decision } from '@kruise/client/controller';
import { type Instant, parseTime } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { allocate } from './allocate.ts';
import { type Assessment, assess, unassessed } from './assess.ts';
import { deleteWorkload, manage } from './manage.ts';
import { planRevisions } from './revisions.ts';
import { type ReportedStatus, reportedStatusOf, statusOf } from './status.ts';
import { isAdaptive } from './strategy.ts';
import { type ExistingSubset, type ExistingSubsets, findWorkloads, subsetOf } from './subsets.ts';
import { type Workload, type WorkloadType, workloadTypeOf } from './workload-types.ts';

export type Observed = {
  readonly owner: UnitedDeployment;
  /** Revisions that the UnitedDeployment controls, and orphaned revisions. */
  readonly revisions: readonly ControllerRevision[];
  /** Finds a revision by name in the UnitedDeployment's namespace, whatever its owner. */
  readonly findRevision: (name: string) => ControllerRevision | undefined;
  /** Workloads of the template's type: controlled by the UnitedDeployment, or orphaned. */
  readonly workloads: readonly Workload[];
  /** Workloads of other types that the UnitedDeployment controls. */
  readonly workloadsOfOtherTypes: readonly Workload[];
  readonly podsOf: (workload: Workload) => readonly Pod[];
};

const failedDuplicate = { reason: 'FailedDeleteDuplicatedSubsets', message: '{error}' };

export function decide(observed: Observed, now: Instant): Decision<UnitedDeploymentStatus | undefined> {
  const { owner, workloadsOfOtherTypes } = observed;
  const workloadType = workloadTypeOf(owner.spec.template);
  // The garbage collector deletes the workloads of a deleted owner.
  if (!workloadType || isBeingDeleted(owner)) return { actions: [] };
  const plannedRevisions = planRevisions(owner, workloadType, observed);
  const found = findWorkloads(owner, observed.workloads);
  if (typeof found === 'string') return { actions: [...plannedRevisions.actions, ...lostWorkloadEvents(owner, found)] };
  const preparation = [
    ...plannedRevisions.actions,
    ...claimActions(owner, found.claims),
    ...parallel(found.duplicates.map((workload) => deleteWorkload(owner, workload, failedDuplicate))),
  ];

  const { update: revision } = plannedRevisions;
  const subsets = existingSubsets(observed, found.byName, { workloadType, revision });
  const reported = reportedStatusOf(owner, plannedRevisions, now);
  const assessments = assessAll(owner, subsets, reported, { revision, now });
  const marks = parallel([...assessments.values()].flatMap(({ actions }) => actions));
  const allocation = allocate(owner.spec, assessments);
  if ('fault' in allocation) {
    return { actions: [...preparation, ...marks, allocationEvent(owner, allocation.fault)] };
  }

  const { replicas } = allocation;
  const partitions = partitionsOf(owner, replicas);
  const work = manage({
    owner,
    workloadType,
    revision,
    subsets,
    assessments,
    replicas,
    partitions,
    workloadsOfOtherTypes,
  });
  const { hasProvisioned } = work;
  const findings = { plannedRevisions: plannedRevisions, subsets, assessments, replicas, partitions, hasProvisioned };
  const status = statusOf(owner, reported, findings, now);
  const pods = [...subsets.values()].reduce((sum, subset) => sum + subset.pods.length, 0);
  return {
    actions: [...preparation, ...marks, ...work.actions],
    // The status does not report what failed.
    status: ({ failures }) => (work.isFaulty || failures.length > 0 ? undefined : status),
    ...earliestRequeue(...work.seconds, ...[...assessments.values()].flatMap(({ seconds }) => seconds)),
    minIntervalMs: reconcileIntervalFor(pods),
  };
}

function existingSubsets(
  { podsOf }: Observed,
  workloads: ReadonlyMap<string, Workload>,
  { workloadType, revision }: { readonly workloadType: WorkloadType; readonly revision: string },
): ExistingSubsets {
  const read = ([name, workload]: readonly [string, Workload]) =>
    [name, subsetOf(name, { workloadType, workload, pods: podsOf(workload), revision })] as const;
  return new Map([...workloads].map(read));
}

function assessAll(
  { spec }: UnitedDeployment,
  subsets: ExistingSubsets,
  { subsetStatuses, conditions }: ReportedStatus,
  { revision, now }: { readonly revision: string; readonly now: Instant },
): ReadonlyMap<string, Assessment> {
  const strategy = spec.topology?.scheduleStrategy;
  const updated = conditions.find(({ type }) => type === 'UnitedDeploymentUpdated');
  const updatedAt = updated?.lastTransitionTime ? parseTime(updated.lastTransitionTime) : now;
  const of = (subset: ExistingSubset): Assessment => {
    const status = subsetStatuses.find(({ name }) => name === subset.name);
    if (!status || !isAdaptive(strategy)) return unassessed(subset);
    const last = status.conditions?.find(({ type }) => type === 'Schedulable');
    return assess(subset, { strategy, reported: last, revision, updatedAt, now });
  };
  return new Map([...subsets].map(([name, subset]) => [name, of(subset)]));
}

/** Returns the number of Pods of each subset that stay at the old revision. */
function partitionsOf({ spec }: UnitedDeployment, replicas: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const { type, manualUpdate } = spec.updateStrategy ?? {};
  const asked = type === 'Manual' ? manualUpdate?.partitions : undefined;
  return new Map([...replicas].map(([name, max]) => [name, Math.min(asked?.[name] ?? 0, max)]));
}

function lostWorkloadEvents(owner: UnitedDeployment, fault: string): readonly Action[] {
  const { namespace, name } = owner.metadata;
  const message = `fail to get all Subsets for UnitedDeployment ${namespace}/${name}: ${fault}`;
  return [
    record({ about: owner, type: 'Warning', reason: 'FailedFindSubsets', message: fault }),
    record({ about: owner, type: 'Warning', reason: 'Failed FindSubsets', message }),
  ];
}

function allocationEvent(owner: UnitedDeployment, fault: string): Action {
  const message = `Specified subset replicas is ineffective: ${fault}`;
  return record({ about: owner, type: 'Warning', reason: 'Failed SpecifySubsetReplicas', message });
}
