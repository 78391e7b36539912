import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { Found, Resource } from '../resource.ts';
import { createFanOut } from './fan-out.ts';
import { createFrameCache } from './frame-cache.ts';
import type { Stream } from './http-request.ts';
import type { Media } from './negotiation.ts';
import { watchResponse } from './watch-response.ts';

/** Creates a client that reads only on demand. */
function fakeClient() {
  const writes: string[] = [];
  let pendingBytes = 0;
  let drain = Promise.withResolvers<void>();
  const state = { writes, isEnded: false, isAborted: false, peakBytes: 0, read };
  const stream: Stream = {
    write(chunk) {
      writes.push(String(Buffer.from(chunk as Uint8Array)));
      pendingBytes += chunk.length;
      state.peakBytes = Math.max(state.peakBytes, pendingBytes);
      return false;
    },
    drained: () => drain.promise,
    deliver: () => drain.promise,
    get pendingBytes() {
      return pendingBytes;
    },
    end: () => {
      state.isEnded = true;
    },
    abort: () => {
      state.isAborted = true;
    },
  };
  async function read(): Promise<void> {
    pendingBytes = 0;
    drain.resolve();
    drain = Promise.withResolvers();
    await setImmediate();
  }
  return { stream, state };
}

const kind = { kind: 'ConfigMap', group: '', version: 'v1' };
// Only the name and the texts of a resource are read.
const resource = {
  kind,
  custom: false,
  serializer: { toJson: JSON.stringify, canonical: (object: unknown) => object },
} as unknown as Resource;
const media: Media = { format: 'json', view: 'object', viewVersion: 'v1', pretty: false };

function watcher() {
  const clock = virtualClock(0);
  const { stream, state } = fakeClient();
  let isClosed = false;
  const sink = watchResponse(
    {
      media,
      query: new URLSearchParams(),
      nowMs: 0,
      frames: createFrameCache(),
      fanOut: createFanOut(),
      counted: () => {},
      clock,
    },
    resource,
    stream,
    () => {
      isClosed = true;
    },
  );
  return { sink, client: state, clock, isClosed: () => isClosed };
}

function found(revision: number, text = ''): Found {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: String(revision) }, text };
  return { object, cached: { key: '', object, managedFields: undefined, revision } };
}

const revisionsOf = (writes: readonly string[]) =>
  Array.from(writes.join('').matchAll(/"resourceVersion":"(\d+)"/g), ([, revision]) => Number(revision));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test("events before a watcher's batch are sent in one write, in order", async () => {
  const { sink, client } = watcher();
  for (const revision of upTo(5)) sink.event('MODIFIED', found(revision), false);
  sink.bookmark(5, false);
  assert.equal(client.writes.length, 0);
  await setImmediate();
  assert.equal(client.writes.length, 1);
  assert.deepEqual(revisionsOf(client.writes), upTo(6));
});

test('a client that does not read gets little, then everything in order in larger writes once it reads', async () => {
  const { sink, client } = watcher();
  const text = 'x'.repeat(10_000);
  for (const revision of upTo(500)) sink.event('ADDED', found(revision, text), false);
  await setImmediate();
  assert.ok(client.peakBytes < 400_000, `${client.peakBytes} bytes were written ahead`);
  while (revisionsOf(client.writes).length < 500) await client.read();
  assert.deepEqual(revisionsOf(client.writes), upTo(500));
  assert.ok(client.peakBytes > 500_000 && client.peakBytes < 2_500_000, `${client.peakBytes} bytes at most`);
});

test('a client that never reads is disconnected', async () => {
  const { sink, client, isClosed } = watcher();
  const text = 'x'.repeat(100_000);
  let revision = 0;
  for (; !isClosed(); revision++) {
    sink.event('MODIFIED', found(revision, text), false);
    if (revision % 10 === 0) await setImmediate();
  }
  assert.ok(client.isAborted);
  assert.ok(client.peakBytes < 500_000);
  assert.ok(revision * text.length < 40 << 20, `${revision} objects were kept alive`);
});

test('a client that reads slowly stays connected', async () => {
  const { sink, clock, client, isClosed } = watcher();
  const text = 'x'.repeat(100_000);
  for (const revision of upTo(600)) {
    sink.event('MODIFIED', found(revision, text), false);
    await setImmediate();
    if (revision % 2 === 0) await client.read();
    clock.advance(1000);
  }
  assert.equal(isClosed(), false);
});

test('a client that reads nothing for long while events are pending is disconnected', async () => {
  const { sink, clock, client, isClosed } = watcher();
  for (const revision of upTo(200)) sink.event('ADDED', found(revision, 'x'.repeat(10_000)), true);
  await setImmediate();
  clock.advance(20_000);
  await client.read();
  await setImmediate();
  clock.advance(20_000);
  assert.equal(isClosed(), false);
  clock.advance(20_000);
  assert.ok(isClosed() && client.isAborted);
});

test('the initial state of a watch may be long', async () => {
  const { sink, client, isClosed } = watcher();
  for (const revision of upTo(20_000)) sink.event('ADDED', found(revision), true);
  for (const revision of upTo(1000)) sink.event('ADDED', found(20_000 + revision), false);
  assert.equal(isClosed(), false);
  await setImmediate();
  while (client.writes.length < 1000 && revisionsOf(client.writes.slice(-1)).at(-1) !== 20_999) await client.read();
  assert.deepEqual(revisionsOf(client.writes), upTo(21_000));
});

test('a watch ends after its pending events', async () => {
  const { sink, client } = watcher();
  sink.event('ADDED', found(1), false);
  sink.end();
  assert.equal(client.isEnded, false);
  await setImmediate();
  assert.deepEqual([revisionsOf(client.writes), client.isEnded], [[1], true]);
});
