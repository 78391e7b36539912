/** Existing subsets: workload, Pods and counts. */
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { reservedPodLabel, subsetNameLabel, unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Claims, claimsOf } from '@kruise/machinery/claims';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { Workload, WorkloadType } from './workload-types.ts';

/** A subset with a workload. */
export type ExistingSubset = {
  readonly name: string;
  readonly workload: Workload;
  readonly pods: readonly Pod[];
  /** Replicas in the spec of the workload. */
  readonly replicas: number;
  readonly partition: number | undefined;
  /** Replicas in the status of the workload. */
  readonly statusReplicas: number;
  readonly readyReplicas: number;
  /** Pods at the update revision. */
  readonly updatedReplicas: number;
  readonly updatedReadyReplicas: number;
  /** Pods at another revision, without reserved Pods. */
  readonly outdatedReplicas: number;
};

/** Existing subsets by name. */
export type ExistingSubsets = ReadonlyMap<string, ExistingSubset>;

/** Workloads that the UnitedDeployment controls or adopts. */
export type Found = {
  readonly claims: Claims<Workload>;
  readonly byName: ReadonlyMap<string, Workload>;
  /** Duplicate workloads of a subset. */
  readonly duplicates: readonly Workload[];
};

/**
 * Finds the workloads that the UnitedDeployment controls, and orphaned workloads with a subset name label: matching
 * labels alone do not justify an adoption. Returns an error text where an own workload has no subset name.
 */
export function findWorkloads(owner: UnitedDeployment, candidates: readonly Workload[]): Found | string {
  const selector = selectorOf(owner.spec.selector);
  const matching = candidates.filter(({ metadata }) => selector.matches(metadata.labels));
  const unnamed = matching.find((workload) => isControlledBy(workload, owner) && !subsetNameOf(workload));
  if (unnamed) return faultOf(unnamed);
  const claims = claimsOf(owner, matching, (workload) => subsetNameOf(workload) !== '');
  const groups = Map.groupBy(claims.claimed.toSorted(compareWorkloads), subsetNameOf);
  return {
    claims,
    byName: new Map([...groups].map(([name, [first]]) => [name, first!])),
    duplicates: [...groups.values()].flatMap(([, ...others]) => others),
  };
}

function subsetNameOf({ metadata }: Workload): string {
  return metadata.labels?.[subsetNameLabel] ?? '';
}

function faultOf({ metadata: { namespace, name, labels } }: Workload): string {
  const isEmpty = labels?.[subsetNameLabel] !== undefined;
  const why = isEmpty ? `label ${subsetNameLabel} has an empty value` : `no label ${subsetNameLabel} found`;
  return `fail to get subSet name from label of subset ${namespace}/${name}: ${why}`;
}

/** Sorts terminating workloads last, then by age, the oldest first. */
function compareWorkloads(a: Workload, b: Workload): number {
  const [first, second] = [a.metadata, b.metadata];
  return (
    Number(isBeingDeleted(a)) - Number(isBeingDeleted(b)) ||
    compareStrings(first.creationTimestamp ?? '', second.creationTimestamp ?? '') ||
    compareStrings(first.name ?? '', second.name ?? '')
  );
}

/** Counts the Pods of a subset by revision. */
export function subsetOf(
  name: string,
  {
    workloadType,
    workload,
    pods,
    revision,
  }: { workloadType: WorkloadType; workload: Workload; pods: readonly Pod[]; revision: string },
): ExistingSubset {
  const active = pods.filter(isPodActive);
  const updated = active.filter((pod) => revisionOf(pod) === revision);
  const isCounted = ({ metadata }: Pod) => metadata.labels?.[reservedPodLabel] !== 'true';
  return {
    name,
    workload,
    pods,
    replicas: workload.spec?.replicas ?? 0,
    partition: workloadType.partitionOf(workload, pods),
    statusReplicas: workload.status?.replicas ?? 0,
    readyReplicas: workload.status?.readyReplicas ?? 0,
    updatedReplicas: updated.length,
    updatedReadyReplicas: updated.filter(isPodReady).length,
    outdatedReplicas: active.filter((pod) => revisionOf(pod) !== revision && isCounted(pod)).length,
  };
}

/** Returns the UnitedDeployment revision in the label of a Pod or a workload. */
export function revisionOf({ metadata }: Pod | Workload): string {
  return metadata.labels?.[unitedDeploymentRevisionLabel] ?? '';
}
