import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { type TestContext, test } from 'node:test';
import { GrpcError } from '@kruise/client/grpc/status';
import { systemClock } from '@kruise/values/system';
import { machineNetwork } from './network.ts';

const network = machineNetwork(systemClock);

async function listening(context: TestContext, server: Server): Promise<{ host: string; port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

test('an HTTP request is sent once, without following redirects', async (context) => {
  const target = await listening(
    context,
    createServer((request, response) => {
      response.writeHead(302, { location: '/other', 'x-seen': String(request.headers['x-probe']) });
      response.end('x'.repeat(100));
    }),
  );
  const request = { ...target, path: '/healthz?full', headers: [['X-Probe', 'yes']] as const, maxBodyBytes: 10 };
  const { status, headers, body } = await network.request(request);
  assert.deepEqual([status, headers['x-seen'], body.length], [302, 'yes', 10]);
});

test('a refused connection has Go’s error text', async (context) => {
  const server = createServer();
  const { host, port } = await listening(context, server);
  server.close();
  const message = `dial tcp 127.0.0.1:${port}: connect: connection refused`;
  await assert.rejects(network.request({ host, port, path: '/' }), { message });
  await assert.rejects(network.connect({ host, port }), { message });
});

test('a request without a response can be aborted', async (context) => {
  const server = createServer(() => {});
  const target = await listening(context, server);
  context.after(() => server.closeAllConnections());
  const caller = new AbortController();
  const request = network.request({ ...target, path: '/' }, { signal: caller.signal });
  server.once('request', () => caller.abort());
  await assert.rejects(request);
});

test('a gRPC health check returns the serving status', async (context) => {
  const server = createHttp2Server();
  const target = await listening(context, server as unknown as Server);
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    assert.equal(headers[':path'], '/grpc.health.v1.Health/Check');
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    // One message of two bytes: field 1 is NOT_SERVING.
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, 2]));
  });
  assert.equal(await network.checkHealth(target), 'NOT_SERVING');
});

test('a gRPC server without health service is unimplemented', async (context) => {
  const server = createHttp2Server();
  const target = await listening(context, server as unknown as Server);
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
  });
  await assert.rejects(
    network.checkHealth(target),
    (error) => error instanceof GrpcError && error.code === 'UNIMPLEMENTED',
  );
});
