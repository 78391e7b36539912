import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { createScaleTargets, NoScaleError } from '@kruise/client/scale-targets';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };

test('the scale of a workload is found by its reference in any version', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const targets = createScaleTargets();
  assert.equal(await targets.scaleOf(client, web, 'default'), undefined);
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  await client.create(deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template },
  });
  for (const apiVersion of ['apps/v1', 'apps/v1beta1']) {
    const scale = await targets.scaleOf(client, { ...web, apiVersion }, 'default');
    assert.equal(scale?.spec?.replicas, 3);
  }
});

test('an unknown kind and a kind without a scale subresource are rejected', async () => {
  await using server = await startTestServer();
  const targets = createScaleTargets();
  const refused = (apiVersion: string, kind: string, message: RegExp) =>
    assert.rejects(targets.scaleOf(server.client, { apiVersion, kind, name: 'x' }, 'default'), (error) => {
      assert.ok(error instanceof NoScaleError);
      assert.match(error.message, message);
      return true;
    });
  await refused('example.com/v1', 'Foo', /no matches for kind "Foo" in version "example.com\/v1"/);
  await refused('v1', 'ConfigMap', /configmaps does not implement the scale subresource/);
});
