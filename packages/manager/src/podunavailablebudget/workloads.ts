/** Pods that a budget protects, and their desired number. */
import { deployment } from '@kruise/api/apps/deployment';
import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { isEmptySelector } from '@kruise/api/meta/label-selector.validate';
import type { Caches } from '@kruise/client/informer';
import type { TargetReference } from '@kruise/client/scale-targets';
import { parseSelector, selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { podsMatching } from '@kruise/workload-kit/pod-indexes';
import { type KnownWorkload, knownKindOf, knownWorkload } from './association.ts';

/** Protected Pods and replicas, as far as the caches show. */
export type Protected = {
  /** Active Pods. */
  readonly pods: readonly Pod[];
  /** Desired replicas. */
  readonly replicas: number;
  /** Workloads that need a live read: their kinds are not cached. */
  readonly strangers: readonly UncachedWorkload[];
};

/** A workload that is not cached; with a UID, exactly this object. */
export type UncachedWorkload = TargetReference & { readonly uid?: string };

const none: Protected = { pods: [], replicas: 0, strangers: [] };

/** Returns what the caches show of a budget's Pods and workloads. */
export function protectedBy({ metadata, spec }: PodUnavailableBudget, caches: Caches): Protected {
  const { namespace = '' } = metadata;
  const { targetRef, selector } = spec;
  if (targetRef) {
    const { apiVersion = '', kind = '', name = '' } = targetRef;
    if (!knownKindOf(targetRef)) return { ...none, strangers: [{ apiVersion, kind, name }] };
    const workload = knownWorkload(caches, targetRef, namespace);
    const replicas = sizeOf(workload);
    return workload && replicas > 0 ? { ...none, replicas, pods: podsOf(workload, caches) } : none;
  }
  if (!selector || isEmptySelector(selector)) return none;
  const pods = podsMatching(caches, namespace, selectorOf(selector)).filter(isPodActive);
  return { pods, ...sizeOfOwners(pods, namespace, caches) };
}

/** Returns the desired replicas of a workload; 0 if the workload is terminating or gone. */
function sizeOf(workload: KnownWorkload | undefined): number {
  return !workload || workload.metadata.deletionTimestamp != null ? 0 : (workload.spec?.replicas ?? 1);
}

/**
 * Returns the Pods of a workload and, for a Deployment, of its ReplicaSets: ReplicaSets with 0 desired replicas may
 * still have Pods.
 */
function podsOf(workload: KnownWorkload, caches: Caches): readonly Pod[] {
  const isStaying = ({ metadata }: ReplicaSet) => metadata.deletionTimestamp == null;
  const sets = caches.of(replicaSet).controlledBy(workload).filter(isStaying);
  const pods = caches.of(podKind);
  return [workload, ...sets].flatMap((each) => pods.controlledBy(each)).filter(isPodActive);
}

/** Returns the Pods of a workload of any kind: its own Pods, or the Pods it selects if other objects own them. */
export function podsOfUncachedWorkload(
  caches: Caches,
  namespace: string,
  { uid, selector }: { readonly uid: string; readonly selector?: string },
): readonly Pod[] {
  const own = caches.of(podKind).controlledBy({ metadata: { uid } });
  const found = own.length > 0 || !selector ? own : podsMatching(caches, namespace, parseSelector(selector));
  return found.filter(isPodActive);
}

/** Sums the desired replicas of the Pods' controllers, each counted once. */
function sizeOfOwners(
  pods: readonly Pod[],
  namespace: string,
  caches: Caches,
): Pick<Protected, 'replicas' | 'strangers'> {
  const owners = new Map(pods.flatMap((pod) => controllerOf(pod) ?? []).map((owner) => [owner.uid, owner]));
  const sizes = new Map<string, number>();
  const strangers: OwnerReference[] = [];
  for (const owner of owners.values()) {
    if (!knownKindOf(owner)) {
      strangers.push(owner);
      continue;
    }
    const workload = topmost(owner, namespace, caches);
    if (workload) sizes.set(workload.metadata.uid ?? '', sizeOf(workload));
  }
  return { replicas: sizes.values().reduce((sum, size) => sum + size, 0), strangers };
}

/**
 * Returns the controller of Pods, or the Deployment above the controller: the ReplicaSets of a Deployment count
 * together.
 */
function topmost(owner: OwnerReference, namespace: string, caches: Caches): KnownWorkload | undefined {
  const found = knownWorkload(caches, owner, namespace);
  if (found?.metadata.uid !== owner.uid) return undefined;
  const above = controllerOf(found);
  return above && knownKindOf(above) === deployment ? topmost(above, namespace, caches) : found;
}
