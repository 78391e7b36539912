import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from '@kruise/api/core/pod';
import { makeContainer, makePod, type PodFixture, sidecar, statusOf } from '../fixtures.ts';
import type { Phase } from './phase.ts';
import { conditionOf, conditionValues } from './pod-conditions.ts';

const ready = statusOf('c', 'running', { ready: true, started: true });
const unready = statusOf('c', 'running', { started: true });
const gate = { readinessGates: [{ conditionType: 'example.com/served' }] };

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly statuses: Parameters<typeof conditionValues>[0]['statuses'];
  readonly phase?: Phase;
  readonly foreign?: readonly PodCondition[];
  /** `Type=Status Reason: message` of the conditions that the row checks. */
  readonly expected: readonly string[];
};

const rows: Row[] = [
  {
    name: 'a ready container makes the Pod ready',
    statuses: [ready],
    expected: ['ContainersReady=True', 'Ready=True', 'Initialized=True', 'PodScheduled=True'],
  },
  {
    name: 'an unready container is named',
    statuses: [unready],
    expected: [
      'Ready=False ContainersNotReady: containers with unready status: [c]',
      'ContainersReady=False ContainersNotReady: containers with unready status: [c]',
    ],
  },
  {
    name: 'containers without a status come first',
    pod: { containers: [makeContainer('a'), makeContainer('c')] },
    statuses: [unready],
    expected: [
      'Ready=False ContainersNotReady: containers with unknown status: [a], containers with unready status: [c]',
    ],
  },
  {
    name: 'a missing readiness gate condition keeps the Pod unready',
    pod: gate,
    statuses: [ready],
    expected: [
      'ContainersReady=True',
      'Ready=False ReadinessGatesNotReady: corresponding condition of pod readiness gate "example.com/served" does not exist.',
    ],
  },
  {
    name: 'a false readiness gate is reported with its status',
    pod: gate,
    statuses: [ready],
    foreign: [{ type: 'example.com/served', status: 'False' }],
    expected: [
      'Ready=False ReadinessGatesNotReady: the status of pod readiness gate "example.com/served" is not "True", but False',
    ],
  },
  {
    name: 'a true readiness gate makes the Pod ready',
    pod: gate,
    statuses: [ready],
    foreign: [{ type: 'example.com/served', status: 'True' }],
    expected: ['Ready=True'],
  },
  {
    name: 'incomplete init containers are named',
    pod: { initContainers: [makeContainer('i'), makeContainer('j')] },
    statuses: [statusOf('i', 'exit 0', { ready: true }), statusOf('j', 'running'), statusOf('c', 'waiting')],
    expected: ['Initialized=False ContainersNotInitialized: containers with incomplete status: [j]'],
  },
  {
    name: 'a sidecar counts as initialized when it has started',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'running', { started: true, ready: true }), statusOf('c', 'waiting')],
    expected: ['Initialized=True', 'ContainersReady=False ContainersNotReady: containers with unready status: [c]'],
  },
  {
    name: 'an unready sidecar keeps the Pod unready',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'running', { started: true }), ready],
    expected: ['ContainersReady=False ContainersNotReady: containers with unready status: [s]'],
  },
  {
    name: 'a restarting sidecar does not revert initialization',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'waiting after 1'), ready],
    expected: ['Initialized=True'],
  },
  {
    name: 'a succeeded Pod is initialized and not ready',
    statuses: [statusOf('c', 'exit 0')],
    phase: 'Succeeded',
    expected: ['Initialized=True PodCompleted', 'Ready=False PodCompleted', 'ContainersReady=False PodCompleted'],
  },
  {
    name: 'a failed Pod is not ready',
    statuses: [ready],
    phase: 'Failed',
    expected: ['Ready=False PodFailed', 'ContainersReady=False PodFailed'],
  },
];

for (const { name, pod, statuses, phase = 'Running', foreign = [], expected } of rows) {
  test(name, () => {
    const claims = conditionValues({ pod: makePod(pod), statuses, phase, hasSandbox: true, foreign });
    const reported = claims.map(({ type, status, reason, message }) =>
      [`${type}=${status}`, reason && (message ? `${reason}:` : reason), message].filter(Boolean).join(' '),
    );
    for (const each of expected) assert.ok(reported.includes(each), `${each} is not among\n${reported.join('\n')}`);
  });
}

test('conditions are in the order of Kubernetes', () => {
  const claims = conditionValues({
    pod: makePod(),
    statuses: [ready],
    phase: 'Running',
    hasSandbox: false,
    foreign: [],
  });
  assert.deepEqual(
    claims.map(({ type }) => type),
    ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'],
  );
});

const at = (status: string, second: number): PodCondition => ({
  type: 'Ready',
  status,
  reason: 'A',
  lastTransitionTime: `2026-01-01T00:00:0${second}Z`,
});

const times = [
  { name: 'stays while its status does', reported: at('False', 1), status: 'False', since: '2026-01-01T00:00:01Z' },
  { name: 'changes with its status', reported: at('False', 1), status: 'True', since: '2001-09-09T01:46:40Z' },
  {
    name: 'is that of the first writer',
    reported: at('True', 1),
    api: at('False', 2),
    status: 'False',
    since: '2026-01-01T00:00:02Z',
  },
  {
    name: 'ignores a writer before the kubelet’s own change',
    reported: at('False', 2),
    api: at('True', 1),
    status: 'True',
    since: '2001-09-09T01:46:40Z',
  },
  {
    name: 'stays if other writers disagree',
    reported: at('True', 1),
    api: at('False', 2),
    status: 'True',
    since: '2026-01-01T00:00:01Z',
  },
];
for (const { name, reported, api, status, since } of times) {
  test(`the transition time of a condition ${name}`, () => {
    const claim = { type: 'Ready', status: status, reason: 'B' };
    const { lastTransitionTime } = conditionOf(claim, { reported: [reported], api: api && [api] }, 1e12);
    assert.equal(lastTransitionTime, since);
  });
}
