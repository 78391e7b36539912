import assert from 'node:assert/strict';
import { test } from 'node:test';
import { event } from '@kruise/api/core/event';
import { namespace } from '@kruise/api/core/namespace';
import type { NewEvent } from '@kruise/client/actions';
import { createClient } from '@kruise/client/client';
import { createEventRecorder } from '@kruise/client/event-recorder';
import { failure, internalError, StatusError } from '@kruise/machinery/status';
import { type Cluster, startCluster } from './cluster.ts';

async function recording(cluster: Cluster, client = cluster.client) {
  const about = await cluster.client.get(namespace, { name: 'default' });
  const stop = new AbortController();
  const errors: unknown[] = [];
  const recorder = createEventRecorder(
    client,
    cluster.clock,
    cluster.random,
    { component: 'test-controller', host: 'here', onError: (error) => errors.push(error) },
    stop.signal,
  );
  const recordEvent = (message: string, more: Partial<NewEvent> = {}) =>
    recorder.record({ about, type: 'Normal', reason: 'Tested', message, ...more });
  return { about, recorder, recordEvent, errors, stop };
}

const eventsOf = async ({ client }: Cluster) => (await client.list(event, { namespace: 'default' })).items;

test('an event has its object, reason, source and time', async () => {
  const cluster = await startCluster();
  const { about, recordEvent, recorder } = await recording(cluster);
  recordEvent('all is well');
  await recorder.flush();
  const [written] = await eventsOf(cluster);
  assert.match(written?.metadata.name ?? '', /^default\.[0-9a-f]{16}$/);
  const { uid, resourceVersion } = about.metadata;
  assert.deepEqual(written?.involvedObject, {
    kind: 'Namespace',
    name: 'default',
    uid,
    apiVersion: 'v1',
    resourceVersion,
  });
  assert.deepEqual(
    [written?.reason, written?.message, written?.type, written?.count, written?.firstTimestamp],
    ['Tested', 'all is well', 'Normal', 1, '2026-01-01T00:00:00Z'],
  );
  assert.deepEqual(written?.source, { component: 'test-controller', host: 'here' });
  assert.equal(written?.reportingComponent, 'test-controller');
  await cluster.close();
});

test('concurrent events of two recorders about one object are both written', async () => {
  const cluster = await startCluster();
  const [one, other] = [await recording(cluster), await recording(cluster)];
  one.recordEvent('one');
  other.recordEvent('other');
  await Promise.all([one.recorder.flush(), other.recorder.flush()]);
  assert.deepEqual((await eventsOf(cluster)).map(({ message }) => message).sort(), ['one', 'other']);
  assert.deepEqual([...one.errors, ...other.errors], []);
  await cluster.close();
});

test('a repeated event increments the count', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  for (let time = 0; time < 3; time++) {
    recordEvent('again');
    await recorder.flush();
    await cluster.advance(10);
  }
  const events = await eventsOf(cluster);
  assert.equal(events.length, 1);
  assert.deepEqual(
    [events[0]?.count, events[0]?.firstTimestamp, events[0]?.lastTimestamp],
    [3, '2026-01-01T00:00:00Z', '2026-01-01T00:00:20Z'],
  );
  await cluster.close();
});

test('the same event about two fields of an object is two events', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  recordEvent('Started', { fieldPath: 'spec.containers{a}' });
  recordEvent('Started', { fieldPath: 'spec.containers{b}' });
  await recorder.flush();
  const paths = (await eventsOf(cluster)).map(({ involvedObject }) => involvedObject.fieldPath);
  assert.deepEqual(paths.sort(), ['spec.containers{a}', 'spec.containers{b}']);
  await cluster.close();
});

test('a counted event that was deleted is created again', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  recordEvent('again');
  await recorder.flush();
  await cluster.client.deleteCollection(event, { namespace: 'default' });
  recordEvent('again');
  await recorder.flush();
  assert.deepEqual(
    (await eventsOf(cluster)).map(({ count }) => count),
    [2],
  );
  await cluster.close();
});

test('the tenth and further events that differ only in their message are aggregated', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  for (let index = 1; index <= 15; index++) recordEvent(`number ${index}`);
  await recorder.flush();
  const events = await eventsOf(cluster);
  assert.equal(events.length, 10);
  const combined = events.find(({ message }) => message?.startsWith('(combined'));
  assert.deepEqual([combined?.message, combined?.count], ['(combined from similar events): number 15', 6]);
  await cluster.close();
});

