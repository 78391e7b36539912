import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { type ServiceAccount, serviceAccount } from '@kruise/api/core/serviceaccount';
import { startCluster } from '../../testing/cluster.ts';
import { executeActions } from '../../testing/execute-actions.ts';
import { decide } from './decide.ts';

test('a terminating namespace gets no ServiceAccount', () => {
  const going = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a' },
    status: { phase: 'Terminating' },
  } as const;
  assert.deepEqual(decide({ namespace: going, account: undefined }).actions, []);
});

test('a ServiceAccount is created once', () => {
  const active = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' }, status: { phase: 'Active' } } as const;
  const { actions } = decide({ namespace: active, account: undefined });
  const [account] = executeActions<ServiceAccount>([], actions);
  assert.deepEqual(account?.metadata, { name: 'default', namespace: 'a' });
  assert.deepEqual(decide({ namespace: active, account }).actions, []);
});

test('every namespace has a default ServiceAccount, which is recreated after deletion', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['serviceaccount-controller']);
  await client.create(namespace, { metadata: { name: 'shop' } });
  await cluster.advance(1);

  const { items } = await client.list(serviceAccount);
  assert.deepEqual(
    items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ['default/default', 'kube-node-lease/default', 'kube-public/default', 'kube-system/default', 'shop/default'],
  );

  const reference = { namespace: 'shop', name: 'default' };
  const before = await client.get(serviceAccount, reference);
  await client.delete(serviceAccount, reference);
  await cluster.advance(1);
  const after = await client.get(serviceAccount, reference);
  assert.notEqual(after.metadata.uid, before.metadata.uid);
  assert.deepEqual(cluster.warnings, []);
});
