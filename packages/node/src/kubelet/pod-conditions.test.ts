import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from '@kruise/api/core/pod';
import { aContainer, aPod, type PodFixture, sidecar, statusOf } from './fixtures.ts';
import type { Phase } from './phase.ts';
import { claimsOf, conditionOf } from './pod-conditions.ts';

const ready = statusOf('c', 'running', { ready: true, started: true });
const unready = statusOf('c', 'running', { started: true });
const gate = { readinessGates: [{ conditionType: 'example.com/served' }] };

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly statuses: Parameters<typeof claimsOf>[0]['statuses'];
  readonly phase?: Phase;
  readonly foreign?: readonly PodCondition[];
  /** `Type=Status Reason: message`, of those that matter to the row. */
  readonly says: readonly string[];
};

const rows: Row[] = [
  {
    name: 'a ready container makes the Pod ready',
    statuses: [ready],
    says: ['ContainersReady=True', 'Ready=True', 'Initialized=True', 'PodScheduled=True'],
  },
  {
    name: 'an unready container is named',
    statuses: [unready],
    says: [
      'Ready=False ContainersNotReady: containers with unready status: [c]',
      'ContainersReady=False ContainersNotReady: containers with unready status: [c]',
    ],
  },
  {
    name: 'containers of which nothing is known come first',
    pod: { containers: [aContainer('a'), aContainer('c')] },
    statuses: [unready],
    says: ['Ready=False ContainersNotReady: containers with unknown status: [a], containers with unready status: [c]'],
  },
  {
    name: 'a gate nobody has opened keeps the Pod from being ready',
    pod: gate,
    statuses: [ready],
    says: [
      'ContainersReady=True',
      'Ready=False ReadinessGatesNotReady: corresponding condition of pod readiness gate "example.com/served" does not exist.',
    ],
  },
  {
    name: 'a gate that is shut is told with its status',
    pod: gate,
    statuses: [ready],
    foreign: [{ type: 'example.com/served', status: 'False' }],
    says: [
      'Ready=False ReadinessGatesNotReady: the status of pod readiness gate "example.com/served" is not "True", but False',
    ],
  },
  {
    name: 'a gate that is open lets the Pod be ready',
    pod: gate,
    statuses: [ready],
    foreign: [{ type: 'example.com/served', status: 'True' }],
    says: ['Ready=True'],
  },
  {
    name: 'init containers that are not through are named',
    pod: { initContainers: [aContainer('i'), aContainer('j')] },
    statuses: [statusOf('i', 'exit 0', { ready: true }), statusOf('j', 'running'), statusOf('c', 'waiting')],
    says: ['Initialized=False ContainersNotInitialized: containers with incomplete status: [j]'],
  },
  {
    name: 'a sidecar counts as through when it has started',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'running', { started: true, ready: true }), statusOf('c', 'waiting')],
    says: ['Initialized=True', 'ContainersReady=False ContainersNotReady: containers with unready status: [c]'],
  },
  {
    name: 'a sidecar that is not ready keeps the Pod from being ready',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'running', { started: true }), ready],
    says: ['ContainersReady=False ContainersNotReady: containers with unready status: [s]'],
  },
  {
    name: 'a sidecar that restarts does not undo initialization',
    pod: { initContainers: [sidecar('s')] },
    statuses: [statusOf('s', 'waiting after 1'), ready],
    says: ['Initialized=True'],
  },
  {
    name: 'a Pod that succeeded is through and ready no more',
    statuses: [statusOf('c', 'exit 0')],
    phase: 'Succeeded',
    says: ['Initialized=True PodCompleted', 'Ready=False PodCompleted', 'ContainersReady=False PodCompleted'],
  },
  {
    name: 'a Pod that failed is not ready',
    statuses: [ready],
    phase: 'Failed',
    says: ['Ready=False PodFailed', 'ContainersReady=False PodFailed'],
  },
];

for (const { name, pod, statuses, phase = 'Running', foreign = [], says } of rows) {
  test(name, () => {
    const claims = claimsOf({ pod: aPod(pod), statuses, phase, hasSandbox: true, foreign });
    const said = claims.map(({ type, status, reason, message }) =>
      [`${type}=${status}`, reason && (message ? `${reason}:` : reason), message].filter(Boolean).join(' '),
    );
    for (const each of says) assert.ok(said.includes(each), `${each} is not among\n${said.join('\n')}`);
  });
}

test('conditions stand in the order Kubernetes lists them in', () => {
  const claims = claimsOf({ pod: aPod(), statuses: [ready], phase: 'Running', hasSandbox: false, foreign: [] });
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
  { name: 'stays while its status does', said: at('False', 1), claimed: 'False', since: '2026-01-01T00:00:01Z' },
  { name: 'changes with its status', said: at('False', 1), claimed: 'True', since: '2001-09-09T01:46:40Z' },
  {
    name: 'is that of whoever said so first',
    said: at('True', 1),
    api: at('False', 2),
    claimed: 'False',
    since: '2026-01-01T00:00:02Z',
  },
  {
    name: 'is not one from before the kubelet said otherwise',
    said: at('False', 2),
    api: at('True', 1),
    claimed: 'True',
    since: '2001-09-09T01:46:40Z',
  },
  {
    name: 'stays where others say otherwise',
    said: at('True', 1),
    api: at('False', 2),
    claimed: 'True',
    since: '2026-01-01T00:00:01Z',
  },
];
for (const { name, said, api, claimed, since } of times) {
  test(`the time of a condition ${name}`, () => {
    const claim = { type: 'Ready', status: claimed, reason: 'B' };
    const { lastTransitionTime } = conditionOf(claim, { said: [said], api: api && [api] }, 1e12);
    assert.equal(lastTransitionTime, since);
  });
}
