/**
 * Calculates the desired replicas for a metric. Pods without usable metrics, because they are starting or have none,
 * are assumed to damp the scaling: idle on scale-up, busy on scale-down.
 */
import type { Pod } from '@kruise/api/core/pod';
import { isSidecar } from '@kruise/api/core/pod-containers';
import { findCondition } from '@kruise/machinery/conditions';
import { isPodReady } from '@kruise/machinery/pods';
import { milliValue, parseQuantity } from '@kruise/values/quantity';
import { type Instant, parseTime } from '@kruise/values/time';

/** Metric of a Pod, in milli-units, at the end of a window. */
export type PodMetric = { readonly value: number; readonly at: Instant; readonly windowMs: number };

/** Metrics by Pod name. */
export type PodMetrics = ReadonlyMap<string, PodMetric>;

/** Desired replicas and the measured value. */
export type Proposal = {
  readonly replicas: number;
  /** In milli-units, per Pod or total. */
  readonly usage: number;
  /** In percent of the Pods' requests. */
  readonly utilization?: number;
};

/** Reason why the calculation failed. */
export type Failure = { readonly failure: string };

export function isFailure<T extends object>(result: T): result is Extract<T, Failure> {
  return 'failure' in result;
}

/** Cluster-wide settings of the calculation. */
export type CalculationSettings = {
  /** Relative deviation from the target that does not cause scaling. */
  readonly tolerance: number;
  /** Period after the start of a Pod in which its CPU usage may be caused by initialization. */
  readonly cpuInitializationMs: number;
  /** Period after the start of a Pod in which an unready Pod counts as never having been ready. */
  readonly initialReadinessDelayMs: number;
};

/** State shared by all calculations with Pods. */
export type State = {
  readonly pods: readonly Pod[];
  readonly currentReplicas: number;
  readonly settings: CalculationSettings;
  readonly now: Instant;
};

export type Groups = {
  readonly readyCount: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
};

/** Groups Pods by whether their metrics count. */
export function groupPods(
  pods: readonly Pod[],
  metrics: PodMetrics,
  resource: string,
  settings: CalculationSettings,
  now: Instant,
): Groups {
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored = new Set<string>();
  let readyCount = 0;
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const metric = metrics.get(name);
    if (pod.metadata.deletionTimestamp != null || pod.status?.phase === 'Failed') ignored.add(name);
    else if (pod.status?.phase === 'Pending') unready.add(name);
    else if (!metric) missing.add(name);
    else if (resource === 'cpu' && isStarting(pod, metric, settings, now)) unready.add(name);
    else readyCount++;
  }
  return { readyCount, unready, missing, ignored };
}

/** Reports whether the CPU usage of a Pod does not reflect its load yet. */
function isStarting({ status }: Pod, metric: PodMetric, settings: CalculationSettings, now: Instant): boolean {
  const ready = findCondition(status?.conditions, 'Ready');
  if (!ready || !status?.startTime) return true;
  const startedAt = parseTime(status.startTime);
  const changedAt = ready.lastTransitionTime ? parseTime(ready.lastTransitionTime) : Number.NEGATIVE_INFINITY;
  if (startedAt + settings.cpuInitializationMs > now) {
    return ready.status === 'False' || metric.at < changedAt + metric.windowMs;
  }
  return ready.status === 'False' && startedAt + settings.initialReadinessDelayMs > changedAt;
}

/**
 * Calculates replicas from the utilization of a resource, in percent of the requests of Pods or of one container of
 * each.
 */
export function replicasForUtilization(
  state: State,
  metrics: PodMetrics,
  {
    resource,
    container,
    targetPercent,
  }: { readonly resource: string; readonly container: string; readonly targetPercent: number },
): Proposal | Failure {
  let requests: ReadonlyMap<string, number> | Failure | undefined;
  const requestsOf = () => (requests ??= requestsOfPods(state.pods, container, resource));
  const measure = (counted: PodMetrics): Measure | Failure => {
    const known = requestsOf();
    return isFailure(known) ? known : utilizationOf(counted, known, targetPercent);
  };
  // On scale-down, Pods without metrics count as fully used.
  const busy = (name: string) => {
    const known = requestsOf();
    return isFailure(known) ? 0 : Math.trunc(((known.get(name) ?? 0) * Math.max(100, targetPercent)) / 100);
  };
  return propose(state, metrics, resource, measure, busy);
}

