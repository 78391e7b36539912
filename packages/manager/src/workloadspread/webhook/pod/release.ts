import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import type { WebhookContext } from '../../../webhooks/context.ts';
import type { PodOperation } from '../../../webhooks/pod/validating.ts';
import { placementOf } from '../../placement.ts';
import { releaseSubset } from '../../subset-allocation.ts';
import { versionOf } from '../../versions.ts';
import { needsNoAllocation, retryDelaysMs } from './allocate.ts';

/** Records that a Pod leaves its subset, so that the next Pod can take its place. Never refuses a request. */
export async function releaseOnDeletion(
  { operation, pod, isDryRun }: PodOperation,
  { caches, statusUpdater, settings, now }: WebhookContext,
): Promise<undefined> {
  if (!settings.gates.WorkloadSpread || operation === 'UPDATE' || isDryRun) return;
  const placement = placementOf(pod);
  if (!placement || !isPodActive(pod) || !controllerOf(pod)) return;
  const { namespace = '', name = '' } = pod.metadata;
  const spread = caches.of(workloadSpread).get({ namespace, name: placement.name });
  if (!spread || needsNoAllocation(spread)) return;
  const identity = { version: versionOf(pod), name };
  const release = (newest: WorkloadSpread) => releaseSubset(newest, identity, { ...placement, now: now() });
  await statusUpdater.update(workloadSpread, spread, release, retryDelaysMs);
}
