/** Status and events of a Pod. */
import { type Pod, type PodCondition, pod as podKind } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { withCondition } from '@kruise/machinery/conditions';
import type { Instant } from '@kruise/values/time';

/** Reason of the PodScheduled condition: rejected, or an error. */
export type FailureReason = 'Unschedulable' | 'SchedulerError';

const maxNoteBytes = 1024;
const ellipsis = ' ...';

/** Truncates a message to the maximum length of an event note. */
export function noteOf(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= maxNoteBytes) return message;
  return bytes.subarray(0, maxNoteBytes - ellipsis.length).toString() + ellipsis;
}

/** Returns the status patch that sets a condition; undefined if it is already set. */
export function conditionPatch(
  { status }: Pod,
  condition: Omit<PodCondition, 'lastTransitionTime'>,
  now: Instant,
): { readonly conditions: readonly PodCondition[] } | undefined {
  const conditions = withCondition<PodCondition>(status?.conditions, condition, now);
  if (conditions === status?.conditions) return undefined;
  return { conditions: conditions.filter(({ type }) => type === condition.type) };
}

/** Returns the status patch that sets the nominated node, or clears it if empty; undefined if nothing changes. */
export function nominationPatch(
  { status }: Pod,
  node: string,
): { readonly nominatedNodeName: string | null } | undefined {
  if (node === (status?.nominatedNodeName ?? '')) return undefined;
  return { nominatedNodeName: node === '' ? null : node };
}

/** Patches the status of the Pod with this UID. */
export async function patchStatus(client: Client, { metadata }: Pod, status: object): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  await client.patch(
    podKind,
    { name, namespace },
    { metadata: { uid }, status },
    { type: 'strategic', subresource: 'status' },
  );
}
