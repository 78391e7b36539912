import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { deployment } from '@kruise/api/apps/deployment';
import { statefulSet as builtinStatefulSet } from '@kruise/api/apps/statefulset';
import { event } from '@kruise/api/core/event';
import { pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { statefulSet } from '@kruise/api/kruise/statefulset';
import {
  type SubsetTemplate,
  type UnitedDeployment,
  unitedDeployment,
  unitedDeploymentV1alpha1,
} from '@kruise/api/kruise/uniteddeployment';
import type { Kind } from '@kruise/schema/kind';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';
import type { Workload } from './workload-types.ts';

const reference = { namespace: 'default', name: 'web' };
const selector = { matchLabels: { app: 'web' } };
const metadata = { labels: { app: 'web' } };
const spec = (image = 'app:v1') => ({
  selector,
  template: { metadata, spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 0 } },
});
const cloneSets = (image?: string): SubsetTemplate => ({ cloneSetTemplate: { metadata, spec: spec(image) } });

function webOf(more: Partial<UnitedDeployment['spec']> = {}) {
  return {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 4,
      selector,
      template: cloneSets(),
      topology: { subsets: [{ name: 'north' }, { name: 'south' }] },
      ...more,
    },
  };
}

/** Returns the workloads of a kind: subset, replicas, partition. */
async function workloadsIn({ client }: TestCluster, kind: Kind): Promise<readonly string[]> {
  const { items } = await client.list(kind, { namespace: 'default' });
  return (items as readonly Workload[])
    .map(({ metadata: { labels }, spec: { replicas, updateStrategy } = {} }) => {
      const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
      return `${labels?.['apps.kruise.io/subset-name']} ${replicas} ${partition}`;
    })
    .sort();
}

async function imagesIn({ client }: TestCluster): Promise<readonly string[]> {
  const { items } = await client.list(pod, { namespace: 'default' });
  return items
    .map(({ metadata: { labels }, spec: { containers } = { containers: [] } }) => {
      return `${labels?.['apps.kruise.io/subset-name']} ${containers[0]?.image}`;
    })
    .sort();
}

async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await cluster.runPods();
}

test('a UnitedDeployment keeps a CloneSet for each subset, and aggregates their status', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(unitedDeployment, webOf());
  await settle(cluster);
  assert.deepEqual(await workloadsIn(cluster, cloneSet), ['north 2 0', 'south 2 0']);
  const { status } = await client.get(unitedDeployment, reference);
  const { replicas, readyReplicas, updatedReadyReplicas, currentRevision, updatedRevision } = status!;
  assert.deepEqual([replicas, readyReplicas, updatedReadyReplicas, status?.labelSelector], [4, 4, 4, 'app=web']);
  assert.equal(currentRevision, updatedRevision);
  assert.deepEqual(
    status?.subsetStatuses?.map((each) => [each.name, each.replicas, each.readyReplicas]),
    [
      ['north', 2, 2],
      ['south', 2, 2],
    ],
  );
  assert.deepEqual(
    status?.conditions?.map(({ type, status: state }) => `${type} ${state}`),
    ['UnitedDeploymentUpdated True', 'SubsetProvisioned True', 'SubsetUpdated True'],
  );
  const { items } = await client.list(event, { namespace: 'default' });
  const events = items.filter(({ involvedObject }) => involvedObject.kind === 'UnitedDeployment');
  assert.deepEqual(
    events.map(({ reason, message }) => [reason, message]),
    [['SuccessfulUpdateSubset', 'Create 2 Subset (CloneSet)']],
  );
});

