import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { StatusError } from '@kruise/machinery/status';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import { type FakeServer, type Handle, startFakeServer } from '../testing/fake-server.ts';
import { staticCredentials } from './credentials.ts';
import { parseProxy } from './http/proxy.ts';
import { ConnectError, createHttpTransport, type HttpTransportOptions, TransportError } from './http-transport.ts';
import type { WatchEvent } from './transport.ts';

const json = { 'content-type': 'application/json' };
const get = { method: 'GET', path: '/api' } as const;

for (const protocol of ['h2', 'http/1.1'] as const) {
  describe(protocol, () => {
    /** Runs a test with a server and a transport to it. */
    async function against(
      handle: Handle,
      work: (transport: ReturnType<typeof createHttpTransport>, server: FakeServer) => Promise<void>,
      options: Partial<HttpTransportOptions> = {},
    ): Promise<void> {
      const server = await startFakeServer(protocol, handle);
      const transport = createHttpTransport({
        server: server.url,
        authorities: server.authorities,
        clock: systemClock,
        ...options,
      });
      try {
        await work(transport, server);
      } finally {
        transport.close();
        await server.close();
      }
    }

    async function eventsOf(watch: AsyncIterable<WatchEvent>): Promise<{ events: string[]; error: Error | undefined }> {
      const events: string[] = [];
      try {
        for await (const { type, object } of watch) events.push(`${type} ${(object as { name: string }).name}`);
      } catch (error) {
        return { events, error: error as Error };
      }
      return { events, error: undefined };
    }
    const event = (name: string) => `{"type":"ADDED","object":{"name":"${name}"}}\n`;

    test('joins watch events that are split anywhere, even within a character', async () => {
      const bytes = Buffer.from(event('ä') + event('€') + event('😀'));
      await against(
        async (_request, response) => {
          response.writeHead(200, json);
          for (const byte of bytes) {
            response.write(Buffer.from([byte]));
            await new Promise(setImmediate);
          }
          response.end();
        },
        async (transport) => {
          assert.deepEqual(await eventsOf(transport.watch(get)), {
            events: ['ADDED ä', 'ADDED €', 'ADDED 😀'],
            error: undefined,
          });
        },
      );
    });

    test('accepts an event of many megabytes', async () => {
      const name = 'x'.repeat(20 * 2 ** 20);
      await against(
        (_request, response) => {
          response.writeHead(200, json);
          response.end(event(name) + event('next'));
        },
        async (transport) => {
          const { events } = await eventsOf(transport.watch(get));
          assert.deepEqual(
            events.map((each) => each.length),
            [name.length + 6, 10],
          );
        },
      );
    });

    const broken = [
      { name: 'ends in the middle of an event', sent: event('a') + event('b').slice(0, -5), seen: ['ADDED a'] },
      { name: 'sends garbage', sent: `${event('a')}<html>\n${event('b')}`, seen: ['ADDED a'] },
      { name: 'sends an event of no known type', sent: `${event('a')}{"type":"NEW","object":{}}\n`, seen: ['ADDED a'] },
      { name: 'sends an event without an object', sent: '{"type":"ADDED"}\n', seen: [] },
      { name: 'sends invalid UTF-8', sent: Buffer.from([0xff, 0xfe, 0x0a]), seen: [] },
    ];
    for (const { name, sent, seen } of broken) {
      test(`fails a watch whose server ${name}, after the complete events`, async () => {
        await against(
          (_request, response) => {
            response.writeHead(200, json);
            response.end(sent);
          },
          async (transport) => {
            const { events, error } = await eventsOf(transport.watch(get));
            assert.deepEqual(events, seen);
            assert.ok(error instanceof TransportError);
          },
        );
      });
    }

    test('fails a watch whose connection is reset', async () => {
      await against(
        (_request, response) => {
          response.writeHead(200, json);
          response.write(event('a'));
        },
        async (transport, server) => {
          const watch = transport.watch(get)[Symbol.asyncIterator]();
          await watch.next();
          for (const socket of server.sockets) socket.destroy();
          await assert.rejects(watch.next(), TransportError);
        },
      );
    });

    test('ignores empty lines', async () => {
      await against(
        (_request, response) => {
          response.writeHead(200, json);
          response.end(`\n${event('a')}\n`);
        },
        async (transport) => assert.deepEqual((await eventsOf(transport.watch(get))).events, ['ADDED a']),
      );
    });

    test('throws the Status of an error response', async () => {
      const status = {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'Conflict',
        message: 'no',
        code: 409,
      };
      await against(
        (_request, response) => {
          response.writeHead(409, json);
          response.end(JSON.stringify(status));
        },
        async (transport) => {
          await assert.rejects(transport.request(get), (error) => {
            assert.ok(error instanceof StatusError);
            assert.deepEqual(error.status, status);
            return true;
          });
          await assert.rejects(transport.watch(get)[Symbol.asyncIterator]().next(), StatusError);
        },
      );
    });

    for (const [body, message] of [
      ['<html>Bad gateway</html>', 'the server responded with the status code 502 (<html>Bad gateway</html>)'],
      ['{"kind":"Sta', 'the server responded with the status code 502 ({"kind":"Sta)'],
      ['', 'the server responded with the status code 502'],
    ]) {
      test(`derives a Status from ${JSON.stringify(body)}`, async () => {
        await against(
          (_request, response) => {
            response.writeHead(502, { 'content-type': 'text/html' });
            response.end(body);
          },
          (transport) => assert.rejects(transport.request(get), { name: 'StatusError', message: message! }),
        );
      });
    }

    test('fails on invalid JSON with a JSON content type', async () => {
      await against(
        (_request, response) => {
          response.writeHead(200, json);
          response.end('{"a":');
        },
        (transport) => assert.rejects(transport.request(get), TransportError),
      );
    });

    test('fails on a truncated response', async () => {
      await against(
        (_request, response) => {
          response.writeHead(200, { ...json, 'content-length': '100' });
          response.write('{"a":');
          setImmediate(() => (response.stream ?? response.socket)?.destroy());
        },
        (transport) => assert.rejects(transport.request({ ...get, method: 'POST', body: {} }), TransportError),
      );
    });

    test('decodes compressed responses', async () => {
      await against(
        (request, response) => {
          assert.equal(request.headers['accept-encoding'], 'gzip');
          response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
          response.end(gzipSync('{"a":1}'));
        },
        async (transport) => assert.deepEqual((await transport.request(get)).object, { a: 1 }),
        { compress: true },
      );
    });

    test('returns text that is not JSON', async () => {
      await against(
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/plain' });
          response.end('ok');
        },
        async (transport) => assert.equal((await transport.request(get)).object, 'ok'),
      );
    });

    test('retries after the Retry-After of a busy server', async () => {
      const clock = virtualClock();
      const times: number[] = [];
      await against(
        (_request, response) => {
          times.push(clock.now());
          if (times.length < 3) response.writeHead(429, { 'retry-after': '7' });
          else response.writeHead(200, json);
          response.end('{}');
        },
        async (transport) => {
          const answer = transport.request({ method: 'POST', path: '/api', body: {} });
          for (const _ of [1, 2]) {
            const due = clock.now() + 7000;
            while (clock.nextTimer() !== due) await new Promise(setImmediate);
            clock.advance(7000);
          }
          assert.equal((await answer).code, 200);
        },
        { clock },
      );
      assert.deepEqual(times, [0, 7000, 14_000]);
    });

    test('does not retry if Retry-After is too long', async () => {
      let requests = 0;
      await against(
        (_request, response) => {
          requests++;
          response.writeHead(429, { 'retry-after': '3600' });
          response.end();
        },
        (transport) =>
          assert.rejects(transport.request(get), (error) => error instanceof StatusError && error.code === 429),
      );
      assert.equal(requests, 1);
    });

    test('times out on a server without a response', async () => {
      const clock = virtualClock();
      await against(
        () => void clock.advance(90_000),
        (transport) =>
          assert.rejects(transport.request(get), { name: 'TransportError', message: /no response .* 90000 ms/ }),
        { clock },
      );
    });

    test('stops waiting when its signal is aborted', async () => {
      const stop = new AbortController();
      const reason = new Error('enough');
      await against(
        () => stop.abort(reason),
        (transport) => assert.rejects(transport.request({ ...get, signal: stop.signal }), reason),
      );
    });

    test('retries a read on a new connection when the old one was closed', async () => {
      let requests = 0;
      await against(
        (_request, response) => {
          requests++;
          if (requests === 2) (response.stream?.session ?? response.socket)?.destroy();
          else response.writeHead(200, json).end('{}');
        },
        async (transport, server) => {
          await transport.request(get);
          await transport.request(get);
          assert.deepEqual([requests, server.connections], [3, 2]);
        },
      );
    });

    test('does not retry a write when the connection is closed during it', async () => {
      let requests = 0;
      await against(
        (_request, response) => {
          requests++;
          (response.stream?.session ?? response.socket)?.destroy();
        },
        (transport) => assert.rejects(transport.request({ method: 'POST', path: '/api', body: {} }), TransportError),
      );
      assert.equal(requests, 1);
    });

    test('reuses one connection for consecutive requests', async () => {
      await against(
        (_request, response) => response.writeHead(200, json).end('{}'),
        async (transport, server) => {
          for (let index = 0; index < 5; index++) await transport.request(get);
          assert.equal(server.connections, 1);
        },
      );
    });

    test('sends a renewed token when the first one is rejected', async () => {
      let token = 'old';
      const seen: unknown[] = [];
      await against(
        (request, response) => {
          seen.push(request.headers.authorization);
          response.writeHead(request.headers.authorization === 'Bearer new' ? 200 : 401, json).end('{}');
        },
        async (transport) => assert.equal((await transport.request(get)).code, 200),
        {
          credentials: {
            current: () => ({ authorization: `Bearer ${token}` }),
            rejected() {
              token = 'new';
              return true;
            },
          },
        },
      );
      assert.deepEqual(seen, ['Bearer old', 'Bearer new']);
    });

    test('reconnects when its client certificate has changed', async () => {
      const authority = createCertificateAuthority('clients', Date.now());
      const certificateOf = (commonName: string) =>
        authority.issue({ subject: { commonName }, usages: ['client auth'], nowMs: Date.now() });
      let certificate = certificateOf('one');
      const names: string[] = [];
      const server = await startFakeServer(
        protocol,
        (request, response) => {
          const [socket] = [...server.sockets].slice(-1) as unknown as [
            { getPeerCertificate(): { subject: { CN: string } } },
          ];
          names.push(socket.getPeerCertificate().subject.CN);
          response.writeHead(200, json).end(request.url);
        },
        { clientAuthorities: [authority.certificate] },
      );
      const transport = createHttpTransport({
        server: `${server.url}/prefix/`,
        authorities: server.authorities,
        clock: systemClock,
        credentials: { current: () => ({ certificate }) },
      });
      try {
        await assert.rejects(transport.request(get));
        certificate = certificateOf('two');
        await assert.rejects(transport.request(get));
      } finally {
        transport.close();
        await server.close();
      }
      assert.deepEqual(names, ['one', 'two']);
    });

    test('rejects a server with an untrusted certificate', async () => {
      await against(
        (_request, response) => response.writeHead(200, json).end('{}'),
        async (_transport, { url, port, authorities }) => {
          const attempts: [Partial<HttpTransportOptions>, boolean][] = [
            [{ server: url }, false],
            [{ server: `https://127.0.0.1:${port}`, authorities }, false],
            [{ server: `https://127.0.0.1:${port}`, authorities, serverName: 'fake.example' }, true],
            [{ server: url, insecureSkipVerify: true }, true],
          ];
          for (const [options, isTrusted] of attempts) {
            const transport = createHttpTransport({ server: url, clock: systemClock, ...options });
            if (isTrusted) await transport.request(get);
            else await assert.rejects(transport.request(get), ConnectError);
            transport.close();
          }
        },
      );
    });

    for (const scheme of ['http', 'socks5'] as const) {
      test(`connects through a ${scheme} proxy with authentication`, async () => {
        const proxy = await startProxy(scheme);
        await against(
          (_request, response) => response.writeHead(200, json).end('{"through":true}'),
          async (transport) => assert.deepEqual((await transport.request(get)).object, { through: true }),
          { proxy: parseProxy(`${scheme}://user:p%40ss@127.0.0.1:${proxy.port}`) },
        );
        await against(
          () => {},
          (transport) => assert.rejects(transport.request(get), ConnectError),
          { proxy: parseProxy(`${scheme}://user:wrong@127.0.0.1:${proxy.port}`) },
        );
        assert.match(proxy.destinations[0]!, /^localhost:\d+$/);
        await proxy.close();
      });
    }

    test('fails immediately when it is closed', async () => {
      await against(
        () => {},
        async (transport) => {
          const waiting = transport.request(get);
          setImmediate(() => transport.close());
          await assert.rejects(waiting, TransportError);
          await assert.rejects(transport.request(get), TransportError);
        },
      );
    });
  });
}

