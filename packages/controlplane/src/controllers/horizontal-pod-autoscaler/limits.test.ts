import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HPAScalingRules } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import {
  type History,
  limit,
  limitByRules,
  noHistory,
  rulesOf,
  scaleDownLimit,
  scaleUpLimit,
  stabilize,
  stabilizeByRules,
  withRecommendation,
  withScaling,
} from './limits.ts';

const now = Date.UTC(2026, 0, 1, 1);
const past = (entries: Record<number, number>) =>
  Object.entries(entries).map(([seconds, replicas]) => ({ replicas, at: now - Number(seconds) * 1000 }));
const changes = (entries: Record<number, number>) =>
  Object.entries(entries).map(([seconds, change]) => ({ change, at: now - Number(seconds) * 1000 }));

const bounds = { minReplicas: 2, maxReplicas: 20 };
const plain: readonly [current: number, desired: number, replicas: number, reason: string][] = [
  [5, 7, 7, 'DesiredWithinRange'],
  [5, 1, 2, 'TooFewReplicas'],
  [5, 30, 10, 'ScaleUpLimit'],
  [1, 30, 4, 'ScaleUpLimit'],
  [10, 30, 20, 'TooManyReplicas'],
  [15, 30, 20, 'TooManyReplicas'],
  [5, 10, 10, 'DesiredWithinRange'],
];
for (const [current, desired, replicas, reason] of plain) {
  test(`scaling from ${current} to ${desired} is limited to ${replicas}: ${reason}`, () => {
    const found = limit(current, desired, bounds);
    assert.deepEqual([found.replicas, found.reason], [replicas, reason]);
  });
}

test('a workload scales down to the highest recommendation of five minutes', () => {
  assert.equal(stabilize(past({ 10: 4, 300: 6, 301: 9 }), 2, 300, now), 6);
  assert.equal(stabilize(past({ 10: 4 }), 8, 300, now), 8);
  assert.equal(stabilize([], 3, 300, now), 3);
});

const rules = (scaleUp: HPAScalingRules = {}, scaleDown: HPAScalingRules = {}) => rulesOf({ scaleUp, scaleDown }, 300);

const stabilizing: readonly [
  name: string,
  up: number,
  down: number | undefined,
  past: Record<number, number>,
  current: number,
  desired: number,
  replicas: number,
][] = [
  ['without a window, it scales up at once', 0, 0, { 5: 1 }, 3, 9, 9],
  ['it scales up to the lowest recommendation of the window', 60, 0, { 5: 5, 30: 7, 61: 1 }, 3, 9, 5],
  ['it does not scale up while a lower recommendation is in the window', 60, 0, { 5: 2 }, 3, 9, 3],
  ['it scales down to the highest recommendation of the window', 0, 60, { 5: 5, 30: 4, 61: 9 }, 8, 2, 5],
  ['the default window is five minutes', 0, undefined, { 290: 7 }, 8, 2, 7],
  ['a recommendation at the edge of the window is outside of it', 60, 0, { 60: 1 }, 3, 9, 9],
];
for (const [name, up, down, before, current, desired, replicas] of stabilizing) {
  test(name, () => {
    const found = stabilizeByRules(
      past(before),
      current,
      desired,
      rules({ stabilizationWindowSeconds: up }, down === undefined ? {} : { stabilizationWindowSeconds: down }),
      now,
    );
    assert.deepEqual(
      [found.replicas, found.reason],
      [replicas, desired >= current ? 'ScaleUpStabilized' : 'ScaleDownStabilized'],
    );
  });
}

const policies = {
  pods: { type: 'Pods', value: 4, periodSeconds: 60 },
  percent: { type: 'Percent', value: 50, periodSeconds: 60 },
};
type LimitRow = [name: string, rules: HPAScalingRules, history: Partial<History>, current: number, expected: number];
const ups: readonly LimitRow[] = [
  ['a number more', { policies: [policies.pods] }, {}, 10, 14],
  ['a percentage more, rounded up', { policies: [policies.percent] }, {}, 7, 11],
  ['the maximum of both', { policies: [policies.pods, policies.percent] }, {}, 20, 30],
  ['the minimum of both', { policies: [policies.pods, policies.percent], selectPolicy: 'Min' }, {}, 20, 24],
  ['none at all', { policies: [policies.pods], selectPolicy: 'Disabled' }, {}, 20, 20],
  [
    'the replicas at the start of the period',
    { policies: [policies.pods] },
    { scaleUps: changes({ 10: 3, 70: 9 }) },
    13,
    14,
  ],
  ['the replicas lost in the period', { policies: [policies.pods] }, { scaleDowns: changes({ 10: 3 }) }, 10, 17],
];
for (const [name, up, history, current, expected] of ups) {
  test(`scale-up is limited to ${name}`, () =>
    assert.equal(scaleUpLimit(current, rules(up).scaleUp, { ...noHistory, ...history }, now), expected));
}
const downs: readonly LimitRow[] = [
  ['a number fewer', { policies: [policies.pods] }, {}, 10, 6],
  ['a percentage fewer, truncated', { policies: [policies.percent] }, {}, 7, 3],
  ['the lowest of both', { policies: [policies.pods, policies.percent] }, {}, 20, 10],
  ['the highest of both', { policies: [policies.pods, policies.percent], selectPolicy: 'Min' }, {}, 20, 16],
  ['none at all', { policies: [policies.pods], selectPolicy: 'Disabled' }, {}, 20, 20],
  ['the replicas at the start of the period', { policies: [policies.pods] }, { scaleDowns: changes({ 10: 3 }) }, 7, 6],
];
for (const [name, down, history, current, expected] of downs) {
  test(`scale-down is limited to ${name}`, () =>
    assert.equal(scaleDownLimit(current, rules({}, down).scaleDown, { ...noHistory, ...history }, now), expected));
}

const both = rules({ policies: [policies.pods] }, { policies: [policies.pods] });
const ruled: readonly [current: number, desired: number, replicas: number, reason: string][] = [
  [10, 12, 12, 'DesiredWithinRange'],
  [10, 19, 14, 'ScaleUpLimit'],
  [18, 30, 20, 'TooManyReplicas'],
  [10, 3, 6, 'ScaleDownLimit'],
  [4, 1, 2, 'TooFewReplicas'],
  [10, 10, 10, 'DesiredWithinRange'],
];
for (const [current, desired, replicas, reason] of ruled) {
  test(`by policies, scaling from ${current} to ${desired} is limited to ${replicas}: ${reason}`, () => {
    const found = limitByRules(current, desired, bounds, both, noHistory, now);
    assert.deepEqual([found.replicas, found.reason], [replicas, reason]);
  });
}

test('entries older than an hour are pruned', () => {
  const old = { recommendations: past({ 3601: 5 }), scaleUps: changes({ 3601: 1 }), scaleDowns: changes({ 3601: 1 }) };
  const recommended = withRecommendation(old, 3, now);
  assert.deepEqual(recommended.recommendations, [{ replicas: 3, at: now }]);
  assert.deepEqual(withScaling(old, 3, 5, now).scaleUps, [{ change: 2, at: now }]);
  assert.deepEqual(withScaling(old, 5, 3, now).scaleDowns, [{ change: 2, at: now }]);
});
