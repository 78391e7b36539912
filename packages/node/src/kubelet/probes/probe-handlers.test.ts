import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Probe } from '@kruise/api/core/probe';
import { GrpcError } from '@kruise/client/grpc/status';
import { virtualClock } from '@kruise/values/virtual-clock';
import type { HostNetwork, HttpRequest, HttpResponse } from '../../cri/runtime.ts';
import { makeContainer } from '../fixtures.ts';
import { runHook, runProbe } from './probe-handlers.ts';

type Node = Parameters<typeof runProbe>[0];

const target = {
  container: makeContainer('c', { ports: [{ name: 'http', containerPort: 8080 }] }),
  containerId: 'id',
  podIP: '10.0.0.1',
};

function answer(status: number, { body = '', location }: { body?: string; location?: string } = {}): HttpResponse {
  return { status, headers: location ? { location } : {}, body: Buffer.from(body) };
}

/** Returns a node with the given network. */
function nodeWith(
  network: Partial<HostNetwork>,
  execSync: Node['execSync'] = () => Promise.reject(new Error('none')),
): Node {
  const nothing = () => Promise.reject(new Error('dial tcp 10.0.0.1:80: connect: connection refused'));
  return { execSync, network: { connect: nothing, request: nothing, checkHealth: nothing, ...network } };
}

async function outcome(node: Node, probe: Probe): Promise<string> {
  const { result, output } = await runProbe(node, virtualClock(), probe, target);
  return `${result}: ${output}`;
}

const httpRows: readonly (readonly [name: string, answers: HttpResponse[], expected: string])[] = [
  ['200 is success', [answer(200, { body: 'fine' })], 'success: fine'],
  ['399 is success', [answer(399)], 'success: '],
  ['400 is failure', [answer(400)], 'failure: HTTP probe failed with statuscode: 400'],
  ['500 is failure', [answer(500)], 'failure: HTTP probe failed with statuscode: 500'],
  [
    'a redirect to the same host is followed',
    [answer(302, { location: '/other' }), answer(200, { body: 'there' })],
    'success: there',
  ],
  [
    'a redirect to another host is a warning',
    [answer(302, { location: 'http://elsewhere/' })],
    'warning: Probe terminated redirects, Response body: ',
  ],
];
for (const [name, answers, expected] of httpRows) {
  test(name, async () => {
    const rest = [...answers];
    const node = nodeWith({ request: async () => rest.shift()! });
    assert.equal(await outcome(node, { httpGet: { port: 80 } }), expected);
  });
}

test('an HTTP probe sends the requested path and headers', async () => {
  const asked: HttpRequest[] = [];
  const node = nodeWith({
    request: async (request) => {
      asked.push(request);
      return answer(200);
    },
  });
  const httpHeaders = [
    { name: 'Host', value: 'example.com' },
    { name: 'Accept', value: '' },
  ];
  await outcome(node, { httpGet: { port: 'http', path: 'healthz?full=1', scheme: 'HTTPS', httpHeaders } });
  const { scheme, host, port, path, headers } = asked[0]!;
  assert.deepEqual([scheme, host, port, path], ['https', '10.0.0.1', 8080, '/healthz?full=1']);
  assert.deepEqual(headers, [
    ['User-Agent', 'kube-probe/1.33'],
    ['Host', 'example.com'],
    ['Connection', 'close'],
  ]);
});

for (const [asked, path] of [
  ['healthz', '/healthz'],
  ['/a/b-c/d.e~f/', '/a/b-c/d.e~f/'],
  ['/a b', '/a%20b'],
  ['/a/./b/../c', '/a/c'],
  ['/.well-known/live', '/.well-known/live'],
  ['/live?verbose#part', '/live?verbose'],
]) {
  test(`a probe of ${asked} requests ${path}`, async () => {
    let found = '';
    const request = async (each: HttpRequest) => {
      found = each.path;
      return answer(200);
    };
    await outcome(nodeWith({ request }), { httpGet: { port: 80, path: asked! } });
    assert.equal(found, path);
  });
}

test('an unreachable server is a failure with Go’s error text', async () => {
  const refused = 'dial tcp 10.0.0.1:80: connect: connection refused';
  assert.equal(await outcome(nodeWith({}), { httpGet: { port: 80 } }), `failure: Get "http://10.0.0.1/": ${refused}`);
  assert.equal(await outcome(nodeWith({}), { tcpSocket: { port: 80 } }), `failure: ${refused}`);
});

