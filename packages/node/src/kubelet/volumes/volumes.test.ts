import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import type { Container } from '@kruise/api/core/container';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { secret } from '@kruise/api/core/secret';
import type { Volume } from '@kruise/api/core/volume';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode, type TestNode, type TestPod } from '../testing/test-node.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Returns a Pod whose container mounts a volume at /data. */
function podWithVolume(volume: Omit<Volume, 'name'>, more: Partial<Container> = {}): TestPod {
  return {
    volumes: [{ name: 'data', ...volume }],
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sleep', 'infinity'],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
        ...more,
      },
    ],
  };
}

async function run(node: TestNode, ...cmd: string[]): Promise<string> {
  const { containers } = await node.runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } });
  const { stdout, stderr } = await node.runtime.execSync({ containerId: containers[0]!.id, cmd });
  return Buffer.concat([stdout, stderr]).toString();
}

test('a ConfigMap volume has its keys as files and is updated', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const reference = { name: 'settings', namespace: 'default' };
  await client.create(configMap, { metadata: reference, data: { colour: 'red', size: 'small' } });
  await node.create(podWithVolume({ configMap: { name: 'settings' } }));
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'cat', '/data/colour'), 'red');
  await client.patch(configMap, reference, { data: { colour: 'blue', size: null, shape: 'round' } }, { type: 'merge' });
  await node.advance(1);
  assert.equal(await run(node, 'cat', '/data/colour', '/data/shape'), 'blueround');
  assert.deepEqual((await run(node, 'ls', '/data')).trim().split(/\s+/), ['colour', 'shape']);
});

test('keys of a Secret are mapped to paths', async () => {
  await using node = await startTestNode();
  await node.server.client.create(secret, {
    metadata: { name: 'login', namespace: 'default' },
    data: { password: base64('hush'), user: base64('me') },
  });
  await node.create(
    podWithVolume({ secret: { secretName: 'login', items: [{ key: 'password', path: 'deep/word' }] } }),
  );
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'cat', '/data/deep/word'), 'hush');
});

test('a missing volume keeps the Pod from starting and is recorded', async () => {
  await using node = await startTestNode();
  await node.create(podWithVolume({ configMap: { name: 'settings' } }));
  await node.advance(15);
  const pod = await node.get('web');
  assert.equal(pod.status?.containerStatuses?.[0]?.state?.waiting?.reason, 'ContainerCreating');
  const [event] = await node.events('web');
  assert.equal(
    event,
    'Warning FailedMount: MountVolume.SetUp failed for volume "data" : configmap "settings" not found',
  );
  await node.server.client.create(configMap, { metadata: { name: 'settings', namespace: 'default' } });
  await node.waitUntil('web', isReady);
});

test('a failed mount is retried with exponential backoff', async () => {
  await using node = await startTestNode();
  await node.create(podWithVolume({ hostPath: { path: '/srv', type: 'Directory' } }));
  const { stat } = node.runtime.files;
  const tries: number[] = [];
  Object.assign(node.runtime.files, {
    stat: (path: string) => {
      if (path === '/srv') tries.push(node.clock.now());
      return stat(path);
    },
  });
  await node.advance(300);
  const gaps = tries.slice(1).map((at, index) => Math.round((at - tries[index]!) / 500) / 2);
  assert.deepEqual(gaps.slice(-6), [4, 8, 16, 32, 64, 122]);
});

test('a missing optional source is an empty directory', async () => {
  await using node = await startTestNode();
  await node.create(podWithVolume({ configMap: { name: 'settings', optional: true } }));
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'ls', '/data'), '');
});

test('a downward API volume contains Pod fields and follows label changes', async () => {
  await using node = await startTestNode();
  const items = [
    { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
    { path: 'limit', resourceFieldRef: { containerName: 'c', resource: 'limits.memory', divisor: '1Mi' } },
  ];
  await node.create({
    ...podWithVolume({ downwardAPI: { items } }, { resources: { limits: { memory: '64Mi' } } }),
    labels: { app: 'web' },
  });
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'cat', '/data/labels'), 'app="web"');
  assert.equal(await run(node, 'cat', '/data/limit'), '64');
  await node.server.client.patch(
    podKind,
    { name: 'web', namespace: 'default' },
    { metadata: { labels: { tier: 'front' } } },
    { type: 'merge' },
  );
  await node.advance(1);
  assert.equal(await run(node, 'cat', '/data/labels'), 'app="web"\ntier="front"');
});

