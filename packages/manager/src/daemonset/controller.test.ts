import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type DaemonSet, daemonSet, daemonSetV1alpha1 } from '@kruise/api/kruise/daemonset';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const reference = { namespace: 'default', name: 'agent' };

function agentOf(spec: Partial<DaemonSet['spec']> = {}) {
  return {
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'main', image: 'app:v1' }], terminationGracePeriodSeconds: 0 },
      },
      ...spec,
    },
  };
}

async function addNodes({ client }: TestCluster, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.create(node, { metadata: { name } });
    // Admission taints a new node as not ready; its kubelet would have removed the taint by now.
    await client.patch(node, { name }, { spec: { taints: null } }, { type: 'merge' });
  }
}

async function podsOf({ client }: TestCluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items;
}

async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 16; turn++) await cluster.runPods();
}

test('every node has a Pod, and a node that joins gets one', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await addNodes(cluster, 'a', 'b');
  await client.create(daemonSet, agentOf());
  await cluster.pass(1);
  assert.deepEqual((await podsOf(cluster)).map(targetNodeOf).sort(), ['a', 'b']);
  await addNodes(cluster, 'c');
  await cluster.pass(1);
  assert.deepEqual((await podsOf(cluster)).map(targetNodeOf).sort(), ['a', 'b', 'c']);
  const { status } = await client.get(daemonSet, reference);
  assert.deepEqual([status?.desiredNumberScheduled, status?.currentNumberScheduled], [3, 3]);
});

test('a new image updates the existing Pods, and v1alpha1 reports it with its own fields', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await addNodes(cluster, 'node-1');
  const rollingUpdate = { rollingUpdateType: 'InPlaceIfPossible' } as const;
  await client.create(daemonSet, agentOf({ updateStrategy: { rollingUpdate } }));
  await settle(cluster);
  const before = (await podsOf(cluster)).map(({ metadata }) => metadata.uid);
  const containers = [{ name: 'main', image: 'app:v2' }];
  await client.patch(daemonSet, reference, { spec: { template: { spec: { containers } } } }, { type: 'merge' });
  await settle(cluster);
  const after = await podsOf(cluster);
  assert.deepEqual(
    after.map(({ metadata }) => metadata.uid),
    before,
  );
  assert.deepEqual(
    after.map(({ spec }) => spec?.containers[0]?.image),
    ['app:v2'],
  );
  const { status } = await client.get(daemonSetV1alpha1, reference);
  assert.deepEqual([status?.updatedNumberScheduled, status?.numberAvailable], [1, 1]);
  assert.equal(status?.daemonSetHash, after[0]?.metadata.labels?.['controller-revision-hash']);
});
