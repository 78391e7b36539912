import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { formatTime } from '@kruise/values/time';
import fc from 'fast-check';
import {
  groupPods,
  isTolerable,
  type PodMetric,
  type Proposal,
  replicasForAverage,
  replicasForShare,
  replicasForUtilization,
  replicasForValue,
} from './replicas.ts';
import { defaultAutoscalerSettings as settings } from './settings.ts';

const now = Date.UTC(2026, 0, 1, 1);
const ago = (seconds: number) => formatTime(now - seconds * 1000);

type Fixture = {
  phase?: 'Running' | 'Pending' | 'Failed';
  terminating?: boolean;
  ready?: boolean | undefined;
  started?: number | undefined;
  changed?: number;
  cpu?: string | undefined;
  containers?: readonly string[];
};

function pod(name: string, fixture: Fixture = {}): Pod {
  const {
    phase = 'Running',
    terminating,
    ready = true,
    started = 3600,
    changed = 3000,
    containers = ['main'],
  } = fixture;
  const cpu = 'cpu' in fixture ? fixture.cpu : '1';
  const conditions =
    'ready' in fixture && fixture.ready === undefined
      ? []
      : [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: ago(changed) }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(terminating ? { deletionTimestamp: ago(1) } : {}) },
    spec: {
      containers: containers.map((each) => ({
        name: each,
        image: 'i',
        ...(cpu ? { resources: { requests: { cpu } } } : {}),
      })),
    },
    status: {
      phase,
      ...('started' in fixture && fixture.started === undefined ? {} : { startTime: ago(started) }),
      conditions,
    },
  };
}
const metric = (value: number, age = 10, windowMs = 30_000): PodMetric => ({ value, at: now - age * 1000, windowMs });
const metrics = (values: Record<string, number>) =>
  new Map(Object.entries(values).map(([name, value]) => [name, metric(value)]));

const grouping: readonly [name: string, pod: Pod, metric: PodMetric | undefined, group: string][] = [
  ['that is running and ready counts', pod('p'), metric(1), 'ready'],
  ['that is terminating is ignored', pod('p', { terminating: true }), metric(1), 'ignored'],
  ['that failed is ignored', pod('p', { phase: 'Failed' }), metric(1), 'ignored'],
  ['that is pending is unready', pod('p', { phase: 'Pending' }), metric(1), 'unready'],
  ['without metrics is missing', pod('p'), undefined, 'missing'],
  ['without a Ready condition is unready', pod('p', { ready: undefined }), metric(1), 'unready'],
  ['without a start time is unready', pod('p', { started: undefined }), metric(1), 'unready'],
  [
    'that is initializing and not ready is unready',
    pod('p', { started: 60, changed: 50, ready: false }),
    metric(1),
    'unready',
  ],
  [
    'measured within a window after it became ready is unready',
    pod('p', { started: 60, changed: 20 }),
    metric(1, 10, 30_000),
    'unready',
  ],
  [
    'measured after a window since it became ready counts',
    pod('p', { started: 60, changed: 50 }),
    metric(1, 10, 30_000),
    'ready',
  ],
  ['that was never ready is unready', pod('p', { started: 400, changed: 390, ready: false }), metric(1), 'unready'],
  ['that is not ready any more counts', pod('p', { started: 400, changed: 100, ready: false }), metric(1), 'ready'],
];
for (const [name, only, measured, group] of grouping) {
  test(`a Pod ${name}`, () => {
    const { readyCount, unready, missing, ignored } = groupPods(
      [only],
      new Map(measured ? [['p', measured]] : []),
      'cpu',
      settings,
      now,
    );
    const found = readyCount
      ? 'ready'
      : unready.size
        ? 'unready'
        : missing.size
          ? 'missing'
          : ignored.size
            ? 'ignored'
            : '';
    assert.equal(found, group);
  });
}

test('readiness matters only for CPU', () => {
  const { readyCount } = groupPods(
    [pod('p', { ready: false, started: 10, changed: 5 })],
    metrics({ p: 1 }),
    'memory',
    settings,
    now,
  );
  assert.equal(readyCount, 1);
});

const state = (pods: readonly Pod[], currentReplicas = pods.length) => ({ pods, currentReplicas, settings, now });
const three = [pod('a'), pod('b'), pod('c')];
const utilization = (pods: readonly Pod[], values: Record<string, number>, targetPercent = 50, current?: number) =>
  replicasForUtilization(state(pods, current), metrics(values), { resource: 'cpu', container: '', targetPercent });

