/** What is told of a Pod that could not be placed: an event, and the condition `PodScheduled`. */
import { type Pod, type PodCondition, pod as podKind } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { findCondition, withCondition } from '@kruise/machinery/conditions';
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

/** What is to be changed in the status of a Pod, if anything is. */
export function statusPatch(
  { status }: Pod,
  condition: Omit<PodCondition, 'lastTransitionTime'>,
  nominatedNodeName: string | undefined,
  now: Instant,
): object | undefined {
  const conditions = withCondition<PodCondition>(status?.conditions, condition, now);
  const isNominationNew = nominatedNodeName !== undefined && nominatedNodeName !== (status?.nominatedNodeName ?? '');
  if (conditions === (status?.conditions ?? conditions) && status?.conditions && !isNominationNew) return undefined;
  return {
    status: {
      conditions: [findCondition(conditions, condition.type)],
      ...(isNominationNew ? { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName } : {}),
    },
  };
}

/** Changes the status of this very Pod. */
export async function patchStatus(client: Client, { metadata }: Pod, patch: object): Promise<void> {
  const { name = '', namespace = '', uid } = metadata;
  await client.patch(
    podKind,
    { name, namespace },
    { metadata: { uid }, ...patch },
    { type: 'strategic', subresource: 'status' },
  );
}
