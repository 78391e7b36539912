/** Unschedulable Pods on a real API server: moved to other subsets, or reserved with replacement Pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type Subset, type UnitedDeployment, unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { startTestCluster, type TestCluster, unlessNotFound } from '../testing/test-cluster.ts';

const reference = { namespace: 'default', name: 'web' };
const selector = { matchLabels: { app: 'web' } };
const metadata = { labels: { app: 'web' } };
const podSpec = (image: string) => ({ containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 0 });
const templateOf = (image = 'app:v1') => ({
  cloneSetTemplate: { metadata, spec: { selector, template: { metadata, spec: podSpec(image) } } },
});

const subsetNameOf = ({ metadata: { labels } }: Pod) => labels?.['apps.kruise.io/subset-name'] ?? '';
const markOf = ({ metadata: { labels } }: Pod) => labels?.['apps.kruise.io/united-deployment-reserved-pod'];

/** Starts a cluster in which only some subsets have nodes, and a UnitedDeployment. */
async function startSubsets(subsets: readonly Subset[], replicas: number, adaptive: object) {
  const cluster = await startTestCluster();
  const { client } = cluster;
  const topology = {
    subsets,
    scheduleStrategy: { type: 'Adaptive', adaptive },
  } as UnitedDeployment['spec']['topology'];
  const spec = { replicas, selector, template: templateOf(), topology: topology! };
  await client.create(unitedDeployment, { metadata: reference, spec });
  const withRoom = new Set(subsets.map(({ name }) => name));
  const pods = async () => (await client.list(pod, { namespace: 'default' })).items;
  return {
    cluster,
    withRoom,
    /** Advances the clock; scheduled Pods run at once. */
    async pass(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        for (const each of await pods())
          if (!withRoom.has(subsetNameOf(each))) await refuse(cluster, each).catch(unlessNotFound);
        await cluster.runPods((each) => withRoom.has(subsetNameOf(each)));
      }
    },
    async change(spec: object) {
      await client.patch(unitedDeployment, reference, { spec }, { type: 'merge' });
    },
    async counts() {
      const found = await pods();
      return subsets.map(({ name }) => found.filter((each) => subsetNameOf(each) === name).length);
    },
    async reserved() {
      const found = (await pods()).filter((each) => markOf(each) === 'true');
      return subsets.map(({ name }) => found.filter((each) => subsetNameOf(each) === name).length);
    },
    async images() {
      return [...new Set((await pods()).map((each) => each.spec?.containers[0]?.image))];
    },
    /** Returns the subsets that the status reports as unschedulable. */
    async full() {
      const { status } = await client.get(unitedDeployment, reference);
      const isFull = (conditions: readonly { readonly status: string }[] = []) =>
        conditions.some((condition) => condition.status === 'False');
      return (status?.subsetStatuses ?? []).filter(({ conditions }) => isFull(conditions)).map(({ name }) => name);
    },
    status: async () => (await client.get(unitedDeployment, reference)).status!,
  };
}

/** Sets the scheduler's condition of an unschedulable Pod. */
async function refuse({ client }: TestCluster, { metadata: { name = '', namespace = '' }, spec }: Pod): Promise<void> {
  if (spec?.nodeName) return;
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
  const status = { phase: 'Pending', conditions };
  await client.patch(pod, { name, namespace }, { status }, { type: 'strategic', subresource: 'status' });
}

test('unschedulable Pods move to later subsets, and return when there is capacity', async () => {
  const subsets = [{ name: 'a', maxReplicas: 2 }, { name: 'b', maxReplicas: 2 }, { name: 'c' }];
  const times = { rescheduleCriticalSeconds: 10, unschedulableDuration: 10 };
  const world = await startSubsets(subsets, 3, times);
  await using _ = world.cluster;
  world.withRoom.delete('b');
  await world.pass(5);
  assert.deepEqual(await world.counts(), [2, 1, 0]);
  await world.pass(10);
  assert.deepEqual([await world.counts(), await world.full()], [[2, 0, 1], ['b']]);
  await world.change({ replicas: 5 });
  await world.pass(2);
  assert.deepEqual(await world.counts(), [2, 0, 3]);
  await world.change({ replicas: 4 });
  await world.pass(10);
  assert.deepEqual([await world.counts(), await world.full()], [[2, 0, 2], []]);
  await world.change({ replicas: 5 });
  await world.pass(2);
  assert.deepEqual(await world.counts(), [2, 1, 2]);
  world.withRoom.add('b');
  await world.pass(3);
  await world.change({ replicas: 6 });
  await world.pass(3);
  assert.deepEqual(await world.counts(), [2, 2, 2]);
  await world.change({ replicas: 3 });
  await world.pass(3);
  assert.deepEqual(await world.counts(), [2, 1, 0]);
});

