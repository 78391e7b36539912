import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { pod } from '@kruise/api/core/pod';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { dynamicKind } from '@kruise/client/dynamic-kind';
import { evict } from '@kruise/client/subresources';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
const selector = { matchLabels: { app: 'web' } };

type Owner = { apiVersion: string; kind: string; name: string; uid: string };

async function addPods({ client }: Cluster, owner: Owner, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const reference = { namespace: 'default', name };
    await client.create(pod, {
      metadata: { ...reference, labels: { app: 'web' }, ownerReferences: [{ ...owner, controller: true }] },
      spec: { ...template.spec, nodeName: 'n' },
    });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await client.patch(
      pod,
      reference,
      { status: { phase: 'Running', conditions } },
      { type: 'merge', subresource: 'status' },
    );
  }
}

async function start(spec: object): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.client.create(podDisruptionBudget, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector, ...spec },
  });
  await cluster.run(['disruption-controller']);
  return cluster;
}

const statusOf = async ({ client }: Cluster) =>
  (await client.get(podDisruptionBudget, { namespace: 'default', name: 'web' })).status;

test('a budget follows its Pods, and allows evictions accordingly', async () => {
  await using cluster = await start({ maxUnavailable: 1 });
  const { client } = cluster;
  const set = await client.create(replicaSet, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector, template },
  });
  await addPods(cluster, { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: set.metadata.uid! }, [
    'a',
    'b',
    'c',
  ]);
  await cluster.advance(1);
  assert.equal((await statusOf(cluster))?.disruptionsAllowed, 1);

  await evict(client, { namespace: 'default', name: 'a' });
  await assert.rejects(evict(client, { namespace: 'default', name: 'b' }), /disruption budget/);
  await cluster.advance(1);
  const { currentHealthy, disruptionsAllowed, disruptedPods } = (await statusOf(cluster))!;
  assert.deepEqual([currentHealthy, disruptionsAllowed, disruptedPods], [2, 0, undefined]);
  assert.deepEqual(cluster.warnings, []);
});

test('a workload of any kind counts by its scale subresource', async () => {
  await using cluster = await start({ maxUnavailable: '50%' });
  const { client } = cluster;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await client.create(customResourceDefinition, {
    metadata: { name: 'packs.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'packs', kind: 'Pack' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema,
          subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        },
      ],
    },
  });
  await cluster.advance(1);
  const packs = dynamicKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Pack',
    plural: 'packs',
    scope: 'Namespaced',
  });
  const made = { metadata: { name: 'web', namespace: 'default' }, spec: { replicas: 4 } };
  const { metadata } = await client.create(packs, made);
  await addPods(cluster, { apiVersion: 'example.com/v1', kind: 'Pack', name: 'web', uid: metadata.uid! }, [
    'a',
    'b',
    'c',
    'd',
  ]);
  await cluster.advance(1);
  const { expectedPods, desiredHealthy, disruptionsAllowed } = (await statusOf(cluster))!;
  assert.deepEqual([expectedPods, desiredHealthy, disruptionsAllowed], [4, 2, 2]);
  assert.deepEqual(cluster.warnings, []);
});

test('a Pod whose controller is deleted allows no disruption', async () => {
  await using cluster = await start({ maxUnavailable: 1 });
  await addPods(cluster, { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'gone' }, ['a']);
  await cluster.advance(1);
  const condition = (await statusOf(cluster))?.conditions?.[0];
  assert.deepEqual([condition?.reason, condition?.message], ['SyncFailed', 'found no controllers for pod "a"']);
});
