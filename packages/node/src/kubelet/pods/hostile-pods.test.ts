/** Pods that try to reach the node's files through symbolic links in their volumes. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import type { Pod } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { seededRandom } from '@kruise/values/random';
import { parseRequestTarget } from '../server/request-target.ts';
import { startTestNode, type TestNode, type TestPod } from '../testing/test-node.ts';
import { nestedMountsOf, writePayload } from '../volumes/volume-payload.ts';

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);
const shell = (name: string, script: string) => ({ name, image: 'busybox:1.36', command: ['sh', '-c', script] });
const volumes = [{ name: 'data', emptyDir: {} }];
const whole = { name: 'data', mountPath: '/data' };
const secret = 'host secret';

async function nodeWithSecret(): Promise<TestNode> {
  const node = await startTestNode();
  await node.runtime.files.makeDirectory('/etc/private', { mode: 0o700 });
  await node.runtime.files.writeFile('/etc/private/key', secret, { mode: 0o600 });
  return node;
}

/** Returns a Pod whose first container creates symbolic links in a volume, and whose second mounts a subPath of it. */
function podWithLinks(script: string, subPath: string): TestPod {
  return {
    volumes,
    initContainers: [{ ...shell('plant', script), volumeMounts: [whole] }],
    containers: [{ ...shell('c', 'sleep infinity'), volumeMounts: [{ name: 'data', mountPath: '/part', subPath }] }],
  };
}

const linkRows: readonly (readonly [what: string, script: string, subPath: string])[] = [
  ['a symbolic link to the node’s files', 'ln -s /etc /data/link', 'link'],
  ['a symbolic link to the root', 'ln -s / /data/link', 'link'],
  ['a relative symbolic link that leads up', 'ln -s ../../../../../../../etc /data/link', 'link'],
  ['below a symbolic link', 'ln -s /etc /data/link', 'link/private'],
  ['below a symbolic link to a directory that would be created', 'ln -s /etc /data/link', 'link/made'],
  ['a symbolic link to a file', 'ln -s /etc/private/key /data/link', 'link'],
  ['a symbolic link to another one', 'ln -s /etc /data/b; ln -s b /data/link', 'link'],
];
for (const [what, script, subPath] of linkRows) {
  test(`a subPath that is ${what} keeps the container from starting`, async () => {
    await using node = await nodeWithSecret();
    await node.create(podWithLinks(script, subPath));
    const pod = await node.waitUntil('web', (found) => {
      return found?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError';
    });
    assert.equal(
      pod?.status?.containerStatuses?.[0]?.state?.waiting?.message,
      'failed to prepare subPath for volumeMount "data" of container "c"',
    );
    assert.equal(await node.runtime.files.stat('/etc/made'), undefined);
  });
}

test('a subPath may be a symbolic link within its volume', async () => {
  await using node = await nodeWithSecret();
  await node.create(podWithLinks('mkdir /data/real; echo hello > /data/real/file; ln -s real /data/link', 'link'));
  await node.waitUntil('web', isReady);
  const { containers } = await node.runtime.listContainers({ filter: { state: 'CONTAINER_RUNNING' } });
  const { stdout } = await node.runtime.execSync({ containerId: containers[0]!.id, cmd: ['cat', '/part/file'] });
  assert.equal(Buffer.from(stdout).toString(), 'hello\n');
});

test('a termination message is not read through a symbolic link', async () => {
  await using node = await nodeWithSecret();
  await node.create({
    restartPolicy: 'Never',
    volumes,
    initContainers: [{ ...shell('plant', 'touch /data/message'), volumeMounts: [whole] }],
    containers: [
      {
        ...shell('c', 'rm /data/message; ln -s /etc/private/key /data/message; exit 1'),
        volumeMounts: [whole, { name: 'data', mountPath: '/dev/termination-log', subPath: 'message' }],
      },
    ],
  });
  const pod = await node.waitUntil('web', (found) => found?.status?.phase === 'Failed');
  const message = pod?.status?.containerStatuses?.[0]?.state?.terminated?.message ?? '';
  assert.ok(!message.includes(secret), message);
});

