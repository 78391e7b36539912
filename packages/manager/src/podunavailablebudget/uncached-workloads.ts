/** Workloads of kinds that are not cached, read live from the API server. */
import type { Client } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { ScaleTargets } from '@kruise/client/scale-targets';
import type { UncachedWorkload } from './workloads.ts';

/** Live state of a workload. */
export type Found = { readonly uid: string; readonly replicas: number; readonly selector?: string };

/** Marks a workload whose number of replicas is unknown. */
const unknownSize = -1;

/**
 * Reads a workload's scale subresource, or else the object itself; undefined if it does not exist, or has another UID.
 */
export async function readWorkload(
  targets: ScaleTargets,
  client: Client,
  workload: UncachedWorkload,
  namespace: string,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const kind = await targets.kindOf(client, workload, signal);
  if (!kind) return undefined;
  if (kind.subresources.includes('scale')) {
    const scale = await targets.scaleOf(client, workload, namespace, signal);
    if (!scale || !isRequested(scale.metadata, workload)) return undefined;
    const { selector } = scale.status ?? {};
    const replicas = scale.spec?.replicas ?? 0;
    return { uid: scale.metadata.uid ?? '', replicas, ...(selector ? { selector } : {}) };
  }
  const { items } = await client.list(kind, { namespace, fieldSelector: `metadata.name=${workload.name}`, signal });
  // Objects of every kind have these common fields.
  const [object] = items as readonly (KubernetesObject & { readonly spec?: { readonly replicas?: unknown } })[];
  if (!object || !isRequested(object.metadata, workload)) return undefined;
  const replicas = object.spec?.replicas;
  return { uid: object.metadata.uid ?? '', replicas: typeof replicas === 'number' ? replicas : unknownSize };
}

/** Reports whether the object is the requested one, and not terminating. */
function isRequested(
  { uid, deletionTimestamp }: KubernetesObject['metadata'],
  { uid: wanted }: UncachedWorkload,
): boolean {
  return deletionTimestamp == null && (wanted === undefined || wanted === uid);
}
