import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { configMap } from '@kruise/api/core/configmap';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import { secret } from '@kruise/api/core/secret';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createClient, type DeleteOptions } from '@kruise/client/client';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import { runControllers } from '@kruise/client/manager';
import type { KubernetesObject } from '@kruise/client/object-key';
import type { ApiRequest } from '@kruise/client/transport';
import type { OwnerReference } from '@kruise/machinery/owner-references';
import { seededRandom } from '@kruise/values/random';
import { systemClock, systemRandom } from '@kruise/values/system';
import { box, boxDefinition, defineBox } from '../../testing/box.ts';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { garbageCollector } from './controller.ts';

async function startCollecting(): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.run(['garbage-collector-controller']);
  await cluster.advance(1);
  return cluster;
}

const refer = ({ apiVersion, kind, metadata }: KubernetesObject, blockOwnerDeletion = false): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  blockOwnerDeletion,
});

/** Creates a ConfigMap, or an object of another kind. */
function make(
  { client }: Cluster,
  name: string,
  owners: readonly OwnerReference[] = [],
  kind: DynamicKind = configMap,
) {
  return client.create(kind, { metadata: { name, namespace: 'default', ownerReferences: owners } });
}

function del({ client }: Cluster, name: string, propagationPolicy: DeleteOptions['propagationPolicy'] = 'Background') {
  return client.delete(configMap, { name, namespace: 'default' }, { propagationPolicy });
}

/** Returns the ConfigMaps of the namespace, terminating ones with a `-`. */
async function present({ client }: Cluster, kind: DynamicKind = configMap): Promise<string> {
  const { items } = await client.list(kind, { namespace: 'default' });
  return items.map(({ metadata }) => `${metadata.deletionTimestamp ? '-' : ''}${metadata.name}`).join(' ');
}

test('dependents are deleted after their owner, transitively', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  const b = await make(cluster, 'b', [refer(a)]);
  await make(cluster, 'c', [refer(b)]);
  await make(cluster, 'stays');
  await cluster.advance(1);
  assert.equal(await present(cluster), 'a b c stays');
  await del(cluster, 'a');
  await cluster.advance(1);
  assert.equal(await present(cluster), 'stays');
  assert.deepEqual(cluster.warnings, []);
});

test('orphans of deleted owners are found at startup', async () => {
  await using cluster = await startCluster();
  const a = await make(cluster, 'a');
  await make(cluster, 'b', [refer(a)]);
  await del(cluster, 'a');
  await cluster.run(['garbage-collector-controller']);
  await cluster.advance(1);
  assert.equal(await present(cluster), '');
});

test('an object with an owner that never existed is deleted', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  await make(cluster, 'never', [{ ...refer(a), uid: 'never-was' }]);
  await make(cluster, 'misnamed', [{ ...refer(a), name: 'b' }]);
  await cluster.advance(1);
  assert.equal(await present(cluster), 'a');
});

test('one existing owner keeps an object, which loses the reference to the deleted one', async () => {
  await using cluster = await startCollecting();
  const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')];
  await make(cluster, 'c', [refer(a), refer(b)]);
  await del(cluster, 'a');
  await cluster.advance(1);
  const { metadata } = await cluster.client.get(configMap, { name: 'c', namespace: 'default' });
  assert.deepEqual(
    metadata.ownerReferences?.map(({ name }) => name),
    ['b'],
  );
});

test('in foreground deletion, an owner waits for its blocking dependents', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  const b = await make(cluster, 'b', [refer(a, true)]);
  await make(cluster, 'c', [refer(b, true)]);
  const hold = { metadata: { finalizers: ['example.com/hold'] } };
  await cluster.client.patch(configMap, { name: 'c', namespace: 'default' }, hold, { type: 'merge' });
  await del(cluster, 'a', 'Foreground');
  await cluster.advance(1);
  assert.equal(await present(cluster), '-a -b -c');

  const removeFinalizers = { metadata: { finalizers: null } };
  await cluster.client.patch(configMap, { name: 'c', namespace: 'default' }, removeFinalizers, { type: 'merge' });
  await cluster.advance(1);
  assert.equal(await present(cluster), '');
  assert.deepEqual(cluster.warnings, []);
});