test('opens another connection when one has the maximum number of streams', async () => {
  const server = await startFakeServer(
    'h2',
    (_request, response) => {
      response.writeHead(200, json);
      response.write('{"type":"ADDED","object":{}}\n');
    },
    { maxConcurrentStreams: 2 },
  );
  const transport = createHttpTransport({ server: server.url, authorities: server.authorities, clock: systemClock });
  const watches = Array.from({ length: 5 }, () => transport.watch(get)[Symbol.asyncIterator]());
  for (const watch of watches) assert.equal((await watch.next()).value?.type, 'ADDED');
  assert.equal(server.connections, 3);
  transport.close();
  await server.close();
});

test('uses a new connection after GOAWAY', async () => {
  const server = await startFakeServer('h2', (_request, response) => {
    response.writeHead(200, json).end('{}');
  });
  const goodbyes: (() => void)[] = [];
  server.http2!.on('session', (session) => goodbyes.push(() => session.goaway()));
  const transport = createHttpTransport({ server: server.url, authorities: server.authorities, clock: systemClock });
  await transport.request({ method: 'POST', path: '/', body: {} });
  for (const sendGoAway of goodbyes) sendGoAway();
  await transport.request({ method: 'POST', path: '/', body: {} });
  transport.close();
  await server.close();
});

