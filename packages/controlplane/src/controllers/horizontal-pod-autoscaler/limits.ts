/** Limits for the desired replicas: stabilization windows, scaling policies and bounds. */
import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Instant } from '@kruise/values/time';

/** A recommended number of replicas. */
export type Recommendation = { readonly replicas: number; readonly at: Instant };

/** Number of replicas that a workload gained or lost. */
export type ScaleEvent = { readonly change: number; readonly at: Instant };

/** State of an autoscaler that is kept between reconciles. */
export type History = {
  readonly recommendations: readonly Recommendation[];
  readonly scaleUps: readonly ScaleEvent[];
  readonly scaleDowns: readonly ScaleEvent[];
};

export const noHistory: History = { recommendations: [], scaleUps: [], scaleDowns: [] };

/** A number of replicas and the reason for the limit. */
export type Limited = { readonly replicas: number; readonly reason: string; readonly message: string };

export type Bounds = { readonly minReplicas: number; readonly maxReplicas: number };

const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const tooFew = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const tooMany = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const tooFast = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const tooFastDown = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};

/** Returns the highest recommendation within the stabilization window, including the current one. */
export function stabilize(
  recommendations: readonly Recommendation[],
  desired: number,
  windowSeconds: number,
  now: Instant,
): number {
  const cutoff = now - windowSeconds * 1000;
  return Math.max(desired, ...recommendations.filter(({ at }) => at >= cutoff).map(({ replicas }) => replicas));
}

/** Limits the replicas to the bounds and to at most twice the current number, or four. */
export function limit(current: number, desired: number, { minReplicas, maxReplicas }: Bounds): Limited {
  const fastest = Math.max(2 * current, 4);
  const most = Math.min(maxReplicas, fastest);
  if (desired < minReplicas) return { replicas: minReplicas, ...tooFew };
  if (desired > most) return { replicas: most, ...(maxReplicas > fastest ? tooFast : tooMany) };
  return { replicas: desired, ...withinRange };
}

/** Complete scaling rules of both directions. */
export type Rules = { readonly [D in 'scaleUp' | 'scaleDown']: Required<Omit<HPAScalingRules, 'tolerance'>> };

export function rulesOf({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior, downWindowSeconds: number): Rules {
  const complete = (rules: HPAScalingRules | undefined, windowSeconds: number) => ({
    stabilizationWindowSeconds: rules?.stabilizationWindowSeconds ?? windowSeconds,
    selectPolicy: rules?.selectPolicy ?? 'Max',
    policies: rules?.policies ?? [],
  });
  return { scaleUp: complete(scaleUp, 0), scaleDown: complete(scaleDown, downWindowSeconds) };
}

/** Returns the number closest to the current recommendation that the stabilization windows of both directions allow. */
export function stabilizeByRules(
  recommendations: readonly Recommendation[],
  current: number,
  desired: number,
  { scaleUp, scaleDown }: Rules,
  now: Instant,
): Limited {
  const within = (windowSeconds: number) =>
    recommendations.filter(({ at }) => at > now - windowSeconds * 1000).map(({ replicas }) => replicas);
  const lowest = Math.min(desired, ...within(scaleUp.stabilizationWindowSeconds));
  const highest = Math.max(desired, ...within(scaleDown.stabilizationWindowSeconds));
  const replicas = Math.min(Math.max(current, lowest), highest);
  return desired >= current
    ? {
        replicas,
        reason: 'ScaleUpStabilized',
        message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
      }
    : {
        replicas,
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      };
}

/** Limits the replicas to the bounds and the scaling policies. */
export function limitByRules(
  current: number,
  desired: number,
  { minReplicas, maxReplicas }: Bounds,
  { scaleUp, scaleDown }: Rules,
  history: History,
  now: Instant,
): Limited {
  if (desired > current) {
    const fastest = Math.max(current, scaleUpLimit(current, scaleUp, history, now));
    const most = Math.min(maxReplicas, fastest);
    if (desired > most) return { replicas: most, ...(maxReplicas > fastest ? tooFast : tooMany) };
  }
  if (desired < current) {
    const fastest = Math.min(current, scaleDownLimit(current, scaleDown, history, now));
    const fewest = Math.max(minReplicas, fastest);
    if (desired < fewest) return { replicas: fewest, ...(minReplicas < fastest ? tooFastDown : tooFew) };
  }
  return { replicas: desired, ...withinRange };
}

type CompleteRules = Rules['scaleUp'];

/** Returns the maximum that the policies allow, counted from the replicas at the start of their period. */
export function scaleUpLimit(current: number, rules: CompleteRules, history: History, now: Instant): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const allowed = rules.policies.map(({ type, value, periodSeconds }) => {
    const start = replicasAtStart(current, periodSeconds, history, now);
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.min(...allowed) : Math.max(...allowed);
}

/** Returns the minimum that the policies allow, counted from the replicas at the start of their period. */
export function scaleDownLimit(current: number, rules: CompleteRules, history: History, now: Instant): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const allowed = rules.policies.map(({ type, value, periodSeconds }) => {
    const start = replicasAtStart(current, periodSeconds, history, now);
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.max(...allowed) : Math.min(...allowed);
}

function replicasAtStart(
  current: number,
  periodSeconds: number,
  { scaleUps, scaleDowns }: History,
  now: Instant,
): number {
  const total = (events: readonly ScaleEvent[]) =>
    events.filter(({ at }) => at > now - periodSeconds * 1000).reduce((sum, { change }) => sum + change, 0);
  return current - total(scaleUps) + total(scaleDowns);
}

/** No window or period exceeds one hour; older entries are pruned. */
const longestMs = 3_600_000;

/** Returns the history with a recommendation of now. */
export function withRecommendation(history: History, replicas: number, now: Instant): History {
  const recent = history.recommendations.filter(({ at }) => at >= now - longestMs);
  return { ...history, recommendations: [...recent, { replicas, at: now }] };
}

/** Returns the history with a scale event of now. */
export function withScaling(history: History, from: number, to: number, now: Instant): History {
  const recent = (events: readonly ScaleEvent[]) => events.filter(({ at }) => at >= now - longestMs);
  const event = { change: Math.abs(to - from), at: now };
  return to > from
    ? { ...history, scaleUps: [...recent(history.scaleUps), event] }
    : { ...history, scaleDowns: [...recent(history.scaleDowns), event] };
}
