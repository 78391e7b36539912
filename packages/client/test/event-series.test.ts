import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespace } from '@kruise/api/core/namespace';
import { event } from '@kruise/api/events/event';
import { createClient } from '@kruise/client/client';
import { createSeriesRecorder, type NewSeriesEvent } from '@kruise/client/event-series';
import { internalError } from '@kruise/machinery/status';
import { type Cluster, startCluster } from './cluster.ts';

async function recording(cluster: Cluster, client = cluster.client) {
  const regarding = await cluster.client.get(namespace, { name: 'default' });
  const errors: unknown[] = [];
  const recorder = createSeriesRecorder(
    client,
    cluster.clock,
    cluster.random,
    { host: 'here', onError: (error) => errors.push(error) },
    new AbortController().signal,
  );
  const recordEvent = (note: string, more: Partial<NewSeriesEvent> = {}) =>
    recorder.record({
      regarding,
      type: 'Normal',
      reason: 'Tested',
      action: 'Testing',
      note,
      controller: 'tester',
      ...more,
    });
  return { regarding, recorder, recordEvent, errors };
}

const eventsOf = async ({ client }: Cluster) => (await client.list(event, { namespace: 'default' })).items;

test('an event has its object, action, reason, source and time', async () => {
  await using cluster = await startCluster();
  const { regarding, recordEvent, recorder } = await recording(cluster);
  recordEvent('all is well', { related: regarding });
  await recorder.flush();
  const [written] = await eventsOf(cluster);
  assert.match(written?.metadata.name ?? '', /^default\.[0-9a-f]+$/);
  assert.deepEqual(
    [
      written?.type,
      written?.reason,
      written?.action,
      written?.note,
      written?.reportingController,
      written?.reportingInstance,
    ],
    ['Normal', 'Tested', 'Testing', 'all is well', 'tester', 'tester-here'],
  );
  assert.equal(written?.eventTime, '2026-01-01T00:00:00.000000Z');
  for (const reference of [written?.regarding, written?.related]) assert.equal(reference?.uid, regarding.metadata.uid);
});

test('a repeated event is a series, regardless of its note, and the second occurrence is written immediately', async () => {
  await using cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  recordEvent('once');
  await recorder.flush();
  await cluster.advance(1);
  recordEvent('twice');
  await recorder.flush();
  const [written, ...others] = await eventsOf(cluster);
  assert.deepEqual(others, []);
  assert.deepEqual([written?.note, written?.series?.count], ['once', 2]);
  assert.equal(written?.series?.lastObservedTime, '2026-01-01T00:00:01.000000Z');
});

test('the count of a series is written when it is finished', async () => {
  await using cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  for (let round = 0; round < 2; round++) recordEvent('again');
  await recorder.flush();
  for (let round = 0; round < 3; round++) recordEvent('again');
  await recorder.flush();
  assert.equal((await eventsOf(cluster))[0]?.series?.count, 2);
  await cluster.advance(13 * 60);
  await recorder.flush();
  assert.equal((await eventsOf(cluster))[0]?.series?.count, 5);
  recordEvent('much later');
  await recorder.flush();
  assert.equal((await eventsOf(cluster)).length, 2);
});

test('events with another reason, action or object are separate', async () => {
  await using cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  const other = await cluster.client.get(namespace, { name: 'kube-system' });
  recordEvent('one');
  recordEvent('two', { reason: 'Other' });
  recordEvent('three', { action: 'Other' });
  recordEvent('four', { related: other });
  await recorder.flush();
  assert.equal((await eventsOf(cluster)).length, 4);
});

test('an event that cannot be written is retried', async () => {
  await using cluster = await startCluster();
  let isDown = true;
  const { transport } = cluster.client;
  const client = createClient({
    ...transport,
    request: (request) => (isDown ? Promise.reject(internalError('down')) : transport.request(request)),
  });
  const { recordEvent, errors } = await recording(cluster, client);
  recordEvent('at last');
  await cluster.advance(1);
  isDown = false;
  await cluster.advance(20);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    (await eventsOf(cluster)).map(({ note }) => note),
    ['at last'],
  );
});

test('a rejected event is dropped and reported', async () => {
  await using cluster = await startCluster();
  const { recordEvent, recorder, errors } = await recording(cluster);
  recordEvent('nobody may say this', { reason: '' });
  await recorder.flush();
  assert.equal(errors.length, 1);
  assert.deepEqual(await eventsOf(cluster), []);
});
