import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { createSpdyConnection, type SpdyOptions } from './spdy.ts';
import {
  createFrameReader,
  dataHead,
  type Frame,
  goAwayFrame,
  pingFrame,
  resetFrame,
  synStreamFrame,
} from './spdy-frames.ts';
import { createHeaderEncoder } from './spdy-headers.ts';
import type { SpdyStream } from './spdy-streams.ts';

const clock = virtualClock();

/** Two connected peers, and the streams that the second one was asked to accept. */
function pair(accept: NonNullable<SpdyOptions['accept']> = () => true) {
  const [one, other] = duplexPair();
  const accepted: SpdyStream[] = [];
  const server = createSpdyConnection(other, {
    role: 'server',
    clock,
    accept(stream) {
      accepted.push(stream);
      return accept(stream);
    },
  });
  return { client: createSpdyConnection(one, { role: 'client', clock }), server, accepted };
}

/** A connection to a scripted peer, whose output is decoded as frames. */
function byHand(options: Partial<SpdyOptions> = {}) {
  const [one, hand] = duplexPair();
  const connection = createSpdyConnection(one, { role: 'server', clock, accept: () => true, ...options });
  const read = createFrameReader();
  const waiting: Frame[] = [];
  let wake = () => {};
  hand.on('data', (chunk: Buffer) => {
    waiting.push(...read(chunk));
    wake();
  });
  async function written(type: Frame['type']): Promise<Frame> {
    for (;;) {
      const index = waiting.findIndex((frame) => frame.type === type);
      if (index >= 0) return waiting.splice(index, 1)[0]!;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  const encode = createHeaderEncoder();
  return {
    connection,
    hand,
    written,
    syn: (id: number) => synStreamFrame(id, encode({ streamtype: 'x' }), false),
  };
}

async function close(...connections: readonly { close(): void; readonly closed: Promise<unknown> }[]): Promise<void> {
  for (const connection of connections) connection.close();
  await Promise.all(connections.map(({ closed }) => closed));
}

test('a stream transfers headers and data in both directions until each half is closed', async () => {
  const { client, server, accepted } = pair(({ data }) => {
    data.pipe(data);
    return true;
  });
  const { data } = await client.open({ streamtype: 'stdin', port: '80' });
  data.end('hello');
  assert.equal(await text(data), 'hello');
  assert.deepEqual({ ...accepted[0]!.headers }, { streamtype: 'stdin', port: '80' });
  await close(client, server);
});

test('concurrent streams do not mix', async () => {
  const { client, server } = pair(({ data }) => {
    data.pipe(data);
    return true;
  });
  const contents = Array.from({ length: 20 }, (_, index) => Buffer.alloc(300_000, index));
  const echoed = await Promise.all(
    contents.map(async (content) => {
      const { data } = await client.open({ streamtype: 'data' });
      data.end(content);
      return buffer(data);
    }),
  );
  assert.ok(echoed.every((each, index) => each.equals(contents[index]!)));
  await close(client, server);
});

test('a stream that is not accepted fails at its opener', async () => {
  const { client, server } = pair(() => false);
  await assert.rejects(client.open({ streamtype: 'nonsense' }), /rejected/);
  await close(client, server);
});

test('one half may be closed long before the other', async () => {
  const { client, server, accepted } = pair();
  const { data } = await client.open({ streamtype: 'stdin' });
  data.end('question');
  const theirs = accepted[0]!.data;
  // Iterating over a stream to its end would destroy it.
  const [question] = await Promise.all([once(theirs, 'data'), once(theirs, 'end')]);
  assert.equal(String(question), 'question');
  theirs.end('answer');
  assert.equal(await text(data), 'answer');
  await close(client, server);
});

test('a destroyed stream ends at the peer, which keeps the received data', async () => {
  const { client, server, accepted } = pair();
  const { data } = await client.open({ streamtype: 'stdin' });
  await new Promise((resolve) => data.write('sent', resolve));
  data.destroy();
  assert.equal(await text(accepted[0]!.data), 'sent');
  await close(client, server);
});

test('pings are answered', async () => {
  const { client, server } = pair();
  await Promise.all([client.ping(), client.ping(), server.ping()]);
  await close(client, server);
});

test('GOAWAY ends open streams and rejects new ones', async () => {
  const { client, server, accepted } = pair();
  const { data } = await client.open({ streamtype: 'stdout' });
  accepted[0]!.data.write('last words');
  server.close();
  assert.equal(await text(data), 'last words');
  assert.equal(await client.closed, undefined);
  await assert.rejects(client.open({ streamtype: 'late' }), /closed/);
});

test('a lost connection ends its streams with an error', async () => {
  const opened = Promise.withResolvers<Duplex>();
  const { connection, hand, written, syn } = byHand({
    accept({ data }) {
      opened.resolve(data);
      return true;
    },
  });
  hand.write(Buffer.concat([syn(1), dataHead(1, 2, false), Buffer.from('so')]));
  await written('synReply');
  hand.destroy();
  assert.equal(await text(await opened.promise), 'so');
  assert.match(String(await connection.closed), /lost/);
});

test('a connection that is closed after GOAWAY ends without an error', async () => {
  const { connection, hand, written } = byHand();
  hand.write(Buffer.concat([goAwayFrame(0, 0), pingFrame(1)]));
  await written('ping');
  hand.destroy(new Error('reset'));
  hand.on('error', () => {});
  assert.equal(await connection.closed, undefined);
});

test('a writer waits for a slow reader', async () => {
  const { client, server, accepted } = pair();
  const slow = await client.open({ streamtype: 'slow' });
  const quick = await client.open({ streamtype: 'quick' });
  const megabytes = Buffer.alloc(8 * 1024 * 1024, 7);
  slow.data.end(megabytes);
  // Data on another stream proves that everything possible was sent on this one.
  quick.data.end('passes');
  assert.equal(await text(accepted[1]!.data), 'passes');
  await client.ping();
  assert.ok(accepted[0]!.data.readableLength <= 256 * 1024, `${accepted[0]!.data.readableLength} bytes are held`);
  assert.ok((await buffer(accepted[0]!.data)).equals(megabytes));
  await close(client, server);
});

test('a peer without flow control is slowed down by the socket', async () => {
  const opened = Promise.withResolvers<Duplex>();
  const { connection, hand, written, syn } = byHand({
    accept({ data }) {
      opened.resolve(data);
      return true;
    },
  });
  hand.write(syn(1));
  await written('synReply');
  const data = await opened.promise;
  const chunk = Buffer.concat([dataHead(1, 65_536, false), Buffer.alloc(65_536)]);
  let sent = 0;
  while (hand.write(chunk) && sent < 1000) {
    sent++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(sent < 20, `${sent} frames were taken that nobody reads`);
  data.resume();
  await new Promise((resolve) => hand.once('drain', resolve));
  hand.end(goAwayFrame(0, 0));
  assert.equal(await connection.closed, undefined);
});

test('data may be sent without limit to a peer without flow control', async () => {
  const opened = Promise.withResolvers<Duplex>();
  const { connection, hand, written, syn } = byHand({
    accept({ data }) {
      opened.resolve(data);
      return true;
    },
  });
  hand.write(syn(1));
  (await opened.promise).end(Buffer.alloc(1_000_000));
  let received = 0;
  for (;;) {
    const frame = await written('data');
    if (frame.type !== 'data') continue;
    received += frame.data.length;
    if (frame.last) break;
  }
  assert.equal(received, 1_000_000);
  connection.destroy();
});

test('data after the end of a stream is rejected', async () => {
  const { connection, hand, written, syn } = byHand();
  hand.write(Buffer.concat([syn(1), dataHead(1, 0, true), dataHead(1, 1, false), Buffer.of(0)]));
  assert.deepEqual(await written('reset'), { type: 'reset', streamId: 1, status: 9 });
  connection.destroy();
});

test('data on an unknown stream is rejected, data on a reset stream is ignored', async () => {
  const { connection, hand, written, syn } = byHand();
  const data = (id: number) => Buffer.concat([dataHead(id, 1, false), Buffer.of(0)]);
  hand.write(Buffer.concat([syn(1), resetFrame(1, 5), data(1), data(33), pingFrame(1)]));
  assert.deepEqual(await written('reset'), { type: 'reset', streamId: 33, status: 2 });
  await written('ping');
  connection.destroy();
});

for (const [what, ids] of Object.entries({ twice: [1, 1], 'out of order': [3, 1], 'with an id of ours': [2] })) {
  test(`a peer that opens a stream ${what} is disconnected`, async () => {
    const { connection, hand, written, syn } = byHand();
    hand.write(Buffer.concat(ids.map(syn)));
    assert.deepEqual(await written('goAway'), { type: 'goAway', lastStreamId: ids[0]! % 2 ? ids[0] : 0, status: 1 });
    assert.match(String(await connection.closed), /opened a stream twice/);
  });
}

test('a peer that sends control frames but never reads is disconnected', async () => {
  const [one, hand] = duplexPair();
  const connection = createSpdyConnection(one, { role: 'server', clock });
  const flood = Buffer.concat(Array.from({ length: 10_000 }, () => pingFrame(1)));
  hand.on('error', () => {});
  const pour = (): void => void hand.write(flood, pour);
  pour();
  assert.match(String(await connection.closed), /does not read/);
});

test('arbitrary bytes only end or continue the connection', async () => {
  const encode = createHeaderEncoder();
  const opening = synStreamFrame(1, encode({ streamtype: 'data' }), false);
  const control = fc
    .record({ type: fc.integer({ min: 0, max: 11 }), flags: fc.nat(255), body: fc.uint8Array({ maxLength: 40 }) })
    .map(({ type, flags, body }) =>
      Buffer.concat([Buffer.of(0x80, 3, 0, type, flags, 0, 0, body.length), Buffer.from(body)]),
    );
  const frames = fc.array(fc.oneof(control, fc.uint8Array({ maxLength: 60 }), fc.constant(opening)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(frames, async (chunks) => {
      const [one, hand] = duplexPair();
      const connection = createSpdyConnection(one, {
        role: 'server',
        clock,
        accept({ data }) {
          data.resume();
          return true;
        },
      });
      hand.resume();
      hand.on('error', () => {});
      for (const chunk of chunks) if (hand.writable) hand.write(chunk);
      hand.end();
      await connection.closed;
    }),
    { numRuns: 300 },
  );
});
