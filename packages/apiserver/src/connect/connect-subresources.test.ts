import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { Duplex } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openRemoteCommand } from '@kruise/client/streaming/remote-command';
import { createSpdyConnection } from '@kruise/client/streaming/spdy';
import { forbidden } from '@kruise/machinery/status';
import { aborted } from '@kruise/values/aborted';
import { systemClock } from '@kruise/values/system';
import { WebSocket } from 'ws';
import type { Attributes } from '../admission/admission.ts';
import { inProcessTransport } from '../pipeline/in-process.ts';
import { exited, type FakeKubelet, startFakeKubelet, succeeded } from '../testing/fake-kubelet.ts';
import { startTestServer, testAdmin } from '../testing/test-server.ts';
import { networkConnector } from './node-connector.ts';

type Server = Awaited<ReturnType<typeof startServer>>;
let kubelet: FakeKubelet;
let server: Server;
const asked: Attributes[] = [];
const killed = Promise.withResolvers<void>();

before(async () => {
  kubelet = await startFakeKubelet({
    async run({ stdin, stdout, stderr, onResize, signal }, [command, ...argv]) {
      switch (command) {
        case 'exit':
          stderr?.write('about to leave');
          return exited(Number(argv[0]));
        case 'size': {
          const size = Promise.withResolvers<string>();
          onResize(({ width, height }) => size.resolve(`${width}x${height}`));
          stdout?.write(await size.promise);
          return succeeded;
        }
        case 'pour': {
          for (let sent = 0; sent < Number(argv[0]) && !signal.aborted; sent += 65_536) {
            if (!stdout?.write(Buffer.alloc(65_536, 1))) await Promise.race([once(stdout!, 'drain'), aborted(signal)]);
          }
          return succeeded;
        }
        case 'wait':
          stdout?.write('running');
          await aborted(signal);
          killed.resolve();
          return exited(137);
        default:
          if (stdin && stdout) for await (const chunk of stdin) stdout.write(chunk);
          return succeeded;
      }
    },
    answer({ path, query }, response) {
      if (query.get('previous')) response.writeHead(400).end('previous terminated container "c" in pod "p" not found');
      else if (query.get('limitBytes')) response.writeHead(404).end('no such thing');
      else response.end(`${path}?${query}\n`);
    },
  });
  server = await startServer();
});

after(async () => {
  await server.close();
  await kubelet.close();
});

