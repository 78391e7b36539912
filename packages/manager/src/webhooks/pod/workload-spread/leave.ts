import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { placementOf } from '../../../workloadspread/placement.ts';
import { leaveSeat } from '../../../workloadspread/seats.ts';
import { versionOf } from '../../../workloadspread/versions.ts';
import type { WebhookContext } from '../../context.ts';
import type { Interference } from '../validating.ts';
import { isWithoutSeats, waitsMs } from './arrive.ts';

/** Records that a Pod leaves its subset, so that the next Pod can take its place. Never refuses a request. */
export async function noteLeaving(
  { operation, pod, isDryRun }: Interference,
  { caches, ledger, settings, now }: WebhookContext,
): Promise<undefined> {
  if (!settings.gates.WorkloadSpread || operation === 'UPDATE' || isDryRun) return;
  const placement = placementOf(pod);
  if (!placement || !isPodActive(pod) || !controllerOf(pod)) return;
  const { namespace = '', name = '' } = pod.metadata;
  const spread = caches.of(workloadSpread).get({ namespace, name: placement.name });
  if (!spread || isWithoutSeats(spread)) return;
  const guest = { version: versionOf(pod), name };
  const leave = (newest: WorkloadSpread) => leaveSeat(newest, guest, { ...placement, now: now() });
  await ledger.enter(workloadSpread, spread, leave, waitsMs);
}
