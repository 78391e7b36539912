/** Tests of kinds with special rules. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { daemonSet } from '@kruise/api/apps/daemonset';
import { namespace } from '@kruise/api/core/namespace';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { event } from '@kruise/api/events/event';
import { ipAddress } from '@kruise/api/networking/ipaddress';
import { rawRequests } from '../testing/raw-requests.ts';
import { type Listening, startTestServer, type TestServer } from '../testing/test-server.ts';

let server: TestServer & Listening;
let ask: ReturnType<typeof rawRequests>;
before(async () => {
  server = await startTestServer({ https: true });
  ask = rawRequests(server);
});
after(async () => {
  ask.close();
  await server.close();
});

test('an annotation that represents a field is only part of the complete object', async () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { metadata } = await server.client.create(daemonSet, {
    metadata: { name: 'd', namespace: 'default', annotations: { kept: 'yes' } },
    spec: { selector: { matchLabels: { a: 'b' } }, template },
  });
  const path = '/apis/apps/v1/namespaces/default/daemonsets/d';
  const shownAs = async (view: string) =>
    JSON.parse((await ask(path, { headers: { accept: `application/json;as=${view};g=meta.k8s.io;v=v1` } })).text);
  assert.equal(metadata.annotations?.['deprecated.daemonset.template.generation'], '1');
  assert.deepEqual((await shownAs('PartialObjectMetadata')).metadata.annotations, { kept: 'yes' });
  assert.deepEqual((await shownAs('Table')).rows[0].object.metadata.annotations, { kept: 'yes' });
});

test('a deprecated resource returns a warning, unless the request has no route', async () => {
  const warningOf = async (path: string, options?: Parameters<typeof ask>[1]) => {
    const { code, headers } = await ask(path, options);
    return [code, headers.warning];
  };
  assert.deepEqual(await warningOf('/api/v1/componentstatuses?watch=1'), [
    405,
    '299 - "v1 ComponentStatus is deprecated in v1.19+"',
  ]);
  const patch = { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: '{}' };
  assert.deepEqual(await warningOf('/api/v1/namespaces/default/endpoints/e', patch), [415, undefined]);
});

test('the generateName of an IPAddress gets no suffix', async () => {
  const made = { metadata: { generateName: 'made-' }, spec: { parentRef: { resource: 'services', name: 's' } } };
  await assert.rejects(
    server.client.create(ipAddress, made),
    /^StatusError: IPAddress.networking.k8s.io "made-" is inv/,
  );
});

test('an invalid generated name is not also rejected as a label', async () => {
  await assert.rejects(
    server.client.create(namespace, { metadata: { generateName: 'Not Valid ' } }),
    (error: Error) => {
      assert.match(error.message, /metadata.generateName: Invalid value: "Not Valid ".*metadata.name: Invalid value/);
      assert.doesNotMatch(error.message, /metadata.labels/);
      return true;
    },
  );
});

test('an ignored change of an EndpointSlice increments the generation', async () => {
  const slice = await server.client.create(endpointSlice, {
    metadata: { name: 's', namespace: 'default' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }],
    ports: [],
  });
  const endpoints = [{ addresses: ['10.0.0.1'], deprecatedTopology: { a: 'b' } }];
  const updated = await server.client.update(endpointSlice, { ...slice, endpoints });
  assert.deepEqual(updated.endpoints?.[0]?.deprecatedTopology, undefined);
  assert.deepEqual([slice.metadata.generation, updated.metadata.generation], [1, 2]);
});

test('a required event time without a value is null', async () => {
  const made = await server.client.create(event, {
    metadata: { name: 'e', namespace: 'default' },
    eventTime: '2024-01-01T00:00:00.500000Z',
    type: 'Normal',
    reason: 'r',
    action: 'a',
    reportingController: 'example.com/c',
    reportingInstance: 'i',
    regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
  });
  await assert.rejects(server.client.update(event, { ...made, eventTime: null } as never), {
    message: 'Event "e" is invalid: eventTime: Invalid value: 0001-01-01 00:00:00 +0000 UTC: field is immutable',
  });
  await assert.rejects(server.client.update(event, { ...made, eventTime: '2024-01-01T00:00:00.250000Z' }), {
    message: 'Event "e" is invalid: eventTime: Invalid value: 2024-01-01 00:00:00.25 +0000 UTC: field is immutable',
  });
});
