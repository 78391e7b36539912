/** What becomes of a number of replicas that measures call for: held back by what was called for before, and bounded. */
import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Instant } from '@kruise/values/time';

/** A number of replicas that was called for. */
export type Recommendation = { readonly replicas: number; readonly at: Instant };

/** How many replicas a workload gained or lost. */
export type ScaleEvent = { readonly change: number; readonly at: Instant };

/** What is remembered of an autoscaler from one look to the next. */
export type History = {
  readonly recommendations: readonly Recommendation[];
  readonly scaleUps: readonly ScaleEvent[];
  readonly scaleDowns: readonly ScaleEvent[];
};

export const noHistory: History = { recommendations: [], scaleUps: [], scaleDowns: [] };

/** A number, and why it is not another. */
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

/** The highest number called for within the window, this one included. */
export function stabilize(
  recommendations: readonly Recommendation[],
  desired: number,
  windowSeconds: number,
  now: Instant,
): number {
  const cutoff = now - windowSeconds * 1000;
  return Math.max(desired, ...recommendations.filter(({ at }) => at >= cutoff).map(({ replicas }) => replicas));
}

/** Within bounds, and at most twice as many at a time, or four. */
export function limit(current: number, desired: number, { minReplicas, maxReplicas }: Bounds): Limited {
  const fastest = Math.max(2 * current, 4);
  const most = Math.min(maxReplicas, fastest);
  if (desired < minReplicas) return { replicas: minReplicas, ...tooFew };
  if (desired > most) return { replicas: most, ...(maxReplicas > fastest ? tooFast : tooMany) };
  return { replicas: desired, ...withinRange };
}

/** How to scale in each direction, with nothing left out. */
export type Rules = { readonly [D in 'scaleUp' | 'scaleDown']: Required<Omit<HPAScalingRules, 'tolerance'>> };

export function rulesOf({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior, downWindowSeconds: number): Rules {
  const complete = (rules: HPAScalingRules | undefined, windowSeconds: number) => ({
    stabilizationWindowSeconds: rules?.stabilizationWindowSeconds ?? windowSeconds,
    selectPolicy: rules?.selectPolicy ?? 'Max',
    policies: rules?.policies ?? [],
  });
  return { scaleUp: complete(scaleUp, 0), scaleDown: complete(scaleDown, downWindowSeconds) };
}

/** As close to what is called for as everything called for within each direction's window allows. */
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

/** Within bounds, and no faster than policies allow. */
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

/** As many as policies allow at most, counted from what there was when their period began. */
export function scaleUpLimit(current: number, rules: CompleteRules, history: History, now: Instant): number {
  if (rules.selectPolicy === 'Disabled') return current;
  const allowed = rules.policies.map(({ type, value, periodSeconds }) => {
    const start = replicasAtStart(current, periodSeconds, history, now);
    return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
  });
  return rules.selectPolicy === 'Min' ? Math.min(...allowed) : Math.max(...allowed);
}

/** As few as policies allow at least, counted from what there was when their period began. */
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

/** No window or period is longer than an hour; what is older says nothing any more. */
const longestMs = 3_600_000;

/** The history with what was called for now. */
export function withRecommendation(history: History, replicas: number, now: Instant): History {
  const recent = history.recommendations.filter(({ at }) => at >= now - longestMs);
  return { ...history, recommendations: [...recent, { replicas, at: now }] };
}

/** The history with a change that was made now. */
export function withScaling(history: History, from: number, to: number, now: Instant): History {
  const recent = (events: readonly ScaleEvent[]) => events.filter(({ at }) => at >= now - longestMs);
  const event = { change: Math.abs(to - from), at: now };
  return to > from
    ? { ...history, scaleUps: [...recent(history.scaleUps), event] }
    : { ...history, scaleDowns: [...recent(history.scaleDowns), event] };
}
