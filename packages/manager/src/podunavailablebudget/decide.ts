/** PodUnavailableBudget reconciler: computes how many more Pods may become unavailable. */
import type { Pod } from '@kruise/api/core/pod';
import type { PodUnavailableBudget, PodUnavailableBudgetStatus } from '@kruise/api/kruise/podunavailablebudget';
import { isBeingDeleted, type NewEvent, type PatchAction, parallel, parallelByKind } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import { scaleUp } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import type { Instant } from '@kruise/values/time';
import { earliestRequeue } from '@kruise/workload-kit/earliest-requeue';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { isAvailable } from './availability.ts';
import { budgetNameOf, relatedTo } from './pod-unavailable-budget.ts';
import { recordsOf } from './records.ts';

export type Observed = {
  readonly budget: PodUnavailableBudget;
  /** Active Pods that the budget protects. */
  readonly pods: readonly Pod[];
  /** Desired replicas of their workloads. */
  readonly replicas: number;
  /** Set where a workload needed a live read: its changes do not enqueue the budget. */
  readonly hasUncachedWorkloads: boolean;
};

/** Interval of live reads for such workloads. */
const pollSeconds = 30;

export function decide(
  { budget, pods, replicas, hasUncachedWorkloads }: Observed,
  gates: FeatureGates,
  now: Instant,
): Decision<PodUnavailableBudgetStatus> {
  if (isBeingDeleted(budget)) return { actions: [] };
  const relations = pods.filter((pod) => budgetNameOf(pod) === undefined).map((pod) => relate(pod, budget));
  const empty = pods.length === 0 ? [noPods(budget)] : [];
  const totalReplicas = budget.spec.protectTotalReplicas ?? replicas;
  const desiredAvailable = desired(budget, totalReplicas);
  if (typeof desiredAvailable === 'string') {
    return { actions: parallel(relations), events: [...empty, uncountable(budget, desiredAvailable)] };
  }
  const { disruptedPods, unavailablePods, expired, nextAt } = recordsOf(budget, pods, now);
  const isExpected = ({ metadata: { name = '' } }: Pod) => !disruptedPods.has(name) && !unavailablePods.has(name);
  const currentAvailable = pods.filter((pod) => isExpected(pod) && isAvailable(pod, gates)).length;
  const status: PodUnavailableBudgetStatus = {
    observedGeneration: budget.metadata.generation ?? 0,
    ...(disruptedPods.size > 0 ? { disruptedPods: Object.fromEntries(disruptedPods) } : {}),
    ...(unavailablePods.size > 0 ? { unavailablePods: Object.fromEntries(unavailablePods) } : {}),
    unavailableAllowed: Math.max(0, currentAvailable - desiredAvailable),
    currentAvailable,
    desiredAvailable,
    totalReplicas,
  };
  // OpenKruise records the event at every reconcile. It never polls, so a poll that changes nothing records no event.
  const isIdlePoll = hasUncachedWorkloads && isSame(status, budget.status);
  // A Pod counts again only if the cache is not stale: the allowed disruption may have happened unobserved.
  const unconfirmed = [...expired.disrupted, ...expired.unavailable].filter((pod) => isAvailable(pod, gates));
  return {
    actions: parallelByKind([...relations, ...unconfirmed.map(confirm)]),
    status,
    events: [...(isIdlePoll ? [] : empty), ...expired.disrupted.map((pod) => notDeleted(pod, budget))],
    minIntervalMs: reconcileIntervalFor(pods.length),
    ...earliestRequeue(
      nextAt === undefined ? undefined : (nextAt - now) / 1000,
      hasUncachedWorkloads ? pollSeconds : undefined,
    ),
  };
}

/** Returns the number of Pods that must stay available; an error text for an invalid spec. */
function desired({ spec: { maxUnavailable, minAvailable } }: PodUnavailableBudget, total: number): number | string {
  try {
    if (maxUnavailable !== undefined) return Math.max(0, total - scaleUp(maxUnavailable, total));
    return minAvailable === undefined ? 0 : scaleUp(minAvailable, total);
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
}

function relate(pod: Pod, budget: PodUnavailableBudget): PatchAction {
  const patch = { metadata: { annotations: relatedTo(budget) } };
  return { type: 'patch', object: pod, patch, patchType: 'strategic' };
}

/**
 * Returns a patch without changes that conflicts if the Pod has changed since it was observed: then the budget is
 * reconciled again.
 */
function confirm(pod: Pod): PatchAction {
  const patch = { metadata: { resourceVersion: pod.metadata.resourceVersion } };
  return { type: 'patch', object: pod, patch, patchType: 'strategic' };
}

function noPods(about: PodUnavailableBudget): NewEvent {
  return { about, type: 'Normal', reason: 'NoPods', message: 'No matching pods found' };
}

function uncountable(about: PodUnavailableBudget, why: string): NewEvent {
  const message = `Failed to calculate the number of expected pods: ${why}`;
  return { about, type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message };
}

function notDeleted(about: Pod, { metadata: { namespace, name } }: PodUnavailableBudget): NewEvent {
  const message = `Pod was expected by PUB ${namespace}/${name} to be deleted but it wasn't`;
  return { about, type: 'Warning', reason: 'NotDeleted', message };
}