test('a minimum is kept even if Pods are unschedulable', async () => {
  const subsets = [{ name: 'a', minReplicas: 1, maxReplicas: 2 }, { name: 'b' }];
  const times = { rescheduleCriticalSeconds: 10, unschedulableDuration: 20 };
  const world = await startSubsets(subsets, 3, times);
  await using _ = world.cluster;
  world.withRoom.delete('a');
  await world.pass(13);
  assert.deepEqual([await world.counts(), await world.full()], [[1, 2], ['a']]);
  await world.change({ replicas: 4 });
  await world.pass(3);
  assert.deepEqual(await world.counts(), [1, 3]);
  world.withRoom.add('a');
  await world.pass(25);
  assert.deepEqual([await world.counts(), await world.full()], [[1, 3], []]);
  await world.change({ replicas: 5 });
  await world.pass(3);
  assert.deepEqual(await world.counts(), [2, 3]);
});

test('reserved Pods stay pending, and their replacements are deleted when they are proven', async () => {
  const subsets = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const times = { rescheduleCriticalSeconds: 10, unschedulableDuration: 1, reserveUnschedulablePods: true };
  const world = await startSubsets(subsets, 2, times);
  await using _ = world.cluster;
  world.withRoom.delete('a');
  world.withRoom.delete('b');
  await world.pass(30);
  assert.deepEqual(
    [await world.counts(), await world.reserved()],
    [
      [2, 2, 2],
      [2, 2, 0],
    ],
  );
  const { replicas, reservedPods, labelSelector } = await world.status();
  assert.deepEqual([replicas, reservedPods], [2, 4]);
  assert.equal(labelSelector, 'app=web,apps.kruise.io/united-deployment-reserved-pod=false');
  await world.change({ replicas: 4 });
  await world.pass(5);
  assert.deepEqual(
    [await world.counts(), await world.reserved()],
    [
      [2, 2, 4],
      [2, 2, 0],
    ],
  );
  await world.change({ template: templateOf('app:v2') });
  await world.pass(40);
  assert.deepEqual([await world.counts(), await world.images()], [[2, 2, 4], ['app:v2']]);
  world.withRoom.add('a');
  await world.pass(20);
  assert.deepEqual([await world.counts(), await world.reserved(), await world.full()], [[4, 0, 0], [0, 0, 0], []]);
  await world.change({ replicas: 5 });
  await world.pass(5);
  assert.deepEqual([await world.counts(), (await world.status()).replicas], [[5, 0, 0], 5]);
});

test("Pods of a subset's minimum stay pending there, and get replacements", async () => {
  const subsets = [{ name: 'a', minReplicas: 1 }, { name: 'b', minReplicas: 1 }, { name: 'c' }];
  const times = { rescheduleCriticalSeconds: 10, unschedulableDuration: 1, reserveUnschedulablePods: true };
  const world = await startSubsets(subsets, 2, times);
  await using _ = world.cluster;
  world.withRoom.delete('a');
  world.withRoom.delete('b');
  await world.pass(20);
  assert.deepEqual(
    [await world.counts(), await world.reserved()],
    [
      [1, 1, 2],
      [1, 1, 0],
    ],
  );
  await world.change({ replicas: 4 });
  await world.pass(5);
  assert.deepEqual(await world.counts(), [1, 1, 4]);
  world.withRoom.add('a');
  await world.pass(20);
  assert.deepEqual([await world.counts(), await world.reserved(), await world.full()], [[4, 1, 0], [0, 1, 0], ['b']]);
});
