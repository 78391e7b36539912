import assert from 'node:assert/strict';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import { configMap } from '@kruise/api/core/configmap';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { type Client, createClient } from '@kruise/client/client';
import { discover, preferredKinds } from '@kruise/client/discovery';
import type { DynamicKind } from '@kruise/client/dynamic-kind';
import type { ApiRequest } from '@kruise/client/transport';
import { isNotFound } from '@kruise/machinery/status';

const nameOf = ({ group, version, plural }: DynamicKind) => `${plural}.${version}.${group}`;

async function define(client: Client): Promise<void> {
  const served = {
    served: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
  };
  await client.create(customResourceDefinition, {
    metadata: { name: 'crontabs.stable.example.com' },
    spec: {
      group: 'stable.example.com',
      scope: 'Namespaced',
      names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'] },
      versions: [
        { name: 'v1alpha1', storage: false, ...served },
        { name: 'v1', storage: true, ...served },
      ],
    },
  });
  const watch = client.watch(customResourceDefinition, { resourceVersion: '0' });
  for await (const { object } of watch) {
    if (object.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return;
  }
}

for (const https of [false, true]) {
  const way = https ? 'over HTTPS' : 'in process';

  test(`${way}, discovery returns every kind, the preferred version first`, async () => {
    await using server = await startTestServer(https ? { https } : {});
    await define(server.client);

    const { kinds, failures } = await discover(server.client);

    assert.deepEqual(failures, []);
    const crontabs = kinds.filter(({ group }) => group === 'stable.example.com');
    assert.deepEqual(crontabs.map(nameOf), ['crontabs.v1.stable.example.com', 'crontabs.v1alpha1.stable.example.com']);
    assert.deepEqual(crontabs[0]?.shortNames, ['ct']);
    const scalers = kinds.filter(({ plural }) => plural === 'horizontalpodautoscalers').map(nameOf);
    assert.deepEqual(scalers, ['horizontalpodautoscalers.v2.autoscaling', 'horizontalpodautoscalers.v1.autoscaling']);
    const deployments = kinds.find(({ plural }) => plural === 'deployments');
    assert.deepEqual(deployments?.subresources, ['scale', 'status']);
    assert.equal(deployments?.scope, 'Namespaced');

    const preferred = preferredKinds(kinds).map(nameOf);
    assert.ok(preferred.includes('horizontalpodautoscalers.v2.autoscaling'));
    assert.ok(!preferred.includes('horizontalpodautoscalers.v1.autoscaling'));
  });

  test(`${way}, objects of a discovered kind are created, listed and deleted`, async () => {
    await using server = await startTestServer(https ? { https } : {});
    const { client } = server;
    await define(client);
    const { kinds } = await discover(client);
    const crontab = kinds.find(({ plural }) => plural === 'crontabs');
    assert.ok(crontab);

    await client.create(crontab, { metadata: { name: 'nightly', namespace: 'default' } });

    const { items } = await client.list(crontab);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['nightly'],
    );
    await client.delete(crontab, { name: 'nightly', namespace: 'default' });
    await assert.rejects(client.get(crontab, { name: 'nightly', namespace: 'default' }), isNotFound);
  });
}

test('a server without aggregated discovery is asked group by group', async () => {
  await using server = await startTestServer({ https: true });
  const { transport } = server.client;
  const plain = (request: ApiRequest): ApiRequest => ({ ...request, accept: 'application/json' });
  const old = createClient({ ...transport, request: (request) => transport.request(plain(request)) });

  const requests = await discover(old);

  const atOnce = await discover(server.client);
  assert.deepEqual(new Set(requests.kinds.map(nameOf)), new Set(atOnce.kinds.map(nameOf)));
  assert.deepEqual(preferredKinds(requests.kinds).map(nameOf).sort(), preferredKinds(atOnce.kinds).map(nameOf).sort());
});

test('a group whose discovery fails is reported as a failure', async () => {
  await using server = await startTestServer({ https: true });
  const { transport } = server.client;
  const old = createClient({
    ...transport,
    request(request) {
      if (request.path === '/apis/batch/v1') throw new Error('its server is gone');
      return transport.request({ ...request, accept: 'application/json' });
    },
  });

  const { kinds, failures } = await discover(old);

  assert.deepEqual(
    failures.map(({ groupVersion }) => groupVersion),
    ['batch/v1'],
  );
  assert.ok(kinds.some(({ plural }) => plural === 'deployments'));
});

test('a metadata-only client receives only metadata over the network', async () => {
  await using server = await startTestServer({ https: true });
  const { client } = server;
  const reference = { name: 'settings', namespace: 'default' };
  await client.create(configMap, { metadata: reference, data: { colour: 'red' } });
  const metadata = createClient(client.transport, { metadataOnly: true });

  const found = await metadata.get(configMap, reference);
  const { items } = await metadata.list(configMap, { namespace: 'default' });

  assert.deepEqual([found.kind, found.metadata.name, found.data], ['PartialObjectMetadata', 'settings', undefined]);
  assert.deepEqual(
    items.map(({ data }) => data),
    [undefined],
  );
  assert.deepEqual((await metadata.list(configMap, { namespace: 'kube-public' })).items, [], 'none are none');
  for await (const { object } of metadata.watch(configMap, { namespace: 'default', resourceVersion: '0' })) {
    assert.deepEqual([object.metadata.name, object.data], ['settings', undefined]);
    break;
  }
});
