/** Status of one subset of a WorkloadSpread. */
import type { Pod } from '@kruise/api/core/pod';
import type { WorkloadSpread, WorkloadSpreadSubset } from '@kruise/api/kruise/workloadspread';
import type { NewEvent } from '@kruise/client/actions';
import { isPodActive } from '@kruise/machinery/pods';
import { scaleUp } from '@kruise/values/int-or-string';
import { type Instant, parseTime } from '@kruise/values/time';
import { placementOf } from './placement.ts';
import { unlimited } from './subset-allocation.ts';
import type { SubsetStatus, Tally } from './tally.ts';

/** Expiry of the records of admitted creations and deletions. */
const creationMs = 30_000;
const deletionMs = 15_000;

type Records = { readonly [id: string]: string };

/** Counts the Pods of a subset, and the pending creations and deletions that webhooks recorded. Throws `ParseError`. */
export function countSubset(
  spread: WorkloadSpread,
  { name, maxReplicas }: WorkloadSpreadSubset,
  pods: readonly Pod[],
  { old, replicas, now }: { readonly old: SubsetStatus | undefined; readonly replicas: number; readonly now: Instant },
): Tally<SubsetStatus> {
  const active = pods.filter(isPodActive);
  const arrived = new Set(pods.map((pod) => placementOf(pod)?.uid || nameOf(pod)));
  const present = new Set(active.map(nameOf));
  const creating = splitByExpiry(old?.creatingPods, (id) => !arrived.has(id), creationMs, now);
  const deleting = splitByExpiry(old?.deletingPods, (id) => present.has(id), deletionMs, now);
  // A Pod with a pending deletion has released its place, and one with a pending creation has taken one.
  const taken = active.length - count(deleting.kept) + count(creating.kept);
  const seats = maxReplicas === undefined ? undefined : scaleUp(maxReplicas, replicas);
  const { namespace } = spread.metadata;
  const warn = (reason: string, id: string, was: string): NewEvent => ({
    about: spread,
    type: 'Warning',
    reason,
    message: `Pod ${namespace}/${id} was expected to be ${was} but it wasn't`,
  });
  return {
    value: {
      name,
      replicas: active.length,
      missingReplicas: seats === undefined ? unlimited : Math.min(Math.max(seats - taken, 0), seats),
      ...(count(creating.kept) > 0 ? { creatingPods: creating.kept } : {}),
      ...(count(deleting.kept) > 0 ? { deletingPods: deleting.kept } : {}),
    },
    events: [
      ...creating.overdue.map((id) => warn('CreatePodFailed', id, 'created')),
      ...deleting.overdue.map((id) => warn('DeletePodFailed', id, 'deleted')),
    ],
    deadlines: [...creating.deadlines, ...deleting.deadlines],
  };
}

/** Splits the records of pending operations into those that are still valid and those that have expired. */
function splitByExpiry(records: Records = {}, isOpen: (id: string) => boolean, patienceMs: number, now: Instant) {
  const open = Object.entries(records).filter(([id]) => isOpen(id));
  const isOverdue = ([, since]: readonly [string, string]) => parseTime(since) + patienceMs < now;
  const kept = open.filter((record) => !isOverdue(record));
  return {
    kept: Object.fromEntries(kept) as Records,
    overdue: open.filter(isOverdue).map(([id]) => id),
    deadlines: kept.map(([, since]) => parseTime(since) + patienceMs),
  };
}

function count(records: Records): number {
  return Object.keys(records).length;
}

function nameOf({ metadata: { name = '' } }: Pod): string {
  return name;
}
