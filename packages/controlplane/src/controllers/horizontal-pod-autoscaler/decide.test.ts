import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HorizontalPodAutoscaler, MetricSpec } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import type { Pod } from '@kruise/api/core/pod';
import { flattenSteps } from '@kruise/client/actions';
import { formatTime } from '@kruise/values/time';
import fc from 'fast-check';
import { decide, type Observed, type Rescale } from './decide.ts';
import { type History, noHistory } from './limits.ts';
import type { MetricResult } from './metric-proposals.ts';
import { defaultAutoscalerSettings } from './settings.ts';

const now = Date.UTC(2026, 0, 1, 1);

const cpu: MetricSpec = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const queue: MetricSpec = {
  type: 'External',
  external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } },
};

function autoscaler(spec: Partial<NonNullable<HorizontalPodAutoscaler['spec']>> = {}): HorizontalPodAutoscaler {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'web', namespace: 'default' },
    spec: { scaleTargetRef, minReplicas: 2, maxReplicas: 10, metrics: [cpu], ...spec },
  };
}
const pods = (count: number): readonly Pod[] =>
  Array.from({ length: count }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${index}` },
    spec: { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu: '1' } } }] },
    status: {
      phase: 'Running',
      startTime: formatTime(now - 3_600_000),
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(now - 3_000_000) }],
    },
  }));
const usage = (count: number, milli: number): MetricResult => ({
  pods: new Map(
    Array.from({ length: count }, (_, index) => [`p${index}`, { value: milli, at: now, windowMs: 30_000 }]),
  ),
});

function observe(current: number, metricResults: readonly MetricResult[], more: Partial<Observed> = {}): Observed {
  const target = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: current },
    status: { replicas: current, selector: 'app=web' },
  };
  return {
    autoscaler: autoscaler(),
    history: noHistory,
    target,
    selection: { pods: pods(current) },
    metricResults,
    ...more,
  };
}

function outcome(observed: Observed) {
  const { decision, history } = decide(observed, defaultAutoscalerSettings, now);
  const rescale = decision.actions.find(({ type }) => type === 'effect');
  const input = rescale?.type === 'effect' ? (rescale.input as Rescale) : undefined;
  const events = decision.actions.flatMap((action) =>
    action.type === 'record' ? [`${action.event.type} ${action.event.reason}: ${action.event.message}`] : [],
  );
  const done = { failures: [], isStale: false, written: new Map() };
  const status = typeof decision.status === 'function' ? decision.status(done) : decision.status!;
  const conditions = Object.fromEntries(
    (status.conditions ?? []).map(({ type, status: holds, reason }) => [type, `${holds} ${reason}`]),
  );
  return { to: input?.replicas, reason: input?.reason, events, status, conditions, history, decision };
}

test('80 % on two Pods with a target of 50 % needs four', () => {
  const { to, reason, status, conditions } = outcome(observe(2, [usage(2, 800)]));
  assert.deepEqual([to, reason], [4, 'cpu resource utilization (percentage of request) above target']);
  assert.deepEqual(conditions, {
    AbleToScale: 'True SucceededRescale',
    ScalingActive: 'True ValidMetricFound',
    ScalingLimited: 'False DesiredWithinRange',
  });
  const { currentReplicas, desiredReplicas, lastScaleTime, currentMetrics } = status;
  assert.deepEqual([currentReplicas, desiredReplicas, lastScaleTime], [2, 4, formatTime(now)]);
  assert.deepEqual(currentMetrics, [
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } },
  ]);
});

type Row = { name: string; observed: Observed; to?: number; conditions?: Record<string, string>; reason?: string };
const lately = (replicas: number): History => ({ ...noHistory, recommendations: [{ replicas, at: now - 60_000 }] });
const rows: readonly Row[] = [
  {
    name: 'on target, nothing changes',
    observed: observe(4, [usage(4, 500)]),
    conditions: { AbleToScale: 'True ReadyForNewScale' },
  },
  {
    name: 'it does not scale down within the stabilization window',
    observed: observe(4, [usage(4, 100)], { history: lately(4) }),
    conditions: { AbleToScale: 'True ScaleDownStabilized' },
  },
  {
    name: 'the first reconcile takes the current size as the recommendation',
    observed: observe(4, [usage(4, 100)]),
    conditions: { AbleToScale: 'True ScaleDownStabilized' },
  },
  {
    name: 'it scales down to the highest recent recommendation',
    observed: observe(8, [usage(8, 100)], { history: lately(3) }),
    to: 3,
    reason: 'All metrics below target',
  },
  {
    name: 'it scales down at most to minReplicas',
    observed: observe(8, [usage(8, 1)], { history: lately(1) }),
    to: 2,
    conditions: { ScalingLimited: 'True TooFewReplicas' },
  },
  {
    name: 'it scales up at most to maxReplicas',
    observed: observe(8, [usage(8, 1000)]),
    to: 10,
    conditions: { ScalingLimited: 'True TooManyReplicas' },
  },
  {
    name: 'it doubles at most',
    observed: observe(2, [usage(2, 5000)]),
    to: 4,
    conditions: { ScalingLimited: 'True ScaleUpLimit' },
  },
  {
    name: 'a target that is scaled to zero stays disabled',
    observed: observe(0, []),
    conditions: { ScalingActive: 'False ScalingDisabled' },
  },
  {
    name: 'a target above the bounds is scaled to the maximum',
    observed: observe(12, []),
    to: 10,
    reason: 'Current number of replicas above Spec.MaxReplicas',
  },
  {
    name: 'a target below the bounds is scaled to the minimum',
    observed: observe(1, []),
    to: 2,
    reason: 'Current number of replicas below Spec.MinReplicas',
  },
];
for (const { name, observed, to, conditions = {}, reason } of rows) {
  test(name, () => {
    const found = outcome(observed);
    assert.equal(found.to, to);
    assert.deepEqual({ ...found.conditions, ...conditions }, found.conditions);
    if (reason) assert.equal(found.reason, reason);
    assert.equal(found.decision.requeueAfterSeconds, 15);
  });
}

const two = autoscaler({ metrics: [cpu, queue] });
const broken = { failure: 'unable to fetch metrics from external metrics API: down' };

test('the highest metric wins', () => {
  const { to, reason } = outcome(observe(4, [usage(4, 600), { value: 80_000 }], { autoscaler: two }));
  assert.deepEqual([to, reason], [8, 'external metric queue(nil) above target']);
});

test('with a failed metric, it may still scale up by the others', () => {
  const { to, conditions, events, status } = outcome(observe(4, [usage(4, 1000), broken], { autoscaler: two }));
  assert.deepEqual([to, conditions['ScalingActive']], [8, 'True ValidMetricFound']);
  assert.deepEqual(events, [
    `Warning FailedGetExternalMetric: unable to get external metric default/queue/nil: ${broken.failure}`,
  ]);
  assert.deepEqual(status.currentMetrics?.[1], { type: '' });
});

test('with a failed metric, it does not scale down', () => {
  const { to, conditions, events, status } = outcome(
    observe(4, [usage(4, 100), broken], { autoscaler: two, history: lately(1) }),
  );
  assert.deepEqual([to, conditions['ScalingActive']], [undefined, 'False FailedGetExternalMetric']);
  assert.match(
    events[1] ?? '',
    /^Warning FailedComputeMetricsReplicas: invalid metrics \(1 invalid out of 2\), first error is: failed to get queue external metric value: failed to get queue external metric: unable to get/,
  );
  assert.equal(status.currentReplicas, 4);
});

test('if all metrics fail, the condition contains the failures', () => {
  const failure =
    'unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)';
  const { events, conditions, status } = outcome(observe(4, [{ failure }]));
  const inner = `failed to get cpu utilization: unable to get metrics for resource cpu: ${failure}`;
  assert.deepEqual(events, [
    `Warning FailedGetResourceMetric: ${inner}`,
    `Warning FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${inner}`,
  ]);
  assert.equal(conditions['ScalingActive'], 'False FailedGetResourceMetric');
  assert.equal(status.conditions?.[1]?.message, `the HPA was unable to compute the replica count: ${inner}`);
});

test('a missing target sets the condition', () => {
  const { events, conditions, to } = outcome(
    observe(4, [], { target: { failure: 'deployments.apps "web" not found' } }),
  );
  assert.deepEqual(
    [events, conditions, to],
    [['Warning FailedGetScale: deployments.apps "web" not found'], { AbleToScale: 'False FailedGetScale' }, undefined],
  );
});

test('without a selector, nothing is scaled', () => {
  const selection = {
    failure: 'selector is required',
    event: 'SelectorRequired',
    reason: 'InvalidSelector',
    message: "the HPA target's scale is missing a selector",
  };
  const { events, conditions } = outcome(observe(4, [], { selection }));
  assert.deepEqual(events, [
    'Warning SelectorRequired: selector is required',
    'Warning FailedComputeMetricsReplicas: selector is required',
  ]);
  assert.equal(conditions['ScalingActive'], 'False InvalidSelector');
});

test('a failed rescale is reported, and the last scale time is kept', () => {
  const { decision } = decide(observe(2, [usage(2, 800)]), defaultAutoscalerSettings, now);
  assert.ok(typeof decision.status === 'function');
  const failures = [{ action: flattenSteps(decision.actions)[0]!, error: new Error('quota') }];
  const { conditions, lastScaleTime, desiredReplicas } = decision.status({
    failures,
    isStale: false,
    written: new Map(),
  });
  assert.deepEqual(
    [conditions?.[0]?.reason, conditions?.[0]?.message, lastScaleTime, desiredReplicas],
    ['FailedUpdateScale', 'the HPA controller was unable to update the target scale: quota', undefined, 0],
  );
});

test('scaling behavior replaces the default limits', () => {
  const behavior = {
    scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }] },
    scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
  };
  const ruled = autoscaler({ behavior });
  assert.equal(outcome(observe(4, [usage(4, 1000)], { autoscaler: ruled })).to, 5);
  const down = outcome(observe(8, [usage(8, 100)], { autoscaler: ruled, history: lately(1) }));
  assert.deepEqual([down.to, down.conditions['ScalingLimited']], [7, 'True ScaleDownLimit']);
});

test('recommendations are recorded regardless of the outcome', () => {
  const { history } = outcome(observe(4, [usage(4, 100)]));
  assert.deepEqual(
    history.recommendations.map(({ replicas }) => replicas),
    [4, 1],
  );
});

test('an unknown metric type is reported', () => {
  const odd = autoscaler({ metrics: [{ type: 'Mood' } as unknown as MetricSpec] });
  const { to, conditions } = outcome(observe(4, [{ failure: '' }], { autoscaler: odd }));
  assert.deepEqual([to, conditions['ScalingActive']], [undefined, 'False InvalidMetricSourceType']);
});

test('for any load, the size stays within bounds, and is stable under constant load', () => {
  const bounds = fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 5, max: 40 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(40_000), bounds, (start, load, [minReplicas, maxReplicas]) => {
      const bounded = autoscaler({ minReplicas, maxReplicas });
      let current = start;
      let history = noHistory;
      let restedFor = 0;
      for (let period = 0; restedFor < 25; period++) {
        assert.ok(period < 200, 'the size becomes stable');
        const at = now + period * 15_000;
        const answers = [usage(current, Math.floor(load / current))];
        const observed = observe(current, answers, { autoscaler: bounded, history });
        const decided = decide(observed, defaultAutoscalerSettings, at);
        history = decided.history;
        const rescale = decided.decision.actions.find(({ type }) => type === 'effect');
        restedFor = rescale ? 0 : restedFor + 1;
        if (rescale?.type !== 'effect') continue;
        const { replicas } = rescale.input as Rescale;
        assert.ok(replicas >= minReplicas && replicas <= maxReplicas, `${replicas} is out of bounds`);
        assert.ok(replicas <= Math.max(2 * current, 4) || current < minReplicas, 'the scale-up limit holds');
        current = replicas;
      }
    }),
    { numRuns: 50 },
  );
});