test('a timeout is a failure', async () => {
  const clock = virtualClock();
  const node = nodeWith({ request: () => new Promise(() => {}) });
  const probe = runProbe(node, clock, { httpGet: { port: 8080 }, timeoutSeconds: 3 }, target);
  await clock.advanceAsync(3000);
  assert.deepEqual(await probe, {
    result: 'failure',
    output: 'Get "http://10.0.0.1:8080/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  });
});

test('an open TCP port is a success', async () => {
  assert.equal(
    await outcome(nodeWith({ connect: async () => new PassThrough() }), { tcpSocket: { port: 80 } }),
    'success: ',
  );
});

const healthRows: readonly (readonly ['SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN', string])[] = [
  ['SERVING', 'success: service healthy'],
  ['NOT_SERVING', 'failure: service unhealthy (responded with "NOT_SERVING")'],
  ['SERVICE_UNKNOWN', 'failure: service unhealthy (responded with "SERVICE_UNKNOWN")'],
];
for (const [health, expected] of healthRows) {
  test(`a gRPC server that is ${health} is a ${expected.split(':')[0]}`, async () => {
    assert.equal(await outcome(nodeWith({ checkHealth: async () => health }), { grpc: { port: 80 } }), expected);
  });
}

test('the exit code of an exec probe decides its result', async () => {
  const exits = (exitCode: number) =>
    nodeWith({}, async () => ({ exitCode, stdout: Buffer.from('out '), stderr: Buffer.from('err') }));
  assert.equal(await outcome(exits(0), { exec: { command: ['check'] } }), 'success: out err');
  assert.equal(await outcome(exits(2), { exec: { command: ['check'] } }), 'failure: out err');
});

test('an exec probe that times out has failed, one that cannot run has an error', async () => {
  const failing = (code: 'DEADLINE_EXCEEDED' | 'NOT_FOUND') =>
    nodeWith({}, () => Promise.reject(new GrpcError(code, 'no', { wasSent: true })));
  const probe = { exec: { command: ['check', 'it'] }, timeoutSeconds: 1 };
  assert.equal(await outcome(failing('DEADLINE_EXCEEDED'), probe), 'failure: command "check it" timed out after 1s');
  await assert.rejects(outcome(failing('NOT_FOUND'), probe), { message: 'rpc error: code = NotFound desc = no' });
});

test('an unknown port name is an error', async () => {
  await assert.rejects(outcome(nodeWith({}), { tcpSocket: { port: 'metrics' } }), /parsing "metrics": invalid syntax/);
});

const { signal } = new AbortController();

test('an HTTP hook succeeds with any response', async () => {
  const warned: string[] = [];
  const hookTarget = {
    ...target,
    warn: (reason: string, message: string) => void warned.push(`${reason}: ${message}`),
  };
  const hook = { httpGet: { port: 80 } };
  await runHook(nodeWith({ request: async () => answer(500) }), virtualClock(), hook, hookTarget, signal);
  await assert.rejects(runHook(nodeWith({}), virtualClock(), hook, hookTarget, signal));
  assert.deepEqual(warned, []);
});

test('an HTTPS hook falls back to HTTP with a warning', async () => {
  const asked: (string | undefined)[] = [];
  const warned: string[] = [];
  const request = async ({ scheme, headers = [] }: HttpRequest) => {
    asked.push(`${scheme} ${headers.map(([name]) => name).includes('Authorization')}`);
    if (scheme === 'https') throw Object.assign(new Error('wrong version number'), { code: 'EPROTO' });
    return answer(200);
  };
  const httpHeaders = [{ name: 'Authorization', value: 'secret' }];
  const hook = { httpGet: { port: 8443, scheme: 'HTTPS' as const, httpHeaders } };
  const hookTarget = {
    ...target,
    warn: (reason: string, message: string) => void warned.push(`${reason}: ${message}`),
  };
  await runHook(nodeWith({ request }), virtualClock(), hook, hookTarget, signal);
  assert.deepEqual(asked, ['https true', 'http false']);
  assert.deepEqual(warned, [
    'LifecycleHTTPFallback: request to HTTPS lifecycle hook 10.0.0.1:8443 got HTTP response, retry with HTTP succeeded',
  ]);
});