test('a service account token is mounted and refreshed in time', async () => {
  await using node = await startTestNode();
  await node.create(
    podWithVolume({ projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }] } }),
  );
  await node.waitUntil('web', isReady);
  const first = await run(node, 'cat', '/data/token');
  const claims = JSON.parse(Buffer.from(first.split('.')[1]!, 'base64url').toString());
  assert.equal(claims.sub, 'system:serviceaccount:default:default');
  assert.equal(claims['kubernetes.io'].pod.name, 'web');
  await node.advance(3600 * 0.7);
  assert.equal(await run(node, 'cat', '/data/token'), first);
  await node.advance(3600 * 0.12);
  assert.notEqual(await run(node, 'cat', '/data/token'), first);
});

test('an emptyDir is shared by containers and outlives them', async () => {
  await using node = await startTestNode();
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  await node.create({
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [
      { name: 'i', image: 'busybox:1.36', command: ['sh', '-c', 'echo hello > /data/greeting'], volumeMounts },
    ],
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', 'infinity'], volumeMounts }],
  });
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'cat', '/data/greeting'), 'hello\n');
});

const pathRows: readonly (readonly [
  type: NonNullable<NonNullable<Volume['hostPath']>['type']>,
  there: 'file' | 'directory' | 'nothing',
  fault: string | undefined,
])[] = [
  ['', 'nothing', undefined],
  ['DirectoryOrCreate', 'nothing', undefined],
  ['DirectoryOrCreate', 'directory', undefined],
  ['DirectoryOrCreate', 'file', 'is not a directory'],
  ['Directory', 'directory', undefined],
  ['Directory', 'nothing', 'is not a directory'],
  ['FileOrCreate', 'nothing', undefined],
  ['FileOrCreate', 'directory', 'is not a file'],
  ['File', 'file', undefined],
  ['File', 'nothing', 'is not a file'],
  ['Socket', 'file', 'is not a socket file'],
  ['CharDevice', 'file', 'is not a character device'],
  ['BlockDevice', 'file', 'is not a block device'],
];
for (const [type, there, fault] of pathRows) {
  test(`with a hostPath of type ${type || 'unset'} that is ${there} a Pod ${fault ? 'waits' : 'runs'}`, async () => {
    await using node = await startTestNode();
    await node.runtime.files.makeDirectory('/srv');
    if (there === 'file') await node.runtime.files.writeFile('/srv/it', 'x');
    if (there === 'directory') await node.runtime.files.makeDirectory('/srv/it');
    await node.create(podWithVolume({ hostPath: { path: '/srv/it', type } }));
    await node.advance(1);
    const mounts = (await node.events('web')).filter((event) => event.includes('FailedMount'));
    if (fault === undefined) assert.deepEqual(mounts, []);
    else assert.match(mounts[0]!, new RegExp(`hostPath type check failed: /srv/it ${fault}$`));
    if (type.endsWith('OrCreate') && there === 'nothing') {
      const { type: made, mode } = (await node.runtime.files.stat('/srv/it'))!;
      assert.deepEqual([made, mode], type.startsWith('Dir') ? ['directory', 0o755] : ['file', 0o644]);
    }
  });
}

test('files of a volume are replaced atomically behind symbolic links', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await client.create(configMap, { metadata: { name: 'settings', namespace: 'default' }, data: { colour: 'red' } });
  await node.create(podWithVolume({ configMap: { name: 'settings' } }));
  const pod = await node.waitUntil('web', isReady);
  const path = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes/kubernetes.io~configmap/data`;
  const { files } = node.runtime;
  const [folder, ...rest] = (await files.list(path)).toSorted();
  assert.match(folder!, /^\.\.2026_01_01_/);
  assert.deepEqual(rest, ['..data', 'colour']);
  assert.equal(await files.readLink(`${path}/..data`), folder);
  assert.equal(await files.readLink(`${path}/colour`), '..data/colour');
  assert.equal((await files.stat(`${path}/${folder}/colour`))?.mode, 0o644);
});

const tokenOwners: readonly (readonly [securityContext: object, own: object, owned: string])[] = [
  [{}, {}, '644 0:0'],
  [{ runAsUser: 1000 }, {}, '600 1000:0'],
  [{}, { securityContext: { runAsUser: 1000 } }, '600 1000:0'],
  [{ fsGroup: 2000 }, {}, '640 0:2000'],
  [{ runAsUser: 1000, fsGroup: 2000 }, {}, '640 1000:2000'],
];
for (const [securityContext, own, owned] of tokenOwners) {
  test(`a token of a Pod with ${JSON.stringify({ ...securityContext, ...own })} is ${owned}`, async () => {
    await using node = await startTestNode();
    const sources = [{ serviceAccountToken: { path: 'token' } }];
    await node.create({ ...podWithVolume({ projected: { sources } }, own), securityContext });
    const pod = await node.waitUntil('web', isReady);
    const path = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes/kubernetes.io~projected/data`;
    const folder = await node.runtime.files.readLink(`${path}/..data`);
    assert.equal(await ownership(node, `${path}/${folder}/token`), owned);
  });
}

