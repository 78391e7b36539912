import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus } from '@kruise/api/core/pod';
import {
  exited,
  inSandbox,
  makeContainer,
  makePod,
  type PodFixture,
  running,
  runtimeContainer,
  sidecar,
  statusOf,
} from '../fixtures.ts';
import { emptyRuntimePod, type RuntimePod } from '../runtime/runtime-pod.ts';
import { containerStatusesOf, type StartFailure } from './container-statuses.ts';

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly has?: RuntimePod;
  readonly before?: readonly ContainerStatus[];
  readonly fails?: { readonly [container: string]: StartFailure };
  /** Names of containers whose startup probes have not succeeded. */
  readonly unstarted?: readonly string[];
  readonly unready?: readonly string[];
  readonly expected: readonly string[];
};

/** Summarizes a status: state, last state, restart count and probe results. */
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
  { name: 'a container without runtime state is ContainerCreating', expected: ['c: waiting ContainerCreating'] },
  {
    name: 'a container of a Pod with init containers is PodInitializing',
    pod: { initContainers: [makeContainer('i')] },
    expected: ['i: waiting PodInitializing', 'c: waiting PodInitializing'],
  },
  {
    name: 'a running container without probes has started and is ready',
    has: inSandbox(running('c')),
    expected: ['c: running, started, ready'],
  },
  {
    name: 'a running container has not started before its startup probe succeeds',
    has: inSandbox(running('c')),
    unstarted: ['c'],
    expected: ['c: running'],
  },
  {
    name: 'a running container is not ready before its readiness probe succeeds',
    has: inSandbox(running('c')),
    unready: ['c'],
    expected: ['c: running, started'],
  },
  { name: 'an exited container is terminated', has: inSandbox(exited('c', 3)), expected: ['c: ended 3 Error'] },
  {
    name: 'a created container is waiting',
    has: inSandbox(runtimeContainer('c', { state: 'created' })),
    expected: ['c: waiting'],
  },
  {
    name: 'a container of unknown state is waiting',
    has: inSandbox(runtimeContainer('c', { state: 'unknown' })),
    expected: ['c: waiting'],
  },
  {
    name: 'a running container that becomes unknown is terminated',
    has: inSandbox(runtimeContainer('c', { state: 'unknown' })),
    before: [statusOf('c', 'running', { restartCount: 1 })],
    expected: ['c: ended 137 ContainerStatusUnknown, 2 restarts'],
  },
  {
    name: 'the newer of two instances is the state, the older one the last state',
    has: inSandbox(running('c', { id: 'c-1', restartCount: 1 }), exited('c', 2)),
    expected: ['c: running, after ended 2 Error, 1 restarts, started, ready'],
  },
  {
    name: 'the oldest of three instances is not reported',
    has: inSandbox(running('c', { id: 'c-2', restartCount: 2 }), exited('c', 2, { id: 'c-1' }), exited('c', 9)),
    expected: ['c: running, after ended 2 Error, 2 restarts, started, ready'],
  },
  {
    name: 'an instance that never started is not the last state',
    has: inSandbox(
      runtimeContainer('c', { id: 'c-2', state: 'created', restartCount: 2 }),
      runtimeContainer('c', { id: 'c-1', state: 'created', restartCount: 1 }),
      exited('c', 2),
    ),
    expected: ['c: waiting, after ended 2 Error, 2 restarts'],
  },
  {
    name: 'a start failure is the waiting reason',
    fails: { c: failure },
    expected: ['c: waiting ErrImagePull'],
  },
  {
    name: 'a start failure replaces the terminated state',
    has: inSandbox(exited('c', 1)),
    fails: { c: { reason: 'CrashLoopBackOff', message: 'back-off' } },
    expected: ['c: waiting CrashLoopBackOff, after ended 1 Error'],
  },
  {
    name: 'a container that does not restart is not waiting',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(exited('c', 1)),
    fails: { c: failure },
    expected: ['c: ended 1 Error'],
  },
  {
    name: 'a successful container that does not restart is not waiting',
    pod: { restartPolicy: 'OnFailure' },
    has: inSandbox(exited('c', 0)),
    fails: { c: failure },
    expected: ['c: ended 0 Completed'],
  },
  {
    name: 'a lost running container is terminated and counted as a restart',
    before: [statusOf('c', 'running', { restartCount: 1 })],
    expected: ['c: waiting ContainerCreating, after ended 137 ContainerStatusUnknown, 2 restarts'],
  },
  {
    name: 'a lost container of a terminating Pod is not counted as a restart',
    pod: { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
    before: [statusOf('c', 'running', { restartCount: 1 })],
    expected: ['c: waiting ContainerCreating, after ended 137 ContainerStatusUnknown, 1 restarts'],
  },
  {
    name: 'a lost terminated container stays terminated',
    before: [statusOf('c', 'exit 4', { restartCount: 1 })],
    expected: ['c: ended 4, 1 restarts'],
  },
  {
    name: 'a lost waiting container stays waiting',
    before: [statusOf('c', 'waiting after 4', { restartCount: 1 })],
    expected: ['c: waiting ContainerCreating, after ended 4, 1 restarts'],
  },
  {
    name: 'a container with a final status does not run again',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(running('c')),
    before: [statusOf('c', 'exit 0', { containerID: 'test://c-0' })],
    expected: ['c: ended 0'],
  },
  {
    name: 'a new instance may run after a final status',
    pod: { restartPolicy: 'Never' },
    has: inSandbox(running('c', { id: 'c-1', restartCount: 1 })),
    before: [statusOf('c', 'exit 0', { containerID: 'test://c-0' })],
    expected: ['c: running, 1 restarts, started, ready'],
  },
  {
    name: 'an init container is ready when it has completed',
    pod: { initContainers: [makeContainer('i')] },
    has: inSandbox(exited('i', 0)),
    expected: ['i: ended 0 Completed, ready', 'c: waiting PodInitializing'],
  },
  {
    name: 'a running init container has started and is not ready',
    pod: { initContainers: [makeContainer('i')] },
    has: inSandbox(running('i')),
    expected: ['i: running, started', 'c: waiting PodInitializing'],
  },
  {
    name: 'a running sidecar is ready like a regular container',
    pod: { initContainers: [sidecar('s')] },
    has: inSandbox(running('s')),
    unready: ['s'],
    expected: ['s: running, started', 'c: waiting PodInitializing'],
  },
  {
    name: 'container statuses are sorted by name, init containers by order',
    pod: {
      initContainers: [makeContainer('z'), makeContainer('a')],
      containers: [makeContainer('y'), makeContainer('b')],
      ephemeralContainers: [
        { name: 'x', image: 'x:1' },
        { name: 'd', image: 'd:1' },
      ],
    },
    expected: ['z', 'a', 'b', 'y', 'd', 'x'].map((name) => `${name}: waiting PodInitializing`),
  },
];

