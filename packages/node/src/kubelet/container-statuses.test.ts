import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '@kruise/api/core/pod';
import { containerStatusesOf, type StartFailure } from './container-statuses.ts';
import { aContainer, aPod, exited, found, inSandbox, type PodFixture, running, sidecar, statusOf } from './fixtures.ts';
import { nothingRuns, type RuntimePod } from './runtime-pod.ts';

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly has?: RuntimePod;
  readonly before?: readonly ContainerStatus[];
  readonly fails?: { readonly [container: string]: StartFailure };
  /** Names of containers whose startup probes have not succeeded. */
  readonly unstarted?: readonly string[];
  readonly unready?: readonly string[];
  readonly says: readonly string[];
};

/** A status in a few words: what it is, what it was, how often it was restarted, and what probes say. */
function shown({ name, state, lastState, restartCount, started, ready }: ContainerStatus): string {
  const of = (each: ContainerStatus['state']) => {
    if (each?.waiting) return `waiting ${each.waiting.reason ?? ''}`.trim();
    if (each?.terminated) return `ended ${each.terminated.exitCode} ${each.terminated.reason ?? ''}`.trim();
    return each?.running ? 'running' : '';
  };
  return [
    `${name}: ${of(state)}`,
    ...(of(lastState) ? [`after ${of(lastState)}`] : []),
    ...(restartCount ? [`${restartCount} restarts`] : []),
    ...(started ? ['started'] : []),
    ...(ready ? ['ready'] : []),
  ].join(', ');
}

const failure = { reason: 'ErrImagePull', message: 'no' };

const rows: readonly Row[] = [
  { name: 'nothing is known of a container at first', says: ['c: waiting ContainerCreating'] },
  {
    name: 'a container waits for those that prepare its Pod',
    pod: { initContainers: [aContainer('i')] },
    says: ['i: waiting PodInitializing', 'c: waiting PodInitializing'],
  },
  { name: 'what runs has started and is ready', has: inSandbox(running('c')), says: ['c: running, started, ready'] },
  {
    name: 'what runs has not started before its probe says so',
    has: inSandbox(running('c')),
    unstarted: ['c'],
    says: ['c: running'],
  },
  {
    name: 'what runs is not ready before its probe says so',
    has: inSandbox(running('c')),
    unready: ['c'],
    says: ['c: running, started'],
  },
  { name: 'what ended tells how', has: inSandbox(exited('c', 3)), says: ['c: ended 3 Error'] },
  {
    name: 'what was made and not started waits',
    has: inSandbox(found('c', { state: 'created' })),
    says: ['c: waiting'],
  },
  {
    name: 'what nobody knows the state of waits',
    has: inSandbox(found('c', { state: 'unknown' })),
    says: ['c: waiting'],
  },
  {
    name: 'what ran and nobody knows the state of has ended',
    has: inSandbox(found('c', { state: 'unknown' })),
    before: [statusOf('c', 'running', { restartCount: 1 })],
    says: ['c: ended 137 ContainerStatusUnknown, 2 restarts'],
  },
  {
    name: 'of two containers the newer is told, and how the older ended',
    has: inSandbox(running('c', { id: 'c-1', restartCount: 1 }), exited('c', 2)),
    says: ['c: running, after ended 2 Error, 1 restarts, started, ready'],
  },
  {
    name: 'of three containers the oldest is not told',
    has: inSandbox(running('c', { id: 'c-2', restartCount: 2 }), exited('c', 2, { id: 'c-1' }), exited('c', 9)),
    says: ['c: running, after ended 2 Error, 2 restarts, started, ready'],
  },
  {
    name: 'one that was made and never started is not how the last one ended',
    has: inSandbox(
      found('c', { id: 'c-2', state: 'created', restartCount: 2 }),
      found('c', { id: 'c-1', state: 'created', restartCount: 1 }),
      exited('c', 2),
    ),
    says: ['c: waiting, after ended 2 Error, 2 restarts'],
  },
  {
    name: 'what keeps a container from starting is why it waits',
    fails: { c: failure },
    says: ['c: waiting ErrImagePull'],
  },
  {
    name: 'what keeps a container from starting again goes before how it ended',
    has: inSandbox(exited('c', 1)),
    fails: { c: { reason: 'CrashLoopBackOff', message: 'back-off' } },
    says: ['c: waiting CrashLoopBackOff, after ended 1 Error'],
  },
  {
    name: 'what is not started again does not wait',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(exited('c', 1)),
    fails: { c: failure },
    says: ['c: ended 1 Error'],
  },
  {
    name: 'what ended well and is not started again does not wait',
    pod: { restartPolicy: 'OnFailure' },
    has: inSandbox(exited('c', 0)),
    fails: { c: failure },
    says: ['c: ended 0 Completed'],
  },
  {
    name: 'what ran and is lost has ended, and is counted',
    before: [statusOf('c', 'running', { restartCount: 1 })],
    says: ['c: waiting ContainerCreating, after ended 137 ContainerStatusUnknown, 2 restarts'],
  },
  {
    name: 'what is lost of a Pod that is being deleted is not started again, and not counted',
    pod: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
    before: [statusOf('c', 'running', { restartCount: 1 })],
    says: ['c: waiting ContainerCreating, after ended 137 ContainerStatusUnknown, 1 restarts'],
  },
  {
    name: 'what had ended and is lost is as it was',
    before: [statusOf('c', 'exit 4', { restartCount: 1 })],
    says: ['c: ended 4, 1 restarts'],
  },
  {
    name: 'what was waiting and is lost waits',
    before: [statusOf('c', 'waiting after 4', { restartCount: 1 })],
    says: ['c: waiting ContainerCreating, after ended 4, 1 restarts'],
  },
  {
    name: 'what ended for good does not come back to life',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(running('c')),
    before: [statusOf('c', 'exit 0', { containerID: 'test://c-0' })],
    says: ['c: ended 0'],
  },
  {
    name: 'another container may run after one that ended for good',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(running('c', { id: 'c-1', restartCount: 1 })),
    before: [statusOf('c', 'exit 0', { containerID: 'test://c-0' })],
    says: ['c: running, 1 restarts, started, ready'],
  },
  {
    name: 'an init container is ready when it is through',
    pod: { initContainers: [aContainer('i')] },
    has: inSandbox(exited('i', 0)),
    says: ['i: ended 0 Completed, ready', 'c: waiting PodInitializing'],
  },
  {
    name: 'an init container that runs has started, and is not ready',
    pod: { initContainers: [aContainer('i')] },
    has: inSandbox(running('i')),
    says: ['i: running, started', 'c: waiting PodInitializing'],
  },
  {
    name: 'a sidecar that runs is ready as others are',
    pod: { initContainers: [sidecar('s')] },
    has: inSandbox(running('s')),
    unready: ['s'],
    says: ['s: running, started', 'c: waiting PodInitializing'],
  },
  {
    name: 'containers stand by name, those that prepare in their order',
    pod: {
      initContainers: [aContainer('z'), aContainer('a')],
      containers: [aContainer('y'), aContainer('b')],
      ephemeralContainers: [
        { name: 'x', image: 'x:1' },
        { name: 'd', image: 'd:1' },
      ],
    },
    says: ['z', 'a', 'b', 'y', 'd', 'x'].map((name) => `${name}: waiting PodInitializing`),
  },
];