test('in foreground deletion, an owner does not wait for non-blocking dependents', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  await cluster.client.create(configMap, {
    metadata: { name: 'b', namespace: 'default', ownerReferences: [refer(a)], finalizers: ['example.com/hold'] },
  });
  await cluster.advance(1);
  await del(cluster, 'a', 'Foreground');
  await cluster.advance(1);
  assert.equal(await present(cluster), '-b');
});

test('a dependent with another owner loses the reference to an owner in foreground deletion', async () => {
  await using cluster = await startCollecting();
  const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')];
  await make(cluster, 'c', [refer(a, true), refer(b, true)]);
  await cluster.advance(1);
  await del(cluster, 'a', 'Foreground');
  await cluster.advance(1);
  assert.equal(await present(cluster), 'b c');
});

test('orphaned dependents lose their owner reference and stay', async () => {
  await using cluster = await startCollecting();
  await defineBox(cluster.client);
  await cluster.advance(1);
  const a = await make(cluster, 'a');
  await make(cluster, 'b', [refer(a, true)]);
  await make(cluster, 'boxed', [refer(a, true)], box);
  await cluster.advance(1);
  await del(cluster, 'a', 'Orphan');
  await cluster.advance(1);
  assert.deepEqual([await present(cluster), await present(cluster, box)], ['b', 'boxed']);
  const { metadata } = await cluster.client.get(configMap, { name: 'b', namespace: 'default' });
  assert.equal(metadata.ownerReferences, undefined);
  assert.deepEqual(cluster.warnings, []);
});

for (const policy of ['Background', 'Foreground'] as const) {
  test(`owners in a cycle are deleted when one of them is: ${policy}`, async () => {
    await using cluster = await startCollecting();
    const { client } = cluster;
    const names = ['a', 'b', 'c'];
    const circle = [await make(cluster, 'a'), await make(cluster, 'b'), await make(cluster, 'c')];
    for (const [index, name] of names.entries()) {
      const ownerReferences = [refer(circle[(index + 2) % 3]!, true)];
      await client.patch(
        configMap,
        { name, namespace: 'default' },
        { metadata: { ownerReferences } },
        { type: 'merge' },
      );
    }
    await cluster.advance(1);
    assert.equal(await present(cluster), 'a b c');
    await del(cluster, 'a', policy);
    await cluster.advance(1);
    assert.equal(await present(cluster), '');
    assert.deepEqual(cluster.warnings, []);
  });

  test(`an object that owns itself is deleted: ${policy}`, async () => {
    await using cluster = await startCollecting();
    const self = await make(cluster, 'self');
    const ownerReferences = [refer(self, true)];
    const place = { name: 'self', namespace: 'default' };
    await cluster.client.patch(configMap, place, { metadata: { ownerReferences } }, { type: 'merge' });
    await cluster.advance(1);
    assert.equal(await present(cluster), 'self');
    await del(cluster, 'self', policy);
    await cluster.advance(1);
    assert.equal(await present(cluster), '');
  });
}

test('a cycle in foreground deletion has no deadlock', async () => {
  await using cluster = await startCollecting();
  const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')];
  for (const [name, owner] of [
    ['a', b],
    ['b', a],
  ] as const) {
    const change = { metadata: { ownerReferences: [refer(owner, true)] } };
    await cluster.client.patch(configMap, { name, namespace: 'default' }, change, { type: 'merge' });
  }
  await cluster.advance(1);
  await Promise.all([del(cluster, 'a', 'Foreground'), del(cluster, 'b', 'Foreground')]);
  await cluster.advance(1);
  assert.equal(await present(cluster), '');
});

