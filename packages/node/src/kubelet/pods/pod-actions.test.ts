import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exited,
  inSandbox,
  makeContainer,
  makePod,
  makeSandbox,
  type PodFixture,
  running,
  runtimeContainer,
  sidecar,
} from '../fixtures.ts';
import { emptyRuntimePod, type RuntimePod } from '../runtime/runtime-pod.ts';
import { decideActions, type PodActions, type ResizeAction } from './pod-actions.ts';

type Probes = { readonly liveness?: string; readonly startup?: string; readonly started?: string };

type Row = {
  readonly name: string;
  readonly pod?: PodFixture;
  readonly has: RuntimePod;
  readonly probes?: Probes;
  readonly resize?: ResizeAction;
  readonly does: readonly string[];
};

const deleting = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
const never = { restartPolicy: 'Never' } as const;
const onFailure = { restartPolicy: 'OnFailure' } as const;
const two = { containers: [makeContainer('a'), makeContainer('b')] };
const inits = { initContainers: [makeContainer('i'), makeContainer('j')] };
const old = { hash: 'old' };
const deadSandbox = [makeSandbox({ isReady: false })];
const probed = { startupProbe: {}, livenessProbe: {} };

const rows: Row[] = [
  {
    name: 'a new Pod gets a sandbox and its containers',
    has: emptyRuntimePod,
    does: ['kill pod', 'sandbox 0', 'start c'],
  },
  {
    name: 'a Pod with init containers starts with the first',
    pod: inits,
    has: emptyRuntimePod,
    does: ['kill pod', 'sandbox 0', 'init i'],
  },
  { name: 'a running Pod needs no action', has: inSandbox(running('c')), does: [] },
  { name: 'an exited container is restarted', has: inSandbox(exited('c', 0)), does: ['start c'] },
  {
    name: 'a successful container is not restarted with OnFailure',
    pod: { ...onFailure, ...two },
    has: inSandbox(exited('a', 0), running('b')),
    does: [],
  },
  {
    name: 'a failed container is restarted with OnFailure',
    pod: onFailure,
    has: inSandbox(exited('c', 1)),
    does: ['start c'],
  },
  {
    name: 'a failed container is not restarted with Never',
    pod: { ...never, ...two },
    has: inSandbox(exited('a', 1), running('b')),
    does: [],
  },
  { name: 'a Pod with nothing left to run is killed', pod: never, has: inSandbox(exited('c', 1)), does: ['kill pod'] },
  {
    name: 'nothing starts in a terminating Pod',
    pod: { ...deleting, ...two },
    has: inSandbox(running('a'), exited('b', 1)),
    does: [],
  },
  {
    name: 'a container that failed to start is started',
    has: inSandbox(runtimeContainer('c', { state: 'created' })),
    does: ['start c'],
  },
  {
    name: 'a container in unknown state is killed first',
    has: inSandbox(runtimeContainer('c', { state: 'unknown' })),
    does: ['kill c: Container is in "unknown" state, try killing it before restart', 'start c'],
  },
  {
    name: 'a new image restarts a container',
    pod: two,
    has: inSandbox(running('a', old), running('b')),
    does: ['kill a: Container a definition changed, will be restarted', 'start a'],
  },
  {
    name: 'a new image restarts a container whatever the restart policy is',
    pod: never,
    has: inSandbox(running('c', old)),
    does: ['kill c: Container c definition changed, will be restarted', 'start c'],
  },
  {
    name: 'a failed liveness probe restarts a container',
    has: inSandbox(running('c')),
    probes: { liveness: 'c-0' },
    does: ['kill c: Container c failed liveness probe, will be restarted (LivenessProbe)', 'start c'],
  },
  {
    name: 'a failed liveness probe only kills a container with Never',
    pod: never,
    has: inSandbox(running('c')),
    probes: { liveness: 'c-0' },
    does: ['kill pod'],
  },
  {
    name: 'a failed startup probe restarts a container',
    has: inSandbox(running('c')),
    probes: { startup: 'c-0' },
    does: ['kill c: Container c failed startup probe, will be restarted (StartupProbe)', 'start c'],
  },
  {
    name: 'a resize updates a running container',
    has: inSandbox(running('c')),
    resize: 'update',
    does: ['resize c'],
  },
  {
    name: 'a resize may restart a container',
    has: inSandbox(running('c')),
    resize: 'restart',
    does: ['kill c: Container c resize requires restart', 'start c'],
  },
  {
    name: 'a dead sandbox is replaced, and all containers restart',
    pod: inits,
    has: { sandboxes: deadSandbox, containers: [exited('c', 137)] },
    does: ['kill pod', 'replace s0', 'sandbox 1', 'init i'],
  },
  {
    name: 'a sandbox without an IP is replaced',
    has: { sandboxes: [makeSandbox({ ips: [] })], containers: [] },
    does: ['kill pod', 'replace s0', 'sandbox 1', 'start c'],
  },
  {
    name: 'two ready sandboxes are both replaced',
    has: { sandboxes: [makeSandbox({ id: 's1', attempt: 1 }), makeSandbox()], containers: [] },
    does: ['kill pod', 'replace s1', 'sandbox 2', 'start c'],
  },
  {
    name: 'a sandbox with another network mode is not reused',
    pod: { hostNetwork: true },
    has: { sandboxes: [makeSandbox()], containers: [] },
    does: ['kill pod', 'sandbox 1', 'start c'],
  },
  {
    name: 'a Pod with Never that has run gets no new sandbox',
    pod: never,
    has: { sandboxes: deadSandbox, containers: [exited('c', 137)] },
    does: ['kill pod'],
  },
  {
    name: 'a Pod that never had a container may get a new sandbox',
    pod: never,
    has: { sandboxes: deadSandbox, containers: [] },
    does: ['kill pod', 'replace s0', 'sandbox 1', 'start c'],
  },
  {
    name: 'a completed Pod gets no new sandbox',
    pod: onFailure,
    has: { sandboxes: deadSandbox, containers: [exited('c', 0)] },
    does: ['kill pod'],
  },
  {
    name: 'only containers that have not succeeded run in the new sandbox',
    pod: { ...onFailure, ...two },
    has: { sandboxes: deadSandbox, containers: [exited('a', 0), exited('b', 137)] },
    does: ['kill pod', 'replace s0', 'sandbox 1', 'start b'],
  },
  { name: 'init containers run in order', pod: inits, has: inSandbox(running('i')), does: [] },
  {
    name: 'the next init container waits for the first to succeed',
    pod: inits,
    has: inSandbox(exited('i', 0)),
    does: ['init j'],
  },
  {
    name: 'regular containers wait for all init containers',
    pod: inits,
    has: inSandbox(exited('j', 0), exited('i', 0)),
    does: ['start c'],
  },
  {
    name: 'garbage-collected init containers are not run again',
    pod: inits,
    has: inSandbox(exited('j', 0)),
    does: ['start c'],
  },
  { name: 'no init container runs beside regular ones', pod: inits, has: inSandbox(running('c')), does: [] },
  {
    name: 'an init container that failed is retried',
    pod: inits,
    has: inSandbox(exited('i', 1)),
    does: ['init i'],
  },
  {
    name: 'an OOM-killed init container has failed, whatever its exit code',
    pod: inits,
    has: inSandbox(exited('i', 0, { reason: 'OOMKilled' })),
    does: ['init i'],
  },
  {
    name: 'an init container that fails with Never kills the Pod',
    pod: { ...inits, ...never },
    has: inSandbox(exited('i', 1)),
    does: ['kill pod'],
  },
  {
    name: 'the next container waits for a sidecar to start',
    pod: { initContainers: [sidecar('s', probed), makeContainer('i')] },
    has: inSandbox(running('s')),
    does: [],
  },
  {
    name: 'the next container starts after a sidecar has started',
    pod: { initContainers: [sidecar('s', probed), makeContainer('i')] },
    has: inSandbox(running('s')),
    probes: { started: 's-0' },
    does: ['init i'],
  },
  {
    name: 'an exited sidecar restarts while the next init container runs',
    pod: { initContainers: [sidecar('s'), makeContainer('i')] },
    has: inSandbox(running('i'), exited('s', 0)),
    does: ['init s'],
  },
  {
    name: 'a sidecar restarts even with Never',
    pod: { ...never, initContainers: [sidecar('s')] },
    has: inSandbox(running('c'), exited('s', 1)),
    does: ['init s'],
  },
  {
    name: 'a garbage-collected sidecar is started again',
    pod: { initContainers: [sidecar('s')] },
    has: inSandbox(running('c')),
    does: ['init s'],
  },
  {
    name: 'a new image restarts a sidecar',
    pod: { initContainers: [sidecar('s')] },
    has: inSandbox(running('c'), running('s', old)),
    does: ['kill s: Init container s definition changed', 'init s'],
  },
  {
    name: 'a new image does not restart an init container',
    pod: { initContainers: [makeContainer('i')] },
    has: inSandbox(running('i', old)),
    does: [],
  },
  {
    name: 'sidecars do not keep a Pod running',
    pod: { ...never, initContainers: [sidecar('s')] },
    has: inSandbox(exited('c', 0), running('s')),
    does: ['kill pod'],
  },
  {
    name: 'a failed liveness probe restarts a sidecar',
    pod: { initContainers: [sidecar('s', { livenessProbe: {} })] },
    has: inSandbox(running('c'), running('s')),
    probes: { liveness: 's-0' },
    does: ['kill s: Init container s failed liveness probe (LivenessProbe)', 'init s'],
  },
  {
    name: 'an ephemeral container starts in a running Pod',
    pod: { ephemeralContainers: [{ name: 'debug', image: 'debug:1' }] },
    has: inSandbox(running('c')),
    does: ['ephemeral debug'],
  },
  {
    name: 'an ephemeral container starts during initialization',
    pod: { ...inits, ephemeralContainers: [{ name: 'debug', image: 'debug:1' }] },
    has: inSandbox(running('i')),
    does: ['ephemeral debug'],
  },
  {
    name: 'an ephemeral container that was created and never started is started',
    pod: { ephemeralContainers: [{ name: 'debug', image: 'debug:1' }] },
    has: inSandbox(running('c'), runtimeContainer('debug', { state: 'created' })),
    does: ['ephemeral debug'],
  },
  {
    name: 'an ephemeral container is never restarted',
    pod: { ephemeralContainers: [{ name: 'debug', image: 'debug:2' }] },
    has: inSandbox(running('c'), exited('debug', 1)),
    does: [],
  },
];

