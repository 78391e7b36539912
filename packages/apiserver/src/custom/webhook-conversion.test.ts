import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '@kruise/machinery/status';
import type { KubeObject } from '../object.ts';
import { startTestServer } from '../testing/test-server.ts';
import { startWebhookServer } from '../testing/webhook-server.ts';
import { installDefinitions } from './install.ts';

/** Starts a webhook that renames `size` to `length`, and back. */
const startWebhook = () =>
  startWebhookServer((request) => {
    const { desiredAPIVersion, objects } = request as unknown as Request;
    const convertedObjects = objects.map(({ size, length, ...object }) => ({
      ...object,
      apiVersion: desiredAPIVersion,
      ...(desiredAPIVersion.endsWith('v2') ? { length: size ?? length } : { size: length ?? size }),
    }));
    return { result: { status: 'Success' }, convertedObjects };
  });

type Request = { readonly desiredAPIVersion: string; readonly objects: readonly KubeObject[] };

const definition = (clientConfig: object): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'ropes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'ropes', kind: 'Rope' },
    versions: [
      { name: 'v1', field: 'size' },
      { name: 'v2', field: 'length' },
    ].map(({ name, field }) => ({
      name,
      served: true,
      storage: name === 'v1',
      selectableFields: [{ jsonPath: `.${field}` }],
      schema: { openAPIV3Schema: { type: 'object', properties: { [field]: { type: 'integer' } } } },
    })),
    conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
  },
});

const rope = { apiVersion: 'example.com/v2', kind: 'Rope', metadata: { name: 'a' }, length: 3 };

test('a webhook converts reads and writes of other versions over HTTPS', async () => {
  await using webhook = await startWebhook();
  await using server = await startTestServer();
  const { url, caBundle, requests } = webhook;
  await installDefinitions(server.core, [definition({ url: `${url}/convert`, caBundle })]);
  const { transport } = server.client;
  const { object: made } = await transport.request({ method: 'POST', path: '/apis/example.com/v2/ropes', body: rope });
  assert.equal((made as KubeObject)['length'], 3);
  const { object: stored } = await transport.request({ method: 'GET', path: '/apis/example.com/v1/ropes/a' });
  assert.equal((stored as KubeObject)['size'], 3);
  assert.deepEqual(
    requests.map(({ path, version, request }) => `${path} ${version} ${request['desiredAPIVersion']}`),
    [
      '/convert?timeout=30s apiextensions.k8s.io/v1 example.com/v1',
      '/convert?timeout=30s apiextensions.k8s.io/v1 example.com/v2',
    ],
  );
});

test('an untrusted webhook converts nothing', async () => {
  await using webhook = await startWebhook();
  await using server = await startTestServer();
  await installDefinitions(server.core, [definition({ url: `${webhook.url}/convert` })]);
  await assert.rejects(
    server.client.transport.request({ method: 'POST', path: '/apis/example.com/v2/ropes', body: rope }),
    (error: unknown) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.code, 500);
      const post = `Post "${webhook.url}/convert?timeout=30s"`;
      const untrusted = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
      assert.equal(error.message, `conversion webhook for example.com/v2, Kind=Rope failed: ${post}: ${untrusted}`);
      return true;
    },
  );
  assert.deepEqual(webhook.requests, []);
});

test('an in-process webhook is called without a connection', async () => {
  const asked: string[] = [];
  const answer = (review: unknown) => {
    const { request, ...head } = review as { readonly request: Request & { readonly uid: string } };
    asked.push(request.desiredAPIVersion);
    const convertedObjects = request.objects.map((object) => ({ ...object, apiVersion: request.desiredAPIVersion }));
    return { ...head, response: { uid: request.uid, result: { status: 'Success' }, convertedObjects } };
  };
  const inProcessWebhooks = new Map([['tools/ropes/convert', answer]]);
  await using server = await startTestServer({ inProcessWebhooks });
  const service = { namespace: 'tools', name: 'ropes', path: '/convert' };
  await installDefinitions(server.core, [definition({ service })]);
  await server.client.transport.request({ method: 'POST', path: '/apis/example.com/v2/ropes', body: rope });
  assert.deepEqual(asked, ['example.com/v1', 'example.com/v2']);
});

test('a dry run returns the object as it would be read', async () => {
  const asked: string[] = [];
  const converterOf = () => ({
    convert(objects: readonly KubeObject[], apiVersion: string) {
      asked.push(apiVersion);
      return objects.map((object) => ({ ...object, apiVersion }));
    },
  });
  await using server = await startTestServer({ converterOf });
  const service = { namespace: 'tools', name: 'ropes', path: '/convert' };
  await installDefinitions(server.core, [definition({ service })]);
  const path = '/apis/example.com/v2/ropes';
  await server.client.transport.request({ method: 'POST', path, body: rope, query: { dryRun: 'All' } });
  assert.deepEqual(asked, ['example.com/v1', 'example.com/v2']);
});

test('a field selector works on a field that a webhook converts', async () => {
  await using webhook = await startWebhook();
  await using server = await startTestServer();
  const { url, caBundle } = webhook;
  await installDefinitions(server.core, [definition({ url: `${url}/convert`, caBundle })]);
  const { transport } = server.client;
  const path = '/apis/example.com/v2/ropes';
  const over = new AbortController();
  const query = { watch: true, fieldSelector: 'length=3' };
  const events = transport.watch({ method: 'GET', path, query, signal: over.signal })[Symbol.asyncIterator]();
  const next = async () => {
    const { type, object } = (await events.next()).value as { type: string; object: KubeObject };
    return `${type} ${object.metadata.name} ${object['length']}`;
  };
  const seen = next();
  await transport.request({ method: 'POST', path, body: rope });
  await transport.request({ method: 'POST', path, body: { ...rope, metadata: { name: 'b' }, length: 4 } });
  const { object: list } = await transport.request({ method: 'GET', path, query: { fieldSelector: 'length=3' } });
  const { items } = list as unknown as { readonly items: readonly KubeObject[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['a'],
  );
  assert.equal(await seen, 'ADDED a 3');
  const patch = (name: string, length: number) =>
    transport.request({
      method: 'PATCH',
      path: `${path}/${name}`,
      body: { length },
      contentType: 'application/merge-patch+json',
    });
  await patch('b', 3);
  assert.equal(await next(), 'ADDED b 3');
  await patch('a', 5);
  assert.equal(await next(), 'DELETED a 3');
  over.abort();
});
