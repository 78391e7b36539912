/** Deletion protection on a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { namespace } from '@kruise/api/core/namespace';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { unitedDeployment } from '@kruise/api/kruise/uniteddeployment';
import { deleteProtectionLabel } from '@kruise/api/kruise/well-known';
import { updateWithRetry } from '@kruise/client/update-with-retry';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const labelled = (value: string) => ({ labels: { [deleteProtectionLabel]: value } });
const refused = (why: string) =>
  new RegExp(`forbidden by ResourcesProtectionDeletion for ${deleteProtectionLabel}=${why}`);

async function relabel<K extends Kind>({ client }: TestCluster, kind: K, name: string, value: string, more = {}) {
  const reference = { name, ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) };
  const change = (found: ObjectOf<K>) => {
    return { ...found, ...more, metadata: { ...found.metadata, ...labelled(value) } };
  };
  await updateWithRetry(client, kind, reference, change);
}

const containers = [{ name: 'main', image: 'app' }];

test('a Deployment is deleted if its label permits it', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const reference = { name: 'web', namespace: 'default' };
  const spec = {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
  };
  await client.create(deployment, { metadata: { ...reference, ...labelled('Always') }, spec });
  await assert.rejects(client.delete(deployment, reference), refused('Always$'));
  await relabel(cluster, deployment, 'web', 'Cascading');
  await assert.rejects(client.delete(deployment, reference), refused('Cascading and replicas 2>0$'));
  await relabel(cluster, deployment, 'web', 'Cascading', { spec: { ...spec, replicas: 0 } });
  await client.delete(deployment, reference);
});

test('a UnitedDeployment is deleted if its label permits it', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const reference = { name: 'web', namespace: 'default' };
  const selector = { matchLabels: { app: 'web' } };
  const metadata = { labels: { app: 'web' } };
  const spec = {
    replicas: 1,
    selector,
    template: { cloneSetTemplate: { metadata, spec: { selector, template: { metadata, spec: { containers } } } } },
  };
  await client.create(unitedDeployment, { metadata: { ...reference, ...labelled('Always') }, spec });
  await assert.rejects(client.delete(unitedDeployment, reference), refused('Always$'));
  await relabel(cluster, unitedDeployment, 'web', 'Cascading');
  await assert.rejects(client.delete(unitedDeployment, reference), refused('Cascading and replicas 1>0$'));
  await relabel(cluster, unitedDeployment, 'web', 'Cascading', { spec: { ...spec, replicas: 0 } });
  await client.delete(unitedDeployment, reference);
});

test('a Service is deleted once its protection is removed', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const reference = { name: 'web', namespace: 'default' };
  await client.create(service, { metadata: { ...reference, ...labelled('Always') }, spec: { ports: [{ port: 80 }] } });
  await assert.rejects(client.delete(service, reference), refused('Always$'));
  await relabel(cluster, service, 'web', 'Cascading');
  await client.delete(service, reference);
});

test('a namespace is deleted if no Pod runs in it', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await client.create(namespace, { metadata: { name: 'team', ...labelled('Always') } });
  await client.create(serviceAccount, { metadata: { name: 'default', namespace: 'team' } });
  await assert.rejects(client.delete(namespace, { name: 'team' }), refused('Always$'));
  const reference = { name: 'p', namespace: 'team' };
  await client.create(pod, { metadata: reference, spec: { containers } });
  await relabel(cluster, namespace, 'team', 'Cascading');
  await pass(1);
  await assert.rejects(client.delete(namespace, { name: 'team' }), refused('Cascading and active pods 1>0$'));
  await client.delete(pod, reference, { gracePeriodSeconds: 0 });
  await pass(1);
  await client.delete(namespace, { name: 'team' });
});

test('with the gate disabled nothing is protected', async () => {
  await using cluster = await startTestCluster({ ResourcesDeletionProtection: false });
  const { client } = cluster;
  await client.create(namespace, { metadata: { name: 'team', ...labelled('Always') } });
  await client.delete(namespace, { name: 'team' });
});