test('the spam filter limits an object to one event in five minutes', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  for (let index = 0; index < 100; index++) recordEvent('spam');
  await recorder.flush();
  const count = async () => (await eventsOf(cluster))[0]?.count;
  assert.equal(await count(), 25);
  await cluster.advance(299);
  recordEvent('spam');
  await recorder.flush();
  assert.equal(await count(), 25);
  await cluster.advance(1);
  recordEvent('spam');
  await recorder.flush();
  assert.equal(await count(), 102);
  await cluster.close();
});

test('events of one object do not displace those of others', async () => {
  const cluster = await startCluster();
  const { about, recordEvent, recorder, errors } = await recording(cluster);
  for (let index = 0; index < 5000; index++) recordEvent(`number ${index}`);
  recordEvent('another', { about: { ...about, metadata: { ...about.metadata, uid: 'another' } } });
  await recorder.flush();
  assert.ok((await eventsOf(cluster)).some(({ message }) => message === 'another'));
  assert.deepEqual(errors, []);
  await cluster.close();
});

test('an event has the time of its occurrence, not of its write', async () => {
  const cluster = await startCluster();
  let refusals = 1;
  const { transport } = cluster.client;
  const failing = createClient({
    ...transport,
    request: (request) =>
      request.method === 'POST' && refusals-- > 0 ? Promise.reject(internalError('later')) : transport.request(request),
  });
  const { recordEvent, recorder } = await recording(cluster, failing);
  recordEvent('first');
  recordEvent('second');
  await cluster.advance(60);
  await recorder.flush();
  const times = (await eventsOf(cluster)).map(({ firstTimestamp }) => firstTimestamp);
  assert.deepEqual(times, ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z']);
  await cluster.close();
});

test('warnings are recorded after many normal events', async () => {
  const cluster = await startCluster();
  const { recordEvent, recorder } = await recording(cluster);
  for (let index = 0; index < 100; index++) recordEvent(`number ${index}`);
  recordEvent('no room', { type: 'Warning', reason: 'Failed' });
  await recorder.flush();
  assert.ok((await eventsOf(cluster)).some(({ reason }) => reason === 'Failed'));
  await cluster.close();
});

test('recording is retried in the background if the server fails', async () => {
  const cluster = await startCluster();
  let failures = 3;
  const { transport } = cluster.client;
  const failing = createClient({
    watch: transport.watch,
    async request(request) {
      if (failures-- > 0) throw internalError('not now');
      return transport.request(request);
    },
  });
  const { recordEvent, errors } = await recording(cluster, failing);
  recordEvent('patience');
  await cluster.advance(60);
  assert.deepEqual(
    (await eventsOf(cluster)).map(({ message, count }) => [message, count]),
    [['patience', 1]],
  );
  assert.deepEqual(errors, []);
  await cluster.close();
});

test('a rejected event is reported, unless its namespace is terminating or gone', async () => {
  const cluster = await startCluster();
  const refusals = [
    failure({ code: 403, reason: 'Forbidden', message: 'no' }),
    failure({
      code: 403,
      reason: 'Forbidden',
      message: 'ending',
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    }),
    failure({ code: 404, reason: 'NotFound', message: 'gone' }),
  ];
  const refusing = createClient({
    ...cluster.client.transport,
    request: async () => {
      throw new StatusError(refusals.shift()!);
    },
  });
  const { recordEvent, recorder, errors } = await recording(cluster, refusing);
  for (const message of ['one', 'other', 'third']) recordEvent(message);
  await recorder.flush();
  assert.deepEqual(refusals, []);
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['no'],
  );
  await cluster.close();
});

test('events of objects without uid are distinguished by name', async () => {
  const cluster = await startCluster();
  const { about, recordEvent, recorder } = await recording(cluster);
  for (const name of ['one', 'other']) recordEvent('here', { about: { ...about, metadata: { name } } });
  await recorder.flush();
  assert.deepEqual((await eventsOf(cluster)).map(({ involvedObject, count }) => [involvedObject.name, count]).sort(), [
    ['one', 1],
    ['other', 1],
  ]);
  await cluster.close();
});

test('events beyond the queue limit are dropped and reported', async () => {
  const cluster = await startCluster();
  const stuck = createClient({ ...cluster.client.transport, request: () => new Promise(() => {}) });
  const { about, recordEvent, errors } = await recording(cluster, stuck);
  for (let index = 0; index < 10_010; index++) {
    recordEvent('all is well', { about: { ...about, metadata: { ...about.metadata, uid: `number ${index}` } } });
  }
  assert.equal(errors.length, 9);
  await cluster.close();
});
