import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerStatus,
  MetricStatus,
} from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Scale } from '@kruise/api/autoscaling/scale';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, effect, type NewEvent, record } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { type ConditionStatus, withCondition } from '@kruise/machinery/conditions';
import { errorText } from '@kruise/values/error-text';
import { formatTime, type Instant } from '@kruise/values/time';
import {
  type Bounds,
  type History,
  limit,
  limitByRules,
  rulesOf,
  stabilize,
  stabilizeByRules,
  withRecommendation,
} from './limits.ts';
import { type MetricResult, proposeFor } from './metric-proposals.ts';
import { type CalculationSettings, type Failure, isFailure } from './replicas.ts';
import type { AutoscalerSettings } from './settings.ts';

export type Observed = {
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly history: History;
  /** Scale of the target, or the reason why it is unknown. */
  readonly target: Scale | Failure;
  /** Pods of the target, or the reason why they cannot be selected. */
  readonly selection: Selection;
  /** Result for each metric. */
  readonly metricResults: readonly MetricResult[];
};

/** `event` and `reason` describe why no Pods are available. */
export type Selection =
  | { readonly pods: readonly Pod[] }
  | { readonly failure: string; readonly event: string; readonly reason: string; readonly message: string };

export type Plan = {
  readonly history: History;
  readonly decision: Decision<HorizontalPodAutoscalerStatus>;
};

/** Input of the rescale effect. */
export type Rescale = {
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly scale: Scale;
  readonly replicas: number;
  readonly reason: string;
  readonly at: Instant;
};

/** Returns the allowed range of replicas. */
export function boundsOf({ spec }: HorizontalPodAutoscaler): Bounds {
  return { minReplicas: spec?.minReplicas ?? 1, maxReplicas: spec?.maxReplicas ?? 1 };
}

/** Reports whether metrics are needed: the target is neither scaled to zero nor outside its bounds. */
export function needsMetrics(current: number, { minReplicas, maxReplicas }: Bounds): boolean {
  return !(current === 0 && minReplicas !== 0) && current <= maxReplicas && current >= minReplicas;
}

export function decide(observed: Observed, settings: AutoscalerSettings, now: Instant): Plan {
  const { autoscaler, target, history: before } = observed;
  const report = createReport(autoscaler, settings, now);
  if (isFailure(target)) {
    report.recordEvent('Warning', 'FailedGetScale', target.failure);
    const message = `the HPA controller was unable to get the target's current scale: ${target.failure}`;
    report.set('AbleToScale', 'False', 'FailedGetScale', message);
    return { history: before, decision: report.conclude({}) };
  }
  const message = "the HPA controller was able to get the target's current scale";
  report.set('AbleToScale', 'True', 'SucceededGetScale', message);
  const current = target.spec?.replicas ?? 0;
  const bounds = boundsOf(autoscaler);
  const history = before.recommendations.length > 0 ? before : withRecommendation(before, current, now);

  if (current === 0 && bounds.minReplicas !== 0) {
    const why = 'scaling is disabled since the replica count of the target is zero';
    report.set('ScalingActive', 'False', 'ScalingDisabled', why);
    return { history, decision: report.conclude({ currentReplicas: 0, desiredReplicas: 0, currentMetrics: [] }) };
  }
  if (!needsMetrics(current, bounds)) {
    const isAbove = current > bounds.maxReplicas;
    const reason = isAbove
      ? 'Current number of replicas above Spec.MaxReplicas'
      : 'Current number of replicas below Spec.MinReplicas';
    const replicas = isAbove ? bounds.maxReplicas : bounds.minReplicas;
    return { history, decision: report.rescale({ autoscaler, scale: target, replicas, reason, at: now }, []) };
  }

  const wanted = desiredByMetrics(observed, target, settings, report, now);
  if (isFailure(wanted)) {
    report.recordEvent('Warning', 'FailedComputeMetricsReplicas', wanted.failure);
    return { history, decision: report.conclude({ currentReplicas: current, currentMetrics: wanted.statuses }) };
  }
  const { replicas: desired, name, statuses } = wanted;
  const limitedReplicas = limitReplicas({ autoscaler, current, desired, bounds, history, settings }, report, now);
  const next = withRecommendation(history, desired, now);
  if (limitedReplicas === current) {
    const status = { currentReplicas: current, desiredReplicas: current, currentMetrics: statuses };
    return { history: next, decision: report.conclude(status) };
  }
  const reason = desired > current ? `${name} above target` : desired < current ? 'All metrics below target' : '';
  return {
    history: next,
    decision: report.rescale({ autoscaler, scale: target, replicas: limitedReplicas, reason, at: now }, statuses),
  };
}

type DesiredReplicas = { readonly replicas: number; readonly name: string; readonly statuses: readonly MetricStatus[] };

/**
 * Returns the maximum over all metrics. If some metrics fail, the target may scale up by the others but not scale down.
 */
