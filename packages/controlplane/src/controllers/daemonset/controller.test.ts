import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type DaemonSet, daemonSet } from '@kruise/api/apps/daemonset';
import { event } from '@kruise/api/core/event';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { seededRandom } from '@kruise/values/random';
import { type Cluster, startCluster } from '../../testing/cluster.ts';
import { type FakeNodes, startFakeNodes } from '../../testing/nodes.ts';

const reference = { name: 'agent', namespace: 'default' };
const labels = { app: 'agent' };
const templateOf = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'main', image }] } });

type Setting = Cluster & { readonly nodes: FakeNodes };

async function startDaemonSets(...names: string[]): Promise<Setting> {
  const cluster = await startCluster();
  const stop = new AbortController();
  const nodes = startFakeNodes(cluster.client, cluster.clock, seededRandom('nodes'), stop.signal);
  for (const name of names) await addNode(cluster, name);
  await cluster.run(['daemonset-controller']);
  const close = async () => {
    stop.abort();
    await cluster.close();
  };
  return { ...cluster, nodes, close, [Symbol.asyncDispose]: close };
}

/** Adds a ready node; an unready one accepts no Pods. */
async function addNode({ client }: Cluster, name: string): Promise<void> {
  await client.create(node, { metadata: { name } });
  await client.patch(node, { name }, { spec: { taints: null } }, { type: 'merge' });
}

const setOf = (spec: Partial<NonNullable<DaemonSet['spec']>> = {}): Partial<DaemonSet> => ({
  metadata: reference,
  spec: { selector: { matchLabels: labels }, template: templateOf('a'), ...spec },
});
const podsOf = async ({ client }: Cluster): Promise<readonly Pod[]> =>
  (await client.list(pod, { namespace: 'default' })).items;
const whereOf = (pods: readonly Pod[]) =>
  pods.map((each) => `${targetNodeOf(each)}:${each.spec?.containers?.[0]?.image}`).sort();

test('a DaemonSet follows the nodes, with the permissions of its ServiceAccount', async () => {
  await using cluster = await startDaemonSets('n1', 'n2');
  const { client } = cluster;
  await client.create(daemonSet, setOf());
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n1:a', 'n2:a']);
  await addNode(cluster, 'n3');
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n1:a', 'n2:a', 'n3:a']);

  const taint = (effect: string) => ({ spec: { taints: [{ key: 'example.com/x', effect }] } });
  await client.patch(node, { name: 'n1' }, taint('NoSchedule'), { type: 'merge' });
  await cluster.advance(1);
  const { conditions: _, ...figures } = (await client.get(daemonSet, reference)).status!;
  assert.deepEqual(figures, {
    desiredNumberScheduled: 2,
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    numberReady: 2,
    updatedNumberScheduled: 2,
    numberAvailable: 2,
    observedGeneration: 1,
  });
  await client.patch(node, { name: 'n1' }, taint('NoExecute'), { type: 'merge' });
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n2:a', 'n3:a']);

  const events = (await client.list(event, { namespace: 'default' })).items;
  assert.equal(events.filter(({ reason }) => reason === 'SuccessfulCreate').length, 3);
  assert.ok(events.every(({ source }) => source?.component === 'daemonset-controller'));
  assert.deepEqual(cluster.warnings, []);
});

test('a rolling update replaces one Pod after the other, and keeps old revisions', async () => {
  await using cluster = await startDaemonSets('n1', 'n2', 'n3');
  const { client, nodes } = cluster;
  await client.create(daemonSet, setOf());
  await cluster.advance(1);
  nodes.becomesReady = ({ spec }) => spec?.containers?.[0]?.image !== 'bad';
  await client.patch(daemonSet, reference, { spec: { template: templateOf('bad') } }, { type: 'merge' });
  await cluster.advance(60);
  const images = (await podsOf(cluster)).map(({ spec }) => spec?.containers?.[0]?.image);
  assert.deepEqual(images.toSorted(), ['a', 'a', 'bad']);
  assert.equal((await client.get(daemonSet, reference)).status?.numberUnavailable, 1);

  await client.patch(daemonSet, reference, { spec: { template: templateOf('b') } }, { type: 'merge' });
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n1:b', 'n2:b', 'n3:b']);
  const revisions = (await client.list(controllerRevision, { namespace: 'default' })).items;
  assert.deepEqual(revisions.map(({ revision }) => revision).toSorted(), [1, 2, 3]);
  assert.equal((await client.get(daemonSet, reference)).status?.updatedNumberScheduled, 3);
});

test('with surge, the new Pod is available before the old one is deleted', async () => {
  await using cluster = await startDaemonSets('n1');
  const { client, nodes } = cluster;
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
  await client.create(daemonSet, setOf({ updateStrategy }));
  await cluster.advance(1);
  nodes.becomesReady = () => false;
  await client.patch(daemonSet, reference, { spec: { template: templateOf('b') } }, { type: 'merge' });
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n1:a', 'n1:b']);
  nodes.becomesReady = () => true;
  const waiting = (await podsOf(cluster)).find(({ spec }) => spec?.containers?.[0]?.image === 'b')!;
  const conditions = [{ type: 'Ready', status: 'True' }];
  await client.update(pod, { ...waiting, status: { phase: 'Running', conditions } }, { subresource: 'status' });
  await cluster.advance(1);
  assert.deepEqual(whereOf(await podsOf(cluster)), ['n1:b']);
});

test('a Pod that fails repeatedly is replaced with exponential backoff', async () => {
  await using cluster = await startDaemonSets('n1');
  const { client, nodes, clock } = cluster;
  nodes.becomesReady = () => false;
  const replacedAt: number[] = [];
  await client.create(daemonSet, setOf());
  const start = clock.now();
  let last: string | undefined;
  for (let tick = 0; tick < 320; tick++) {
    await cluster.advance(0.1);
    const [found] = await podsOf(cluster);
    if (!found || found.metadata.uid === last) continue;
    last = found.metadata.uid;
    replacedAt.push(Math.round((clock.now() - start) / 1000));
    await client.update(pod, { ...found, status: { phase: 'Failed' } }, { subresource: 'status' });
  }
  // The first replacement is immediate, then the backoff is 1, 2, 4, 8 and 16 seconds.
  assert.deepEqual(replacedAt, [0, 0, 1, 3, 7, 15, 31]);
  const events = (await client.list(event, { namespace: 'default' })).items;
  assert.ok(
    events.some(
      ({ reason, message }) => reason === 'FailedDaemonPod' && message?.includes('on node n1, will try to kill it'),
    ),
  );
});