test('a token has no owner if containers run as different users', async () => {
  await using node = await startTestNode();
  const wanted = podWithVolume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } });
  const [container] = wanted.containers!;
  const other = { ...container!, name: 'other', securityContext: { runAsUser: 2000 } };
  await node.create({ ...wanted, containers: [container!, other], securityContext: { runAsUser: 1000 } });
  const pod = await node.waitUntil('web', isReady);
  const path = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes/kubernetes.io~projected/data`;
  const folder = await node.runtime.files.readLink(`${path}/..data`);
  assert.equal(await ownership(node, `${path}/${folder}/token`), '644 0:0');
});

test('the fsGroup of a Pod may write to writable volumes and read the others', async () => {
  await using node = await startTestNode();
  await node.server.client.create(configMap, {
    metadata: { name: 'settings', namespace: 'default' },
    data: { colour: 'red' },
  });
  const volumes = [
    { name: 'data', configMap: { name: 'settings', defaultMode: 0o400 } },
    { name: 'scratch', emptyDir: {} },
    { name: 'fast', emptyDir: { medium: 'Memory' } },
  ];
  await node.create({ ...podWithVolume({}), volumes, securityContext: { fsGroup: 2000 } });
  const pod = await node.waitUntil('web', isReady);
  const root = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes`;
  assert.equal(await ownership(node, `${root}/kubernetes.io~empty-dir/scratch`), '2777 0:2000');
  assert.equal(await ownership(node, `${root}/kubernetes.io~empty-dir/fast`), '3777 0:2000');
  const settings = `${root}/kubernetes.io~configmap/data`;
  const folder = await node.runtime.files.readLink(`${settings}/..data`);
  assert.equal(await ownership(node, `${settings}/${folder}/colour`), '440 0:2000');
  assert.equal(await ownership(node, `${settings}/${folder}`), '2755 0:2000');
});

/** Returns mode and owners of a file: `644 0:0`. */
async function ownership({ runtime }: TestNode, path: string): Promise<string> {
  const { mode, uid, gid } = (await runtime.files.stat(path))!;
  return `${mode.toString(8)} ${uid}:${gid}`;
}

