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
import { goSelectorText } from '../go-selector-text.ts';
import { restBetweenLooks } from '../pace.ts';
import type { Workloads } from './workloads.ts';

export type Observed = {
  readonly budget: PodDisruptionBudget;
  readonly pods: readonly Pod[];
  readonly workloads: Workloads;
};

/** A Pod whose eviction was allowed is taken for gone for so long, unless it is seen to go. */
const deletionTimeoutMs = 120_000;

export function decide({ budget, pods, workloads }: Observed, now: Instant): Decision<PodDisruptionBudgetStatus> {
  const events: NewEvent[] = [];
  const tell = (type: NewEvent['type'], reason: string, message: string) =>
    events.push({ about: budget, type, reason, message });
  if (pods.length === 0) tell('Normal', 'NoPods', 'No matching pods found');

  const demand = demandOf(budget, pods, workloads);
  if (typeof demand === 'string') {
    const message = `Failed to calculate the number of expected pods: ${demand}`;
    tell('Warning', 'CalculateExpectedPodCountFailed', message);
    return conclude(budget, failed(budget, demand, now), events);
  }
  const { expectedPods, desiredHealthy, hasUnmanaged } = demand;
  if (hasUnmanaged) tell('Warning', 'UnmanagedPods', unmanagedMessage(budget));

  const disrupted = disruptedPodsOf(budget, pods, now);
  for (const about of disrupted.overdue) {
    // Clients know this message with the namespace in place of the name.
    const { namespace } = budget.metadata;
    const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
    events.push({ about, type: 'Warning', reason: 'NotDeleted', message });
  }
  const currentHealthy = pods.filter(
    (pod) => !isBeingDeleted(pod) && isPodReady(pod) && !disrupted.expected.has(pod.metadata.name ?? ''),
  ).length;
  const surplus = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const figures = { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed: surplus };
  return {
    ...conclude(budget, statusOf(budget, figures, disrupted.expected, now), events),
    minIntervalMs: restBetweenLooks(pods.length),
    // Times on the wire have whole seconds: to look a second late costs nothing, to look early costs a look.
    ...(disrupted.nextAt === undefined ? {} : { requeueAfterSeconds: (disrupted.nextAt - now) / 1000 + 1 }),
  };
}

/** Events are told with the status they belong to: a look that finds all as it was has no news. */
function conclude(
  budget: PodDisruptionBudget,
  status: PodDisruptionBudgetStatus,
  events: readonly NewEvent[],
): Decision<PodDisruptionBudgetStatus> {
  return { actions: [], status, events: isSame(status, budget.status) ? [] : events };
}

type Demand = { readonly expectedPods: number; readonly desiredHealthy: number; readonly hasUnmanaged: boolean };

/** Whether a budget goes by what workloads want, rather than by the Pods there are. */
export function goesByWorkloads({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable != null || typeof spec?.minAvailable === 'string';
}

/** How many Pods must be healthy, and of how many; a text if that cannot be told. */
function demandOf(budget: PodDisruptionBudget, pods: readonly Pod[], { found, failure }: Workloads): Demand | string {
  const { minAvailable, maxUnavailable } = budget.spec ?? {};
  if (!goesByWorkloads(budget)) {
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

/** The Pods whose eviction was allowed: those still expected to go, those that should have gone, and when next to look. */
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

type Figures = Pick<
  PodDisruptionBudgetStatus,
  'currentHealthy' | 'desiredHealthy' | 'expectedPods' | 'disruptionsAllowed'
>;

function statusOf(
  { metadata, status }: PodDisruptionBudget,
  figures: Figures,
  disrupted: ReadonlyMap<string, string>,
  now: Instant,
): PodDisruptionBudgetStatus {
  const observedGeneration = metadata.generation ?? 0;
  const isAllowed = figures.disruptionsAllowed > 0;
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
    ...figures,
    conditions: [...withCondition(status?.conditions, condition, now)],
  };
}

/** Where it cannot be told how many Pods there should be, none may go. */
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
