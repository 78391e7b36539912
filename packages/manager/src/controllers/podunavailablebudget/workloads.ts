/** The Pods a budget protects, and how many there should be (protection.md §A9.1). */
import { deployment } from '@kruise/api/apps/deployment';
import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { isEmptySelector } from '@kruise/api/meta/label-selector.validate';
import type { Caches } from '@kruise/client/informer';
import type { TargetReference } from '@kruise/client/scale-targets';
import { podsMatching } from '@kruise/controlplane/controllers/pod-indexes';
import { parseSelector, selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { type KnownWorkload, knownKindOf, knownWorkload } from '../../budget/association.ts';

/** What a budget protects, as far as it is known. */
export type Protected = {
  /** The Pods that are at work. */
  readonly pods: readonly Pod[];
  /** How many there should be. */
  readonly replicas: number;
  /** The workloads the server has to be asked about: their kinds may be any. */
  readonly strangers: readonly Stranger[];
};

/** A workload that is not at hand; this very one, where its uid is known. */
export type Stranger = TargetReference & { readonly uid?: string };

const nothing: Protected = { pods: [], replicas: 0, strangers: [] };

/** What the caches tell. */
export function protectedBy({ metadata, spec }: PodUnavailableBudget, caches: Caches): Protected {
  const { namespace = '' } = metadata;
  const { targetRef, selector } = spec;
  if (targetRef) {
    const { apiVersion = '', kind = '', name = '' } = targetRef;
    if (!knownKindOf(targetRef)) return { ...nothing, strangers: [{ apiVersion, kind, name }] };
    const workload = knownWorkload(caches, targetRef, namespace);
    const replicas = sizeOf(workload);
    return workload && replicas > 0 ? { ...nothing, replicas, pods: podsOf(workload, caches) } : nothing;
  }
  if (!selector || isEmptySelector(selector)) return nothing;
  const pods = podsMatching(caches, namespace, selectorOf(selector)).filter(isPodActive);
  return { pods, ...sizeOfOwners(pods, namespace, caches) };
}

/** How many Pods a workload wants; one that is being deleted, or gone, wants none. */
function sizeOf(workload: KnownWorkload | undefined): number {
  return !workload || workload.metadata.deletionTimestamp != null ? 0 : (workload.spec?.replicas ?? 1);
}

/** The Pods of a workload and, if that is a Deployment, of its ReplicaSets: those that want no Pods may have some. */
function podsOf(workload: KnownWorkload, caches: Caches): readonly Pod[] {
  const isStaying = ({ metadata }: ReplicaSet) => metadata.deletionTimestamp == null;
  const sets = caches.of(replicaSet).controlledBy(workload).filter(isStaying);
  const pods = caches.of(podKind);
  return [workload, ...sets].flatMap((each) => pods.controlledBy(each)).filter(isPodActive);
}

/** The Pods of a workload of any kind: its own, or those it selects where it leaves them to others. */
export function podsOfStranger(
  caches: Caches,
  namespace: string,
  { uid, selector }: { readonly uid: string; readonly selector?: string },
): readonly Pod[] {
  const own = caches.of(podKind).controlledBy({ metadata: { uid } });
  const found = own.length > 0 || !selector ? own : podsMatching(caches, namespace, parseSelector(selector));
  return found.filter(isPodActive);
}

/** How many Pods the controllers of Pods want, each counted once. */
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

/** The controller of Pods, or the Deployment it belongs to: its ReplicaSets stand for it together. */
function topmost(owner: OwnerReference, namespace: string, caches: Caches): KnownWorkload | undefined {
  const found = knownWorkload(caches, owner, namespace);
  if (found?.metadata.uid !== owner.uid) return undefined;
  const above = controllerOf(found);
  return above && knownKindOf(above) === deployment ? topmost(above, namespace, caches) : found;
}
