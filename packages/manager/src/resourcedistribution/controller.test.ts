/** ResourceDistributions on a real API server, while namespaces are created and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMap } from '@kruise/api/core/configmap';
import { namespace } from '@kruise/api/core/namespace';
import { type ResourceDistributionSpec, resourceDistribution } from '@kruise/api/kruise/resourcedistribution';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const data: { readonly [key: string]: string } = { a: '1' };
const resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data };
const team = { team: 'x' };

async function start({ client, pass }: TestCluster, spec: Partial<ResourceDistributionSpec> = {}): Promise<void> {
  for (const name of ['a', 'b'])
    await client.create(namespace, { metadata: { name, labels: name === 'a' ? team : {} } });
  await client.create(resourceDistribution, {
    metadata: { name: 'shared' },
    spec: { resource, targets: { namespaceSelector: { matchLabels: team } }, ...spec },
  });
  await pass(1);
}

const copies = async ({ client }: TestCluster) =>
  (await client.list(configMap)).items
    .filter(({ metadata }) => metadata.name === 'settings')
    .map(({ metadata, data }) => `${metadata.namespace} ${data?.['a']}`);

test('copies follow the labels of namespaces', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await start(cluster);
  assert.deepEqual(await copies(cluster), ['a 1']);
  const label = (name: string, labels: { [label: string]: string }) =>
    updateWithRetry(client, namespace, { name }, (found) => ({ ...found, metadata: { ...found.metadata, labels } }));
  await label('b', team);
  await pass(1);
  assert.deepEqual(await copies(cluster), ['a 1', 'b 1']);
  await label('a', {});
  await pass(1);
  assert.deepEqual(await copies(cluster), ['b 1']);
  await client.create(namespace, { metadata: { name: 'c', labels: team } });
  await pass(1);
  assert.deepEqual(await copies(cluster), ['b 1', 'c 1']);
});

test('changed or deleted copies are restored', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await start(cluster);
  const copy = { namespace: 'a', name: 'settings' };
  await updateWithRetry(client, configMap, copy, (found) => ({ ...found, data: { a: 'other' } }));
  await pass(1);
  assert.deepEqual(await copies(cluster), ['a 1']);
  await client.delete(configMap, copy);
  await pass(1);
  assert.deepEqual(await copies(cluster), ['a 1']);
  const { status } = await client.get(resourceDistribution, { name: 'shared' });
  assert.deepEqual([status?.desired, status?.succeeded, status?.conditions?.length], [1, 1, 6]);
});

const refused: readonly (readonly [string, Partial<ResourceDistributionSpec>, RegExp])[] = [
  [
    'of another kind',
    { resource: { ...resource, apiVersion: 'apps/v1', kind: 'Deployment' } },
    /spec.resource: Invalid value: Deployment.apps: unknown or unsupported resource GroupKind/,
  ],
  [
    'of an invalid resource',
    { resource: { ...resource, data: { 'not ok!': '1' } } },
    /spec.resource: Invalid value: "null": spec.resource is invalid: ConfigMap "settings" is invalid: data\[not ok!\]/,
  ],
  [
    'to a namespace without a name, and to one that is both included and excluded',
    {
      targets: {
        includedNamespaces: { list: [{ name: 'a' }, { name: '' }] },
        excludedNamespaces: { list: [{ name: 'a' }] },
      },
    },
    /\[spec.targets.includedNamespaces: Invalid value: "": .*, spec.targets: Invalid value: .*ambiguous targets because namespace \[a\] is in both/,
  ],
  [
    'with an invalid selector',
    { targets: { namespaceSelector: { matchLabels: { '-x': 'y' } } } },
    /spec.targets.namespaceSelector: Invalid value: .*labelSelectorAsSelector error: /,
  ],
];
for (const [is, spec, message] of refused) {
  test(`a distribution ${is} is refused`, async () => {
    await using cluster = await startTestCluster();
    await assert.rejects(start(cluster, spec), message);
  });
}

test('the distributed resource is immutable', async () => {
  await using cluster = await startTestCluster();
  await start(cluster);
  const renamed = { ...resource, metadata: { name: 'other' } };
  const rename = updateWithRetry(cluster.client, resourceDistribution, { name: 'shared' }, (found) => ({
    ...found,
    spec: { ...found.spec, resource: renamed },
  }));
  await assert.rejects(rename, /resource apiVersion, kind, and name are immutable/);
});

test('distributions are refused with the feature gate disabled', async () => {
  await using cluster = await startTestCluster({ ResourceDistributionGate: false });
  await assert.rejects(start(cluster), /feature-gate ResourceDistributionGate is not enabled/);
});