/** Starts a server with a reachable kubelet, an unreachable one, and Pods on both. */
async function startServer() {
  // The cluster network is this machine, with addresses that a proxy may reach.
  const network = networkConnector(systemClock, { authority: kubelet.authority });
  const connector = {
    ...network,
    address: (at: Parameters<typeof network.address>[0]) => network.address({ ...at, host: '127.0.0.1' }),
  };
  const web = createServer(async (incoming, response) => {
    if (incoming.url === '/moved') {
      response.writeHead(302, { location: '/to?x=1' }).end();
      return;
    }
    const { method, url, headers } = incoming;
    const body = (await buffer(incoming)).length;
    response.writeHead(200, { 'content-type': 'application/json', 'x-of': 'web' });
    response.end(JSON.stringify({ method, url, body, headers }));
  });
  web.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: shout\r\n\r\n');
    socket.on('data', (chunk: Buffer) => socket.write(String(chunk).toUpperCase()));
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  const webPort = (web.address() as AddressInfo).port;

  const test = await startTestServer({
    https: true,
    nodes: connector,
    admission: [
      {
        name: 'noting',
        handles: ({ operation }) => operation === 'CONNECT',
        validate(attributes) {
          asked.push(attributes);
          if (attributes.name === 'forbidden')
            throw forbidden({ group: '', plural: 'pods' }, 'forbidden', 'not this one');
        },
      },
    ],
  });
  const transport = inProcessTransport(test.core, testAdmin);
  const post = (path: string, body: object) => transport.request({ method: 'POST', path, body });
  const patch = (path: string, body: object) =>
    transport.request({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });
  for (const [name, port] of [
    ['near', kubelet.port],
    ['down', 1],
  ] as const) {
    await post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const addresses = [{ type: 'InternalIP', address: '127.0.0.1' }];
    await patch(`/api/v1/nodes/${name}/status`, {
      status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } },
    });
  }
  const pods = {
    p: ['near', 'c'],
    two: ['near', 'a', 'missing'],
    lost: ['down', 'c'],
    waiting: ['', 'c'],
    forbidden: ['near', 'c'],
  };
  for (const [name, [nodeName, ...containers]] of Object.entries(pods)) {
    await post('/api/v1/namespaces/default/pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        ...(nodeName ? { nodeName } : {}),
        containers: containers.map((each) => ({ name: each, image: 'i', ports: [{ containerPort: webPort }] })),
      },
    });
    await patch(`/api/v1/namespaces/default/pods/${name}/status`, {
      status: name === 'lost' ? { podIP: '127.0.0.1' } : { podIP: '10.0.0.7', podIPs: [{ ip: '10.0.0.7' }] },
    });
  }
  await post('/api/v1/namespaces/default/endpoints', {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'service' },
    subsets: [
      {
        addresses: [
          { ip: '10.0.0.8', targetRef: { kind: 'Pod', namespace: 'default', name: 'p' } },
          { ip: '10.0.0.7', targetRef: { kind: 'Pod', namespace: 'default', name: 'p' } },
          { ip: '10.0.0.9' },
        ],
        ports: [{ name: 'web', port: webPort }],
      },
    ],
  });
  const { url, kubeconfig } = test;
  const data = (name: string) =>
    Buffer.from(new RegExp(`${name}-data: (\\S+)`).exec(kubeconfig.text)![1]!, 'base64').toString();
  const tls = {
    ca: data('certificate-authority'),
    cert: data('client-certificate'),
    key: data('client-key'),
  };
  return {
    url,
    tls,
    webPort,
    async close() {
      web.closeAllConnections();
      web.close();
      await test.close();
    },
  };
}

type Answer = {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket?: Duplex;
  readonly head?: Buffer;
};

function ask(path: string, options: RequestOptions = {}, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path}`, { agent: false, ...server.tls, ...options });
    outgoing.once('error', reject);
    outgoing.once('upgrade', ({ headers }, socket, head) => resolve({ code: 101, headers, body: '', socket, head }));
    outgoing.once('response', async (response) =>
      resolve({ code: response.statusCode ?? 0, headers: response.headers, body: await text(response) }),
    );
    outgoing.end(body);
  });
}

const pods = '/api/v1/namespaces/default/pods';
const spdy = {
  method: 'POST',
  headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' },
};

function openWebSocket(
  path: string,
  protocols: string[],
  headers: { readonly [name: string]: string } = {},
): WebSocket {
  return new WebSocket(`${server.url.replace('https', 'wss')}${path}`, protocols, { ...server.tls, headers });
}

/** Reads all messages of a WebSocket by channel until it is closed. */
async function heard(socket: WebSocket): Promise<{ [channel: number]: string }> {
  const channels: { [channel: number]: string } = {};
  socket.on('message', (message: Buffer) => {
    channels[message[0]!] = (channels[message[0]!] ?? '') + message.subarray(1);
  });
  await once(socket, 'close');
  return channels;
}

test('exec over SPDY is forwarded to the kubelet', async () => {
  const { socket, head } = await ask(`${pods}/p/exec?command=cat&command=a%20b&stdin=true&stdout=1&stderr=false`, spdy);
  const streams = { stdin: true, stdout: true, stderr: false, tty: false };
  const command = await openRemoteCommand(socket!, systemClock, {
    protocol: 'v4.channel.k8s.io',
    head: head!,
    streams,
  });
  command.stdin!.end('through and back');
  assert.equal(await text(command.stdout!), 'through and back');
  assert.deepEqual(await command.status, succeeded);
  command.close();
  const { path, query, headers } = kubelet.requests.at(-1)!;
  assert.equal(path, '/exec/default/p/c');
  assert.equal(query.toString(), 'command=cat&command=a+b&input=1&output=1');
  assert.equal(headers['x-forwarded-for'], '127.0.0.1');
});

test('exec over the newest WebSocket protocol is translated to SPDY', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=cat&stdin=true&stdout=true`, ['v5.channel.k8s.io']);
  socket.once('open', () => {
    socket.send(Buffer.from('\0through'));
    socket.send(Buffer.of(255, 0));
  });
  assert.deepEqual(await heard(socket), { 1: 'through', 3: '{"metadata":{},"status":"Success"}' });
  assert.equal(kubelet.requests.at(-1)!.headers.upgrade, 'SPDY/3.1');
});

