import type { Pod } from '@kruise/api/core/pod';
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '@kruise/api/policy/poddisruptionbudget';
import { isBeingDeleted, type NewEvent } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { withCondition } from '@kruise/machinery/conditions';
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodReady } from '@kruise/machinery/pods';
import { scaleUp } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import { type Instant, parseTime } from '@kruise/values/time';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { goSelectorText } from '../go-selector-text.ts';
import type { Workloads } from './workloads.ts';

export type Observed = {
  readonly budget: PodDisruptionBudget;
  readonly pods: readonly Pod[];
  readonly workloads: Workloads;
};

/** A Pod with an allowed eviction counts as disrupted for this long, unless it starts terminating. */
const deletionTimeoutMs = 120_000;

export function decide({ budget, pods, workloads }: Observed, now: Instant): Decision<PodDisruptionBudgetStatus> {
  const events: NewEvent[] = [];
  const addEvent = (type: NewEvent['type'], reason: string, message: string) =>
    events.push({ about: budget, type, reason, message });
  if (pods.length === 0) addEvent('Normal', 'NoPods', 'No matching pods found');

  const requirement = requirementOf(budget, pods, workloads);
  if (typeof requirement === 'string') {
    const message = `Failed to calculate the number of expected pods: ${requirement}`;
    addEvent('Warning', 'CalculateExpectedPodCountFailed', message);
    return withEvents(budget, failed(budget, requirement, now), events);
  }
  const { expectedPods, desiredHealthy, hasUnmanaged } = requirement;
  if (hasUnmanaged) addEvent('Warning', 'UnmanagedPods', unmanagedMessage(budget));

  const disrupted = disruptedPodsOf(budget, pods, now);
  for (const about of disrupted.overdue) {
    // Clients expect this message with the namespace in place of the name.
    const { namespace } = budget.metadata;
    const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
    events.push({ about, type: 'Warning', reason: 'NotDeleted', message });
  }
  const currentHealthy = pods.filter(
    (pod) => !isBeingDeleted(pod) && isPodReady(pod) && !disrupted.expected.has(pod.metadata.name ?? ''),
  ).length;
  const surplus = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const counts = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: surplus };
  return {
    ...withEvents(budget, statusOf(budget, counts, disrupted.expected, now), events),
    minIntervalMs: reconcileIntervalFor(pods.length),
    // Times on the wire have second precision: a reconcile one second late costs nothing, an early one is wasted.
    ...(disrupted.nextAt === undefined ? {} : { requeueAfterSeconds: (disrupted.nextAt - now) / 1000 + 1 }),
  };
}

/** Events are emitted only together with a status change. */
function withEvents(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  events: readonly NewEvent[],
): Decision<PodDisruptionBudgetStatus> {
  return { actions: [], status, events: isSame(status, budget.status) ? [] : events };
}

type Requirement = { readonly expectedPods: number; readonly desiredHealthy: number; readonly hasUnmanaged: boolean };

/** Reports whether a budget depends on the size of workloads rather than on the number of Pods. */
export function dependsOnWorkloads({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable != null || typeof spec?.minAvailable === 'string';
}

/**
 * Returns the number of Pods that must be healthy and the number expected; an error message if they cannot be
 * determined.
 */
function requirementOf(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  { found, failure }: Workloads,
): Requirement | string {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (!dependsOnWorkloads(budget)) {
    const hasBudget = typeof minAvailable === 'number';
    const desiredHealthy = hasBudget ? minAvailable : 0;
    return { expectedPods: hasBudget ? pods.length : 0, desiredHealthy, hasUnmanaged: false };
  }
  if (failure !== undefined) return failure;
  const sizes = new Map([...found.values()].map(({ uid, replicas }) => [uid, replicas]));
  const expectedPods = sizes.values().reduce((sum, replicas) => sum + replicas, 0);
  const hasUnmanaged = pods.some((pod) => !controllerOf(pod));
  try {
    const desiredHealthy =
      maxUnavailable != null
        ? Math.max(0, expectedPods - scaleUp(maxUnavailable, expectedPods))
        : scaleUp(minAvailable ?? 0, expectedPods);
    return { expectedPods, desiredHealthy, hasUnmanaged };
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
}

/**
 * Returns the disrupted Pods that are still expected to terminate, those that are overdue, and the time of the next
 * check.
 */
function disruptedPodsOf({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Instant) {
  const expected = new Map<string, string>();
  const overdue: Pod[] = [];
  let nextAt: Instant | undefined;
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const since = status?.disruptedPods?.[name];
    if (!since || isBeingDeleted(pod)) continue;
    const until = parseTime(since) + deletionTimeoutMs;
    if (until < now) {
      overdue.push(pod);
    } else {
      expected.set(name, since);
      nextAt = Math.min(nextAt ?? until, until);
    }
  }
  return { expected, overdue, nextAt };
}

type Counts = Pick<
  PodDisruptionBudgetStatus,
  'currentHealthy' | 'desiredHealthy' | 'expectedPods' | 'disruptionsAllowed'
>;

function statusOf(
  { metadata, status }: PodDisruptionBudget,
  counts: Counts,
  disrupted: ReadonlyMap<string, string>,
  now: Instant,
): PodDisruptionBudgetStatus {
  const observedGeneration = metadata.generation ?? 0;
  const isAllowed = counts.disruptionsAllowed > 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: isAllowed ? 'True' : 'False',
    reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration,
  } as const;
  return {
    observedGeneration,
    ...(disrupted.size > 0 ? { disruptedPods: Object.fromEntries(disrupted) } : {}),
    ...counts,
    conditions: [...withCondition(status?.conditions, condition, now)],
  };
}

/** If the expected number of Pods is unknown, no disruption is allowed. */
function failed({ status }: PodDisruptionBudget, message: string, now: Instant): PodDisruptionBudgetStatus {
  const observedGeneration = status?.observedGeneration ?? 0;
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message,
    observedGeneration,
  } as const;
  const unknown = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return {
    ...unknown,
    ...status,
    disruptionsAllowed: 0,
    conditions: [...withCondition(status?.conditions, condition, now)],
  };
}

function unmanagedMessage({ spec }: PodDisruptionBudget): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${goSelectorText(spec?.selector)}) were found ` +
    'to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}
