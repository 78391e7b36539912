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

/** Assigns a new Pod to a subset of its WorkloadSpread. If all subsets are full, the Pod gets none. */
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

/**
 * Delays after conflicts: the first retries are immediate, later ones increasingly delayed, so that other writers can
 * finish.
 */
export const waitsMs = [0, 0, 10, 50, 250];

/** Reports whether the subset follows without counting Pods: from ordinals, or because there is only one subset. */
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
