import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { aContainer, aPod, aSandbox, exited, inSandbox, type PodFixture, running } from './fixtures.ts';
import { finishedStatus, podStatusOf } from './pod-status.ts';
import { nothingRuns, type RuntimePod } from './runtime-pod.ts';

const now = Date.UTC(2026, 0, 1);

type Facts = {
  readonly pod?: PodFixture;
  readonly has?: RuntimePod;
  readonly before?: PodStatus;
  readonly isEnding?: boolean;
  readonly hostIPs?: readonly string[];
};

function statusFrom({ pod = {}, has = nothingRuns, before = {}, isEnding = false, hostIPs = ['172.18.0.2'] }: Facts) {
  return podStatusOf({
    pod: aPod(pod),
    runtimePod: has,
    previous: before,
    failures: new Map(),
    probes: { hasStarted: () => true, isReady: () => true },
    runtimeName: 'test',
    resourcesOf: () => ({}),
    resizeClaims: [],
    isEnding,
    hostIPs,
    now,
  });
}

const verdict = ({ phase, reason, message }: PodStatus) =>
  [phase, reason, message].filter((each) => each !== undefined).join(': ');

const verdictRows: readonly (readonly [name: string, facts: Facts, says: string])[] = [
  ['a Pod that runs is running', { has: inSandbox(running('c')) }, 'Running'],
  ['a Pod that was over is over', { has: inSandbox(running('c')), before: { phase: 'Failed' } }, 'Failed'],
  [
    'a Pod that others say is over is over',
    { pod: { status: { phase: 'Succeeded' } }, has: inSandbox(running('c')) },
    'Succeeded',
  ],
  [
    'what was said of a phase stays with it',
    { has: inSandbox(running('c')), before: { phase: 'Running', reason: 'Because', message: 'so' } },
    'Running: Because: so',
  ],
  [
    'what was said of another phase does not',
    { has: inSandbox(running('c')), before: { phase: 'Pending', reason: 'Because', message: 'so' } },
    'Running',
  ],
  [
    'a Pod has a second less than its limit',
    {
      pod: { activeDeadlineSeconds: 60 },
      has: inSandbox(running('c')),
      before: { startTime: '2025-12-31T23:59:01Z' },
    },
    'Running',
  ],
  [
    'a Pod that has reached its limit has failed',
    {
      pod: { activeDeadlineSeconds: 60 },
      has: inSandbox(running('c')),
      before: { startTime: '2025-12-31T23:59:00Z' },
    },
    'Failed: DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  ],
  [
    'a Pod that was stopped and ended well has succeeded',
    { has: inSandbox(exited('c', 0)), isEnding: true },
    'Succeeded',
  ],
];
for (const [name, facts, says] of verdictRows) {
  test(name, () => assert.equal(verdict(statusFrom(facts)), says));
}

const addressRows: readonly (readonly [name: string, facts: Facts, podIPs: readonly string[]])[] = [
  ['a Pod without a sandbox has no address', {}, []],
  ['a Pod has the addresses of its sandbox', { has: inSandbox() }, ['10.0.0.1']],
  [
    'a Pod has the addresses of its newest sandbox',
    {
      has: {
        sandboxes: [aSandbox({ id: 's1', attempt: 1, ips: ['10.0.0.2'] }), aSandbox({ isReady: false })],
        containers: [],
      },
    },
    ['10.0.0.2'],
  ],
  ['a Pod whose sandbox is gone has the addresses it had', { before: { podIPs: [{ ip: '10.0.0.9' }] } }, ['10.0.0.9']],
  [
    'addresses of the family of the node come first',
    { has: { sandboxes: [aSandbox({ ips: ['10.0.0.1', 'fd00::1'] })], containers: [] }, hostIPs: ['fd01::2'] },
    ['fd00::1', '10.0.0.1'],
  ],
  ['a Pod on the network of its node has its addresses', { pod: { hostNetwork: true } }, ['172.18.0.2']],
];
for (const [name, facts, podIPs] of addressRows) {
  test(name, () => {
    const status = statusFrom(facts);
    assert.deepEqual(
      (status.podIPs ?? []).map(({ ip }) => ip),
      podIPs,
    );
    assert.equal(status.podIP, podIPs[0]);
    assert.equal(status.hostIP, status.hostIPs?.[0]?.ip);
  });
}

test('the time a Pod began is told once', () => {
  assert.equal(statusFrom({}).startTime, '2026-01-01T00:00:00Z');
  assert.equal(statusFrom({ before: { startTime: '2025-01-01T00:00:00Z' } }).startTime, '2025-01-01T00:00:00Z');
  assert.equal(
    statusFrom({ pod: { status: { startTime: '2024-01-01T00:00:00Z' } } }).startTime,
    '2024-01-01T00:00:00Z',
  );
});

test('the class of a Pod is what the API says, or else what its resources make it', () => {
  assert.equal(statusFrom({}).qosClass, 'BestEffort');
  assert.equal(statusFrom({ pod: { status: { qosClass: 'Guaranteed' } } }).qosClass, 'Guaranteed');
  const resources = { requests: { cpu: '1' } };
  assert.equal(statusFrom({ pod: { containers: [aContainer('c', { resources })] } }).qosClass, 'Burstable');
});

test('last words of all containers together stay within twelve kibibytes', () => {
  const has = inSandbox(exited('a', 1, { message: 'é'.repeat(10_000) }), exited('b', 1, { message: 'short' }));
  const { containerStatuses = [] } = statusFrom({ pod: { containers: [aContainer('a'), aContainer('b')] }, has });
  const [a, b] = containerStatuses.map(({ state }) => state?.terminated?.message ?? '');
  assert.equal(Buffer.byteLength(a!), 6144);
  assert.equal(b, 'short');
});

test('what others have said of a Pod comes first, and stays', () => {
  const gate = { type: 'example.com/gate', status: 'True' } as const;
  const target = { type: 'DisruptionTarget', status: 'True' } as const;
  const { conditions = [] } = statusFrom({ pod: { status: { conditions: [target, gate] } } });
  assert.deepEqual(
    conditions.map(({ type }) => type),
    [
      'example.com/gate',
      'DisruptionTarget',
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ],
  );
  assert.equal(findCondition(conditions, 'Ready')?.lastProbeTime, null);
});

test('what is over for good waits for nothing and runs nowhere', () => {
  const pod = aPod();
  const status = statusFrom({ has: inSandbox() });
  const { containerStatuses = [], phase } = finishedStatus(pod, status);
  assert.equal(phase, 'Failed');
  assert.deepEqual(containerStatuses[0]?.state?.terminated, {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  });
});

test('what was never to start before others were through has not ended', () => {
  const fixture = { initContainers: [aContainer('i'), aContainer('j')], restartPolicy: 'Never' } as const;
  const status = statusFrom({ pod: fixture, has: inSandbox(exited('i', 1)) });
  const { initContainerStatuses = [], containerStatuses = [] } = finishedStatus(aPod(fixture), status);
  const states = [...initContainerStatuses, ...containerStatuses].map(({ name, state }) =>
    state?.terminated ? `${name} ended` : `${name} waits`,
  );
  assert.deepEqual(states, ['i ended', 'j waits', 'c waits']);
});
