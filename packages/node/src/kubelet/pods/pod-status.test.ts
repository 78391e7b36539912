import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodStatus } from '@kruise/api/core/pod';
import { findCondition } from '@kruise/machinery/conditions';
import { exited, inSandbox, makeContainer, makePod, makeSandbox, type PodFixture, running } from '../fixtures.ts';
import { emptyRuntimePod, type RuntimePod } from '../runtime/runtime-pod.ts';
import { podStatusOf, terminatedStatus } from './pod-status.ts';

const now = Date.UTC(2026, 0, 1);

type StatusFixture = {
  readonly pod?: PodFixture;
  readonly has?: RuntimePod;
  readonly before?: PodStatus;
  readonly isEnding?: boolean;
  readonly hostIPs?: readonly string[];
};

function statusFrom({
  pod = {},
  has = emptyRuntimePod,
  before = {},
  isEnding = false,
  hostIPs = ['172.18.0.2'],
}: StatusFixture) {
  return podStatusOf({
    pod: makePod(pod),
    runtimePod: has,
    previous: before,
    failures: new Map(),
    probes: { hasStarted: () => true, isReady: () => true },
    runtimeName: 'test',
    supportsRecursiveReadOnly: true,
    resourcesOf: () => ({}),
    resizeClaims: [],
    isEnding,
    hostIPs,
    now,
  });
}

const phaseSummary = ({ phase, reason, message }: PodStatus) =>
  [phase, reason, message].filter((each) => each !== undefined).join(': ');

const phaseRows: readonly (readonly [name: string, fixture: StatusFixture, expected: string])[] = [
  ['a Pod with a running container is Running', { has: inSandbox(running('c')) }, 'Running'],
  ['a terminal phase is kept', { has: inSandbox(running('c')), before: { phase: 'Failed' } }, 'Failed'],
  [
    'a terminal phase of the API is kept',
    { pod: { status: { phase: 'Succeeded' } }, has: inSandbox(running('c')) },
    'Succeeded',
  ],
  [
    'the reason of an unchanged phase is kept',
    { has: inSandbox(running('c')), before: { phase: 'Running', reason: 'Because', message: 'so' } },
    'Running: Because: so',
  ],
  [
    'the reason of another phase is dropped',
    { has: inSandbox(running('c')), before: { phase: 'Pending', reason: 'Because', message: 'so' } },
    'Running',
  ],
  [
    'a Pod just before its active deadline is Running',
    {
      pod: { activeDeadlineSeconds: 60 },
      has: inSandbox(running('c')),
      before: { startTime: '2025-12-31T23:59:01Z' },
    },
    'Running',
  ],
  [
    'a Pod at its active deadline has failed',
    {
      pod: { activeDeadlineSeconds: 60 },
      has: inSandbox(running('c')),
      before: { startTime: '2025-12-31T23:59:00Z' },
    },
    'Failed: DeadlineExceeded: Pod was active on the node longer than the specified deadline',
  ],
  [
    'a terminated Pod whose containers exited with 0 has succeeded',
    { has: inSandbox(exited('c', 0)), isEnding: true },
    'Succeeded',
  ],
];
for (const [name, fixture, expected] of phaseRows) {
  test(name, () => assert.equal(phaseSummary(statusFrom(fixture)), expected));
}

const addressRows: readonly (readonly [name: string, fixture: StatusFixture, podIPs: readonly string[]])[] = [
  ['a Pod without a sandbox has no IP', {}, []],
  ['a Pod has the IPs of its sandbox', { has: inSandbox() }, ['10.0.0.1']],
  [
    'a Pod has the IPs of its newest sandbox',
    {
      has: {
        sandboxes: [makeSandbox({ id: 's1', attempt: 1, ips: ['10.0.0.2'] }), makeSandbox({ isReady: false })],
        containers: [],
      },
    },
    ['10.0.0.2'],
  ],
  ['a Pod without its sandbox keeps its IPs', { before: { podIPs: [{ ip: '10.0.0.9' }] } }, ['10.0.0.9']],
  [
    'IPs of the node’s primary family come first',
    { has: { sandboxes: [makeSandbox({ ips: ['10.0.0.1', 'fd00::1'] })], containers: [] }, hostIPs: ['fd01::2'] },
    ['fd00::1', '10.0.0.1'],
  ],
  ['a host-network Pod has the IPs of its node', { pod: { hostNetwork: true } }, ['172.18.0.2']],
];
for (const [name, fixture, podIPs] of addressRows) {
  test(name, () => {
    const status = statusFrom(fixture);
    assert.deepEqual(
      (status.podIPs ?? []).map(({ ip }) => ip),
      podIPs,
    );
    assert.equal(status.podIP, podIPs[0]);
    assert.equal(status.hostIP, status.hostIPs?.[0]?.ip);
  });
}

test('the start time of a Pod is set once', () => {
  assert.equal(statusFrom({}).startTime, '2026-01-01T00:00:00Z');
  assert.equal(statusFrom({ before: { startTime: '2025-01-01T00:00:00Z' } }).startTime, '2025-01-01T00:00:00Z');
  assert.equal(
    statusFrom({ pod: { status: { startTime: '2024-01-01T00:00:00Z' } } }).startTime,
    '2024-01-01T00:00:00Z',
  );
});

test('the QoS class of a Pod is that of the API, or computed from its resources', () => {
  assert.equal(statusFrom({}).qosClass, 'BestEffort');
  assert.equal(statusFrom({ pod: { status: { qosClass: 'Guaranteed' } } }).qosClass, 'Guaranteed');
  const resources = { requests: { cpu: '1' } };
  assert.equal(statusFrom({ pod: { containers: [makeContainer('c', { resources })] } }).qosClass, 'Burstable');
});

test('termination messages of all containers stay within 12 KiB', () => {
  const has = inSandbox(exited('a', 1, { message: 'é'.repeat(10_000) }), exited('b', 1, { message: 'short' }));
  const { containerStatuses = [] } = statusFrom({ pod: { containers: [makeContainer('a'), makeContainer('b')] }, has });
  const [a, b] = containerStatuses.map(({ state }) => state?.terminated?.message ?? '');
  assert.equal(Buffer.byteLength(a!), 6144);
  assert.equal(b, 'short');
});

test('conditions of other writers come first and are kept', () => {
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

test('a terminated Pod has no waiting or running containers', () => {
  const pod = makePod();
  const status = statusFrom({ has: inSandbox() });
  const { containerStatuses = [], phase } = terminatedStatus(pod, status);
  assert.equal(phase, 'Failed');
  assert.deepEqual(containerStatuses[0]?.state?.terminated, {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  });
});

test('containers that never started because of initialization are not terminated', () => {
  const fixture = { initContainers: [makeContainer('i'), makeContainer('j')], restartPolicy: 'Never' } as const;
  const status = statusFrom({ pod: fixture, has: inSandbox(exited('i', 1)) });
  const { initContainerStatuses = [], containerStatuses = [] } = terminatedStatus(makePod(fixture), status);
  const states = [...initContainerStatuses, ...containerStatuses].map(({ name, state }) =>
    state?.terminated ? `${name} ended` : `${name} waits`,
  );
  assert.deepEqual(states, ['i ended', 'j waits', 'c waits']);
});
