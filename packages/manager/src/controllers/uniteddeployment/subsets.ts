/** What there is of each domain: its workload, its Pods, and their figures (uniteddeployment.md §6, §7). */
import type { Pod } from '@kruise/api/core/pod';
import type { UnitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { reservedPodLabel, subsetNameLabel, unitedDeploymentRevisionLabel } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Claims, claimsOf } from '@kruise/machinery/claims';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isControlledBy } from '@kruise/machinery/owner-references';
import { isPodActive, isPodReady } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import type { Sort, Workload } from './sorts.ts';

/** A domain that has a workload. */
export type ExistingSubset = {
  readonly name: string;
  readonly workload: Workload;
  readonly pods: readonly Pod[];
  /** As the spec of the workload says. */
  readonly replicas: number;
  readonly partition: number | undefined;
  /** As its status says. */
  readonly statusReplicas: number;
  readonly readyReplicas: number;
  /** Pods at the wanted revision. */
  readonly updatedReplicas: number;
  readonly updatedReadyReplicas: number;
  /** Pods at another revision, without those that wait for a node. */
  readonly outdatedReplicas: number;
};

/** By the name of their domain. */
export type ExistingSubsets = ReadonlyMap<string, ExistingSubset>;

/** What a UnitedDeployment counts as its own of the workloads of its sort. */
export type Found = {
  readonly claims: Claims<Workload>;
  readonly byName: ReadonlyMap<string, Workload>;
  /** Workloads of domains that have another one. */
  readonly surplus: readonly Workload[];
};

/**
 * Workloads that belong to it, and those that belong to nobody and say which domain they are for: what only happens to
 * have the labels is not its to take. Returns a text where a workload of its own does not say what it is for.
 */
export function findWorkloads(owner: UnitedDeployment, candidates: readonly Workload[]): Found | string {
  const selector = selectorOf(owner.spec.selector);
  const matching = candidates.filter(({ metadata }) => selector.matches(metadata.labels));
  const lost = matching.find((workload) => isControlledBy(workload, owner) && !subsetNameOf(workload));
  if (lost) return faultOf(lost);
  const claims = claimsOf(owner, matching, (workload) => subsetNameOf(workload) !== '');
  const groups = Map.groupBy(claims.claimed.toSorted(compareWorkloads), subsetNameOf);
  return {
    claims,
    byName: new Map([...groups].map(([name, [first]]) => [name, first!])),
    surplus: [...groups.values()].flatMap(([, ...others]) => others),
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

/** Those that stay before those that go, the oldest first. */
function compareWorkloads(a: Workload, b: Workload): number {
  const [first, second] = [a.metadata, b.metadata];
  return (
    Number(isBeingDeleted(a)) - Number(isBeingDeleted(b)) ||
    compareStrings(first.creationTimestamp ?? '', second.creationTimestamp ?? '') ||
    compareStrings(first.name ?? '', second.name ?? '')
  );
}

/** The figures of a domain, as far as its Pods are at a revision. */
export function subsetOf(
  name: string,
  { sort, workload, pods, revision }: { sort: Sort; workload: Workload; pods: readonly Pod[]; revision: string },
): ExistingSubset {
  const active = pods.filter(isPodActive);
  const updated = active.filter((pod) => revisionOf(pod) === revision);
  const isCounted = ({ metadata }: Pod) => metadata.labels?.[reservedPodLabel] !== 'true';
  return {
    name,
    workload,
    pods,
    replicas: workload.spec?.replicas ?? 0,
    partition: sort.partitionOf(workload, pods),
    statusReplicas: workload.status?.replicas ?? 0,
    readyReplicas: workload.status?.readyReplicas ?? 0,
    updatedReplicas: updated.length,
    updatedReadyReplicas: updated.filter(isPodReady).length,
    outdatedReplicas: active.filter((pod) => revisionOf(pod) !== revision && isCounted(pod)).length,
  };
}

/** The revision of the UnitedDeployment that a Pod or a workload says it is at. */
export function revisionOf({ metadata }: Pod | Workload): string {
  return metadata.labels?.[unitedDeploymentRevisionLabel] ?? '';
}
