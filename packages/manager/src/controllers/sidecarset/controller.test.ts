import assert from 'node:assert/strict';
import { test } from 'node:test';
import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { sidecarSet } from '@kruise/api/kruise/sidecarset';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';
import { setOf, side } from './fixtures.ts';

const { metadata: _, ...given } = setOf();
const written = { ...given, metadata: { name: 'set' } };

async function historyOf({ client }: TestCluster): Promise<readonly (readonly [string, number])[]> {
  const { items } = await client.list(controllerRevision, { namespace: 'kruise-system' });
  return items.map(({ metadata, revision }) => [metadata.name ?? '', Number(revision)]);
}

async function setImage({ client }: TestCluster, image: string): Promise<void> {
  await client.patch(sidecarSet, { name: 'set' }, { spec: { containers: [side({ image })] } }, { type: 'merge' });
}

test('a SidecarSet keeps its history where the manager lives', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await client.create(sidecarSet, written);
  await cluster.pass(1);
  const [first] = await historyOf(cluster);
  const { status } = await client.get(sidecarSet, { name: 'set' });
  assert.deepEqual(status, {
    observedGeneration: 1,
    matchedPods: 0,
    updatedPods: 0,
    readyPods: 0,
    latestRevision: first?.[0],
    collisionCount: 0,
  });
  await setImage(cluster, 'side:v3');
  await cluster.pass(1);
  assert.deepEqual((await historyOf(cluster)).map(([, revision]) => revision).sort(), [1, 2]);
  await setImage(cluster, 'side:v2');
  await cluster.pass(1);
  assert.deepEqual(new Map(await historyOf(cluster)).get(first?.[0] ?? ''), 3);
  assert.equal((await client.get(sidecarSet, { name: 'set' })).status?.latestRevision, first?.[0]);
});
