import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterRole } from '@kruise/api/rbac/clusterrole';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { startCluster } from '../../testing/cluster.ts';

const rule = (resource: string) => ({ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] });
const toView = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };

test('an aggregated ClusterRole follows the selected roles as they are added, changed and deleted', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['clusterrole-aggregation-controller']);
  const grants = async (resource: string) => {
    const { rules } = await client.get(clusterRole, { name: 'view' });
    return rules?.some(({ resources }) => resources?.includes(resource)) ?? false;
  };
  assert.ok(await grants('pods'), 'the default ClusterRoles are aggregated, too');

  await client.create(clusterRole, { metadata: { name: 'shops', labels: toView }, rules: [rule('shops')] });
  await cluster.advance(1);
  assert.ok(await grants('shops'));

  await updateWithRetry(client, clusterRole, { name: 'shops' }, (role) => ({ ...role, rules: [rule('stalls')] }));
  await cluster.advance(1);
  assert.deepEqual([await grants('shops'), await grants('stalls')], [false, true]);

  await client.delete(clusterRole, { name: 'shops' });
  await cluster.advance(1);
  assert.ok(!(await grants('stalls')));
  assert.ok(await grants('pods'));
  assert.deepEqual(cluster.warnings, []);
});

test('an aggregated ClusterRole without selected roles has no rules', async () => {
  await using cluster = await startCluster();
  const { client } = cluster;
  await cluster.run(['clusterrole-aggregation-controller']);
  const clusterRoleSelectors = [{ matchLabels: { part: 'yes' } }];
  await client.create(clusterRole, { metadata: { name: 'whole' }, aggregationRule: { clusterRoleSelectors } });
  await client.create(clusterRole, { metadata: { name: 'part', labels: { part: 'yes' } }, rules: [rule('shops')] });
  await cluster.advance(1);
  assert.deepEqual((await client.get(clusterRole, { name: 'whole' })).rules, [rule('shops')]);

  await client.delete(clusterRole, { name: 'part' });
  await cluster.advance(1);
  assert.deepEqual((await client.get(clusterRole, { name: 'whole' })).rules ?? [], []);
});
