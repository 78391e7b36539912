/** Association of Pods with PodUnavailableBudgets, as far as it follows from the Pods themselves. */
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet as builtinStatefulSet } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import { isEmptySelector, selects } from '@kruise/api/meta/label-selector.validate';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Caches } from '@kruise/client/informer';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf, type Kind } from '@kruise/schema/kind';

/** A reference to a workload. */
export type WorkloadReference = { readonly apiVersion?: string; readonly kind?: string; readonly name?: string };

/** The fields of a workload that budgets read. */
export type KnownWorkload = {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly replicas?: number };
};

/** The kinds of workloads that are cached. Others need a live read. */
export const knownWorkloads: readonly Kind[] = [deployment, replicaSet, builtinStatefulSet, cloneSet, statefulSet];

/** Returns the kind of a workload, for a reference in any version, if the kind is cached. */
export function knownKindOf({ apiVersion = '', kind }: WorkloadReference): Kind | undefined {
  return knownWorkloads.find((each) => each.kind === kind && each.group === groupOf(apiVersion));
}

/** Returns a workload from the cache. */
export function knownWorkload(
  caches: Caches,
  reference: WorkloadReference,
  namespace: string,
): KnownWorkload | undefined {
  const kind = knownKindOf(reference);
  // All of these kinds have replicas.
  return kind && (caches.of(kind).get({ namespace, name: reference.name ?? '' }) as KnownWorkload | undefined);
}

/** Reports whether this owner, by UID and not only by name, is in the cache. */
export function isCached(caches: Caches, owner: OwnerReference, namespace: string): boolean {
  return knownWorkload(caches, owner, namespace)?.metadata.uid === owner.uid;
}

/** Limit on the length of a chain of owners, which guards against cycles. */
const maxOwners = 8;

/**
 * Returns the controller of a Pod, the controller of that controller, and so on, as far as they are cached. OpenKruise
 * knows only Deployments above ReplicaSets, and leaves the Pods of other owners of ReplicaSets unprotected.
 */
export function ownersOf(pod: Pod, caches: Caches): readonly OwnerReference[] {
  const { namespace = '' } = pod.metadata;
  const owners: OwnerReference[] = [];
  let owner = controllerOf(pod);
  while (owner && owners.length < maxOwners) {
    owners.push(owner);
    const found = knownWorkload(caches, owner, namespace);
    owner = found?.metadata.uid === owner.uid ? controllerOf(found) : undefined;
  }
  return owners;
}

/** Reports whether two references are to the same workload, in any version. */
export function isSameWorkload(a: WorkloadReference, b: WorkloadReference): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion ?? '') === groupOf(b.apiVersion ?? '');
}

/** Reports whether a budget has a selector that matches the labels. A budget without a selector selects no Pod. */
export function selectsLabels({ spec: { selector } }: PodUnavailableBudget, labels: ObjectMeta['labels']): boolean {
  return selector !== undefined && !isEmptySelector(selector) && selects(selector, labels);
}

/** Reports whether a budget applies to a Pod with these owners. */
export function appliesToPod(budget: PodUnavailableBudget, pod: Pod, owners: readonly WorkloadReference[]): boolean {
  const { targetRef } = budget.spec;
  return targetRef
    ? owners.some((owner) => isSameWorkload(owner, targetRef))
    : selectsLabels(budget, pod.metadata.labels);
}
