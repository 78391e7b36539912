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

/** A runtime that notes what it is asked and says nothing in answer. */
const folder = mkdtempSync(join(tmpdir(), 'kruise-cri-'));
const socketPath = join(folder, 'cri.sock');
const asked: { readonly path: string; readonly timeout: string | undefined; readonly authority: string }[] = [];
const server = createServer();
const connection = new AbortController();
let status = '0';
let runtime: NodeRuntime;

/** An empty message. */
function answerNothing(stream: ServerHttp2Stream): void {
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
    answerNothing(stream);
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

describe('a call may take', () => {
  const cases: readonly [what: string, path: string, timeout: string | undefined, ask: () => Promise<unknown>][] = [
    ['two minutes', 'RuntimeService/Version', '120000m', () => runtime.version({})],
    ['twice that to run a sandbox', 'RuntimeService/RunPodSandbox', '240000m', () => runtime.runPodSandbox({ config })],
    [
      'no longer to list what containers take',
      'RuntimeService/ListContainerStats',
      '120000m',
      () => runtime.listContainerStats({}),
    ],
    [
      'no longer to list what sandboxes take',
      'RuntimeService/ListPodSandboxStats',
      '120000m',
      () => runtime.listPodSandboxStats({}),
    ],
    ['no longer to tell what room there is', 'ImageService/ImageFsInfo', '120000m', () => runtime.imageFsInfo({})],
    [
      'for ever to tell what happens',
      'RuntimeService/GetContainerEvents',
      undefined,
      () => runtime.getContainerEvents({})[Symbol.asyncIterator]().next(),
    ],
    [
      'the grace more to stop a container',
      'RuntimeService/StopContainer',
      '150000m',
      () => runtime.stopContainer({ containerId: 'c', timeout: 30 }),
    ],
    [
      'the time of the command more to run it',
      'RuntimeService/ExecSync',
      '125000m',
      () => runtime.execSync({ containerId: 'c', cmd: ['true'], timeout: 5 }),
    ],
    [
      'for ever if the command may',
      'RuntimeService/ExecSync',
      undefined,
      () => runtime.execSync({ containerId: 'c', cmd: ['true'] }),
    ],
    [
      'for ever to pull an image',
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

test('the server is not called by the path of its socket, which some refuse', async () => {
  await runtime.version({});
  assert.match(asked.at(-1)?.authority ?? '', /^localhost(:80)?$/);
});

test('an answer that says nothing has zero values', async () => {
  assert.deepEqual(await runtime.listImages({}), { images: [] });
  assert.deepEqual(await runtime.imageStatus({ image: { image: 'nginx' } }), { info: {} });
});

test('an image that was pulled and has no name is an error', async () => {
  await assert.rejects(
    runtime.pullImage({ image: { image: 'nginx' } }),
    (error) => error instanceof GrpcError && error.description === 'imageRef of image "nginx" is not set',
  );
});

test('a command without an answer answers nothing', async () => {
  assert.equal(await runtime.removeContainer({ containerId: 'c' }), undefined);
});

test('a failure is the runtime’s', async (context) => {
  status = '5';
  context.after(() => {
    status = '0';
  });
  const failure = await runtime.containerStatus({ containerId: 'c' }).catch((error: unknown) => error);
  assert.ok(failure instanceof GrpcError);
  assert.deepEqual([failure.code, failure.description], ['NOT_FOUND', 'no luck']);
});

test('a runtime that was away for long is found again within three seconds of its return', async (context) => {
  const clock = virtualClock();
  const path = join(folder, 'returning.sock');
  const returning = createGrpcRuntime({ clock, endpoint: `unix://${path}`, signal: connection.signal });
  for (let second = 0; second < 60; second++) {
    await assert.rejects(returning.version({}));
    clock.advance(1000);
  }
  const returned = createServer();
  context.after(() => returned.close());
  returned.on('stream', answerNothing);
  await once(returned.listen(path), 'listening');
  clock.advance(3000);
  await returning.version({});
});

test('a runtime is good if both of its services answer', async (context) => {
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

test('without a runtime calls fail as unavailable', async () => {
  const nobody = createGrpcRuntime({ clock: systemClock, endpoint: `unix://${folder}/nobody.sock` });
  await assert.rejects(nobody.version({}), (error) => error instanceof GrpcError && error.code === 'UNAVAILABLE');
});
