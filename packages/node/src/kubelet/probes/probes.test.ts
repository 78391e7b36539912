/** Schedule and results of probes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Probe } from '@kruise/api/core/probe';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { exited, inSandbox, makeContainer, makePod, type PodFixture, running } from '../fixtures.ts';
import { emptyRuntimePod } from '../runtime/runtime-pod.ts';
import { createProbeMetrics } from './probe-metrics.ts';
import { createPodProbes } from './probes.ts';

const ports = { Startup: 1, Liveness: 2, Readiness: 3 } as const;
const probe = (type: keyof typeof ports, more: Partial<Probe> = {}): Probe => ({
  httpGet: { port: ports[type] },
  periodSeconds: 10,
  ...more,
});

/** Returns the probes of a Pod whose container started at 0 s; `answer` returns the outcome at a port and time. */
function checksOf(
  more: Partial<Container>,
  answer: (port: number, second: number) => number = () => 200,
  pod: PodFixture = {},
) {
  const clock = virtualClock(0);
  const asked: string[] = [];
  const events: string[] = [];
  const second = () => clock.now() / 1000;
  const runtime = {
    network: {
      async request({ port }: { port: number }) {
        const status = answer(port, second());
        asked.push(`${Object.keys(ports)[port - 1]} ${second()}`);
        if (status === 0) throw new Error('dial tcp 10.0.0.1:1: connect: connection refused');
        return { status, headers: {}, body: new Uint8Array() };
      },
    },
  } as unknown as NodeRuntime;
  let changes = 0;
  const probes = createPodProbes(makePod({ containers: [makeContainer('c', more)], ...pod }), {
    runtime,
    clock,
    random: { next: () => 0.5 },
    metrics: createProbeMetrics(),
    record: (_, type, reason, message) => void events.push(`${second()} ${type} ${reason}: ${message}`),
    onChange: () => changes++,
  });
  const observe = (runtimePod = inSandbox(running('c', { startedAt: 0 }))) =>
    probes.observe(makePod(), runtimePod, '10.0.0.1');
  /** Starts the container while this kubelet runs. */
  const begin = () => {
    observe(emptyRuntimePod);
    observe();
  };
  return { clock, probes, asked, events, observe, begin, changes: () => changes };
}

type Row = {
  readonly name: string;
  readonly container: Partial<Container>;
  readonly answer?: (port: number, second: number) => number;
  readonly seconds: number;
  readonly asked: readonly string[];
  readonly verdict?: string;
};

const rows: readonly Row[] = [
  {
    name: 'a container is probed at once and then periodically',
    container: { readinessProbe: probe('Readiness') },
    seconds: 25,
    asked: ['Readiness 0', 'Readiness 10', 'Readiness 20'],
    verdict: 'started, ready',
  },
  {
    name: 'the initial delay counts from the start of the container',
    container: { readinessProbe: probe('Readiness', { initialDelaySeconds: 15 }) },
    seconds: 20,
    asked: ['Readiness 15'],
    verdict: 'started, ready',
  },
  {
    name: 'other probes wait for the startup probe',
    container: {
      startupProbe: probe('Startup', { periodSeconds: 2 }),
      livenessProbe: probe('Liveness'),
      readinessProbe: probe('Readiness'),
    },
    answer: (port, second) => (port === ports.Startup && second < 4 ? 0 : 200),
    seconds: 5,
    asked: ['Startup 0', 'Startup 2', 'Startup 4', 'Liveness 4', 'Readiness 4'],
    verdict: 'started, ready, live',
  },
  {
    name: 'a startup probe stops after its success',
    container: { startupProbe: probe('Startup', { periodSeconds: 1 }) },
    seconds: 10,
    asked: ['Startup 0'],
    verdict: 'started, ready',
  },
  {
    name: 'a startup probe stops after its failure',
    container: { startupProbe: probe('Startup', { periodSeconds: 1, failureThreshold: 2 }) },
    answer: () => 500,
    seconds: 10,
    asked: ['Startup 0', 'Startup 1'],
    verdict: 'ready, failed to start',
  },
  {
    name: 'a liveness probe stops after its failure',
    container: { livenessProbe: probe('Liveness', { periodSeconds: 1 }) },
    answer: () => 500,
    seconds: 10,
    asked: ['Liveness 0', 'Liveness 1', 'Liveness 2'],
    verdict: 'started, ready, dead',
  },
  {
    name: 'a readiness probe continues and may succeed again',
    container: { readinessProbe: probe('Readiness', { periodSeconds: 1, failureThreshold: 1 }) },
    answer: (_, second) => (second < 2 ? 500 : 200),
    seconds: 2,
    asked: ['Readiness 0', 'Readiness 1', 'Readiness 2'],
    verdict: 'started, ready',
  },
];
for (const { name, container, answer, seconds, asked, verdict } of rows) {
  test(name, async () => {
    const checks = checksOf(container, answer);
    checks.begin();
    await checks.clock.advanceAsync(seconds * 1000);
    checks.probes.stop();
    assert.deepEqual(checks.asked, asked);
    const { hasStarted, isReady, liveness, startup } = checks.probes;
    const words = [
      ...(hasStarted('c', 'c-0') ? ['started'] : []),
      ...(isReady('c', 'c-0') ? ['ready'] : []),
      ...(liveness('c-0') === 'success' ? ['live'] : liveness('c-0') === 'failure' ? ['dead'] : []),
      ...(startup('c-0') === 'failure' ? ['failed to start'] : []),
    ];
    if (verdict !== undefined) assert.equal(words.join(', '), verdict);
  });
}

