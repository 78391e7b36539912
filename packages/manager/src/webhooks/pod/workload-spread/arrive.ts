import type { Pod } from '@kruise/api/core/pod';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isPodActive } from '@kruise/machinery/pods';
import { uuid } from '@kruise/machinery/uuid';
import {
  type Guest,
  hasPercentages,
  isCounted,
  type Seat,
  subsetOfOrdinal,
  takeSeat,
} from '../../../workloadspread/seats.ts';
import { versionOf } from '../../../workloadspread/versions.ts';
import type { WebhookContext } from '../../context.ts';
import { withSeat } from './inject.ts';
import { isToBeRecounted, recounted } from './recount.ts';
import { replicasFor, spreadFor } from './workloads.ts';

/** Sends a new Pod to one of the groups of its WorkloadSpread (workloadspread.md §8). Where all are full it goes anywhere. */
export async function withPlace(
  pod: Pod,
  context: WebhookContext,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<Pod> {
  const { caches, settings } = context;
  if (!settings.gates.WorkloadSpread || caches.of(workloadSpread).size === 0 || dryRun || !isPodActive(pod)) return pod;
  const spread = await spreadFor(pod, context);
  if (!spread) return pod;
  const seat = await seatIn(spread, pod, context);
  return seat ? withSeat(pod, spread, seat) : pod;
}

/** What is overtaken tries again at once, and then ever later: others want to be done, too. */
export const waitsMs = [0, 0, 10, 50, 250];

/** Whether it needs no counting where a Pod goes: ordinals say, or there is but one group. */
export function isWithoutSeats({ spec: { subsets, targetRef } }: WorkloadSpread): boolean {
  return targetRef.kind === 'StatefulSet' || (subsets.length === 1 && subsets[0]!.maxReplicas === undefined);
}

async function seatIn(spread: WorkloadSpread, pod: Pod, context: WebhookContext): Promise<Seat | undefined> {
  const { name } = pod.metadata;
  if (isWithoutSeats(spread)) {
    const subset = subsetOfOrdinal(spread, name ?? '');
    return subset === undefined ? undefined : { subset, uid: '' };
  }
  const version = versionOf(pod);
  const guest: Guest = { version, ...(name ? { name } : {}) };
  const { ledger, random, now } = context;
  const take = (newest: WorkloadSpread, isInDoubt: boolean, replicas: number) => {
    const known = isInDoubt ? recounted(newest, version, replicas, context) : newest;
    return takeSeat(known, guest, { replicas, uid: uuid(random), now: now() });
  };
  return ledger.enter(
    workloadSpread,
    spread,
    (newest) => {
      const isInDoubt = isToBeRecounted(newest, version, context);
      const isToBeCounted = isInDoubt || !isCounted(newest, version);
      if (!isToBeCounted || !hasPercentages(newest)) return take(newest, isInDoubt, 0);
      return replicasFor(newest, context).then((replicas) => take(newest, isInDoubt, replicas));
    },
    waitsMs,
  );
}
