import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import fc from 'fast-check';
import { startCluster } from '../../testing/cluster.ts';
import { executeActions } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

const reference = { namespace: 'default', name: 'kube-root-ca.crt' };

test('every namespace has the CA bundle, and changes to it are reverted', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['root-ca-certificate-publisher-controller'], { rootAuthorities: 'trusted' });
  const published = () => client.get(configMap, reference);

  const first = await published();
  assert.deepEqual(first.data, { 'ca.crt': 'trusted' });
  assert.match(first.metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle /);
  assert.equal((await client.list(configMap, { fieldSelector: `metadata.name=${reference.name}` })).items.length, 4);

  await updateWithRetry(client, configMap, reference, (found) => ({
    ...found,
    data: { 'ca.crt': 'forged', more: 'data' },
  }));
  await cluster.advance(1);
  assert.deepEqual((await published()).data, { 'ca.crt': 'trusted' });

  await client.delete(configMap, reference);
  await cluster.advance(1);
  assert.deepEqual((await published()).data, { 'ca.crt': 'trusted' });

  const described = await updateWithRetry(client, configMap, reference, (found) => ({
    ...found,
    metadata: { ...found.metadata, annotations: { 'kubernetes.io/description': 'in other words' } },
  }));
  await cluster.advance(1);
  assert.equal((await published()).metadata.resourceVersion, described.metadata.resourceVersion);
  assert.deepEqual(cluster.warnings, []);
});

test('any modification is reverted by one write', () => {
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a' },
    status: { phase: 'Active' },
  } as const;
  const texts = fc.dictionary(fc.constantFrom('ca.crt', 'more'), fc.constantFrom('trusted', 'forged'), {
    noNullPrototype: true,
  });
  const notes = fc.dictionary(fc.constantFrom('kubernetes.io/description', 'note'), fc.constant('x'));
  fc.assert(
    fc.property(fc.option(fc.tuple(texts, notes)), (found) => {
      const metadata = { name: 'kube-root-ca.crt', namespace: 'a' };
      const present: readonly ConfigMap[] = found
        ? [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, annotations: found[1] }, data: found[0] }]
        : [];
      const world = { namespace, authorities: 'trusted' };
      const [after] = executeActions(present, decide({ ...world, published: present[0] }).actions);
      assert.deepEqual(after?.data, { 'ca.crt': 'trusted' });
      assert.deepEqual(decide({ ...world, published: after }).actions, []);
    }),
  );
});