function desiredByMetrics(
  { autoscaler, selection, metricResults }: Observed,
  target: Scale,
  settings: CalculationSettings,
  report: Report,
  now: Instant,
): DesiredReplicas | (Failure & { readonly statuses: readonly MetricStatus[] }) {
  if ('failure' in selection) {
    report.recordEvent('Warning', selection.event, selection.failure);
    report.set('ScalingActive', 'False', selection.reason, selection.message);
    return { failure: selection.failure, statuses: [] };
  }
  const current = target.spec?.replicas ?? 0;
  const state = {
    pods: selection.pods,
    currentReplicas: current,
    statusReplicas: target.status?.replicas ?? 0,
    namespace: autoscaler.metadata.namespace ?? '',
    settings,
    now,
  };
  const specs = autoscaler.spec?.metrics ?? [];
  const proposals = specs.map((spec, index) =>
    proposeFor(spec, metricResults[index] ?? { failure: 'the metric was not fetched' }, state),
  );
  const failures = proposals.filter((proposal) => isFailure(proposal));
  for (const { reason, failure } of failures) report.recordEvent('Warning', reason, failure);
  const statuses = proposals.map((proposal) => (isFailure(proposal) ? { type: '' } : proposal.status));

  let best: { readonly replicas: number; readonly name: string } = { replicas: 0, name: '' };
  for (const proposal of proposals) {
    if (isFailure(proposal)) continue;
    if (best.replicas === 0 || proposal.replicas > best.replicas) best = proposal;
  }
  const [first] = failures;
  if (first && (failures.length >= specs.length || best.replicas < current)) {
    const why = `the HPA was unable to compute the replica count: ${first.failure}`;
    report.set('ScalingActive', 'False', first.reason, why);
    const count = `${failures.length} invalid out of ${specs.length}`;
    return { failure: `invalid metrics (${count}), first error is: ${first.error}`, statuses };
  }
  const how = `the HPA was able to successfully calculate a replica count from ${best.name}`;
  report.set('ScalingActive', 'True', 'ValidMetricFound', how);
  return { replicas: best.replicas, name: best.name, statuses };
}

type LimitInput = {
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly current: number;
  readonly desired: number;
  readonly bounds: Bounds;
  readonly history: History;
  readonly settings: AutoscalerSettings;
};

/** Applies stabilization and bounds to the desired replicas, and sets the conditions for them. */
function limitReplicas(
  { autoscaler: { spec }, current, desired, bounds, history, settings: { downWindowSeconds } }: LimitInput,
  report: Report,
  now: Instant,
): number {
  const { recommendations } = history;
  const rules = spec?.behavior ? rulesOf(spec.behavior, downWindowSeconds) : undefined;
  const stabilized = rules
    ? stabilizeByRules(recommendations, current, desired, rules, now)
    : {
        replicas: stabilize(recommendations, desired, downWindowSeconds, now),
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      };
  if (stabilized.replicas === desired) {
    report.set('AbleToScale', 'True', 'ReadyForNewScale', 'recommended size matches current size');
  } else {
    report.set('AbleToScale', 'True', stabilized.reason, stabilized.message);
  }
  const limited = rules
    ? limitByRules(current, stabilized.replicas, bounds, rules, history, now)
    : limit(current, stabilized.replicas, bounds);
  const isLimited = limited.replicas !== stabilized.replicas;
  report.set('ScalingLimited', isLimited ? 'True' : 'False', limited.reason, limited.message);
  return limited.replicas;
}

type Report = ReturnType<typeof createReport>;

/** Collects events and conditions of an autoscaler and builds the decision. */
function createReport(autoscaler: HorizontalPodAutoscaler, { periodSeconds }: AutoscalerSettings, now: Instant) {
  const before: HorizontalPodAutoscalerStatus = autoscaler.status ?? { desiredReplicas: 0 };
  const events: NewEvent[] = [];
  let conditions: readonly HorizontalPodAutoscalerCondition[] = before.conditions ?? [];
  const conditionsWith = (type: string, status: ConditionStatus, reason: string, message: string) =>
    withCondition(conditions, { type, status, reason, message }, now);
  const decisionOf = (
    actions: readonly Action[],
    status: Decision<HorizontalPodAutoscalerStatus>['status'] & {},
  ): Decision<HorizontalPodAutoscalerStatus> => ({
    actions: [...events.map(record), ...actions],
    status,
    requeueAfterSeconds: periodSeconds,
  });

  return {
    recordEvent(type: NewEvent['type'], reason: string, message: string): void {
      events.push({ about: autoscaler, type, reason, message });
    },
    set(type: string, status: ConditionStatus, reason: string, message: string): void {
      conditions = conditionsWith(type, status, reason, message);
    },
    conclude(changes: Partial<HorizontalPodAutoscalerStatus>): Decision<HorizontalPodAutoscalerStatus> {
      return decisionOf([], { ...before, ...changes, conditions: [...conditions] });
    },
    rescale(rescale: Rescale, statuses: readonly MetricStatus[]): Decision<HorizontalPodAutoscalerStatus> {
      const counts = { currentReplicas: rescale.scale.spec?.replicas ?? 0, currentMetrics: [...statuses] };
      return decisionOf([effect('rescale', rescale)], ({ failures }) => {
        const [failed] = failures;
        if (failed) {
          const message = `the HPA controller was unable to update the target scale: ${errorText(failed.error)}`;
          const failedConditions = conditionsWith('AbleToScale', 'False', 'FailedUpdateScale', message);
          return { ...before, ...counts, conditions: [...failedConditions] };
        }
        const message = `the HPA controller was able to update the target scale to ${rescale.replicas}`;
        return {
          ...before,
          ...counts,
          desiredReplicas: rescale.replicas,
          lastScaleTime: formatTime(now),
          conditions: [...conditionsWith('AbleToScale', 'True', 'SucceededRescale', message)],
        };
      });
    },
  };
}
