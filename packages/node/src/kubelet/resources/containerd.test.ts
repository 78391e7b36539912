/** Cgroups of Pods with real containers: they need root on Linux, containerd, runc, CNI plugins and BusyBox. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import type { ResourceRequirements } from '@kruise/api/core/resources';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { type Informer, startInformer } from '@kruise/client/informer';
import { isNotFound } from '@kruise/machinery/status';
import { systemClock, systemRandom } from '@kruise/values/system';
import { busyboxImage, type Containerd, startContainerd } from '../../cri/conformance/containerd.ts';
import { onContainerd } from '../../cri/conformance/on-containerd.ts';
import { createGrpcRuntime } from '../../cri/grpc/grpc-runtime.ts';
import { type MachineNode, startMachineNode } from '../../machine-node.ts';
import { defaultLogLimits } from '../eviction/log-rotation.ts';
import { hierarchiesOf } from './cgroup-hierarchies.ts';
import { weightOf } from './cgroup-limits.ts';
import { cgroupPath } from './cgroup-paths.ts';
import { machineCgroups } from './machine-cgroups.ts';

const clock = systemClock;
const Mi = 2 ** 20;

onContainerd('Cgroups of real Pods', (title) => describe(title, { timeout: 120_000 }, testCgroups));

function testCgroups(): void {
  const place = { driver: 'CGROUPFS', root: `/kruise-test-${process.pid}` } as const;
  const { isUnified, mounts } = hierarchiesOf(readFileSync('/proc/self/mountinfo', 'utf8'));
  let containerd: Containerd;
  let server: TestServer;
  let node: MachineNode;
  let pods: Informer<Pod>;
  let running = new AbortController();
  const stop = new AbortController();

  before(async () => {
    containerd = await startContainerd();
    server = await startTestServer();
    const { client } = server;
    await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
    await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
    pods = startInformer(client, clock, systemRandom, podKind, {}, stop.signal);
    await startKubelet();
  });

  after(async () => {
    running.abort();
    await node?.kubelet.stopped;
    // The kubelet has closed its own connection.
    const runtime = createGrpcRuntime({ clock, endpoint: containerd.endpoint, signal: stop.signal });
    for (const { id } of (await runtime.listPodSandbox({})).items) {
      await runtime.stopPodSandbox({ podSandboxId: id });
      await runtime.removePodSandbox({ podSandboxId: id });
    }
    stop.abort();
    await server.close();
    await containerd.dispose();
    await machineCgroups(clock).remove(place.root);
  });

  async function startKubelet(): Promise<void> {
    running = new AbortController();
    node = await startMachineNode(
      {
        client: server.clientOf({ username: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }),
        clock,
        random: systemRandom,
        nodeName: 'node-1',
        endpoint: containerd.endpoint,
        address: '127.0.0.1',
        maxPods: 10,
        logLimits: defaultLogLimits,
        reserved: { memory: '128Mi', cpu: '100m' },
        settings: {
          rootDirectory: join(containerd.directory, 'kubelet'),
          podLogsDirectory: join(containerd.directory, 'pods'),
          containerLogsDirectory: join(containerd.directory, 'containers'),
          cgroupRoot: place.root,
          clusterDns: [],
          clusterDomain: 'cluster.local',
        },
        resources: {
          kubeReserved: { memory: '64Mi', cpu: '100m' },
          systemReserved: { memory: '64Mi' },
          podPidsLimit: 200,
        },
      },
      running.signal,
    );
    await node.kubelet.registered;
  }

  async function create(name: string, resources: ResourceRequirements, spec: Partial<PodSpec> = {}): Promise<Pod> {
    await server.client.create(podKind, {
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: 'node-1',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: busyboxImage, command: ['sleep', '3600'], resources }],
        ...spec,
      },
    });
    return until(name, ({ status }) => status?.containerStatuses?.[0]?.state?.running !== undefined);
  }

  function until(name: string, predicate: (pod: Pod) => boolean): Promise<Pod> {
    return new Promise((resolve) => {
      const found = new AbortController();
      pods.handle(
        ({ type, object }) => {
          if (object.metadata.name !== name || type === 'deleted' || !predicate(object)) return;
          found.abort();
          resolve(object);
        },
        { signal: found.signal },
      );
    });
  }

  /** Waits for something outside of the API server. */
  async function eventually<T>(read: () => T | Promise<T>, expected: T): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const found = await read();
      if (JSON.stringify(found) === JSON.stringify(expected)) return;
      if (attempt === 100) assert.deepEqual(found, expected);
      await new Promise((resolve) => clock.setTimer(100, () => resolve(undefined)));
    }
  }

  async function remove(name: string): Promise<void> {
    await server.client.delete(podKind, { name, namespace: 'default' });
    await eventually(
      () =>
        server.client.get(podKind, { name, namespace: 'default' }).then(
          () => 'there',
          (error) => (isNotFound(error) ? 'gone' : String(error)),
        ),
      'gone',
    );
  }

  const mountOf = (controller: string) =>
    isUnified ? mounts[0]! : mounts.find(({ controllers }) => controllers.includes(controller))!;
  const pathOf = (controller: string, names: readonly string[]) =>
    `${mountOf(controller).path}${cgroupPath(place, ['kubepods', ...names])}`;
  const read = (controller: string, names: readonly string[], [v1, v2]: readonly [string, string]) =>
    readFileSync(join(pathOf(controller, names), isUnified ? v2 : v1), 'utf8').trim();
  const sharesOf = (names: readonly string[]) => read('cpu', names, ['cpu.shares', 'cpu.weight']);
  const memoryOf = (names: readonly string[]) => read('memory', names, ['memory.limit_in_bytes', 'memory.max']);
  const quotaOf = (names: readonly string[]) => read('cpu', names, ['cpu.cfs_quota_us', 'cpu.max']).split(' ')[0];
  const pidsOf = (names: readonly string[]) => read('pids', names, ['pids.max', 'pids.max']);
  const shares = (value: number) => String(isUnified ? weightOf(value) : value);
  const noQuota = isUnified ? 'max' : '-1';
  const cgroupsOf = (pod: Pod) =>
    mounts.flatMap(({ path }) =>
      ['', 'burstable', 'besteffort']
        .map((tier) => `${path}${place.root}/kubepods/${tier}/pod${pod.metadata.uid}`)
        .filter(existsSync),
    );
  const nameOf = ({ metadata }: Pod) => `pod${metadata.uid}`;

  test('all Pods together are limited to the machine without the reserved resources', async () => {
    const [, kibibytes] = /^MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))!;
    const limit = Number(kibibytes) * 1024 - 128 * Mi;
    await eventually(() => memoryOf([]), String(limit));
    await eventually(
      async () =>
        (await server.client.list(event, { namespace: 'default' })).items
          .filter(({ reason }) => reason === 'NodeAllocatableEnforced')
          .map(({ message }) => message),
      ['Updated Node Allocatable limit across pods'],
    );
  });

  test('a Guaranteed Pod has the sum of its limits', async () => {
    const amounts = { cpu: '100m', memory: '64Mi' };
    const pod = await create('guaranteed', { requests: amounts, limits: amounts });
    const names = [nameOf(pod)];
    assert.deepEqual(
      [sharesOf(names), quotaOf(names), memoryOf(names), pidsOf(names)],
      [shares(102), '10000', String(64 * Mi), '200'],
    );
    // The container and the sandbox are below.
    assert.equal(
      readdirSync(pathOf('memory', names), { withFileTypes: true }).filter((each) => each.isDirectory()).length,
      2,
    );
  });

  test('a Burstable Pod has its requests, and its class the sum of them', async () => {
    const pod = await create('burstable', { requests: { cpu: '300m', memory: '16Mi' }, limits: { memory: '32Mi' } });
    const names = ['burstable', nameOf(pod)];
    assert.deepEqual([sharesOf(names), quotaOf(names), memoryOf(names)], [shares(307), noQuota, String(32 * Mi)]);
    assert.equal(sharesOf(['burstable']), shares(307));
    await create('burstable-2', { requests: { cpu: '200m' } });
    assert.equal(sharesOf(['burstable']), shares(512));
    await remove('burstable-2');
    assert.equal(sharesOf(['burstable']), shares(307));
  });

  test('a BestEffort Pod has the smallest share', async () => {
    const pod = await create('besteffort', {});
    assert.deepEqual([sharesOf(['besteffort']), sharesOf(['besteffort', nameOf(pod)])], [shares(2), shares(2)]);
    assert.equal(pidsOf(['besteffort', nameOf(pod)]), '200');
  });

  test('a container that uses more memory than its limit is killed', async () => {
    await create(
      'hog',
      { limits: { memory: '24Mi' } },
      {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'c',
            image: busyboxImage,
            // The output of yes is one line, which tail keeps in memory.
            command: ['sh', '-c', 'sleep 1; yes | tr -d "\\n" | tail -n 1'],
            resources: { limits: { memory: '24Mi' } },
          },
        ],
      },
    );
    const { status } = await until('hog', ({ status }) => status?.containerStatuses?.[0]?.state?.terminated != null);
    const { reason, exitCode } = status?.containerStatuses?.[0]?.state?.terminated ?? {};
    assert.deepEqual({ reason, exitCode }, { reason: 'OOMKilled', exitCode: 137 });
  });

  for (const [title, cpu, memory, expected] of [
    ['grows', '300m', '96Mi', [shares(307), '30000', String(96 * Mi)]],
    ['shrinks', '200m', '96Mi', [shares(204), '20000', String(96 * Mi)]],
  ] as const) {
    test(`the cgroup of a Pod ${title} with its container`, async () => {
      const { metadata } = await server.client.get(podKind, { name: 'guaranteed', namespace: 'default' });
      const amounts = { cpu, memory };
      await server.client.patch(
        podKind,
        { name: 'guaranteed', namespace: 'default' },
        { spec: { containers: [{ name: 'c', resources: { requests: amounts, limits: amounts } }] } },
        { type: 'strategic', subresource: 'resize' },
      );
      const names = [`pod${metadata.uid}`];
      await eventually(() => [sharesOf(names), quotaOf(names), memoryOf(names)], [...expected]);
      const pod = await server.client.get(podKind, { name: 'guaranteed', namespace: 'default' });
      const id = pod.status?.containerStatuses?.[0]?.containerID?.split('//')[1] ?? '';
      await eventually(() => quotaOf([...names, id]), expected[1]);
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
    });
  }

  test('a restarted kubelet leaves the cgroups as they are', async () => {
    const { metadata } = await server.client.get(podKind, { name: 'guaranteed', namespace: 'default' });
    running.abort();
    await node.kubelet.stopped;
    await startKubelet();
    await eventually(() => node.kubelet.find('default', 'guaranteed')?.runtimePod().containers.length, 1);
    const names = [`pod${metadata.uid}`];
    assert.deepEqual([quotaOf(names), memoryOf(names)], ['20000', String(96 * Mi)]);
    await eventually(() => sharesOf(['burstable']) !== shares(2), true);
    const pod = await server.client.get(podKind, { name: 'guaranteed', namespace: 'default' });
    assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 0);
  });

  test('a deleted Pod leaves no cgroup and no process behind', async () => {
    const pod = await server.client.get(podKind, { name: 'besteffort', namespace: 'default' });
    // A process that has escaped from its container, as one of a broken runtime.
    const escaped = spawn('sleep', ['3600'], { stdio: 'ignore' });
    const exited = new Promise((resolve) => escaped.once('exit', (_, signal) => resolve(signal)));
    writeFileSync(join(pathOf('memory', ['besteffort', nameOf(pod)]), 'cgroup.procs'), String(escaped.pid));
    for (const name of ['guaranteed', 'burstable', 'besteffort', 'hog']) {
      const { metadata } = await server.client.get(podKind, { name, namespace: 'default' });
      await remove(name);
      await eventually(() => cgroupsOf({ ...pod, metadata }), []);
    }
    assert.equal(await exited, 'SIGKILL');
  });

  test('the cgroup of an unknown Pod is removed', async () => {
    const orphan = cgroupPath(place, ['kubepods', 'burstable', 'pod00000000-1111-2222-3333-444444444444']);
    const cgroups = machineCgroups(clock);
    await cgroups.create(orphan);
    await eventually(() => cgroups.exists(orphan), false);
  });
}
