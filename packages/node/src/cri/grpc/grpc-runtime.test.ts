import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { GrpcError } from '@kruise/client/grpc/status';
import { systemClock } from '@kruise/values/system';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { NodeRuntime } from '../runtime.ts';
import { createGrpcRuntime, requireRuntime } from './grpc-runtime.ts';

/** A runtime that records its requests and returns empty responses. */
const folder = mkdtempSync(join(tmpdir(), 'kruise-cri-'));
const socketPath = join(folder, 'cri.sock');
const asked: { readonly path: string; readonly timeout: string | undefined; readonly authority: string }[] = [];
const server = createServer();
const connection = new AbortController();
let status = '0';
let runtime: NodeRuntime;

/** Sends an empty message. */
function sendEmptyMessage(stream: ServerHttp2Stream): void {
  stream.resume();
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.alloc(5));
}

before(async () => {
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    asked.push({
      path: String(headers[':path']),
      timeout: headers['grpc-timeout'] as string | undefined,
      authority: String(headers[':authority']),
    });
    stream.resume();
    if (status !== '0') {
      const trailersOnly = {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': status,
        'grpc-message': 'no%20luck',
      };
      stream.respond(trailersOnly, { endStream: true });
      return;
    }
    sendEmptyMessage(stream);
  });
  server.listen(socketPath);
  await once(server, 'listening');
  runtime = createGrpcRuntime({ clock: systemClock, endpoint: `unix://${socketPath}`, signal: connection.signal });
});
after(() => {
  connection.abort();
  server.close();
  rmSync(folder, { recursive: true });
});

const config = { metadata: { name: 'p', namespace: 'n', uid: 'u', attempt: 0 } };

describe('the timeout of a call', () => {
  const cases: readonly [what: string, path: string, timeout: string | undefined, ask: () => Promise<unknown>][] = [
    ['is two minutes by default', 'RuntimeService/Version', '120000m', () => runtime.version({})],
    [
      'is doubled for running a sandbox',
      'RuntimeService/RunPodSandbox',
      '240000m',
      () => runtime.runPodSandbox({ config }),
    ],
    [
      'is the default for container stats',
      'RuntimeService/ListContainerStats',
      '120000m',
      () => runtime.listContainerStats({}),
    ],
    [
      'is the default for sandbox stats',
      'RuntimeService/ListPodSandboxStats',
      '120000m',
      () => runtime.listPodSandboxStats({}),
    ],
    ['is the default for image filesystem info', 'ImageService/ImageFsInfo', '120000m', () => runtime.imageFsInfo({})],
    [
      'is unlimited for events',
      'RuntimeService/GetContainerEvents',
      undefined,
      () => runtime.getContainerEvents({})[Symbol.asyncIterator]().next(),
    ],
    [
      'includes the grace period for stopping a container',
      'RuntimeService/StopContainer',
      '150000m',
      () => runtime.stopContainer({ containerId: 'c', timeout: 30 }),
    ],
    [
      'includes the timeout of an exec command',
      'RuntimeService/ExecSync',
      '125000m',
      () => runtime.execSync({ containerId: 'c', cmd: ['true'], timeout: 5 }),
    ],
    [
      'is unlimited for an exec without timeout',
      'RuntimeService/ExecSync',
      undefined,
      () => runtime.execSync({ containerId: 'c', cmd: ['true'] }),
    ],
    [
      'is unlimited for image pulls',
      'ImageService/PullImage',
      undefined,
      () => runtime.pullImage({ image: { image: 'nginx' } }).catch(() => {}),
    ],
  ];
  for (const [what, path, timeout, ask] of cases) {
    test(what, async () => {
      await ask();
      const call = asked.at(-1);
      assert.deepEqual([call?.path, call?.timeout], [`/runtime.v1.${path}`, timeout]);
    });
  }
});

test('the authority of a request is not the path of the socket, which some servers reject', async () => {
  await runtime.version({});
  assert.match(asked.at(-1)?.authority ?? '', /^localhost(:80)?$/);
});

test('an empty response has zero values', async () => {
  assert.deepEqual(await runtime.listImages({}), { images: [] });
  assert.deepEqual(await runtime.imageStatus({ image: { image: 'nginx' } }), { info: {} });
});

test('a pulled image without a reference is an error', async () => {
  await assert.rejects(
    runtime.pullImage({ image: { image: 'nginx' } }),
    (error) => error instanceof GrpcError && error.description === 'imageRef of image "nginx" is not set',
  );
});

test('a command returns nothing', async () => {
  assert.equal(await runtime.removeContainer({ containerId: 'c' }), undefined);
});

test('an error of the runtime is passed on', async (context) => {
  status = '5';
  context.after(() => {
    status = '0';
  });
  const failure = await runtime.containerStatus({ containerId: 'c' }).catch((error: unknown) => error);
  assert.ok(failure instanceof GrpcError);
  assert.deepEqual([failure.code, failure.description], ['NOT_FOUND', 'no luck']);
});

test('a restarted runtime is reconnected within three seconds', async (context) => {
  const clock = virtualClock();
  const path = join(folder, 'returning.sock');
  const returning = createGrpcRuntime({ clock, endpoint: `unix://${path}`, signal: connection.signal });
  for (let second = 0; second < 60; second++) {
    await assert.rejects(returning.version({}));
    clock.advance(1000);
  }
  const returned = createServer();
  context.after(() => returned.close());
  returned.on('stream', sendEmptyMessage);
  await once(returned.listen(path), 'listening');
  clock.advance(3000);
  await returning.version({});
});

test('a runtime is valid if both of its services answer', async (context) => {
  await requireRuntime(runtime, 'unix:///x');
  assert.deepEqual(
    asked.slice(-2).map(({ path }) => path),
    ['/runtime.v1.RuntimeService/Version', '/runtime.v1.ImageService/ImageFsInfo'],
  );
  status = '12';
  context.after(() => {
    status = '0';
  });
  await assert.rejects(requireRuntime(runtime, 'unix:///x'), {
    message:
      'validate CRI v1 runtime API for endpoint "unix:///x": CRI v1 runtime API is not implemented for endpoint ' +
      '"unix:///x": rpc error: code = Unimplemented desc = no luck',
  });
});

test('calls without a runtime fail as unavailable', async () => {
  const disconnected = createGrpcRuntime({ clock: systemClock, endpoint: `unix://${folder}/nobody.sock` });
  await assert.rejects(disconnected.version({}), (error) => error instanceof GrpcError && error.code === 'UNAVAILABLE');
});