/** Calculates replicas from a metric per Pod, in milli-units. */
export function replicasForAverage(
  state: State,
  metrics: PodMetrics,
  { resource = '', target }: { readonly resource?: string; readonly target: number },
): Proposal | Failure {
  const measure = (counted: PodMetrics): Measure => {
    const total = counted.values().reduce((sum, { value }) => sum + value, 0);
    const usage = Math.trunc(total / counted.size);
    return { ratio: usage / target, usage };
  };
  return propose(state, metrics, resource, measure, () => target);
}

type Measure = { readonly ratio: number; readonly usage: number; readonly utilization?: number };

function propose(
  { pods, currentReplicas, settings, now }: State,
  metrics: PodMetrics,
  resource: string,
  measure: (counted: PodMetrics) => Measure | Failure,
  busy: (name: string) => number,
): Proposal | Failure {
  if (pods.length === 0) return { failure: 'no pods returned by selector while calculating replica count' };
  const { readyCount, unready, missing, ignored } = groupPods(pods, metrics, resource, settings, now);
  const counted = new Map([...metrics].filter(([name]) => !ignored.has(name) && !unready.has(name)));
  if (counted.size === 0) return { failure: 'did not receive metrics for targeted pods (pods might be unready)' };
  const first = measure(counted);
  if (isFailure(first)) return first;
  const { ratio, ...found } = first;
  const keep = { replicas: currentReplicas, ...found };

  const growsWithUnready = unready.size > 0 && ratio > 1;
  if (!growsWithUnready && missing.size === 0) {
    return isTolerable(ratio, settings) ? keep : { replicas: Math.ceil(ratio * readyCount), ...found };
  }
  const assume = (names: ReadonlySet<string>, usageOf: (name: string) => number) => {
    for (const name of names) counted.set(name, { value: usageOf(name), at: now, windowMs: 0 });
  };
  if (ratio < 1) assume(missing, busy);
  if (ratio > 1) assume(missing, () => 0);
  if (growsWithUnready) assume(unready, () => 0);

  const second = measure(counted);
  if (isFailure(second)) return second;
  const isReversed = (ratio < 1 && second.ratio > 1) || (ratio > 1 && second.ratio < 1);
  if (isTolerable(second.ratio, settings) || isReversed) return keep;
  const replicas = Math.ceil(second.ratio * counted.size);
  const isContrary =
    (second.ratio < 1 && replicas > currentReplicas) || (second.ratio > 1 && replicas < currentReplicas);
  return isContrary ? keep : { replicas, ...found };
}

export function isTolerable(ratio: number, { tolerance }: CalculationSettings): boolean {
  return 1 - tolerance <= ratio && ratio <= 1 + tolerance;
}

function requestsOfPods(
  pods: readonly Pod[],
  container: string,
  resource: string,
): ReadonlyMap<string, number> | Failure {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    let sum = 0;
    for (const each of [...(spec?.containers ?? []), ...(spec?.initContainers ?? []).filter(isSidecar)]) {
      if (container !== '' && container !== each.name) continue;
      const request = each.resources?.requests?.[resource];
      if (request === undefined) {
        return { failure: `missing request for ${resource} in container ${each.name} of Pod ${metadata.name}` };
      }
      sum += milliValue(parseQuantity(request));
    }
    requests.set(metadata.name ?? '', sum);
  }
  return requests;
}

function utilizationOf(
  metrics: PodMetrics,
  requests: ReadonlyMap<string, number>,
  targetPercent: number,
): Measure | Failure {
  let used = 0;
  let requested = 0;
  let count = 0;
  for (const [name, { value }] of metrics) {
    const request = requests.get(name);
    if (request === undefined) continue;
    used += value;
    requested += request;
    count++;
  }
  if (requested === 0) return { failure: 'no metrics returned matched known pods' };
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / targetPercent, utilization, usage: Math.trunc(used / count) };
}

/** Calculates replicas from an object or external metric with a target value. */
export function replicasForValue(
  { pods, currentReplicas, settings }: State,
  usage: number,
  target: number,
): Proposal | Failure {
  const ratio = usage / target;
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), usage };
  if (isTolerable(ratio, settings)) return { replicas: currentReplicas, usage };
  if (pods.length === 0) {
    return { failure: 'unable to calculate ready pods: no pods returned by selector while calculating replica count' };
  }
  const readyCount = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod)).length;
  return { replicas: Math.ceil(ratio * readyCount), usage };
}

/** Calculates replicas from an object or external metric with a target average per replica. */
export function replicasForShare(
  statusReplicas: number,
  usage: number,
  target: number,
  settings: CalculationSettings,
): Proposal {
  const replicas = isTolerable(usage / (target * statusReplicas), settings)
    ? statusReplicas
    : Math.ceil(usage / target);
  return { replicas, usage: Math.ceil(usage / statusReplicas) };
}