test('a new container starts with a new probe state', async () => {
  const checks = checksOf({ readinessProbe: probe('Readiness') });
  checks.begin();
  await checks.clock.advanceAsync(1000);
  assert.equal(checks.probes.isReady('c', 'c-0'), true);
  checks.observe(inSandbox(running('c', { id: 'c-1', startedAt: 1000 }), exited('c', 1)));
  assert.equal(checks.probes.isReady('c', 'c-1'), false);
  await checks.clock.advanceAsync(1000);
  assert.equal(checks.probes.isReady('c', 'c-1'), true);
  checks.probes.stop();
});

test('a container that does not run is not ready and is not probed', async () => {
  const checks = checksOf({ readinessProbe: probe('Readiness', { periodSeconds: 1 }) });
  checks.begin();
  await checks.clock.advanceAsync(500);
  checks.observe(inSandbox(exited('c', 0)));
  assert.equal(checks.probes.isReady('c', 'c-0'), false);
  await checks.clock.advanceAsync(10_000);
  assert.equal(checks.asked.length, 1);
});

test('a terminating Pod has only readiness probes', async () => {
  const checks = checksOf(
    {
      livenessProbe: probe('Liveness', { periodSeconds: 1, failureThreshold: 1 }),
      readinessProbe: probe('Readiness', { periodSeconds: 1, failureThreshold: 1 }),
    },
    (_, second) => (second < 1 ? 200 : 500),
  );
  checks.begin();
  await checks.clock.advanceAsync(500);
  checks.probes.stopLivenessAndStartup();
  await checks.clock.advanceAsync(2000);
  checks.probes.stop();
  assert.deepEqual(checks.asked, ['Liveness 0', 'Readiness 0', 'Readiness 1', 'Readiness 2']);
  assert.equal(checks.probes.liveness('c-0'), 'success');
  assert.equal(checks.probes.isReady('c', 'c-0'), false);
});

test('existing containers are probed with a spread and keep their results', async () => {
  const status = {
    containerStatuses: [
      { name: 'c', containerID: 'x://c-0', ready: true, started: true, restartCount: 0, image: '', imageID: '' },
    ],
  };
  const checks = checksOf({ readinessProbe: probe('Readiness') }, () => 200, { status });
  checks.observe();
  assert.equal(checks.probes.isReady('c', 'c-0'), true);
  await checks.clock.advanceAsync(6000);
  checks.probes.stop();
  assert.deepEqual(checks.asked, ['Readiness 5']);
});

test('each failed probe is recorded, a changed result is reported once', async () => {
  const checks = checksOf({ readinessProbe: probe('Readiness', { periodSeconds: 1 }) }, (_, second) =>
    second === 0 ? 200 : 503,
  );
  checks.begin();
  await checks.clock.advanceAsync(3500);
  checks.probes.stop();
  assert.deepEqual(
    checks.events,
    [1, 2, 3].map((at) => `${at} Warning Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503`),
  );
  assert.equal(checks.changes(), 2);
});
