/** Desired sizes of the workloads that control the Pods of a budget. */
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { statefulSet } from '@kruise/api/apps/statefulset';
import type { Pod } from '@kruise/api/core/pod';
import { replicationController } from '@kruise/api/core/replicationcontroller';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import type { ScaleTargets } from '@kruise/client/scale-targets';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { groupOf, type Kind } from '@kruise/schema/kind';
import { errorText } from '@kruise/values/error-text';

/** A workload and its desired number of Pods. */
export type Workload = { readonly uid: string; readonly replicas: number };

/** Workloads by the UID of the Pods' controller, or the reason why the lookup failed. */
export type Workloads = { readonly found: ReadonlyMap<string, Workload>; readonly failure?: string };

export const workloadKinds: readonly Kind[] = [replicationController, replicaSet, deployment, statefulSet];

/** Returns the workloads of Pods that are in the cache. */
export function knownWorkloads(caches: Caches, pods: readonly Pod[]): Workloads {
  const found = new Map<string, Workload>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || found.has(owner.uid)) continue;
    const workload = knownWorkload(caches, owner, pod.metadata.namespace ?? '');
    if (workload) found.set(owner.uid, workload);
  }
  return { found };
}

function knownWorkload(caches: Caches, owner: OwnerReference, namespace: string): Workload | undefined {
  const read = (reference: OwnerReference) => ({ name: reference.name, namespace });
  const isOf = ({ kind, apiVersion }: OwnerReference, name: string, group: string) =>
    kind === name && groupOf(apiVersion) === group;
  if (isOf(owner, 'ReplicationController', '')) return sizeOf(caches.of(replicationController).get(read(owner)), owner);
  if (isOf(owner, 'StatefulSet', 'apps')) return sizeOf(caches.of(statefulSet).get(read(owner)), owner);
  if (!isOf(owner, 'ReplicaSet', 'apps')) return undefined;
  const set = caches.of(replicaSet).get(read(owner));
  const above = set?.metadata.uid === owner.uid ? controllerOf(set) : undefined;
  if (above?.kind !== 'Deployment') return sizeOf(set, owner);
  return sizeOf(caches.of(deployment).get(read(above)), above);
}

type Sized = { readonly metadata: { readonly uid?: string }; readonly spec?: { readonly replicas?: number } };

/** Returns the size of the workload with this UID, not of a later one with the same name. */
function sizeOf(workload: Sized | undefined, { uid }: OwnerReference): Workload | undefined {
  return workload?.metadata.uid === uid ? { uid, replicas: workload.spec?.replicas ?? 1 } : undefined;
}

/** Adds workloads that need a live read of the scale subresource: any kind that has one. */
export async function allWorkloads(
  targets: ScaleTargets,
  client: Client,
  pods: readonly Pod[],
  known: Workloads,
  signal: AbortSignal,
): Promise<Workloads> {
  const found = new Map(known.found);
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (!owner || found.has(owner.uid)) continue;
    try {
      const scale = await targets.scaleOf(client, owner, pod.metadata.namespace ?? '', signal);
      if (scale?.metadata.uid !== owner.uid) {
        return { found, failure: `found no controllers for pod "${pod.metadata.name}"` };
      }
      found.set(owner.uid, { uid: owner.uid, replicas: scale.spec?.replicas ?? 0 });
    } catch (error) {
      if (signal.aborted) throw error;
      return { found, failure: errorText(error) };
    }
  }
  return { found };
}
