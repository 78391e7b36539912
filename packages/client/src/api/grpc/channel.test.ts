import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import { type Channel, type ChannelOptions, createChannel } from './channel.ts';
import { parseEndpoints, type Target } from './connection.ts';
import { createDeframer, frame } from './framing.ts';
import type { Method } from './method.ts';
import { GrpcError, type StatusCode } from './status.ts';

const encode = (text: string) => Buffer.from(text);
const decode = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const method = (name: string): Method<string, string> => ({ path: `/test.Service/${name}`, encode, decode });

type Handler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A minimal gRPC server. */
async function serve(
  handlers: Record<string, Handler>,
  listen: object = { port: 0, host: '127.0.0.1' },
  server: Http2Server = createServer(),
) {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    session.on('error', () => {});
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => {});
    const handler = handlers[headers[':path']!.split('/').at(-1)!];
    if (handler) handler(stream, headers);
    else finish(stream, 12, 'no such method');
  });
  await once(server.listen(listen), 'listening');
  const dropAll = () => {
    for (const session of sessions) session.destroy();
  };
  const stop = async () => {
    dropAll();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  ends.push(stop);
  const target = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
  return { server, sessions, dropAll, stop, target };
}

/** Ends a call without a message in a trailers-only response. */
function finish(stream: ServerHttp2Stream, status: number, message: string): void {
  stream.respond(
    { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': String(status), 'grpc-message': message },
    { endStream: true },
  );
}

/** Sends messages and a status. */
function answer(stream: ServerHttp2Stream, messages: readonly string[], status = 0): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(status) }));
  for (const message of messages) stream.write(frame(encode(message)));
  stream.end();
}

/** Calls back with each message of the client, and at the end of the stream. */
function receive(stream: ServerHttp2Stream, onMessage: (text: string) => void, onEnd = () => {}): void {
  const deframer = createDeframer(2 ** 24);
  stream.on('data', (chunk: Buffer) => deframer.push(chunk).map(decode).forEach(onMessage));
  stream.on('end', onEnd);
}

const echo: Handler = (stream) => receive(stream, (text) => answer(stream, [`${text}!`]));

function open(target: Target, options: Partial<ChannelOptions> = {}): Channel {
  const channel = createChannel({ clock: systemClock, targets: [target], ...options });
  ends.push(() => channel.close());
  return channel;
}

