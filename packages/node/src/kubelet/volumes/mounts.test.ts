import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Pod } from '@kruise/api/core/pod';
import { isPodReady } from '@kruise/machinery/pods';
import { startTestNode, type TestNode } from '../testing/test-node.ts';
import { isRecursive } from './mounts.ts';

type VolumeMount = NonNullable<Container['volumeMounts']>[number];

const isReady = (pod: Pod | undefined) => pod !== undefined && isPodReady(pod);

/** Returns the view of a container on a volume with the files `file` and `deep/file`. */
async function mounted(node: TestNode, mount: Partial<VolumeMount>, more: Partial<Container> = {}) {
  await node.runtime.files.makeDirectory('/srv/deep');
  await node.runtime.files.writeFile('/srv/file', 'shallow');
  await node.runtime.files.writeFile('/srv/deep/file', 'deep');
  await node.create({
    volumes: [{ name: 'v', hostPath: { path: '/srv' } }],
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sleep', 'infinity'],
        volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }],
        ...more,
      },
    ],
  });
}

async function mountOf(node: TestNode) {
  await node.waitUntil('web', isReady);
  const { containers } = await node.runtime.listContainers({});
  const { status } = await node.runtime.containerStatus({ containerId: containers[0]!.id });
  return status.mounts.find(({ containerPath }) => containerPath === '/v')!;
}

const goodRows: readonly (readonly [name: string, mount: Partial<VolumeMount>, expected: object])[] = [
  ['a whole volume is mounted', {}, { hostPath: '/srv', readonly: false, propagation: 'PROPAGATION_PRIVATE' }],
  ['a subPath of a volume is mounted', { subPath: 'deep' }, { hostPath: '/srv/deep' }],
  ['a missing subPath is created', { subPath: 'new/deeper' }, { hostPath: '/srv/new/deeper' }],
  ['subPathExpr expands variables', { subPathExpr: '$(WHO)' }, { hostPath: '/srv/web' }],
  ['a volume can be mounted read-only', { readOnly: true }, { readonly: true }],
  [
    'mounts of the node can be propagated',
    { mountPropagation: 'HostToContainer' },
    { propagation: 'PROPAGATION_HOST_TO_CONTAINER' },
  ],
];
for (const [name, mount, expected] of goodRows) {
  test(name, async () => {
    await using node = await startTestNode();
    const env = [{ name: 'WHO', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
    await mounted(node, mount, { env });
    const found: { readonly [field: string]: unknown } = { ...(await mountOf(node)) };
    for (const [field, value] of Object.entries(expected)) assert.equal(found[field], value, field);
  });
}

test('a created subPath has the permissions of its volume', async () => {
  await using node = await startTestNode();
  const { files } = node.runtime;
  await files.makeDirectory('/srv', { mode: 0o2777 });
  await mounted(node, { subPath: 'new/deeper' });
  await mountOf(node);
  for (const path of ['/srv/new', '/srv/new/deeper']) assert.equal((await files.stat(path))?.mode, 0o2777, path);
});

test('a missing variable in subPathExpr keeps the container from starting', async () => {
  await using node = await startTestNode();
  await mounted(node, { subPathExpr: '$(NOBODY)' });
  const pod = await node.waitUntil(
    'web',
    (found) => found?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CreateContainerConfigError',
  );
  assert.equal(pod?.status?.containerStatuses?.[0]?.state?.waiting?.message, 'missing value for "NOBODY"');
});

const recursiveRows: readonly (readonly [
  name: string,
  mount: Partial<VolumeMount>,
  supported: boolean,
  expected: boolean | RegExp,
])[] = [
  ['not requested', { readOnly: true }, true, false],
  ['Disabled', { readOnly: true, recursiveReadOnly: 'Disabled' }, true, false],
  ['IfPossible with support', { readOnly: true, recursiveReadOnly: 'IfPossible' }, true, true],
  ['IfPossible without support', { readOnly: true, recursiveReadOnly: 'IfPossible' }, false, false],
  ['Enabled with support', { readOnly: true, recursiveReadOnly: 'Enabled' }, true, true],
  [
    'Enabled without support',
    { readOnly: true, recursiveReadOnly: 'Enabled' },
    false,
    /^volume "v" requested recursive read-only mode, but it is not supported by the runtime$/,
  ],
  ['Enabled without readOnly', { recursiveReadOnly: 'Enabled' }, true, /but it is not read-only$/],
  [
    'Enabled with mount propagation',
    { readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'Bidirectional' },
    true,
    /but it is not compatible with propagation "Bidirectional"$/,
  ],
];
for (const [name, mount, isSupported, expected] of recursiveRows) {
  test(`recursive read-only: ${name}`, () => {
    const of = () => isRecursive({ name: 'v', mountPath: '/v', ...mount }, isSupported);
    if (typeof expected === 'boolean') assert.equal(of(), expected);
    else assert.throws(of, { message: expected });
  });
}

test('the hosts file of a host-network Pod is the node’s', async () => {
  await using node = await startTestNode();
  await node.runtime.files.makeDirectory('/etc');
  await node.runtime.files.writeFile('/etc/hosts', '127.0.0.1\tlocalhost\n');
  await node.create({
    hostNetwork: true,
    hostAliases: [{ ip: '10.1.2.3', hostnames: ['db'] }],
    containers: [{ name: 'c', image: 'busybox:1.36', command: ['sleep', 'infinity'] }],
  });
  await node.waitUntil('web', isReady);
  const { containers } = await node.runtime.listContainers({});
  const { stdout } = await node.runtime.execSync({ containerId: containers[0]!.id, cmd: ['cat', '/etc/hosts'] });
  assert.equal(
    Buffer.from(stdout).toString(),
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n\n# Entries added by HostAliases.\n10.1.2.3\tdb\n',
  );
});
