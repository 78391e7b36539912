/** Which Pods a budget is for, as far as Pods themselves tell (protection.md §A7). */
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

/** A workload as others refer to it. */
export type WorkloadReference = { readonly apiVersion?: string; readonly kind?: string; readonly name?: string };

/** As much of a workload as budgets go by. */
export type KnownWorkload = {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly replicas?: number };
};

/** The workloads whose objects are at hand; of all others the server has to be asked. */
export const knownWorkloads: readonly Kind[] = [deployment, replicaSet, builtinStatefulSet, cloneSet, statefulSet];

/** The kind of a workload, in whatever version it is referred to, if its objects are at hand. */
export function knownKindOf({ apiVersion = '', kind }: WorkloadReference): Kind | undefined {
  return knownWorkloads.find((each) => each.kind === kind && each.group === groupOf(apiVersion));
}

/** A workload that is at hand. */
export function knownWorkload(
  caches: Caches,
  reference: WorkloadReference,
  namespace: string,
): KnownWorkload | undefined {
  const kind = knownKindOf(reference);
  // All of these kinds have replicas.
  return kind && (caches.of(kind).get({ namespace, name: reference.name ?? '' }) as KnownWorkload | undefined);
}

/** Whether this very owner, not another of its name, is at hand. */
export function isAtHand(caches: Caches, owner: OwnerReference, namespace: string): boolean {
  return knownWorkload(caches, owner, namespace)?.metadata.uid === owner.uid;
}

/** A chain of owners has an end; one that somebody has bent into a circle has not. */
const mostOwners = 8;

/**
 * The controller of a Pod, the controller of that, and so on, as far as they are at hand. The reference knows of
 * Deployments above ReplicaSets only, and leaves the Pods of whatever else has ReplicaSets unprotected.
 */
export function ownersOf(pod: Pod, caches: Caches): readonly OwnerReference[] {
  const { namespace = '' } = pod.metadata;
  const owners: OwnerReference[] = [];
  let owner = controllerOf(pod);
  while (owner && owners.length < mostOwners) {
    owners.push(owner);
    const found = knownWorkload(caches, owner, namespace);
    owner = found?.metadata.uid === owner.uid ? controllerOf(found) : undefined;
  }
  return owners;
}

/** Whether two references are to one workload, whatever its version. */
export function isSameWorkload(a: WorkloadReference, b: WorkloadReference): boolean {
  return a.kind === b.kind && a.name === b.name && groupOf(a.apiVersion ?? '') === groupOf(b.apiVersion ?? '');
}

/** Whether a budget names labels, and these are among them; one that names none is for no Pod. */
export function isForLabels({ spec: { selector } }: PodUnavailableBudget, labels: ObjectMeta['labels']): boolean {
  return selector !== undefined && !isEmptySelector(selector) && selects(selector, labels);
}

/** Whether a budget is for a Pod with these owners. */
export function isForPod(budget: PodUnavailableBudget, pod: Pod, owners: readonly WorkloadReference[]): boolean {
  const { targetRef } = budget.spec;
  return targetRef
    ? owners.some((owner) => isSameWorkload(owner, targetRef))
    : isForLabels(budget, pod.metadata.labels);
}
