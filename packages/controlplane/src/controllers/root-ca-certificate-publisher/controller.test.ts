import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { modify } from '@kruise/client/modify';
import { startCluster } from '../../testing/cluster.ts';

const reference = { namespace: 'default', name: 'kube-root-ca.crt' };

test('every namespace says which authorities to trust, whatever is done to it', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['root-ca-certificate-publisher-controller'], { rootAuthorities: 'trusted' });
  const published = () => client.get(configMap, reference);

  const first = await published();
  assert.deepEqual(first.data, { 'ca.crt': 'trusted' });
  assert.match(first.metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle /);
  assert.equal((await client.list(configMap, { fieldSelector: `metadata.name=${reference.name}` })).items.length, 4);

  await modify(client, configMap, reference, (found) => ({ ...found, data: { 'ca.crt': 'forged', more: 'data' } }));
  await cluster.pass(1);
  assert.deepEqual((await published()).data, { 'ca.crt': 'trusted' });

  await client.delete(configMap, reference);
  await cluster.pass(1);
  assert.deepEqual((await published()).data, { 'ca.crt': 'trusted' });

  const described = await modify(client, configMap, reference, (found) => ({
    ...found,
    metadata: { ...found.metadata, annotations: { 'kubernetes.io/description': 'in other words' } },
  }));
  await cluster.pass(1);
  assert.equal((await published()).metadata.resourceVersion, described.metadata.resourceVersion);
  assert.deepEqual(cluster.complaints, []);
});