test('a Pod has the files to reach the API server', async () => {
  await using node = await startTestNode();
  await node.server.client.create(configMap, {
    metadata: { name: 'kube-root-ca.crt', namespace: 'default' },
    data: { 'ca.crt': 'the authority' },
  });
  await node.create({
    automountServiceAccountToken: true,
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', 'infinity'] }],
  });
  await node.waitUntil('web', isReady);
  const place = '/var/run/secrets/kubernetes.io/serviceaccount';
  assert.equal(await run(node, 'cat', `${place}/ca.crt`, `${place}/namespace`), 'the authoritydefault');
  const [, claims = ''] = (await run(node, 'cat', `${place}/token`)).split('.');
  const { exp, iat, sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  assert.equal(sub, 'system:serviceaccount:default:default');
  assert.ok(exp - iat >= 3607);
});

test('an emptyDir is writable by everyone', async () => {
  await using node = await startTestNode();
  await node.create(podWithVolume({ emptyDir: {} }));
  const pod = await node.waitUntil('web', isReady);
  const path = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes/kubernetes.io~empty-dir/data`;
  assert.equal((await node.runtime.files.stat(path))?.mode, 0o777);
});

test('a hostPath must have its type', async () => {
  await using node = await startTestNode();
  await node.runtime.files.makeDirectory('/srv');
  await node.runtime.files.writeFile('/srv/file', 'x');
  await node.create(podWithVolume({ hostPath: { path: '/srv/file', type: 'Directory' } }));
  await node.advance(1);
  assert.deepEqual(await node.events('web'), [
    'Warning FailedMount: MountVolume.SetUp failed for volume "data" : hostPath type check failed: /srv/file is not a directory',
  ]);
});

test('a PVC that is bound a moment later is mounted without an event', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const accessModes = ['ReadWriteOnce'] as const;
  await client.create(persistentVolume, {
    metadata: { name: 'disk' },
    spec: {
      accessModes,
      capacity: { storage: '1Gi' },
      claimRef: { namespace: 'default', name: 'mine' },
      hostPath: { path: '/disks/1', type: 'DirectoryOrCreate' },
    },
  });
  const spec = { accessModes, volumeName: 'disk', resources: { requests: { storage: '1Gi' } } };
  const claim = await client.create(persistentVolumeClaim, { metadata: { name: 'mine', namespace: 'default' }, spec });
  await node.create(podWithVolume({ persistentVolumeClaim: { claimName: 'mine' } }));
  await node.advance(1);
  await client.update(persistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }, { subresource: 'status' });
  await node.advance(5);
  assert.ok(isReady(await node.get('web')));
  assert.deepEqual(
    (await node.events('web')).filter((event) => event.includes('Mount')),
    [],
  );
});

test('a PVC that is not bound for minutes is recorded', async () => {
  await using node = await startTestNode();
  await node.create(podWithVolume({ persistentVolumeClaim: { claimName: 'mine' } }));
  await node.advance(130);
  assert.deepEqual(await node.events('web'), [
    'Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: persistentvolumeclaim "mine" not found',
  ]);
});

test("a PVC with the name of a Pod's ephemeral volume but another owner is not used", async () => {
  await using node = await startTestNode();
  const accessModes = ['ReadWriteOnce'] as const;
  const spec = { accessModes, resources: { requests: { storage: '1Gi' } } };
  await node.server.client.create(persistentVolumeClaim, {
    metadata: { name: 'web-data', namespace: 'default' },
    spec,
  });
  await node.create(podWithVolume({ ephemeral: { volumeClaimTemplate: { spec } } }));
  await node.advance(1);
  assert.deepEqual(await node.events('web'), [
    'Warning FailedMount: MountVolume.SetUp failed for volume "data" : PVC default/web-data was not created for pod default/web (pod is not owner)',
  ]);
});

test('a PVC bound to a hostPath volume is mounted from that path', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  await node.runtime.files.makeDirectory('/srv/one');
  await node.runtime.files.writeFile('/srv/one/file', 'kept');
  const size = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce' as const] };
  const claim = await client.create(persistentVolumeClaim, {
    metadata: { name: 'mine', namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      volumeName: 'one',
      storageClassName: '',
    },
  });
  await client.create(persistentVolume, {
    metadata: { name: 'one' },
    spec: {
      ...size,
      claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: 'mine', uid: claim.metadata.uid! },
      hostPath: { path: '/srv/one' },
      storageClassName: '',
    },
  });
  await client.update(persistentVolumeClaim, { ...claim, status: { phase: 'Bound' } }, { subresource: 'status' });
  await node.create(podWithVolume({ persistentVolumeClaim: { claimName: 'mine' } }));
  await node.waitUntil('web', isReady);
  assert.equal(await run(node, 'cat', '/data/file'), 'kept');
});

test('the environment of a container is that of its Pod spec', async () => {
  await using node = await startTestNode();
  await node.create({
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sleep', 'infinity'],
        env: [
          { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'GREETING', value: 'hello $(NAME) on $(NODE) $$(NAME)' },
          { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        ],
      },
    ],
  });
  await node.waitUntil('web', isReady);
  const lines = (await run(node, 'env')).split('\n');
  assert.ok(lines.includes('GREETING=hello web on $(NODE) $(NAME)'));
  assert.ok(lines.some((line) => /^ADDRESS=10\.244\.0\.\d+$/.test(line)));
});

test('the termination message of a container is in its status', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    containers: [
      { name: 'c', image: 'busybox:1.36', command: ['sh', '-c', 'echo oh dear > /dev/termination-log; exit 3'] },
    ],
  });
  const pod = await node.waitUntil('web', (found) => found?.status?.phase === 'Failed');
  const end = pod?.status?.containerStatuses?.[0]?.state?.terminated;
  assert.deepEqual([end?.exitCode, end?.reason, end?.message], [3, 'Error', 'oh dear\n']);
});

test('the log is the fallback for an empty termination message', async () => {
  await using node = await startTestNode();
  await node.create({
    restartPolicy: 'Never',
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sh', '-c', 'echo broken; exit 1'],
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
    ],
  });
  const pod = await node.waitUntil('web', (found) => found?.status?.phase === 'Failed');
  assert.equal(pod?.status?.containerStatuses?.[0]?.state?.terminated?.message, 'broken\n');
});

test('the hosts file contains the names of the Pod', async () => {
  await using node = await startTestNode();
  await node.create({
    hostname: 'one',
    subdomain: 'cluster',
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['db', 'db.example.com'] }],
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', 'infinity'] }],
  });
  const pod = await node.waitUntil('web', isReady);
  const lines = (await run(node, 'cat', '/etc/hosts')).split('\n');
  assert.equal(lines[0], '# Kubernetes-managed hosts file.');
  assert.ok(lines.includes(`${pod?.status?.podIP}\tone.cluster.default.svc.cluster.local\tone`));
  assert.deepEqual(lines.slice(-3), ['# Entries added by HostAliases.', '10.1.2.3\tdb\tdb.example.com', '']);
});