test('detects a lost server while a watch is idle', async () => {
  const clock = virtualClock();
  const server = await startFakeServer('h2', (_request, response) => {
    response.writeHead(200, json);
    response.write('{"type":"ADDED","object":{}}\n');
  });
  const relay = await startRelay(server.port);
  const transport = createHttpTransport({
    server: `https://localhost:${relay.port}`,
    authorities: server.authorities,
    clock,
  });
  const watch = transport.watch(get)[Symbol.asyncIterator]();
  await watch.next();
  relay.freeze();
  const failed = assert.rejects(watch.next(), { name: 'TransportError', message: /keepalive ping timed out/ });
  clock.advance(30_000);
  clock.advance(15_000);
  await failed;
  transport.close();
  relay.close();
  await server.close();
});

test('fails without a retry if the connection is refused', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  await new Promise((resolve) => listener.close(resolve));
  const transport = createHttpTransport({ server: `https://127.0.0.1:${port}`, clock: systemClock });
  await assert.rejects(transport.request(get), { name: 'ConnectError', message: /ECONNREFUSED/ });
});

test('times out on a server that accepts but never responds', async () => {
  const clock = virtualClock();
  const listener = createServer((socket) => {
    socket.once('close', () => listener.close());
    clock.advance(30_000);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  const transport = createHttpTransport({
    server: `https://127.0.0.1:${port}`,
    clock,
    credentials: staticCredentials({}),
  });
  await assert.rejects(transport.request(get), { name: 'ConnectError', message: /30000 ms/ });
});

/** Relays bytes between a client and a server until it is frozen. */
async function startRelay(target: number) {
  const pairs: (readonly [Socket, Socket])[] = [];
  const relay = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1');
    pairs.push([incoming, outgoing]);
    for (const socket of [incoming, outgoing]) socket.on('error', () => {});
    incoming.pipe(outgoing).pipe(incoming);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    port: (relay.address() as { port: number }).port,
    freeze() {
      for (const [incoming, outgoing] of pairs) {
        incoming.unpipe();
        outgoing.unpipe();
      }
    },
    close() {
      relay.close();
      for (const sockets of pairs) for (const socket of sockets) socket.destroy();
    },
  };
}

/** A proxy that accepts `user` with the password `p@ss`. */
async function startProxy(scheme: 'http' | 'socks5') {
  const destinations: string[] = [];
  const open = new Set<Socket>();
  const lead = (socket: Socket, host: string, port: number, welcome: string | Buffer) => {
    destinations.push(`${host}:${port}`);
    const onward = connect(port, host, () => {
      socket.write(welcome);
      socket.pipe(onward).pipe(socket);
    });
    open.add(onward);
    onward.on('error', () => socket.destroy());
  };
  const readOnce = async (socket: Socket): Promise<Buffer> => (await once(socket, 'data'))[0];
  const overHttp = async (socket: Socket) => {
    const head = (await readOnce(socket)).toString();
    const [, host = '', port = ''] = /^CONNECT (.*):(\d+) /.exec(head) ?? [];
    const login = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    if (!head.includes(`Proxy-Authorization: ${login}`))
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    else lead(socket, host, Number(port), 'HTTP/1.1 200 Connection established\r\n\r\n');
  };
  const overSocks = async (socket: Socket) => {
    assert.deepEqual([...(await readOnce(socket))], [5, 1, 2]);
    socket.write(Buffer.from([5, 2]));
    const login = (await readOnce(socket)).toString('latin1');
    if (login !== '\x01\x04user\x04p@ss') return socket.end(Buffer.from([1, 1]));
    socket.write(Buffer.from([1, 0]));
    const asked = await readOnce(socket);
    const host = asked.subarray(5, 5 + asked[4]!).toString();
    return lead(socket, host, asked.readUInt16BE(5 + asked[4]!), Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  };
  const proxy = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {});
    void (scheme === 'http' ? overHttp(socket) : overSocks(socket));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as { port: number }).port,
    destinations,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => proxy.close(resolve));
    },
  };
}