test('a new image reaches every subset up to its partition, and the former revision is kept', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(unitedDeployment, webOf());
  await settle(cluster);
  const updateStrategy = { type: 'Manual', manualUpdate: { partitions: { north: 1 } } };
  const template = cloneSets('app:v2');
  await client.patch(unitedDeployment, reference, { spec: { template, updateStrategy } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await imagesIn(cluster), ['north app:v1', 'north app:v2', 'south app:v2', 'south app:v2']);
  const held = (await client.get(unitedDeployment, reference)).status!;
  assert.notEqual(held.currentRevision, held.updatedRevision);
  assert.deepEqual(
    held.conditions?.find(({ type }) => type === 'UnitedDeploymentUpdated')?.message,
    `updating to revision ${held.updatedRevision}`,
  );
  const manualUpdate = { partitions: { north: 0 } };
  await client.patch(unitedDeployment, reference, { spec: { updateStrategy: { manualUpdate } } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await imagesIn(cluster), ['north app:v2', 'north app:v2', 'south app:v2', 'south app:v2']);
  const { status } = await client.get(unitedDeployment, reference);
  assert.equal(status?.currentRevision, held.updatedRevision);
  const { items } = await client.list(controllerRevision, { namespace: 'default' });
  const own = items.filter(({ metadata: { ownerReferences } }) => ownerReferences?.[0]?.kind === 'UnitedDeployment');
  assert.deepEqual(
    own.map(({ revision }) => revision),
    [1, 1],
  );
  for (const { metadata } of own)
    assert.deepEqual(Object.keys(metadata.labels ?? {}), ['controller.kubernetes.io/hash']);
});

test('a removed subset loses its workload, and a new template type replaces the workloads', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(unitedDeployment, webOf());
  await settle(cluster);
  const topology = { subsets: [{ name: 'south' }, { name: 'west', replicas: '25%' }] };
  await client.patch(unitedDeployment, reference, { spec: { topology } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await workloadsIn(cluster, cloneSet), ['south 3 0', 'west 1 0']);
  const template = { cloneSetTemplate: null, advancedStatefulSetTemplate: { metadata, spec: spec() } };
  await client.patch(unitedDeployment, reference, { spec: { template } }, { type: 'merge' });
  await settle(cluster);
  assert.deepEqual(await workloadsIn(cluster, cloneSet), []);
  assert.deepEqual(await workloadsIn(cluster, statefulSet), ['south 3 0', 'west 1 0']);
  const { status } = await client.get(unitedDeployment, reference);
  assert.equal(status?.replicas, 4);
});

for (const [template, kind] of [
  [{ statefulSetTemplate: { metadata, spec: { ...spec(), serviceName: '' } } }, builtinStatefulSet],
  [{ deploymentTemplate: { metadata, spec: spec() } }, deployment],
] as const) {
  test(`a UnitedDeployment keeps Kubernetes' ${kind.kind} for each subset`, async () => {
    await using cluster = await startTestCluster();
    const { client } = cluster;
    await client.create(unitedDeploymentV1alpha1, webOf({ template }));
    await cluster.pass(1);
    assert.deepEqual(await workloadsIn(cluster, kind), ['north 2 0', 'south 2 0']);
    await client.patch(unitedDeployment, reference, { spec: { replicas: 6 } }, { type: 'merge' });
    await cluster.pass(1);
    assert.deepEqual(await workloadsIn(cluster, kind), ['north 3 0', 'south 3 0']);
    const { status } = await client.get(unitedDeploymentV1alpha1, reference);
    assert.deepEqual(status?.subsetReplicas, { north: 3, south: 3 });
  });
}

test('an impossible allocation records an event, and changes nothing', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const subsets = [{ name: 'north', replicas: 3 }, { name: 'south' }];
  await client.create(unitedDeployment, webOf({ topology: { subsets } }));
  await cluster.pass(1);
  // The scale subresource is not validated.
  await client.patch(unitedDeployment, reference, { spec: { replicas: 2 } }, { type: 'merge', subresource: 'scale' });
  await cluster.pass(1);
  assert.deepEqual(await workloadsIn(cluster, cloneSet), ['north 3 0', 'south 1 0']);
  const { items } = await client.list(event, { namespace: 'default' });
  const found = items.find(({ reason }) => reason === 'Failed SpecifySubsetReplicas');
  assert.equal(
    found?.message,
    "Specified subset replicas is ineffective: specified subsets' replica (3) is greater than UnitedDeployment replica (2)",
  );
});