function statuses({
  pod = {},
  has = nothingRuns,
  before = [],
  fails = {},
  unstarted = [],
  unready = [],
}: Omit<Row, 'name' | 'says'>) {
  const { init, regular, ephemeral } = containerStatusesOf({
    pod: aPod(pod),
    runtimePod: has,
    previous: before,
    failures: new Map(Object.entries(fails)),
    probes: { hasStarted: (name) => !unstarted.includes(name), isReady: (name) => !unready.includes(name) },
    runtimeName: 'test',
    resourcesOf: () => ({}),
  });
  return [...init, ...regular, ...ephemeral];
}

for (const { name, says, ...row } of rows) {
  test(name, () => assert.deepEqual(statuses(row).map(shown), says));
}

test('a status tells what runs, from which image and as whom', () => {
  const user = { uid: 1000, gid: 1000, supplementalGroups: [2000] };
  const [status] = statuses({
    has: inSandbox(running('c', { user, image: 'docker.io/library/c:1', imageRef: 'c@sha256:1' })),
  });
  assert.deepEqual(status, {
    name: 'c',
    state: { running: { startedAt: '1970-01-01T00:00:01Z' } },
    lastState: {},
    ready: true,
    started: true,
    restartCount: 0,
    image: 'docker.io/library/c:1',
    imageID: 'c@sha256:1',
    containerID: 'test://c-0',
    user: { linux: { uid: 1000, gid: 1000, supplementalGroups: [2000] } },
  });
});

test('a status tells how a container ended, and which', () => {
  const [status] = statuses({ has: inSandbox(exited('c', 2, { message: 'oh dear' })) });
  assert.deepEqual(status?.state?.terminated, {
    exitCode: 2,
    reason: 'Error',
    message: 'oh dear',
    startedAt: '1970-01-01T00:00:01Z',
    finishedAt: '1970-01-01T00:00:02Z',
    containerID: 'test://c-0',
  });
});

test('a status tells where volumes are', () => {
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'IfPossible' },
  ];
  const [status] = statuses({ pod: { containers: [aContainer('c', { volumeMounts })] } });
  assert.deepEqual(status?.volumeMounts, [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
  ]);
});