test('older WebSocket protocols are forwarded unchanged', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=exit&command=0&stdout=true`, ['v4.channel.k8s.io']);
  assert.deepEqual(await heard(socket), { 1: '', 3: '{"metadata":{},"status":"Success"}' });
  assert.equal(kubelet.requests.at(-1)!.headers.upgrade, 'websocket');
});

test("the kubelet receives neither the client's token nor its impersonation headers", async () => {
  const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`;
  const path = `${pods}/p/exec?command=exit&command=0&stdout=true`;
  const socket = openWebSocket(path, ['v4.channel.k8s.io', token], {
    'impersonate-user': 'test-admin',
    'impersonate-group': 'system:masters',
  });
  await heard(socket);
  const { headers } = kubelet.requests.at(-1)!;
  assert.equal(headers['sec-websocket-protocol'], 'v4.channel.k8s.io');
  assert.deepEqual(
    Object.keys(headers).filter((name) => name === 'authorization' || name.startsWith('impersonate')),
    [],
  );
});

test('the exit code is sent on the error channel', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=exit&command=3&stdout=true&stderr=true`, ['v5.channel.k8s.io']);
  const { 2: stderr, 3: status } = await heard(socket);
  assert.equal(stderr, 'about to leave');
  assert.deepEqual(JSON.parse(status!), {
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: command terminated with exit code 3',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  });
});

test('terminal resizes are forwarded', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=size&stdout=true&stderr=true&tty=true`, ['v5.channel.k8s.io']);
  socket.once('open', () => socket.send(Buffer.from('\u0004{"Width":101,"Height":33}')));
  assert.equal((await heard(socket))[1], '101x33');
});

test('attach connects to the running process', async () => {
  const socket = openWebSocket(`${pods}/p/attach?stdin=true&stdout=true`, ['v5.channel.k8s.io']);
  socket.once('open', () => socket.send(Buffer.of(255, 0)));
  await heard(socket);
  assert.equal(kubelet.requests.at(-1)!.path, '/attach/default/p/c');
});