const utilizationCases: readonly [name: string, found: object, expected: Partial<Proposal>][] = [
  [
    '80 % of 50 % on two is four',
    utilization([pod('a'), pod('b')], { a: 800, b: 800 }),
    { replicas: 4, utilization: 80, usage: 800 },
  ],
  ['on target, it stays', utilization(three, { a: 500, b: 500, c: 500 }), { replicas: 3, utilization: 50 }],
  ['10 % above the target, it stays', utilization(three, { a: 550, b: 550, c: 550 }), { replicas: 3 }],
  ['10 % below the target, it stays', utilization(three, { a: 450, b: 450, c: 450 }), { replicas: 3 }],
  ['more than 10 % above the target, it scales up', utilization(three, { a: 560, b: 560, c: 560 }), { replicas: 4 }],
  ['at half the target it halves, rounded up', utilization(three, { a: 250, b: 250, c: 250 }), { replicas: 2 }],
  [
    'a percentage is truncated, not rounded',
    utilization(three, { a: 559, b: 550, c: 550 }),
    { utilization: 55, replicas: 3 },
  ],
  ['a Pod without metrics counts as idle on scale-up', utilization(three, { a: 1000, b: 1000 }), { replicas: 4 }],
  [
    'a Pod without metrics counts as fully used on scale-down',
    utilization(three, { a: 100, b: 100 }),
    { replicas: 3, utilization: 10 },
  ],
  [
    'a Pod without metrics counts as on target if the target is above 100 %',
    utilization(three, { a: 100, b: 100 }, 200),
    { replicas: 2 },
  ],
  [
    'unready Pods count as idle on scale-up',
    utilization([pod('a'), pod('b', { phase: 'Pending' })], { a: 1500 }),
    { replicas: 3, utilization: 150 },
  ],
  [
    'unready Pods do not count on scale-down',
    utilization([pod('a'), pod('b', { phase: 'Pending' })], { a: 100 }),
    { replicas: 1 },
  ],
  [
    'unready Pods do not reverse the direction',
    utilization([pod('a'), pod('b', { phase: 'Pending' }), pod('c', { phase: 'Pending' })], { a: 1000 }),
    { replicas: 3 },
  ],
  [
    'it does not scale down when it should scale up',
    utilization([pod('a'), pod('b', { phase: 'Pending' })], { a: 1200 }, 50, 9),
    { replicas: 9 },
  ],
  [
    'a terminating Pod is skipped',
    utilization([pod('a'), pod('b', { terminating: true })], { a: 1000, b: 0 }),
    { replicas: 2 },
  ],
];
for (const [name, found, expected] of utilizationCases) {
  test(name, () => assert.deepEqual({ ...found, ...expected }, found));
}

const failures: readonly [found: object, failure: string][] = [
  [utilization([], {}), 'no pods returned by selector while calculating replica count'],
  [
    utilization([pod('a', { phase: 'Pending' })], { a: 1 }),
    'did not receive metrics for targeted pods (pods might be unready)',
  ],
  [utilization([pod('a', { cpu: undefined })], { a: 1 }), 'missing request for cpu in container main of Pod a'],
  [utilization([pod('a', { cpu: '0' })], { a: 1 }), 'no metrics returned matched known pods'],
];
for (const [found, failure] of failures) test(failure, () => assert.deepEqual(found, { failure }));

test('a single container may be measured', () => {
  const pods = [pod('a', { containers: ['main', 'side'] })];
  const wanted = { resource: 'cpu', container: 'side', targetPercent: 50 };
  assert.deepEqual(replicasForUtilization(state(pods), metrics({ a: 1000 }), wanted), {
    replicas: 2,
    usage: 1000,
    utilization: 100,
  });
});

const average = (pods: readonly Pod[], values: Record<string, number>, target: number, current?: number) =>
  replicasForAverage(state(pods, current), metrics(values), { target });

const averageCases: readonly [name: string, found: object, expected: object][] = [
  ['twice the average doubles the replicas', average(three, { a: 20, b: 20, c: 20 }, 10), { replicas: 6, usage: 20 }],
  ['the average is truncated', average(three, { a: 10, b: 11, c: 11 }, 10), { replicas: 3, usage: 10 }],
  ['a Pod without metrics is on target on scale-down', average(three, { a: 1, b: 1 }, 10), { replicas: 2, usage: 1 }],
  ['a Pod without metrics is idle on scale-up', average(three, { a: 30, b: 30 }, 10), { replicas: 6, usage: 30 }],
];
for (const [name, found, expected] of averageCases) test(name, () => assert.deepEqual(found, expected));

const valueCases: readonly [
  name: string,
  pods: readonly Pod[],
  current: number,
  usage: number,
  target: number,
  expected: object,
][] = [
  [
    'twice the value doubles the ready replicas',
    [...three, pod('d', { ready: false })],
    4,
    20,
    10,
    { replicas: 6, usage: 20 },
  ],
  ['close to the value, it stays', three, 3, 109, 100, { replicas: 3, usage: 109 }],
  ['from zero, only the value counts', [], 0, 25, 10, { replicas: 3, usage: 25 }],
  [
    'without Pods, the calculation fails',
    [],
    3,
    20,
    10,
    { failure: 'unable to calculate ready pods: no pods returned by selector while calculating replica count' },
  ],
];
for (const [name, pods, current, usage, target, expected] of valueCases) {
  test(name, () => assert.deepEqual(replicasForValue(state(pods, current), usage, target), expected));
}

const shareCases: readonly [statusReplicas: number, usage: number, target: number, replicas: number, shown: number][] =
  [
    [2, 40, 10, 4, 20],
    [4, 41, 10, 4, 11],
    [4, 45, 10, 5, 12],
    [4, 10, 10, 1, 3],
  ];
for (const [statusReplicas, usage, target, replicas, shown] of shareCases) {
  test(`${usage} with an average of ${target} and ${statusReplicas} replicas needs ${replicas}`, () => {
    assert.deepEqual(replicasForShare(statusReplicas, usage, target, settings), { replicas, usage: shown });
  });
}

test('a deviation of 10 % is within the tolerance, bounds included', () => {
  assert.deepEqual(
    [0.89, 0.9, 1, 1.1, 1.11].map((ratio) => isTolerable(ratio, settings)),
    [false, true, true, true, false],
  );
});

test('higher usage never needs fewer replicas', () => {
  const uses = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(uses, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 10, max: 90 }), (values, more, target) => {
      const pods = values.map((_, index) => pod(`p${index}`));
      const proposal = (extra: number) => {
        const found = utilization(
          pods,
          Object.fromEntries(values.map((value, index) => [`p${index}`, value + extra])),
          target,
        );
        assert.ok('replicas' in found);
        return found.replicas;
      };
      assert.ok(proposal(more) >= proposal(0));
    }),
  );
});
