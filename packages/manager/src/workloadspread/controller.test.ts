/** WorkloadSpreads on a real API server: webhooks and controller together, with a CloneSet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import {
  type WorkloadSpreadSpec,
  type WorkloadSpreadSubset,
  workloadSpread,
  workloadSpreadV1alpha1,
} from '@kruise/api/kruise/workloadspread';
import { evict } from '@kruise/client/subresources';
import { deletionCostOf } from '@kruise/machinery/pod-ranking';
import { isPodActive } from '@kruise/machinery/pods';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';
import { placementOf } from './placement.ts';

const web = { namespace: 'default', name: 'web' };
const inZone = (zone: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In' as const, values: [zone] }] });
const subset = (name: string, maxReplicas?: number | string): WorkloadSpreadSubset => ({
  name,
  requiredNodeSelector: inZone(name),
  ...(maxReplicas === undefined ? {} : { maxReplicas }),
});

async function spread({ client, pass }: TestCluster, subsets: readonly WorkloadSpreadSubset[], more = {}) {
  const targetRef = { apiVersion: 'apps.kruise.io/v1beta1', kind: 'CloneSet', name: 'web' };
  const spec: WorkloadSpreadSpec = { targetRef, subsets, ...more };
  await client.create(workloadSpread, { metadata: web, spec });
  await pass(1);
}

async function start({ client, pass }: TestCluster, replicas: number) {
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'app:v1' }], terminationGracePeriodSeconds: 0 },
  };
  const selector = { matchLabels: { app: 'web' } };
  await client.create(cloneSet, { metadata: web, spec: { replicas, selector, template } });
  await pass(1);
}

async function scale({ client, pass }: TestCluster, replicas: number) {
  await client.patch(cloneSet, web, { spec: { replicas } }, { type: 'merge' });
  await pass(2);
}

async function podsOf({ client }: TestCluster): Promise<readonly Pod[]> {
  return (await client.list(pod, { namespace: 'default' })).items.filter(isPodActive);
}

/** Returns the Pods of each subset with their deletion costs: `a 200 200, b 100`. */
async function groups(cluster: TestCluster): Promise<string> {
  const byGroup = Map.groupBy(await podsOf(cluster), (each) => placementOf(each)?.subset ?? '-');
  const costs = (pods: readonly Pod[]) => pods.map(deletionCostOf).sort((a, b) => b - a);
  return [...byGroup]
    .map(([name, pods]) => [name, ...costs(pods)].join(' '))
    .sort()
    .join(', ');
}

/** Returns the counts of each subset in the status: `a 2/1` has 2 replicas, 1 missing. */
async function counts({ client }: TestCluster): Promise<string> {
  const { status } = await client.get(workloadSpread, web);
  return (status?.subsetStatuses ?? [])
    .map((each) => `${each.name} ${each.replicas}/${each.missingReplicas}`)
    .join(' ');
}

test('subsets are filled in order, and emptied from the last', async () => {
  await using cluster = await startTestCluster();
  await spread(cluster, [subset('a', 2), subset('b')]);
  await start(cluster, 6);
  assert.equal(await groups(cluster), 'a 200 200, b 100 100 100 100');
  assert.equal(await counts(cluster), 'a 2/0 b 4/-1');
  await scale(cluster, 2);
  assert.equal(await groups(cluster), 'a 200 200');
  assert.equal(await counts(cluster), 'a 2/0 b 0/-1');
});

test('a Pod gets the node requirements of its subset, and an annotation with its placement', async () => {
  await using cluster = await startTestCluster();
  const patch = { metadata: { labels: { tier: 'cheap' } } };
  const tolerations = [{ key: 'spot', operator: 'Exists' as const }];
  await spread(cluster, [{ ...subset('a', 1), patch, tolerations }, subset('b')]);
  await start(cluster, 1);
  const [made] = await podsOf(cluster);
  assert.equal(made?.metadata.labels?.['tier'], 'cheap');
  assert.ok(made?.spec?.tolerations?.some(({ key }) => key === 'spot'));
  assert.deepEqual(
    made?.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms,
    [inZone('a')],
  );
  assert.deepEqual({ ...placementOf(made!), uid: '' }, { name: 'web', subset: 'a', uid: '' });
});

test('subsets follow changed limits', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await spread(cluster, [subset('a', 3), subset('b', 3)]);
  await start(cluster, 6);
  assert.equal(await groups(cluster), 'a 200 200 200, b 100 100 100');
  const subsets = (most: number) => ({ spec: { subsets: [subset('a', most), subset('b', most)] } });
  await client.patch(workloadSpread, web, subsets(2), { type: 'merge' });
  await pass(1);
  assert.equal(await groups(cluster), 'a 200 200 -100, b 100 100 -200');
  await scale(cluster, 4);
  assert.equal(await groups(cluster), 'a 200 200, b 100 100');
  await client.patch(workloadSpread, web, subsets(4), { type: 'merge' });
  await pass(1);
  await scale(cluster, 8);
  assert.equal(await groups(cluster), 'a 200 200 200 200, b 100 100 100 100');
});