test('a volume of API objects is read-only for containers and writable by root only', async () => {
  await using node = await nodeWithSecret();
  await node.server.client.create(configMap, {
    metadata: { name: 'settings', namespace: 'default' },
    data: { colour: 'red' },
  });
  await node.create({
    volumes: [
      { name: 'a', configMap: { name: 'settings' } },
      { name: 'b', projected: { sources: [{ configMap: { name: 'settings' } }] } },
      { name: 'c', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ],
    containers: [
      {
        ...shell('c', 'sleep infinity'),
        volumeMounts: ['a', 'b', 'c'].map((name) => ({ name, mountPath: `/${name}`, readOnly: false })),
      },
    ],
  });
  const pod = await node.waitUntil('web', isReady);
  const { containers } = await node.runtime.listContainers({});
  for (const [name, plugin] of [
    ['a', 'configmap'],
    ['b', 'projected'],
    ['c', 'downward-api'],
  ] as const) {
    for (const script of [`ln -s /etc /${name}/link`, `echo x > /${name}/new`, `rm /${name}/..data`]) {
      const cmd = ['sh', '-c', script];
      const { exitCode } = await node.runtime.execSync({ containerId: containers[0]!.id, cmd });
      assert.notEqual(exitCode, 0, script);
    }
    const path = `/var/lib/kubelet/pods/${pod!.metadata.uid}/volumes/kubernetes.io~${plugin}/${name}`;
    assert.equal((await node.runtime.files.stat(path))?.mode, 0o755);
  }
});

test('no payload is written through an existing symbolic link', async () => {
  await using node = await nodeWithSecret();
  const { files } = node.runtime;
  // The state that an earlier kubelet and an earlier container left.
  await files.makeDirectory('/volume', { mode: 0o777 });
  await files.symlink('/volume/..data_tmp', { target: '/etc/private' });
  await files.symlink('/volume/..data', { target: '/etc/private' });
  await files.symlink('/volume/key', { target: '/etc/private/key' });
  const content = new Map([['key', { data: 'tenant text', mode: 0o666 }]]);
  const options = { now: 0, random: seededRandom('payload'), group: 2000, nested: [] };
  await writePayload(files, '/volume', content, options);
  const stat = await files.stat('/etc/private/key');
  assert.deepEqual([stat?.mode, stat?.gid], [0o600, 0]);
  assert.equal(Buffer.from(await files.readFile('/etc/private/key')).toString(), secret);
  assert.equal(((await files.stat('/volume'))?.mode ?? 0) & 0o022, 0);
});

for (const name of ['../x', '/x', 'a/../../x', '..', 'a//b', '..data']) {
  test(`a volume file cannot be named ${name}`, async () => {
    await using node = await nodeWithSecret();
    const content = new Map([[name, { data: '', mode: 0o644 }]]);
    const options = { now: 0, random: seededRandom('payload'), group: undefined, nested: [] };
    await assert.rejects(writePayload(node.runtime.files, '/volume', content, options), /^Error: invalid path/);
  });
}

test('a volume can be mounted within a read-only one', async () => {
  const volumeMounts = [
    { name: 'config', mountPath: '/etc/app/' },
    { name: 'data', mountPath: '/etc/app/data/deep' },
    { name: 'data', mountPath: '/etc/application' },
  ];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {},
    spec: { containers: [{ name: 'c', volumeMounts }] },
  } as const;
  assert.deepEqual(nestedMountsOf(pod as never, 'config'), ['data/deep']);
  assert.deepEqual(nestedMountsOf(pod as never, 'data'), []);
});

test('Pod directories are closed to other users of the node', async () => {
  await using node = await startTestNode();
  const { files } = node.runtime;
  await node.create({ volumes, containers: [{ ...shell('c', 'sleep infinity'), volumeMounts: [whole] }] });
  const pod = await node.waitUntil('web', isReady);
  const directory = `/var/lib/kubelet/pods/${pod!.metadata.uid}`;
  for (const path of ['', '/volumes', '/volumes/kubernetes.io~empty-dir', '/containers', '/containers/c', '/..']) {
    assert.equal((await files.stat(directory + path))?.mode, 0o750, path);
  }
  await files.changeMode('/var/lib/kubelet/pods', 0o755);
  await node.restart();
  await node.advance(1);
  assert.equal((await files.stat('/var/lib/kubelet/pods'))?.mode, 0o750);
});

test('the node’s logs are served without following symbolic links', async () => {
  await using node = await nodeWithSecret();
  const { files } = node.runtime;
  await files.makeDirectory('/var/log/pods');
  await files.writeFile('/var/log/pods/0.log', 'all is well');
  await files.symlink('/var/log/inside', { target: '/var/log/pods/0.log' });
  await files.symlink('/var/log/outside', { target: '/etc/private/key' });
  await files.symlink('/var/log/folder', { target: '../../etc' });
  const ask = async (path: string) => {
    const request = {
      method: 'GET',
      target: parseRequestTarget(path),
      headers: {},
      signal: new AbortController().signal,
    };
    const { code, body } = await node.kubelet.handler.send(request);
    return [code, await text(body)];
  };
  assert.deepEqual(await ask('/logs/pods/0.log'), [200, 'all is well']);
  assert.deepEqual(await ask('/logs/inside'), [200, 'all is well']);
  for (const path of ['outside', 'folder/private/key', 'folder', 'none', 'pods/0.log/x']) {
    assert.deepEqual(await ask(`/logs/${path}`), [404, '404 page not found'], path);
  }
});

test('deeply nested directories do not prevent the removal of a Pod', async () => {
  await using node = await startTestNode();
  const { files } = node.runtime;
  await files.makeDirectory(`/volume/${'a/'.repeat(50_000)}`);
  assert.equal((await files.usage('/volume')).inodes, 50_001);
  await files.remove('/volume');
  assert.equal(await files.stat('/volume'), undefined);
});
