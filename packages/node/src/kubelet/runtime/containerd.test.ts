/** Kubelet tests with real containers: they need root on Linux, containerd, runc, CNI plugins and a static BusyBox. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import type { Container } from '@kruise/api/core/container';
import { namespace } from '@kruise/api/core/namespace';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { secret } from '@kruise/api/core/secret';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { csiDriver } from '@kruise/api/storage/csidriver';
import { startTestServer, type TestServer } from '@kruise/apiserver/testing/test-server';
import { type Informer, startInformer } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { isPodReady } from '@kruise/machinery/pods';
import { systemClock, systemRandom } from '@kruise/values/system';
import { busyboxImage, type Containerd, otherImage, startContainerd } from '../../cri/conformance/containerd.ts';
import { onContainerd } from '../../cri/conformance/on-containerd.ts';
import { createGrpcRuntime } from '../../cri/grpc/grpc-runtime.ts';
import { mountsBelow } from '../../cri/machine/mounts.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';
import { defaultLogLimits, rotateLogs } from '../eviction/log-rotation.ts';
import { createKubelet, type Kubelet } from '../kubelet.ts';
import { hasUnifiedCgroups } from '../node/machine.ts';
import { parseRequestTarget } from '../server/request-target.ts';
import { startCsiDriver } from '../testing/csi-driver.ts';

onContainerd('Pods of real containers', (title) => describe(title, testPods));

const clock = systemClock;

function testPods(): void {
  let containerd: Containerd;
  let server: TestServer;
  let runtime: NodeRuntime;
  let kubelet: Kubelet;
  let pods: Informer<Pod>;
  let running = new AbortController();
  const stop = new AbortController();

  before(async () => {
    containerd = await startContainerd('bridge');
    server = await startTestServer();
    const { client } = server;
    await client.create(namespace, { metadata: { name: 'kube-node-lease' } }).catch(() => {});
    await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'default' } });
    await client.create(configMap, { metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'red' } });
    runtime = createGrpcRuntime({ clock, endpoint: containerd.endpoint, signal: stop.signal });
    pods = startInformer(client, clock, systemRandom, podKind, {}, stop.signal);
    await startKubelet();
  });

  after(async () => {
    // No container may keep running, even after a failure.
    running.abort();
    await kubelet?.stopped;
    for (const { id } of (await runtime.listPodSandbox({})).items) {
      await runtime.stopPodSandbox({ podSandboxId: id });
      await runtime.removePodSandbox({ podSandboxId: id });
    }
    stop.abort();
    await server.close();
    await containerd.dispose();
  });

  async function startKubelet(): Promise<void> {
    running = new AbortController();
    kubelet = createKubelet(
      {
        client: server.clientOf({ username: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }),
        clock,
        random: systemRandom,
        runtime,
        nodeName: 'node-1',
        addresses: ['127.0.0.1'],
        hasPlugins: true,
        settings: {
          hasUnifiedCgroups: hasUnifiedCgroups(),
          rootDirectory: join(containerd.directory, 'kubelet'),
          podLogsDirectory: join(containerd.directory, 'pods'),
          containerLogsDirectory: join(containerd.directory, 'containers'),
        },
      },
      running.signal,
    );
    await kubelet.registered;
  }

  /** Creates a Pod of one container and waits for a condition. */
  async function run(
    name: string,
    container: Partial<Container>,
    what: (pod: Pod) => boolean,
    spec: Partial<PodSpec> = {},
  ): Promise<Pod> {
    await server.client.create(podKind, {
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: 'node-1',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'c', image: busyboxImage, ...container }],
        ...spec,
      },
    });
    return until(name, what);
  }

  function until(name: string, what: (pod: Pod) => boolean): Promise<Pod> {
    return new Promise((resolve) => {
      const found = new AbortController();
      pods.handle(
        ({ type, object }) => {
          if (object.metadata.name !== name || type === 'deleted' || !what(object)) return;
          found.abort();
          resolve(object);
        },
        { signal: found.signal },
      );
    });
  }

  async function remove(name: string): Promise<void> {
    // A kubelet that was just started does not know its Pods at once.
    while (!kubelet.find('default', name)) await new Promise((resolve) => setTimeout(resolve, 20));
    const worker = kubelet.find('default', name);
    const gone = new Promise<void>((resolve) => {
      pods.handle(({ type, object }) => {
        if (type === 'deleted' && object.metadata.name === name) resolve();
      });
    });
    await server.client.delete(podKind, { name, namespace: 'default' });
    await gone;
    // The worker ends after its Pod object is deleted.
    await worker?.gone;
  }

  async function logOf(name: string, query = ''): Promise<string> {
    const path = `/containerLogs/default/${name}/c${query}`;
    const request = { method: 'GET', target: parseRequestTarget(path), headers: {}, signal: stop.signal };
    const { code, body } = await kubelet.handler.send(request);
    assert.equal(code, 200);
    return text(body);
  }

  const shell = (script: string) => ({ command: ['sh', '-c', script] });
  const statusOf = ({ status }: Pod) => status?.containerStatuses?.[0];

  test('run and terminate', async () => {
    const volumes = [{ name: 'settings', configMap: { name: 'settings' } }];
    const initContainers = [{ name: 'init', image: busyboxImage, command: ['true'] }];
    const pod = await run(
      'web',
      {
        ...shell('echo hello; cat /settings/colour; echo; sleep 1000'),
        volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
        readinessProbe: { exec: { command: ['cat', '/settings/colour'] }, periodSeconds: 1 },
      },
      isPodReady,
      { hostNetwork: true, volumes, initContainers },
    );
    assert.match(statusOf(pod)?.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
    assert.equal(pod.status?.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
    assert.equal(await logOf('web'), 'hello\nred\n');
    await remove('web');
  });

  test('mount subPaths of volumes, which are unmounted with the Pod', async () => {
    const data = { name: 'data', mountPath: '/data' };
    const script = 'mkdir /data/part; echo inside > /data/part/file; ln -s part /data/link';
    const pod = await run(
      'parts',
      {
        ...shell('cat /part/file /linked/file /colour; echo; sleep 1000'),
        volumeMounts: [
          { name: 'data', mountPath: '/part', subPath: 'part' },
          { name: 'data', mountPath: '/linked', subPath: 'link' },
          { name: 'settings', mountPath: '/colour', subPath: 'colour' },
        ],
        readinessProbe: { exec: { command: ['cat', '/colour'] }, periodSeconds: 1 },
      },
      isPodReady,
      {
        hostNetwork: true,
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'settings', configMap: { name: 'settings' } },
        ],
        initContainers: [{ name: 'init', image: busyboxImage, ...shell(script), volumeMounts: [data] }],
      },
    );
    assert.equal(await logOf('parts'), 'inside\ninside\nred\n');
    const directory = join(containerd.directory, 'kubelet/pods', pod.metadata.uid ?? '');
    assert.equal((await mountsBelow(directory)).length, 3);
    await remove('parts');
    assert.deepEqual(await mountsBelow(directory), []);
    assert.equal(await runtime.files.stat(directory), undefined);
  });

  test('have volumes in memory of a limited size, which survive a restart of the kubelet', async () => {
    const { client } = server;
    const data = { password: Buffer.from('hush').toString('base64') };
    await client.create(secret, { metadata: { name: 'login', namespace: 'default' }, data });
    const directory = join(containerd.directory, 'kubelet');
    const before = await mountsBelow(directory);
    await run(
      'memory',
      {
        ...shell('cat /login/password; echo; grep -E " /(login|fast|part) " /proc/mounts; sleep 1000'),
        volumeMounts: [
          { name: 'login', mountPath: '/login' },
          { name: 'fast', mountPath: '/fast' },
          { name: 'fast', mountPath: '/part', subPath: 'a/b' },
        ],
        readinessProbe: { exec: { command: ['cat', '/login/password'] }, periodSeconds: 1 },
      },
      isPodReady,
      {
        volumes: [
          { name: 'login', secret: { secretName: 'login' } },
          { name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        ],
      },
    );
    const [first, ...table] = (await logOf('memory')).trim().split('\n');
    assert.equal(first, 'hush');
    const kinds = table.map((line) => /^\S+ (\S+) (\S+).*?(size=\w+|$)/.exec(line)?.slice(1).join(' '));
    assert.match(kinds.find((line) => line?.startsWith('/login')) ?? '', /^\/login tmpfs/);
    assert.match(kinds.find((line) => line?.startsWith('/fast')) ?? '', /^\/fast tmpfs size=1024k/);
    assert.match(kinds.find((line) => line?.startsWith('/part')) ?? '', /^\/part tmpfs size=1024k/);
    const during = await mountsBelow(directory);
    assert.equal(during.length - before.length, 3);
    running.abort();
    await kubelet.stopped;
    await startKubelet();
    await until('memory', isPodReady);
    assert.deepEqual(await mountsBelow(directory), during);
    await remove('memory');
    assert.deepEqual(await mountsBelow(directory), before);
  });

  test('have volumes of CSI drivers, which a restarted kubelet unmounts', async () => {
    const { client } = server;
    const directory = join(containerd.directory, 'kubelet');
    const before = await mountsBelow(directory);
    const driver = await startCsiDriver({
      name: 'files.csi.example.com',
      directory: join(containerd.directory, 'driver'),
      registry: join(directory, 'plugins_registry'),
      mounts: true,
    });
    try {
      await client.create(csiDriver, { metadata: { name: 'files.csi.example.com' }, spec: { attachRequired: false } });
      const claim = { name: 'data', namespace: 'default' };
      const capacity = { storage: '1Gi' };
      const accessModes = ['ReadWriteOnce' as const];
      await client.create(persistentVolume, {
        metadata: { name: 'disk' },
        spec: {
          capacity,
          accessModes,
          // As the binder sets it: a node may read only volumes of its Pods.
          claimRef: claim,
          csi: { driver: 'files.csi.example.com', volumeHandle: 'v1', fsType: 'ext4' },
        },
      });
      await client.create(persistentVolumeClaim, {
        metadata: claim,
        spec: { accessModes, volumeName: 'disk', resources: { requests: capacity } },
      });
      const bound = { status: { phase: 'Bound', capacity } };
      await client.patch(persistentVolumeClaim, claim, bound, { type: 'merge', subresource: 'status' });
      await run(
        'csi',
        {
          ...shell('echo kept > /data/file; ls -ld /data; sleep 1000'),
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
          readinessProbe: { exec: { command: ['cat', '/data/file'] }, periodSeconds: 1 },
        },
        isPodReady,
        {
          securityContext: { fsGroup: 4321 },
          volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        },
      );
      assert.match(await logOf('csi'), /^drwxrws\S+ .* 4321 /);
      assert.equal(Buffer.from(await runtime.files.readFile(`${driver.dataOf('v1')}/file`)).toString(), 'kept\n');
      const during = await mountsBelow(directory);
      assert.equal(during.length - before.length, 2);
      running.abort();
      await kubelet.stopped;
      await startKubelet();
      await remove('csi');
      assert.deepEqual(await mountsBelow(directory), before);
      assert.equal(Buffer.from(await runtime.files.readFile(`${driver.dataOf('v1')}/file`)).toString(), 'kept\n');
    } finally {
      await driver.close();
    }
  });

  test('cannot mount the node’s files through symbolic links in their volumes', async () => {
    const plant = { ...shell('ln -s /etc /data/link'), volumeMounts: [{ name: 'data', mountPath: '/data' }] };
    const pod = await run(
      'links',
      { ...shell('sleep 1000'), volumeMounts: [{ name: 'data', mountPath: '/host', subPath: 'link' }] },
      (found) => statusOf(found)?.state?.waiting?.reason === 'CreateContainerConfigError',
      {
        hostNetwork: true,
        volumes: [{ name: 'data', emptyDir: {} }],
        initContainers: [{ name: 'init', image: busyboxImage, ...plant }],
      },
    );
    assert.match(statusOf(pod)?.state?.waiting?.message ?? '', /^failed to prepare subPath for volumeMount "data"/);
    await remove('links');
  });

  test('have IPs at which probes and other Pods reach them', async () => {
    const httpGet = { path: '/index.html', port: 8080 };
    const served = await run(
      'server',
      {
        ...shell('mkdir /www; echo served > /www/index.html; exec httpd -f -p 8080 -h /www'),
        readinessProbe: { httpGet, periodSeconds: 1 },
        livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 1, initialDelaySeconds: 1 },
      },
      isPodReady,
    );
    const { podIP = '' } = served.status ?? {};
    assert.match(podIP, /^10\.244\.250\.\d+$/);
    const asking = await run('client', shell(`wget -qO- http://${podIP}:8080/index.html`), isOver, {
      restartPolicy: 'Never',
    });
    assert.equal(asking.status?.phase, 'Succeeded');
    assert.equal(await logOf('client'), 'served\n');
    assert.notEqual(asking.status?.podIP, podIP);
    await Promise.all(['server', 'client'].map(remove));
  });

  test('that crash restart with backoff and report their exit', async () => {
    const crashed = await run('crash', shell('echo run; exit 3'), (pod) => {
      return statusOf(pod)?.restartCount === 1 && statusOf(pod)?.state?.waiting !== undefined;
    });
    const { state, lastState } = statusOf(crashed)!;
    assert.equal(state?.waiting?.reason, 'CrashLoopBackOff');
    assert.deepEqual([lastState?.terminated?.exitCode, lastState?.terminated?.reason], [3, 'Error']);
    assert.equal(await logOf('crash'), 'run\n');
    await remove('crash');
  });

  test('have the termination message in their status', async () => {
    const over = await run('words', shell('printf why > /dev/termination-log; exit 4'), isOver, {
      restartPolicy: 'Never',
    });
    const { terminated } = statusOf(over)?.state ?? {};
    assert.deepEqual([over.status?.phase, terminated?.exitCode, terminated?.message], ['Failed', 4, 'why']);
    await remove('words');
  });

  test('receive SIGTERM and their grace period', async () => {
    const path = join(containerd.directory, 'bye');
    await runtime.files.makeDirectory(path);
    await run(
      'polite',
      {
        ...shell('trap "echo bye >> /out/said; exit 0" TERM; echo up; while true; do sleep 0.1; done'),
        lifecycle: { preStop: { exec: { command: ['sh', '-c', 'echo stopping >> /out/said'] } } },
        volumeMounts: [{ name: 'out', mountPath: '/out' }],
      },
      isPodReady,
      { terminationGracePeriodSeconds: 20, volumes: [{ name: 'out', hostPath: { path } }] },
    );
    await remove('polite');
    assert.equal(Buffer.from(await runtime.files.readFile(join(path, 'said'))).toString(), 'stopping\nbye\n');
  });

  test('are updated in place: a new container, but the same Pod and IP', async () => {
    const first = await run('inplace', shell('sleep 1000'), isPodReady);
    const patch = { spec: { containers: [{ name: 'c', image: otherImage }] } };
    await server.client.patch(podKind, { name: 'inplace', namespace: 'default' }, patch, { type: 'strategic' });
    const second = await until('inplace', (pod) => isPodReady(pod) && statusOf(pod)?.restartCount === 1);
    assert.equal(statusOf(second)?.image, otherImage);
    assert.notEqual(statusOf(second)?.containerID, statusOf(first)?.containerID);
    assert.deepEqual([second.metadata.uid, second.status?.podIP], [first.metadata.uid, first.status?.podIP]);
    await remove('inplace');
  });

  test('keep running without their kubelet, and the next kubelet takes them over', async () => {
    const before = await run('lasting', shell('sleep 1000'), isPodReady);
    running.abort();
    await kubelet.stopped;
    await startKubelet();
    const { containers } = await runtime.listContainers({ filter: { labelSelector: ownLabels('lasting') } });
    assert.deepEqual(
      containers.map(({ id }) => `containerd://${id}`),
      [statusOf(before)?.containerID],
    );
    const now = await server.client.get(podKind, { name: 'lasting', namespace: 'default' });
    assert.deepEqual([isPodReady(now), statusOf(now)?.restartCount], [true, 0]);
    await remove('lasting');
  });

  test('have logs that are rotated and continued', async () => {
    await run(
      'talking',
      shell('for i in $(seq 50); do echo line $i; done; sleep 2; echo last; sleep 1000'),
      isPodReady,
    );
    const reading = logOf('talking');
    assert.match(await reading, /line 50\n$/);
    await rotateLogs(
      { runtime, files: runtime.files, clock, log: silentLog },
      { ...defaultLogLimits, maxSizeBytes: 9 },
    );
    const [{ id: containerId } = { id: '' }] = (
      await runtime.listContainers({ filter: { labelSelector: ownLabels('talking') } })
    ).containers;
    const { logPath } = (await runtime.containerStatus({ containerId })).status;
    const names = await runtime.files.list(logPath.slice(0, logPath.lastIndexOf('/')));
    assert.match(names.join(' '), /^0\.log 0\.log\.\d{8}-\d{6}$/);
    for await (const { content } of runtime.logs.read({ containerId, follow: true })) {
      assert.equal(Buffer.from(content).toString(), 'last');
      break;
    }
    await remove('talking');
  });
}

const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';
const ownLabels = (name: string) => ({ 'io.kubernetes.pod.name': name });