const failure = (code: StatusCode, message: RegExp) => (error: unknown) => {
  assert(error instanceof GrpcError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};

async function collect(messages: AsyncIterable<string>): Promise<string[]> {
  const collected: string[] = [];
  for await (const message of messages) collected.push(message);
  return collected;
}

describe('a unary call', () => {
  test('returns the response with many concurrent calls on one connection', async () => {
    const { target, sessions } = await serve({ Echo: echo });
    const channel = open(target);
    const texts = Array.from({ length: 50 }, (_, index) => `message ${index}`);
    assert.deepEqual(
      await Promise.all(texts.map((text) => channel.unary(method('Echo'), text))),
      texts.map((text) => `${text}!`),
    );
    assert.equal(sessions.size, 1);
  });

  test('transfers messages of megabytes', async () => {
    const { target } = await serve({
      Echo: (stream) => {
        let text = '';
        receive(
          stream,
          (message) => (text = message),
          () => answer(stream, [text]),
        );
      },
    });
    const text = 'message '.repeat(500_000);
    assert.equal(await open(target).unary(method('Echo'), text), text);
  });

  test('sends the headers of gRPC and the metadata', async () => {
    let seen: IncomingHttpHeaders = {};
    const { target } = await serve({
      Echo: (stream, headers) => {
        seen = headers;
        echo(stream, headers);
      },
    });
    await open(target).unary(method('Echo'), '', { timeoutMs: 1500, metadata: { authorization: 'Bearer token' } });
    assert.deepEqual(
      [':method', ':path', 'content-type', 'te', 'grpc-timeout', 'authorization'].map((name) => seen[name]),
      ['POST', '/test.Service/Echo', 'application/grpc', 'trailers', '1500m', 'Bearer token'],
    );
  });

  test('fails with the status of the server and its decoded message', async () => {
    const { target } = await serve({ Fail: (stream) => finish(stream, 5, 'no such pod: caf%C3%A9 100%25') });
    await assert.rejects(open(target).unary(method('Fail'), ''), failure('NOT_FOUND', /: no such pod: café 100%$/));
  });

  test('fails with a status after a message', async () => {
    const { target } = await serve({ Fail: (stream) => answer(stream, ['half'], 13) });
    await assert.rejects(open(target).unary(method('Fail'), ''), failure('INTERNAL', /./));
  });

  test('fails without a message and with several messages', async () => {
    const { target } = await serve({
      None: (stream) => answer(stream, []),
      Two: (stream) => answer(stream, ['a', 'b']),
    });
    const channel = open(target);
    await assert.rejects(channel.unary(method('None'), ''), failure('INTERNAL', /received 0/));
    await assert.rejects(channel.unary(method('Two'), ''), failure('INTERNAL', /received 2/));
  });

  test('fails if the message exceeds the limit', async () => {
    const { target } = await serve({ Echo: echo });
    const channel = open(target, { maxMessageBytes: 10 });
    await assert.rejects(
      channel.unary(method('Echo'), 'twelve bytes'),
      failure('INTERNAL', /13 bytes exceeds the limit of 10/),
    );
    assert.equal(await channel.unary(method('Echo'), 'short'), 'short!');
  });

  test('fails if a proxy responds in plain HTTP', async () => {
    const { target } = await serve({ Proxy: (stream) => stream.respond({ ':status': 503 }, { endStream: true }) });
    await assert.rejects(open(target).unary(method('Proxy'), ''), failure('UNAVAILABLE', /HTTP status 503/));
  });

  test('fails if the stream is reset; a refused stream was not sent', async () => {
    const { target } = await serve({
      Reset: (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      Refuse: (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
    });
    const channel = open(target);
    await assert.rejects(channel.unary(method('Reset'), ''), failure('INTERNAL', /./));
    await assert.rejects(channel.unary(method('Refuse'), ''), (error) => {
      assert(error instanceof GrpcError);
      assert.deepEqual([error.code, error.wasSent], ['UNAVAILABLE', false]);
      return true;
    });
  });

  test('fails at its deadline and sends the deadline to the server', async () => {
    const clock = virtualClock();
    const closed = Promise.withResolvers<number>();
    const { target } = await serve({
      Hang: (stream) => {
        stream.on('close', () => closed.resolve(stream.rstCode));
        clock.advance(1000);
      },
    });
    await assert.rejects(
      open(target, { clock }).unary(method('Hang'), '', { timeoutMs: 1000 }),
      failure('DEADLINE_EXCEEDED', /./),
    );
    assert.equal(await closed.promise, constants.NGHTTP2_CANCEL);
  });

  test('is cancelled by its signal before and after it is sent', async () => {
    const controller = new AbortController();
    const closed = Promise.withResolvers<number>();
    const { target } = await serve({
      Hang: (stream) => {
        stream.on('close', () => closed.resolve(stream.rstCode));
        controller.abort();
      },
    });
    const channel = open(target);
    const call = () => channel.unary(method('Hang'), '', { signal: controller.signal });
    await assert.rejects(call(), failure('CANCELLED', /./));
    assert.equal(await closed.promise, constants.NGHTTP2_CANCEL);
    await assert.rejects(call(), failure('CANCELLED', /./));
  });
});

describe('a server stream', () => {
  test('returns every message and ends', async () => {
    const { target } = await serve({ Count: (stream) => receive(stream, () => answer(stream, ['1', '2', '3'])) });
    assert.deepEqual(await collect(open(target).serverStream(method('Count'), '')), ['1', '2', '3']);
  });

  test('returns the messages before a failure, then fails', async () => {
    const { target } = await serve({ Count: (stream) => receive(stream, () => answer(stream, ['1', '2'], 14)) });
    const seen: string[] = [];
    await assert.rejects(
      async () => {
        for await (const message of open(target).serverStream(method('Count'), '')) seen.push(message);
      },
      failure('UNAVAILABLE', /./),
    );
    assert.deepEqual(seen, ['1', '2']);
  });

  test('is cancelled when the loop is left', async () => {
    const closed = Promise.withResolvers<number>();
    const { target } = await serve({
      Count: (stream) => {
        stream.on('close', () => closed.resolve(stream.rstCode));
        stream.respond({ ':status': 200 });
        stream.write(frame(encode('1')));
      },
    });
    for await (const _ of open(target).serverStream(method('Count'), '')) break;
    assert.equal(await closed.promise, constants.NGHTTP2_CANCEL);
  });

  test('applies backpressure to the server', async () => {
    let sentBytes = 0;
    const message = frame(Buffer.alloc(100_000));
    const { target } = await serve({
      Flood: (stream) => {
        stream.respond({ ':status': 200 });
        const send = () => {
          while (stream.write(message)) sentBytes += message.length;
          stream.once('drain', send);
        };
        send();
      },
    });
    let readBytes = 0;
    for await (const text of open(target).serverStream(method('Flood'), '')) {
      readBytes += text.length;
      // Lets the server send as much as it can between two messages.
      await new Promise((resolve) => setImmediate(resolve));
      if (readBytes > 40e6) break;
    }
    assert(sentBytes - readBytes < 20e6, `${sentBytes - readBytes} bytes were sent ahead`);
  });
});

describe('a bidirectional call', () => {
  test('sends and receives in any order', async () => {
    const { target } = await serve({
      Chat: (stream) => {
        stream.respond({ ':status': 200 }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        receive(
          stream,
          (text) => stream.write(frame(encode(`${text}!`))),
          () => stream.end(),
        );
      },
    });
    const call = open(target).bidirectional(method('Chat'));
    const responses = call.responses[Symbol.asyncIterator]();
    for (const text of ['one', 'two']) {
      call.send(text);
      assert.equal((await responses.next()).value, `${text}!`);
    }
    call.end();
    assert.equal((await responses.next()).done, true);
  });

  test('fails on reading if there is no connection', async () => {
    const { target, stop } = await serve({});
    await stop();
    const call = open(target).bidirectional(method('Chat'));
    call.send('lost');
    await assert.rejects(collect(call.responses), failure('UNAVAILABLE', /no connection/));
  });
});

describe('a channel', () => {
  test('reconnects after the connection was lost', async () => {
    const { target, dropAll, sessions } = await serve({ Echo: echo, Drop: () => dropAll() });
    const channel = open(target);
    await channel.unary(method('Echo'), '');
    await assert.rejects(channel.unary(method('Drop'), ''), (error) => {
      assert(error instanceof GrpcError);
      assert.deepEqual([error.code, error.wasSent], ['UNAVAILABLE', true]);
      return true;
    });
    assert.equal(await channel.unary(method('Echo'), 'again'), 'again!');
    assert.equal(sessions.size, 1);
  });

  test('completes calls in flight and uses a new connection after GOAWAY', async () => {
    const held = Promise.withResolvers<ServerHttp2Stream>();
    const { target, sessions } = await serve({ Echo: echo, Hold: (stream) => held.resolve(stream) });
    const channel = open(target);
    const holding = channel.unary(method('Hold'), '');
    const stream = await held.promise;
    const [session] = sessions;
    session!.goaway(constants.NGHTTP2_NO_ERROR);
    // The ping response arrives after GOAWAY.
    await new Promise<void>((resolve) => session!.ping(() => resolve()));
    assert.equal(await channel.unary(method('Echo'), 'new'), 'new!');
    assert.equal(sessions.size, 2);
    answer(stream, ['old']);
    assert.equal(await holding, 'old');
  });

  test('backs off after each failed attempt and fails immediately meanwhile', async () => {
    const { target, stop } = await serve({});
    await stop();
    const clock = virtualClock();
    let attempts = 0;
    const counted = {
      get host() {
        attempts++;
        return '127.0.0.1';
      },
      port: target.port,
    };
    const channel = open(counted, { clock });
    const attemptsOf = async (act: () => void) => {
      attempts = 0;
      act();
      await assert.rejects(channel.unary(method('Echo'), ''), (error) => error instanceof GrpcError && !error.wasSent);
      return attempts > 0;
    };
    assert.equal(await attemptsOf(() => {}), true);
    assert.equal(await attemptsOf(() => clock.advance(99)), false);
    assert.equal(await attemptsOf(() => clock.advance(1)), true);
    assert.equal(await attemptsOf(() => clock.advance(159)), false);
    assert.equal(await attemptsOf(() => clock.advance(1)), true);
    for (let count = 0; count < 20; count++) {
      clock.advance(10_000);
      await assert.rejects(channel.unary(method('Echo'), ''));
    }
    assert.equal(await attemptsOf(() => clock.advance(9_999)), false);
    assert.equal(await attemptsOf(() => clock.advance(1)), true);
  });

  test('tries its targets in turn', async () => {
    const dead = await serve({});
    await dead.stop();
    const alive = await serve({ Echo: echo });
    const channel = open(dead.target, { targets: [dead.target, alive.target] });
    assert.equal(await channel.unary(method('Echo'), 'found'), 'found!');
  });

  test('times out on a server that accepts but never responds', async () => {
    const clock = virtualClock();
    const mute = createSocketServer((socket) => {
      ends.push(() => socket.destroy());
      clock.advance(5000);
    });
    await once(mute.listen(0, '127.0.0.1'), 'listening');
    ends.push(() => mute.close());
    const target = { host: '127.0.0.1', port: (mute.address() as AddressInfo).port };
    const channel = open(target, { clock, connectTimeoutMs: 5000 });
    await assert.rejects(channel.unary(method('Echo'), ''), failure('UNAVAILABLE', /timed out/));
  });

  test('closes a connection without ping responses while a call is in flight', async () => {
    const clock = virtualClock();
    let socketOfServer: { pause(): void } | undefined;
    const { target, server } = await serve({
      Hang: () => {
        socketOfServer!.pause();
        clock.advance(30_000);
        clock.advance(10_000);
      },
    });
    server.on('connection', (socket) => (socketOfServer = socket));
    const channel = open(target, { clock });
    await assert.rejects(channel.unary(method('Hang'), ''), failure('UNAVAILABLE', /keepalive ping timed out/));
  });

  test('sends no pings while no call is in flight', async () => {
    const clock = virtualClock();
    const { target, sessions } = await serve({ Echo: echo });
    const channel = open(target, { clock });
    await channel.unary(method('Echo'), '');
    let pings = 0;
    for (const session of sessions) session.on('ping', () => pings++);
    clock.advance(300_000);
    assert.equal(await channel.unary(method('Echo'), 'still there'), 'still there!');
    assert.equal(pings, 0);
  });

  test('rejects calls after it is closed', async () => {
    const { target } = await serve({ Echo: echo });
    const channel = open(target);
    const before = channel.unary(method('Echo'), 'before');
    await before;
    channel.close();
    await assert.rejects(channel.unary(method('Echo'), ''), failure('CANCELLED', /closed/));
  });

  test('connects to a Unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'kruise-grpc-'));
    ends.push(() => rmSync(directory, { recursive: true }));
    const socketPath = join(directory, 'server.sock');
    await serve({ Echo: echo }, { path: socketPath });
    assert.equal(await open({ socketPath }).unary(method('Echo'), 'unix'), 'unix!');
  });

  test('uses TLS with a trusted server and a client certificate', async () => {
    const nowMs = systemClock.now();
    const authority = createCertificateAuthority('test', nowMs);
    const pair = authority.issue({
      subject: { commonName: 'server' },
      usages: ['server auth'],
      hosts: ['127.0.0.1'],
      nowMs,
    });
    const client = authority.issue({ subject: { commonName: 'client' }, usages: ['client auth'], nowMs });
    const server = createSecureServer({
      cert: pair.certificate,
      key: pair.key,
      ca: authority.certificate,
      requestCert: true,
    });
    const { target } = await serve({ Echo: echo }, undefined, server as unknown as Http2Server);
    const tls = { ca: authority.certificate, cert: client.certificate, key: client.key };
    assert.equal(await open(target, { tls }).unary(method('Echo'), 'secret'), 'secret!');
    await assert.rejects(open(target, { tls: {} }).unary(method('Echo'), ''), failure('UNAVAILABLE', /certificate/));
    await assert.rejects(open(target, { tls: { ca: tls.ca } }).unary(method('Echo'), ''), failure('UNAVAILABLE', /./));
  });
});

describe('endpoints', () => {
  const cases: { endpoints: string[]; result: ReturnType<typeof parseEndpoints> }[] = [
    {
      endpoints: ['http://etcd-0:2379', 'etcd-1:2379'],
      result: {
        targets: [
          { host: 'etcd-0', port: 2379 },
          { host: 'etcd-1', port: 2379 },
        ],
      },
    },
    { endpoints: ['https://[::1]:2379'], result: { targets: [{ host: '::1', port: 2379 }], tls: {} } },
    { endpoints: ['unix:///run/etcd.sock'], result: { targets: [{ socketPath: '/run/etcd.sock' }] } },
  ];
  for (const { endpoints, result } of cases) {
    test(`${endpoints} are parsed`, () => assert.deepEqual(parseEndpoints(endpoints, undefined), result));
  }
  for (const endpoints of [['ftp://etcd'], ['http://a:1', 'https://b:1'], ['http://']]) {
    test(`${endpoints} are rejected`, () => assert.throws(() => parseEndpoints(endpoints, undefined)));
  }
});