test('custom resources can be owners and dependents', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  await defineBox(cluster.client);
  await cluster.advance(1);
  const boxed = await make(cluster, 'boxed', [refer(a)], box);
  await make(cluster, 'b', [refer(boxed)]);
  await cluster.advance(1);
  assert.deepEqual([await present(cluster), await present(cluster, box)], ['a b', 'boxed']);
  await del(cluster, 'a');
  await cluster.advance(1);
  assert.deepEqual([await present(cluster), await present(cluster, box)], ['', '']);
  assert.deepEqual(cluster.warnings, []);
});

test('dependents of a custom resource are deleted with its CRD', async () => {
  await using cluster = await startCollecting();
  await defineBox(cluster.client);
  await cluster.advance(1);
  await make(cluster, 'b', [refer(await make(cluster, 'boxed', [], box))]);
  await cluster.advance(1);
  await cluster.client.delete(customResourceDefinition, boxDefinition);
  await cluster.advance(5);
  assert.equal(await present(cluster), '');
  assert.deepEqual(cluster.warnings, []);
});

test('dependents of an unknown kind are kept until the kind is known', async () => {
  await using cluster = await startCollecting();
  const unknown = { apiVersion: 'example.com/v1', kind: 'Box', name: 'boxed', uid: 'never-was' };
  await make(cluster, 'a', [unknown]);
  await cluster.advance(60);
  assert.equal(await present(cluster), 'a');
  await defineBox(cluster.client);
  await cluster.advance(1);
  assert.equal(await present(cluster), '');
});

test('owner references across namespaces are invalid, and emit an event', async () => {
  await using cluster = await startCollecting();
  const { client } = cluster;
  await client.create(namespace, { metadata: { name: 'elsewhere' } });
  const a = await make(cluster, 'a');
  await client.create(configMap, { metadata: { name: 'b', namespace: 'elsewhere', ownerReferences: [refer(a)] } });
  await cluster.advance(2);
  assert.deepEqual((await client.list(configMap, { namespace: 'elsewhere' })).items, []);
  const { items } = await client.list(event, { namespace: 'elsewhere' });
  assert.deepEqual(
    items.map(({ type, reason, message }) => [type, reason, message]),
    [
      [
        'Warning',
        'OwnerRefInvalidNamespace',
        `ownerRef [v1/ConfigMap, namespace: elsewhere, name: a, uid: ${a.metadata.uid}] does not exist in namespace "elsewhere"`,
      ],
    ],
  );
});

test('a cluster-scoped object with a namespaced owner is kept', async () => {
  await using cluster = await startCollecting();
  const { client } = cluster;
  const a = await make(cluster, 'a');
  await client.create(clusterRole, { metadata: { name: 'wide', ownerReferences: [refer(a)] }, rules: [] });
  await cluster.advance(1);
  await del(cluster, 'a');
  await cluster.advance(60);
  assert.equal((await client.get(clusterRole, { name: 'wide' })).metadata.name, 'wide');
  assert.deepEqual(cluster.warnings, []);
});

test('cluster-scoped owners may have dependents in any namespace', async () => {
  await using cluster = await startCollecting();
  const { client } = cluster;
  const role = await client.create(clusterRole, { metadata: { name: 'wide' }, rules: [] });
  await client.create(secret, { metadata: { name: 'key', namespace: 'default', ownerReferences: [refer(role)] } });
  await cluster.advance(1);
  assert.equal(await present(cluster, secret), 'key');
  await client.delete(clusterRole, { name: 'wide' });
  await cluster.advance(1);
  assert.equal(await present(cluster, secret), '');
});

