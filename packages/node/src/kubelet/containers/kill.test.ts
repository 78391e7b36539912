import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type VirtualClock, virtualClock } from '@kruise/values/virtual-clock';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { inSandbox, makeContainer, makePod, type PodFixture, running, sidecar } from '../fixtures.ts';
import type { KillReason } from '../pods/pod-actions.ts';
import { graceSecondsOf, killContainer, killPod } from './kill.ts';

const probe = (terminationGracePeriodSeconds?: number) => ({
  tcpSocket: { port: 80 },
  ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
});

const graceRows: readonly (readonly [name: string, pod: PodFixture, reason: KillReason, seconds: number])[] = [
  ['that of its Pod', { terminationGracePeriodSeconds: 40 }, undefined, 40],
  ['two seconds by default', {}, undefined, 2],
  [
    'that of its deletion',
    { terminationGracePeriodSeconds: 40, metadata: { deletionGracePeriodSeconds: 7 } },
    undefined,
    7,
  ],
  [
    'that of the failed liveness probe',
    { terminationGracePeriodSeconds: 40, containers: [makeContainer('c', { livenessProbe: probe(5) })] },
    'LivenessProbe',
    5,
  ],
  [
    'that of the failed startup probe',
    { containers: [makeContainer('c', { livenessProbe: probe(5), startupProbe: probe(6) })] },
    'StartupProbe',
    6,
  ],
  [
    'that of its Pod if the probe has none',
    { terminationGracePeriodSeconds: 40, containers: [makeContainer('c', { livenessProbe: probe() })] },
    'LivenessProbe',
    40,
  ],
  [
    'that of its Pod if no probe failed',
    { terminationGracePeriodSeconds: 40, containers: [makeContainer('c', { livenessProbe: probe(5) })] },
    undefined,
    40,
  ],
];
for (const [name, fixture, reason, seconds] of graceRows) {
  test(`the grace period of a container is ${name}`, () => {
    const pod = makePod(fixture);
    assert.equal(graceSecondsOf(pod, pod.spec?.containers[0], reason), seconds);
  });
}

