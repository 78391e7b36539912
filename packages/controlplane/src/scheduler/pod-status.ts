/** What is told of a Pod: in events, and in its status. */
import { type Pod, type PodCondition, pod as podKind } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { withCondition } from '@kruise/machinery/conditions';
import type { Instant } from '@kruise/values/time';

/** Why: it was rejected, or something went wrong. */
export type FailureReason = 'Unschedulable' | 'SchedulerError';

const maxNoteBytes = 1024;
const ellipsis = ' ...';

/** The message as an event can hold it. */
export function noteOf(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= maxNoteBytes) return message;
  return bytes.subarray(0, maxNoteBytes - ellipsis.length).toString() + ellipsis;
}

/** What is to be changed in the status of a Pod for it to have a condition; undefined if it has it. */
export function conditionPatch(
  { status }: Pod,
  condition: Omit<PodCondition, 'lastTransitionTime'>,
  now: Instant,
): { readonly conditions: readonly PodCondition[] } | undefined {
  const conditions = withCondition<PodCondition>(status?.conditions, condition, now);
  if (conditions === status?.conditions) return undefined;
  return { conditions: conditions.filter(({ type }) => type === condition.type) };
}

/** What is to be changed for a Pod to come to a node, or to none if that is empty; undefined if it is to already. */
export function nominationPatch(
  { status }: Pod,
  node: string,
): { readonly nominatedNodeName: string | null } | undefined {
  if (node === (status?.nominatedNodeName ?? '')) return undefined;
  return { nominatedNodeName: node === '' ? null : node };
}

/** Changes the status of this very Pod. */
export async function patchStatus(client: Client, { metadata }: Pod, status: object): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  await client.patch(
    podKind,
    { name, namespace },
    { metadata: { uid }, status },
    { type: 'strategic', subresource: 'status' },
  );
}