for (const { name, pod, has, probes, resize = 'none', does } of rows) {
  test(name, () => {
    const actions = decideActions({
      pod: makePod(pod),
      runtimePod: has,
      probes: {
        liveness: (id) => (id === probes?.liveness ? 'failure' : undefined),
        startup: (id) => (id === probes?.startup ? 'failure' : id === probes?.started ? 'success' : undefined),
      },
      resizeActionFor: () => resize,
    });
    assert.deepEqual(summary(actions), does);
  });
}

function summary({
  killsPod,
  createsSandbox,
  sandboxId,
  attempt,
  kills,
  ephemeral,
  init,
  resizes,
  regular,
}: PodActions) {
  return [
    ...(killsPod ? ['kill pod'] : []),
    ...(createsSandbox && sandboxId ? [`replace ${sandboxId}`] : []),
    ...(createsSandbox ? [`sandbox ${attempt}`] : []),
    ...kills.map(({ target, message, reason }) => {
      const why = reason && reason !== 'Unknown' ? ` (${reason})` : '';
      return `kill ${target.name}: ${message}${why}`;
    }),
    ...ephemeral.map(({ name }) => `ephemeral ${name}`),
    ...init.map(({ name }) => `init ${name}`),
    ...resizes.map(({ name }) => `resize ${name}`),
    ...regular.map(({ name }) => `start ${name}`),
  ];
}
