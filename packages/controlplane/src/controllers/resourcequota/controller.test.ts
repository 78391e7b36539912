import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { configMap } from '@kruise/api/core/configmap';
import { pod } from '@kruise/api/core/pod';
import { resourceQuota } from '@kruise/api/core/resourcequota';
import { isForbidden } from '@kruise/machinery/status';
import { box, boxDefinition, defineBox } from '../../testing/box.ts';
import { type Cluster, startCluster } from '../../testing/cluster.ts';

const quota = { name: 'q', namespace: 'default' };
const place = (name: string) => ({ name, namespace: 'default' });

async function startCounting(hard: { readonly [name: string]: string }): Promise<Cluster> {
  const cluster = await startCluster();
  await cluster.run(['resourcequota-controller']);
  await cluster.client.create(resourceQuota, { metadata: quota, spec: { hard } });
  await cluster.advance(0.1);
  return cluster;
}

const used = async ({ client }: Cluster) => (await client.get(resourceQuota, quota)).status?.used;

const makePod = ({ client }: Cluster, name: string) =>
  client.create(pod, {
    metadata: place(name),
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }] },
  });

test('created objects are charged, and released when they are deleted or finished', async () => {
  await using cluster = await startCounting({ pods: '2', 'requests.cpu': '1' });
  const { client } = cluster;
  assert.deepEqual(await used(cluster), { pods: '0', 'requests.cpu': '0' });

  const [a] = [await makePod(cluster, 'a'), await makePod(cluster, 'b')];
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { pods: '2', 'requests.cpu': '1' });
  await assert.rejects(makePod(cluster, 'c'), isForbidden);

  await client.delete(pod, place('b'), { gracePeriodSeconds: 0 });
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { pods: '1', 'requests.cpu': '500m' });

  await client.update(pod, { ...a, status: { phase: 'Succeeded' } }, { subresource: 'status' });
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { pods: '0', 'requests.cpu': '0' });
  assert.deepEqual(cluster.warnings, []);
});

test('objects older than the quota are counted', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  for (const name of ['a', 'b']) await client.create(configMap, { metadata: place(name) });
  await client.create(configMap, { metadata: { name: 'c', namespace: 'kube-public' } });
  await cluster.run(['resourcequota-controller']);
  await client.create(resourceQuota, {
    metadata: quota,
    spec: { hard: { configmaps: '5', 'count/resourcequotas': '5' } },
  });
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { configmaps: '2', 'count/resourcequotas': '1' });
});

test('custom resources are counted from when their CRD exists', async () => {
  await using cluster = await startCounting({ 'count/boxes.example.com': '2' });
  const { client } = cluster;
  assert.deepEqual(await used(cluster), undefined);
  await defineBox(client);
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { 'count/boxes.example.com': '0' });

  await client.create(box, { metadata: place('a') });
  await client.create(box, { metadata: place('b') });
  await assert.rejects(client.create(box, { metadata: place('c') }), isForbidden);
  await client.delete(box, place('a'));
  await cluster.advance(0.1);
  assert.deepEqual(await used(cluster), { 'count/boxes.example.com': '1' });

  await client.delete(customResourceDefinition, boxDefinition);
  await cluster.advance(60);
  assert.deepEqual(cluster.warnings, []);
});

test('a changed limit is reported, and wrong usage is corrected within five minutes', async () => {
  await using cluster = await startCounting({ configmaps: '2' });
  const { client } = cluster;
  await client.patch(resourceQuota, quota, { spec: { hard: { configmaps: '3' } } }, { type: 'merge' });
  await cluster.advance(0.1);
  const found = await client.get(resourceQuota, quota);
  assert.deepEqual(found.status, { hard: { configmaps: '3' }, used: { configmaps: '0' } });

  const wrong = { ...found, status: { hard: { configmaps: '3' }, used: { configmaps: '7' } } };
  await client.update(resourceQuota, wrong, { subresource: 'status' });
  await cluster.advance(301);
  assert.deepEqual(await used(cluster), { configmaps: '0' });
  assert.deepEqual(cluster.warnings, []);
});