for (const way of ['deleted', 'evicted'] as const) {
  test(`a Pod that is ${way} is replaced in its subset`, async () => {
    await using cluster = await startTestCluster();
    const { client, pass } = cluster;
    await spread(cluster, [subset('a', 1), subset('b')]);
    await start(cluster, 3);
    await cluster.runPods();
    const first = (await podsOf(cluster)).find((each) => placementOf(each)?.subset === 'a')!;
    const reference = { namespace: 'default', name: first.metadata.name! };
    await (way === 'deleted' ? client.delete(pod, reference) : evict(client, reference));
    await pass(1);
    assert.equal(await groups(cluster), 'a 200, b 100 100');
    assert.ok(!(await podsOf(cluster)).some(({ metadata }) => metadata.uid === first.metadata.uid));
  });
}

test('a dry run changes nothing', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await spread(cluster, [subset('a', 1), subset('b')]);
  await start(cluster, 1);
  const versionOf = async () => (await client.get(workloadSpread, web)).metadata.resourceVersion;
  const before = await versionOf();
  const [made] = await podsOf(cluster);
  const { name = '', ownerReferences = [], labels = {} } = made!.metadata;
  await client.delete(pod, { namespace: 'default', name }, { dryRun: true });
  const metadata = { namespace: 'default', generateName: 'web-', labels, ownerReferences };
  await client.create(pod, { metadata, spec: { containers: [{ name: 'main', image: 'app' }] } }, { dryRun: true });
  assert.equal(await versionOf(), before);
});

test('Pods beyond the capacity of all subsets stay, and are deleted first', async () => {
  await using cluster = await startTestCluster();
  await spread(cluster, [subset('a', 2)]);
  await start(cluster, 2);
  await scale(cluster, 6);
  await cluster.runPods();
  assert.equal(await groups(cluster), '- 0 0 0 0, a 100 100');
  assert.equal(await counts(cluster), 'a 2/0');
  await scale(cluster, 2);
  assert.equal(await groups(cluster), 'a 100 100');
});

test('existing Pods are assigned to the subset of their node', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(node, { metadata: { name: 'node-1', labels: { zone: 'a' } } });
  // A new node has a taint until it is ready.
  await client.patch(node, { name: 'node-1' }, { spec: { taints: [] } }, { type: 'merge' });
  await start(cluster, 4);
  await cluster.runPods();
  const patched = { ...subset('a', 2), patch: { metadata: { labels: { tier: 'cheap' } } } };
  await spread(cluster, [patched, subset('b')]);
  assert.equal(await groups(cluster), 'a 200 200 -100 -100');
  assert.equal(await counts(cluster), 'a 4/0 b 0/-1');
  assert.ok((await podsOf(cluster)).every(({ metadata }) => metadata.labels?.['tier'] === 'cheap'));
  await scale(cluster, 6);
  assert.equal(await groups(cluster), 'a 200 200 -100 -100, b 100 100');
  await cluster.runPods();
  await scale(cluster, 3);
  assert.equal(await groups(cluster), 'a 200 200, b 100');
});

/** Sets the scheduler's condition of an unschedulable Pod. */
async function findNoNode({ client }: TestCluster, { metadata }: Pod) {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
  const reference = { namespace: 'default', name: metadata.name! };
  await client.patch(pod, reference, { status: { conditions } }, { type: 'strategic', subresource: 'status' });
}

test('unschedulable Pods move to the next subset, until the first subset is tried again', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const scheduleStrategy = { type: 'Adaptive', adaptive: { rescheduleCriticalSeconds: 5 } };
  await spread(cluster, [subset('a', 2), subset('b')], { scheduleStrategy });
  await start(cluster, 3);
  const sent = (await podsOf(cluster)).filter((each) => placementOf(each)?.subset === 'a');
  for (const each of sent) await findNoNode(cluster, each);
  await pass(4);
  assert.equal(await groups(cluster), 'a 200 200, b 100');
  await pass(4);
  assert.equal(await groups(cluster), 'b 100 100 100');
  const isRoomy = async () => {
    const { status } = await client.get(workloadSpread, web);
    const lists = [status?.subsetStatuses, status?.versionedSubsetStatuses?.['versionIgnored']];
    return lists.map((list) => list?.map(({ conditions }) => conditions?.[0]?.status).join(' '));
  };
  assert.deepEqual(await isRoomy(), ['False True', 'False True']);
  await pass(300);
  assert.deepEqual(await isRoomy(), ['True True', 'True True']);
  await scale(cluster, 5);
  assert.equal(await groups(cluster), 'a 200 200, b 100 100 100');
});

test('v1alpha1 has other names for the same fields', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await client.create(workloadSpreadV1alpha1, {
    metadata: web,
    spec: {
      targetRef: { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'web' },
      subsets: [{ name: 'a', requiredNodeSelectorTerm: inZone('a'), maxReplicas: '50%' }, { name: 'b' }],
    },
  });
  await pass(1);
  await start(cluster, 4);
  assert.equal(await groups(cluster), 'a 200 200, b 100 100');
});