test('hundreds of chained dependents are deleted in the foreground', async () => {
  await using cluster = await startCollecting();
  const a = await make(cluster, 'a');
  let last = await make(cluster, 'dependent-0', [refer(a, true)]);
  for (let index = 1; index < 300; index++) {
    last = await make(cluster, `dependent-${index}`, [refer(a, true), refer(last, true)]);
  }
  await cluster.advance(1);
  await del(cluster, 'a', 'Foreground');
  await cluster.advance(10);
  assert.equal(await present(cluster), '');
  assert.deepEqual(cluster.warnings, []);
});

/** Runs the collector with intercepted requests while a callback runs. */
async function collecting(
  cluster: Cluster,
  intercept: (request: ApiRequest) => Promise<void>,
  work: () => Promise<void>,
): Promise<void> {
  const { transport } = cluster.clientOfAccount('generic-garbage-collector');
  const client = createClient({
    ...transport,
    async request(request) {
      await intercept(request);
      return transport.request(request);
    },
  });
  const stop = new AbortController();
  const context = { client, clock: cluster.clock, random: seededRandom(1) };
  const running = runControllers([garbageCollector()], context, stop.signal);
  try {
    await work();
  } finally {
    stop.abort();
    await cluster.advance(0);
    await running;
  }
}

test('a kind that cannot be listed blocks the others for at most 30 seconds', async () => {
  await using cluster = await startCluster();
  const breakSecrets = async ({ path }: ApiRequest) => {
    if (path === '/api/v1/secrets') throw new Error('broken');
  };
  await collecting(cluster, breakSecrets, async () => {
    const a = await make(cluster, 'a');
    await make(cluster, 'b', [refer(a, true)]);
    await del(cluster, 'a', 'Foreground');
    await cluster.advance(29);
    assert.equal(await present(cluster), '-a b');
    await cluster.advance(2);
    assert.equal(await present(cluster), '');
  });
});

test('an object that gets an owner at the moment of its deletion is kept', async () => {
  await using cluster = await startCluster();
  const a = await make(cluster, 'a');
  const otherOwner = await make(cluster, 'saviour');
  await make(cluster, 'b', [refer(a)]);
  const reference = { name: 'b', namespace: 'default' };
  let isSaved = false;
  const save = async ({ method, path }: ApiRequest) => {
    if (isSaved || method !== 'DELETE' || !path.endsWith('/configmaps/b')) return;
    isSaved = true;
    const ownerReferences = [refer(a), refer(otherOwner)];
    await cluster.client.patch(configMap, reference, { metadata: { ownerReferences } }, { type: 'merge' });
  };
  await collecting(cluster, save, async () => {
    await cluster.advance(1);
    await del(cluster, 'a');
    await cluster.advance(5);
    assert.ok(isSaved);
    const { metadata } = await cluster.client.get(configMap, reference);
    assert.deepEqual(metadata.ownerReferences, [refer(otherOwner)]);
  });
});

test('garbage collection over the network has the same results', async () => {
  await using server = await startTestServer({ https: true });
  const { client } = server;
  const stop = new AbortController();
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
  const own = server.clientOf({ username: 'system:serviceaccount:kube-system:generic-garbage-collector', groups });
  const running = runControllers(
    [garbageCollector()],
    { client: own, clock: systemClock, random: systemRandom },
    stop.signal,
  );
  try {
    const a = await client.create(configMap, { metadata: { name: 'a', namespace: 'default' } });
    await client.create(configMap, {
      metadata: { name: 'b', namespace: 'default', ownerReferences: [refer(a, true)] },
    });
    const { metadata } = await client.list(configMap, { namespace: 'default' });
    const watch = client.watch(configMap, { namespace: 'default', resourceVersion: metadata.resourceVersion ?? '' });
    await client.delete(configMap, { name: 'a', namespace: 'default' }, { propagationPolicy: 'Foreground' });
    const gone: (string | undefined)[] = [];
    for await (const { type, object } of watch) {
      if (type === 'DELETED') gone.push(object.metadata.name);
      if (gone.length === 2) break;
    }
    assert.deepEqual(gone, ['b', 'a']);
  } finally {
    stop.abort();
    await running;
  }
});