test('a client disconnect ends the command', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=wait&stdout=true`, ['v5.channel.k8s.io']);
  socket.on('message', (message: Buffer) => {
    if (message.length > 1) socket.terminate();
  });
  await killed.promise;
});

test('unread output blocks the command and is not buffered', async () => {
  const socket = openWebSocket(`${pods}/p/exec?command=pour&command=60000000&stdout=true`, ['v5.channel.k8s.io']);
  await once(socket, 'message');
  socket.pause();
  const before = process.memoryUsage().arrayBuffers;
  for (let turn = 0; turn < 500; turn++) await new Promise((resolve) => setImmediate(resolve));
  const held = process.memoryUsage().arrayBuffers - before;
  assert.ok(held < 20_000_000, `${held} bytes are held`);
  let received = 0;
  socket.on('message', (message: Buffer) => {
    if (message[0] === 1) received += message.length - 1;
  });
  socket.resume();
  await once(socket, 'close');
  assert.ok(received >= 60_000_000, `${received} bytes came`);
});

const refusals = [
  { name: 'no upgrade header', path: 'p/exec?command=x', options: {}, code: 400, message: 'Upgrade request required' },
  { name: 'a missing Pod', path: 'nobody/exec?command=x', code: 404, message: 'pods "nobody" not found' },
  { name: 'a missing container', path: 'p/exec?container=x', code: 400, message: 'container x is not valid for pod p' },
  {
    name: 'several containers and no container option',
    path: 'two/attach',
    code: 400,
    message: 'a container name must be specified for pod two, choose one of: [a missing]',
  },
  { name: 'an unscheduled Pod', path: 'waiting/exec', code: 400, message: 'pod waiting does not have a host assigned' },
  {
    name: 'an unscheduled Pod',
    path: 'waiting/portforward',
    code: 400,
    message: 'pod waiting does not have a host assigned',
  },
  {
    name: 'an unreachable kubelet',
    path: 'lost/exec',
    code: 500,
    message: 'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused',
  },
  {
    name: 'an invalid port',
    path: 'p/portforward?ports=80,x',
    code: 400,
    message: 'cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax',
  },
  { name: 'a dry run', path: 'p/exec?dryRun=All', code: 400, message: 'dryRun is not supported' },
  {
    name: 'a denial by admission',
    path: 'forbidden/exec',
    code: 403,
    message: 'pods "forbidden" is forbidden: not this one',
  },
];
for (const { name, path, options = spdy, code, message } of refusals) {
  test(`${path.split('?')[0]!.split('/')[1]} with ${name} fails`, async () => {
    const answer = await ask(`${pods}/${path}`, options);
    assert.deepEqual([answer.code, JSON.parse(answer.body).message], [code, message]);
  });
}

test('an error of the kubelet reaches an SPDY client unchanged', async () => {
  const answer = await ask(`${pods}/two/exec?container=missing&stdout=true`, spdy);
  assert.deepEqual([answer.code, answer.body], [500, 'container not found ("missing")\n']);
});

const failures = {
  'two/exec?container=missing&stdout=true': 'unable to upgrade connection: container not found ("missing")',
  'lost/exec?command=x&stdout=true':
    'error sending request: Post "https://127.0.0.1:1/exec/default/lost/c?command=x&output=1": dial tcp 127.0.0.1:1: connect: connection refused',
};
for (const [path, why] of Object.entries(failures)) {
  test(`errors after the WebSocket is open are sent on the error channel: ${path}`, async () => {
    const { 3: status } = await heard(openWebSocket(`${pods}/${path}`, ['v5.channel.k8s.io']));
    assert.deepEqual(JSON.parse(status!), {
      metadata: {},
      status: 'Failure',
      message: `Internal error occurred: ${why}`,
      reason: 'InternalError',
      details: { causes: [{ message: why }] },
      code: 500,
    });
  });
}

test('admission receives the options of a connect request', async () => {
  asked.length = 0;
  await ask(`${pods}/waiting/exec?command=ls&command=-l&stdin=true&container=c`, spdy);
  await ask(`${pods}/waiting/portforward?ports=80&ports=81`, spdy);
  await ask(`${pods}/lost/proxy/some/path`);
  assert.deepEqual(
    asked.map(({ operation, kind, subresource, name, object }) => [operation, kind.kind, subresource, name, object]),
    [
      [
        'CONNECT',
        'PodExecOptions',
        'exec',
        'waiting',
        { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, container: 'c', command: ['ls', '-l'] },
      ],
      [
        'CONNECT',
        'PodPortForwardOptions',
        'portforward',
        'waiting',
        { kind: 'PodPortForwardOptions', apiVersion: 'v1', ports: [80, 81] },
      ],
      [
        'CONNECT',
        'PodProxyOptions',
        'proxy',
        'lost',
        { kind: 'PodProxyOptions', apiVersion: 'v1', path: '/some/path' },
      ],
    ],
  );
});

/** Returns the messages of a WebSocket, for subprotocols that the client library cannot request. */
function binaryMessages(socket: Duplex): Duplex {
  let pending: Buffer = Buffer.alloc(0);
  const messages = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, callback) {
      // A client must mask its frames; a zero mask changes nothing.
      const head = Buffer.alloc(8);
      head.writeUInt16BE(0x82fe, 0);
      head.writeUInt16BE(chunk.length, 2);
      socket.write(Buffer.concat([head, chunk]), callback);
    },
    final(callback) {
      socket.end(callback);
    },
  });
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 4) {
      const short = pending[1]! < 126;
      const start = short ? 2 : 4;
      const end = start + (short ? pending[1]! : pending.readUInt16BE(2));
      if (pending.length < end) return;
      messages.push(pending.subarray(start, end));
      pending = pending.subarray(end);
    }
  });
  socket.once('close', () => messages.push(null));
  return messages;
}

test('port-forward tunnels SPDY in a WebSocket', async () => {
  const target = createTcpServer((socket) => socket.on('data', (chunk) => socket.end(String(chunk).toUpperCase())));
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const port = String((target.address() as AddressInfo).port);
  const protocol = 'SPDY/3.1+portforward.k8s.io';
  const { socket, headers } = await ask(`${pods}/p/portforward`, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': protocol,
    },
  });
  assert.equal(headers['sec-websocket-protocol'], protocol);
  const connection = createSpdyConnection(binaryMessages(socket!), { role: 'client', clock: systemClock });
  const error = await connection.open({ streamtype: 'error', port, requestid: '0' });
  const { data } = await connection.open({ streamtype: 'data', port, requestid: '0' });
  data.write('hello');
  assert.deepEqual(await Promise.all([text(data), text(error.data)]), ['HELLO', '']);
  connection.close();
  await connection.closed;
  target.close();
  assert.equal(kubelet.requests.at(-1)!.headers['sec-websocket-key'], undefined);
});

const logs = [
  { query: '', code: 200, body: '/containerLogs/default/p/c?\n' },
  {
    query: '?follow=true&tailLines=3&timestamps=1&sinceTime=2024-02-03T04:05:06%2B01:00',
    code: 200,
    body: '/containerLogs/default/p/c?follow=true&sinceTime=2024-02-03T03%3A05%3A06Z&tailLines=3&timestamps=true\n',
  },
  { query: '?previous=true', code: 400, message: 'previous terminated container "c" in pod "p" not found' },
  { query: '?limitBytes=9', code: 404, message: 'the server could not find the requested resource ( pods/log p)' },
  {
    query: '?tailLines=-1',
    code: 422,
    message: 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
  },
  { query: '?sinceSeconds=x', code: 400, message: 'strconv.ParseInt: parsing "x": invalid syntax' },
];
for (const { query, code, body, message } of logs) {
  test(`a log request with ${query || 'no options'} returns ${code}`, async () => {
    const answer = await ask(`${pods}/p/log${query}`);
    assert.equal(answer.code, code);
    if (body !== undefined) assert.deepEqual([answer.body, answer.headers['content-type']], [body, 'text/plain']);
    else assert.equal(JSON.parse(answer.body).message, message);
  });
}

test('the log of an unscheduled Pod is empty', async () => {
  const { code, body } = await ask(`${pods}/waiting/log`);
  assert.deepEqual([code, body], [204, '']);
});

test('a log request fails if the kubelet is down', async () => {
  const { code, body } = await ask(`${pods}/lost/log?follow=true`);
  assert.equal(code, 500);
  assert.equal(
    JSON.parse(body).message,
    'Get "https://127.0.0.1:1/containerLogs/default/lost/c?follow=true": dial tcp 127.0.0.1:1: connect: connection refused',
  );
});

test('a log can be streamed over WebSocket, after an empty message', async () => {
  const socket = openWebSocket(`${pods}/p/log`, ['binary.k8s.io']);
  const messages: string[] = [];
  socket.on('message', (message) => messages.push(String(message)));
  await once(socket, 'close');
  assert.deepEqual(messages, ['', '/containerLogs/default/p/c?\n']);
});

for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
  test(`${method} is proxied to a Pod`, async () => {
    const sent = method === 'GET' ? '' : 'twelve bytes';
    const framing = method === 'PUT' || sent === '' ? {} : { 'transfer-encoding': 'chunked' };
    const headers = { 'x-mine': 'yes', te: 'trailers', ...framing };
    const { code, body, headers: answered } = await ask(`${pods}/p/proxy/a%20b/./c/?q=%20`, { method, headers }, sent);
    assert.deepEqual([code, answered['x-of']], [200, 'web']);
    const seen = JSON.parse(body);
    assert.deepEqual([seen.method, seen.url, seen.body], [method, '/a%20b/c/?q=%20', sent.length]);
    assert.equal(seen.headers['x-mine'], 'yes');
    assert.equal(seen.headers.te, undefined);
    assert.equal(seen.headers['x-forwarded-uri'], `${pods}/p/proxy/a%20b/c/`);
  });
}

test('a redirect of a Pod leads back through the proxy', async () => {
  const { code, headers } = await ask(`${pods}/p/proxy/moved`);
  assert.deepEqual([code, headers.location], [302, `${pods}/p/proxy/to?x=1`]);
});

test('a proxy path without a trailing slash is redirected', async () => {
  const { code, headers, body } = await ask(`${pods}/p/proxy?x=1`);
  assert.deepEqual([code, headers.location, body], [301, `${pods}/p/proxy/?x=1`, '']);
});

test('HEAD returns the headers of a Pod without a body', async () => {
  const { code, headers, body } = await ask(`${pods}/p/proxy/`, { method: 'HEAD' });
  assert.deepEqual([code, headers['x-of'], body], [200, 'web', '']);
});

test('an unknown method is rejected', async () => {
  assert.equal((await ask(`${pods}/p/proxy/`, { method: 'TRACE' })).code, 405);
  assert.equal((await ask(`${pods}/p/log`, { method: 'POST' })).code, 405);
});

test('other protocols are upgraded through a proxy', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'shout' };
  const { code, socket } = await ask(`${pods}/p/proxy/`, { headers });
  assert.equal(code, 101);
  socket!.write('hello');
  assert.equal(String((await once(socket!, 'data'))[0]), 'HELLO');
  socket!.destroy();
});

const services = '/api/v1/namespaces/default/services';
const proxies = [
  { path: `${services}/service:web/proxy/`, code: 200 },
  { path: `${services}/http:service:web/proxy/`, code: 200 },
  {
    path: `${services}/service:other/proxy/`,
    code: 503,
    message: 'no endpoints available for service "service:other"',
  },
  { path: `${services}/nothing/proxy/`, code: 404, message: 'endpoints "nothing" not found' },
  { path: `${services}/a:b:c:d/proxy/`, code: 400, message: 'invalid service request "a:b:c:d"' },
  { path: `${pods}/ftp:p:1/proxy/`, code: 400, message: 'invalid pod request "ftp:p:1"' },
  { path: `${pods}/lost/proxy/`, code: 400, message: 'address not allowed' },
  {
    path: `${pods}/p:2/proxy/`,
    code: 503,
    message: 'error trying to reach service: dial tcp 127.0.0.1:2: connect: connection refused',
  },
  { path: '/api/v1/nodes/near/proxy/metrics', code: 400, message: 'address not allowed' },
  { path: '/api/v1/nodes/nowhere/proxy/', code: 404, message: 'nodes "nowhere" not found' },
];
for (const { path, code, message } of proxies) {
  test(`${path} returns ${code}`, async () => {
    const answer = await ask(path);
    assert.equal(answer.code, code, answer.body);
    if (message !== undefined) assert.equal(JSON.parse(answer.body).message, message);
  });
}

test('an upgrade request for a path without streaming is answered normally', async () => {
  const { code } = await ask('/version', { headers: { connection: 'Upgrade', upgrade: 'h2c' } });
  assert.equal(code, 200);
});
