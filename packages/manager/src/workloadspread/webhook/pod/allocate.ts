import type { Pod } from '@kruise/api/core/pod';
import { type WorkloadSpread, workloadSpread } from '@kruise/api/kruise/workloadspread';
import { isPodActive } from '@kruise/machinery/pods';
import { uuid } from '@kruise/machinery/uuid';
import type { WebhookContext } from '../../../webhooks/context.ts';
import {
  allocateSubset,
  hasPercentages,
  isCounted,
  type PodIdentity,
  type SubsetAssignment,
  subsetOfOrdinal,
} from '../../subset-allocation.ts';
import { versionOf } from '../../versions.ts';
import { withSubsetFields } from './inject.ts';
import { needsRecount, recounted } from './recount.ts';
import { replicasFor, spreadFor } from './workloads.ts';

/** Assigns a new Pod to a subset of its WorkloadSpread. If all subsets are full, the Pod gets none. */
export async function withAssignedSubset(
  pod: Pod,
  context: WebhookContext,
  { dryRun }: { readonly dryRun?: boolean },
): Promise<Pod> {
  const { caches, settings } = context;
  if (!settings.gates.WorkloadSpread || caches.of(workloadSpread).size === 0 || dryRun || !isPodActive(pod)) return pod;
  const spread = await spreadFor(pod, context);
  if (!spread) return pod;
  const assignment = await allocateIn(spread, pod, context);
  return assignment ? withSubsetFields(pod, spread, assignment) : pod;
}

/**
 * Delays after conflicts: the first retries are immediate, later ones increasingly delayed, so that other writers can
 * finish.
 */
export const retryDelaysMs = [0, 0, 10, 50, 250];

/** Reports whether the subset follows without counting Pods: from ordinals, or because there is only one subset. */
export function needsNoAllocation({ spec: { subsets, targetRef } }: WorkloadSpread): boolean {
  return targetRef.kind === 'StatefulSet' || (subsets.length === 1 && subsets[0]!.maxReplicas === undefined);
}

async function allocateIn(
  spread: WorkloadSpread,
  pod: Pod,
  context: WebhookContext,
): Promise<SubsetAssignment | undefined> {
  const { name } = pod.metadata;
  if (needsNoAllocation(spread)) {
    const subset = subsetOfOrdinal(spread, name ?? '');
    return subset === undefined ? undefined : { subset, uid: '' };
  }
  const version = versionOf(pod);
  const identity: PodIdentity = { version, ...(name ? { name } : {}) };
  const { statusUpdater, random, now } = context;
  const take = (newest: WorkloadSpread, mustRecount: boolean, replicas: number) => {
    const known = mustRecount ? recounted(newest, version, replicas, context) : newest;
    return allocateSubset(known, identity, { replicas, uid: uuid(random), now: now() });
  };
  return statusUpdater.update(
    workloadSpread,
    spread,
    (newest) => {
      const mustRecount = needsRecount(newest, version, context);
      const isToBeCounted = mustRecount || !isCounted(newest, version);
      if (!isToBeCounted || !hasPercentages(newest)) return take(newest, mustRecount, 0);
      return replicasFor(newest, context).then((replicas) => take(newest, mustRecount, replicas));
    },
    retryDelaysMs,
  );
}
