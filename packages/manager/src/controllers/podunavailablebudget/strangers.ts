/** Workloads of kinds that nobody here knows, of which the server is asked (protection.md §A9.1). */
import type { Client } from '@kruise/client/client';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { ScaleTargets } from '@kruise/client/scale-targets';
import type { Stranger } from './workloads.ts';

/** A workload, as much as the server tells of it. */
export type Found = { readonly uid: string; readonly replicas: number; readonly selector?: string };

/** There is such a workload, but nobody can tell how many Pods it wants. */
const unknownSize = -1;

/** A workload by its scale, or else by what it says itself; undefined if there is none, or not this very one. */
export async function askFor(
  targets: ScaleTargets,
  client: Client,
  stranger: Stranger,
  namespace: string,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const kind = await targets.kindOf(client, stranger, signal);
  if (!kind) return undefined;
  if (kind.subresources.includes('scale')) {
    const scale = await targets.scaleOf(client, stranger, namespace, signal);
    if (!scale || !isMeant(scale.metadata, stranger)) return undefined;
    const { selector } = scale.status ?? {};
    const replicas = scale.spec?.replicas ?? 0;
    return { uid: scale.metadata.uid ?? '', replicas, ...(selector ? { selector } : {}) };
  }
  const { items } = await client.list(kind, { namespace, fieldSelector: `metadata.name=${stranger.name}`, signal });
  // Objects of any kind have what all objects have.
  const [object] = items as readonly (KubernetesObject & { readonly spec?: { readonly replicas?: unknown } })[];
  if (!object || !isMeant(object.metadata, stranger)) return undefined;
  const replicas = object.spec?.replicas;
  return { uid: object.metadata.uid ?? '', replicas: typeof replicas === 'number' ? replicas : unknownSize };
}

/** Whether it is the one that is asked for, and not on its way out. */
function isMeant({ uid, deletionTimestamp }: KubernetesObject['metadata'], { uid: wanted }: Stranger): boolean {
  return deletionTimestamp == null && (wanted === undefined || wanted === uid);
}