/** Records the calls of a runtime whose containers take some time to stop. */
function recordingContext(clock: VirtualClock, stopSeconds: { readonly [container: string]: number } = {}) {
  const calls: string[] = [];
  const recordCall = (what: string) => calls.push(`${clock.now() / 1000}s ${what}`);
  const pass = (seconds: number) => new Promise<void>((resolve) => clock.setTimer(seconds * 1000, resolve));
  const runtime = {
    async stopContainer({ containerId, timeout }: { containerId: string; timeout: number }) {
      const name = containerId.split('-')[0]!;
      recordCall(`stop ${name} ${timeout}`);
      await pass(Math.min(stopSeconds[name] ?? 0, timeout));
      recordCall(`${name} ended`);
    },
    async stopPodSandbox({ podSandboxId }: { podSandboxId: string }) {
      recordCall(`stop sandbox ${podSandboxId}`);
    },
    async execSync({ cmd }: { cmd: readonly string[] }) {
      recordCall(`run ${cmd.join(' ')}`);
      await pass(Number(cmd[1] ?? 0));
      return { exitCode: cmd[0] === 'fail' ? 1 : 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
    },
  } as unknown as NodeRuntime;
  const record = (_: unknown, type: string, reason: string, message: string) =>
    recordCall(`${type} ${reason}: ${message}`);
  return { calls, context: { runtime, clock, record, podIP: () => '10.0.0.1' } };
}

const { signal } = new AbortController();
const hook = (...command: string[]) => ({ lifecycle: { preStop: { exec: { command } } } });

type KillRow = {
  readonly name: string;
  readonly pod: PodFixture;
  readonly graceSeconds?: number;
  readonly stops?: { readonly [container: string]: number };
  readonly expectedCalls: readonly string[];
};

const killRows: readonly KillRow[] = [
  {
    name: 'a container is stopped with its grace period',
    pod: { terminationGracePeriodSeconds: 30 },
    expectedCalls: ['0s Normal Killing: Stopping container c', '0s stop c 30', '0s c ended', '0s stop sandbox s0'],
  },
  {
    name: 'a preStop hook runs first and reduces the grace period, in whole seconds',
    pod: { terminationGracePeriodSeconds: 30, containers: [makeContainer('c', hook('wait', '9.6'))] },
    expectedCalls: [
      '0s Normal Killing: Stopping container c',
      '0s run wait 9.6',
      '9.6s stop c 21',
      '9.6s c ended',
      '9.6s stop sandbox s0',
    ],
  },
  {
    name: 'a hanging preStop hook leaves two seconds',
    pod: { terminationGracePeriodSeconds: 30, containers: [makeContainer('c', hook('wait', '60'))] },
    expectedCalls: [
      '0s Normal Killing: Stopping container c',
      '0s run wait 60',
      '30s stop c 2',
      '30s c ended',
      '30s stop sandbox s0',
    ],
  },
  {
    name: 'a failed preStop hook is recorded, and the container is stopped',
    pod: { terminationGracePeriodSeconds: 30, containers: [makeContainer('c', hook('fail'))] },
    expectedCalls: [
      '0s Normal Killing: Stopping container c',
      '0s run fail',
      '0s Warning FailedPreStopHook: PreStopHook failed',
      '0s stop c 30',
      '0s c ended',
      '0s stop sandbox s0',
    ],
  },
  {
    name: 'a preStop hook does not run without a grace period',
    pod: { containers: [makeContainer('c', hook('wait', '1'))] },
    graceSeconds: 0,
    expectedCalls: ['0s Normal Killing: Stopping container c', '0s stop c 2', '0s c ended', '0s stop sandbox s0'],
  },
  {
    name: 'a requested grace period overrides that of the Pod',
    pod: { terminationGracePeriodSeconds: 30 },
    graceSeconds: 5,
    expectedCalls: ['0s Normal Killing: Stopping container c', '0s stop c 5', '0s c ended', '0s stop sandbox s0'],
  },
  {
    name: 'containers are stopped in parallel, then the sandbox',
    pod: { terminationGracePeriodSeconds: 30, containers: [makeContainer('a'), makeContainer('b')] },
    stops: { a: 3, b: 5 },
    expectedCalls: [
      '0s Normal Killing: Stopping container a',
      '0s stop a 30',
      '0s Normal Killing: Stopping container b',
      '0s stop b 30',
      '3s a ended',
      '5s b ended',
      '5s stop sandbox s0',
    ],
  },
  {
    name: 'sidecars stop after all others in reverse order, but their preStop hooks run at once',
    pod: {
      terminationGracePeriodSeconds: 30,
      initContainers: [sidecar('s', hook('wait', '1')), sidecar('t')],
    },
    stops: { c: 4, t: 3 },
    expectedCalls: [
      '0s Normal Killing: Stopping container c',
      '0s stop c 30',
      '0s Normal Killing: Stopping container s',
      '0s run wait 1',
      '0s Normal Killing: Stopping container t',
      '4s c ended',
      '4s stop t 26',
      '7s t ended',
      '7s stop s 23',
      '7s s ended',
      '7s stop sandbox s0',
    ],
  },
  {
    name: 'a sidecar waits at most for its grace period',
    pod: { terminationGracePeriodSeconds: 10, initContainers: [sidecar('s')] },
    stops: { c: 10 },
    expectedCalls: [
      '0s Normal Killing: Stopping container c',
      '0s stop c 10',
      '0s Normal Killing: Stopping container s',
      '10s c ended',
      '10s stop s 2',
      '10s s ended',
      '10s stop sandbox s0',
    ],
  },
];
for (const { name, pod: fixture, graceSeconds, stops, expectedCalls } of killRows) {
  test(name, async () => {
    const clock = virtualClock();
    const { calls, context } = recordingContext(clock, stops);
    const pod = makePod(fixture);
    const names = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map((each) => each.name);
    const done = killPod(context, pod, inSandbox(...names.map((each) => running(each))), graceSeconds, signal);
    await clock.advanceAsync(120_000);
    await done;
    assert.deepEqual(calls, expectedCalls);
  });
}

test('the reason to kill a container is recorded', async () => {
  const clock = virtualClock();
  const { calls, context } = recordingContext(clock);
  const order = { pod: makePod(), target: running('c'), message: 'Container c failed liveness probe' };
  const done = killContainer(context, order, signal);
  await clock.advanceAsync(1000);
  await done;
  assert.equal(calls[0], '0s Normal Killing: Container c failed liveness probe');
});
