import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { runControllers } from '@kruise/client/manager';
import { systemClock, systemRandom } from '@kruise/values/system';
import { decide, greeter } from './controller.ts';

test('a Namespace with the label needs no action', () => {
  const metadata = { name: 'shop', labels: { 'example.com/hello': 'world' } };
  assert.deepEqual(decide({ apiVersion: 'v1', kind: 'Namespace', metadata }).actions, []);
});

test('every Namespace gets the label', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const stop = new AbortController();
  const done = runControllers([greeter], { client, clock: systemClock, random: systemRandom }, stop.signal);

  const { metadata } = await client.create(namespace, { metadata: { name: 'shop' } });
  const selection = { fieldSelector: 'metadata.name=shop', resourceVersion: metadata.resourceVersion ?? '' };
  for await (const { object } of client.watch(namespace, selection)) {
    if (object.metadata.labels?.['example.com/hello'] === 'world') break;
  }
  stop.abort();
  await done;
});
