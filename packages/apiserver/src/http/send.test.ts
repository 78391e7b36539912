import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { Headers, HttpRequest, Stream } from './http-request.ts';
import { send } from './send.ts';

const chunkBytes = 256 * 1024;
// Random bytes cannot be compressed: the output is as long as the input.
const chunk = randomBytes(chunkBytes);

/** Creates a client that reads bytes when `take` allows it. */
function clientOf(take: (chunk: Uint8Array) => Promise<void>) {
  const left = new AbortController();
  const chunks: Buffer[] = [];
  const state = { headers: {} as Headers, hasEnded: false, isBroken: false };
  const stream: Stream = {
    write: () => true,
    drained: async () => {},
    pendingBytes: 0,
    async deliver(chunk) {
      chunks.push(Buffer.from(chunk));
      await take(chunk);
    },
    end() {
      state.hasEnded = true;
    },
    abort() {
      state.isBroken = true;
    },
  };
  // Only the members that sending a response uses.
  const httpRequest = {
    headers: { 'accept-encoding': 'gzip' },
    signal: left.signal,
    begin(_code: number, headers: Headers) {
      state.headers = headers;
      return stream;
    },
  } as unknown as HttpRequest;
  return { httpRequest, state, leave: () => left.abort(), received: () => Buffer.concat(chunks) };
}

test('a list is compressed no faster than its client reads it', async () => {
  const count = 40;
  let made = 0;
  let taken = 0;
  let mostBytes = 0;
  function* chunks() {
    for (; made < count; made++) {
      mostBytes = Math.max(mostBytes, made * chunkBytes - taken);
      yield chunk;
    }
  }
  const client = clientOf(async ({ length }) => {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    taken += length;
  });
  await send(client.httpRequest, 200, {}, chunks());
  assert.equal(client.state.headers['content-encoding'], 'gzip');
  assert.ok(client.state.hasEnded);
  assert.equal(gunzipSync(client.received()).length, count * chunkBytes);
  assert.ok(mostBytes <= 6 * chunkBytes, `${mostBytes} bytes were on their way`);
});

test('a client that disconnects ends the encoder and the compressor', async () => {
  let isReleased = false;
  function* chunks() {
    try {
      for (;;) yield chunk;
    } finally {
      isReleased = true;
    }
  }
  const client = clientOf(() => new Promise(() => {}));
  const sent = send(client.httpRequest, 200, {}, chunks());
  while (client.received().length === 0) await setImmediate();
  client.leave();
  await sent;
  assert.ok(isReleased);
  assert.ok(!client.state.hasEnded);
});

test('an encoder that fails aborts the response', async () => {
  for (const accepted of ['gzip', '']) {
    function* chunks() {
      for (let count = 0; count < 3; count++) yield chunk;
      throw new Error('oh no');
    }
    const { httpRequest, state } = clientOf(async () => {});
    const asking = { ...httpRequest, headers: { 'accept-encoding': accepted } };
    await assert.rejects(send(asking, 200, {}, chunks()), /oh no/);
    assert.ok(state.isBroken && !state.hasEnded);
  }
});