function statuses({
  pod = {},
  has = emptyRuntimePod,
  before = [],
  fails = {},
  unstarted = [],
  unready = [],
  supportsRecursiveReadOnly = true,
}: Omit<Row, 'name' | 'expected'> & { readonly supportsRecursiveReadOnly?: boolean }) {
  const { init, regular, ephemeral } = containerStatusesOf({
    pod: makePod(pod),
    runtimePod: has,
    previous: before,
    failures: new Map(Object.entries(fails)),
    probes: { hasStarted: (name) => !unstarted.includes(name), isReady: (name) => !unready.includes(name) },
    runtimeName: 'test',
    supportsRecursiveReadOnly,
    resourcesOf: () => ({}),
  });
  return [...init, ...regular, ...ephemeral];
}

for (const { name, expected, ...row } of rows) {
  test(name, () => assert.deepEqual(statuses(row).map(shown), expected));
}

test('a status reports the container ID, the image and the user', () => {
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

test('a status reports exit code and container ID of a terminated container', () => {
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

test('a status reports volume mounts', () => {
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'IfPossible' },
  ];
  const [status] = statuses({ pod: { containers: [makeContainer('c', { volumeMounts })] } });
  assert.deepEqual(status?.volumeMounts, [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'c', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
  ]);
  const [degraded] = statuses({
    pod: { containers: [makeContainer('c', { volumeMounts })] },
    supportsRecursiveReadOnly: false,
  });
  assert.equal(degraded?.volumeMounts?.[2]?.recursiveReadOnly, 'Disabled');
});
