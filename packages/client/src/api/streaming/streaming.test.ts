import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Status } from '@kruise/api/meta/status';
import { systemClock } from '@kruise/values/system';
import { WebSocket } from 'ws';
import { joinSockets } from './join.ts';
import { acceptPortForward } from './port-forward.ts';
import { acceptRemoteCommand, type CommandStreams, openRemoteCommand, type RemoteCommand } from './remote-command.ts';
import { createSpdyConnection } from './spdy.ts';
import type { Upgrade } from './upgrade.ts';

const all: CommandStreams = { stdin: true, stdout: true, stderr: true, tty: false };
const success: Status = { metadata: {}, status: 'Success' };
const failure: Status = { metadata: {}, status: 'Failure', reason: 'NonZeroExitCode', message: 'it failed' };

/** A server that passes every upgrade to a function. */
async function serving(accept: (upgrade: Upgrade) => Promise<unknown>) {
  const server = createServer();
  const sockets = new Set<Duplex>();
  const failures: string[] = [];
  server.on('upgrade', ({ method = '', headers }, socket, head) => {
    sockets.add(socket);
    accept({ method, headers, socket, head }).catch((error: Error) => failures.push(error.message));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    failures,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs the same command each time: echoes its input, writes to stderr, and ends with a Status. */
function answering(streams: CommandStreams, status: Status, seen: RemoteCommand[] = []) {
  return serving(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, systemClock, streams);
    seen.push(command);
    command.stderr?.write('a warning');
    if (command.stdin && command.stdout) for await (const chunk of command.stdin) command.stdout.write(chunk);
    command.end(status);
  });
}

async function upgradeTo(port: number, headers: { readonly [name: string]: string }) {
  const outgoing = request({ host: '127.0.0.1', port, method: 'POST', headers: { connection: 'Upgrade', ...headers } });
  outgoing.end();
  return new Promise<{
    code: number;
    headers: NodeJS.Dict<string | string[]>;
    socket?: Duplex;
    head?: Buffer;
    body?: string;
  }>((resolve) => {
    outgoing.once('upgrade', ({ headers: answered }, socket, head) =>
      resolve({ code: 101, headers: answered, socket, head }),
    );
    outgoing.once('response', async (response) =>
      resolve({ code: response.statusCode ?? 0, headers: response.headers, body: await text(response) }),
    );
  });
}

for (const protocol of ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io']) {
  test(`a command runs over SPDY in ${protocol}`, async () => {
    await using server = await answering(all, failure);
    const { socket, head, headers } = await upgradeTo(server.port, {
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': `v9.channel.k8s.io, ${protocol}`,
    });
    assert.equal(headers['x-stream-protocol-version'], protocol);
    const command = await openRemoteCommand(socket!, systemClock, { protocol, head: head!, streams: all });
    command.stdin!.end('some input');
    const [out, err, status] = await Promise.all([text(command.stdout!), text(command.stderr!), command.status]);
    assert.deepEqual([out, err], ['some input', 'a warning']);
    assert.equal(status.status, 'Failure');
    assert.match(status.message ?? '', /it failed/);
    command.close();
  });
}

test('a Status without an end is read up to a limit', async () => {
  await using server = await answering(all, { ...failure, message: 'x'.repeat(1 << 20) });
  const protocol = 'v4.channel.k8s.io';
  const { socket, head } = await upgradeTo(server.port, { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol });
  const command = await openRemoteCommand(socket!, systemClock, { protocol, head: head!, streams: all });
  command.stdin!.end();
  command.stdout!.resume();
  command.stderr!.resume();
  await assert.rejects(command.status, { message: 'error stream protocol error: more than 65536 bytes' });
  command.close();
});

const refusals = [
  {
    name: 'no protocol in common',
    headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9.channel.k8s.io' },
    code: 403,
    body: 'unable to upgrade: unable to negotiate protocol: client supports [v9.channel.k8s.io], server accepts [v4.channel.k8s.io v3.channel.k8s.io v2.channel.k8s.io channel.k8s.io]\n',
  },
  {
    name: 'no protocol named',
    headers: { upgrade: 'SPDY/3.1' },
    code: 400,
    body: 'unable to upgrade: X-Stream-Protocol-Version is required\n',
  },
  {
    name: 'another upgrade',
    headers: { upgrade: 'h2c' },
    code: 400,
    body: 'unable to upgrade: missing upgrade headers in request\n',
  },
];
for (const { name, headers, code, body } of refusals) {
  test(`an upgrade with ${name} is rejected`, async () => {
    await using server = await answering(all, success);
    const answer = await upgradeTo(server.port, headers);
    assert.deepEqual([answer.code, answer.body], [code, body]);
    if (code === 403) assert.match(String(answer.headers['x-accepted-stream-protocol-versions']), /^v4/);
  });
}

test('terminal sizes are sent over SPDY, and a late listener receives the last one', async () => {
  const seen: RemoteCommand[] = [];
  const tty = { stdin: true, stdout: true, stderr: false, tty: true };
  await using server = await answering(tty, success, seen);
  const protocol = 'v4.channel.k8s.io';
  const { socket, head } = await upgradeTo(server.port, { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol });
  const command = await openRemoteCommand(socket!, systemClock, { protocol, head: head!, streams: tty });
  command.resize({ width: 80, height: 24 });
  command.resize({ width: 120, height: 50 });
  command.stdin!.end('x');
  await text(command.stdout!);
  const sizes: unknown[] = [];
  seen[0]!.onResize((size) => sizes.push(size));
  assert.deepEqual(sizes, [{ width: 120, height: 50 }]);
  command.close();
});

/** Returns the messages of a WebSocket until it is closed, and its close code. */
async function readMessages(port: number, protocols: string[], send: (socket: WebSocket) => void) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocols);
  const messages: Buffer[] = [];
  socket.on('message', (message: Buffer) => messages.push(message));
  await once(socket, 'open');
  send(socket);
  const [code] = await once(socket, 'close');
  return { messages, code, protocol: socket.protocol };
}

test('a command runs over WebSocket with channels in the first byte', async () => {
  await using server = await answering({ ...all, stdin: false }, failure);
  const { messages, code, protocol } = await readMessages(server.port, ['v4.channel.k8s.io'], () => {});
  assert.equal(protocol, 'v4.channel.k8s.io');
  assert.equal(code, 1000);
  assert.deepEqual(messages[0], Buffer.of(1), 'the first message is empty and reports the start');
  assert.deepEqual(messages.slice(1).map(String), ['\u0002a warning', `\u0003${JSON.stringify(failure)}`]);
});

test('base64 channels are text with a digit prefix', async () => {
  const seen: string[] = [];
  await using server = await serving(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, systemClock, all);
    const [chunk] = await once(command.stdin!, 'data');
    seen.push(String(chunk));
    command.stdout!.write('answer');
    command.end(success);
  });
  const { messages } = await readMessages(server.port, ['base64.channel.k8s.io'], (socket) =>
    socket.send(`0${Buffer.from('question').toString('base64')}`),
  );
  assert.deepEqual(seen, ['question']);
  assert.deepEqual(messages.map(String), ['1', `1${Buffer.from('answer').toString('base64')}`]);
});

test('the newest protocol closes one channel and keeps the others', async () => {
  await using server = await serving(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, systemClock, all, ['v5.channel.k8s.io']);
    for await (const chunk of command.stdin!) command.stdout!.write(chunk);
    command.end(success);
  });
  const { messages } = await readMessages(server.port, ['v5.channel.k8s.io', 'v4.channel.k8s.io'], (socket) => {
    socket.send(Buffer.from('\0echo'));
    socket.send(Buffer.of(255, 0));
  });
  assert.deepEqual(messages.slice(1).map(String), ['\u0001echo', `\u0003${JSON.stringify(success)}`]);
});

test('a WebSocket without a common protocol is rejected before it opens', async () => {
  await using server = await answering(all, success);
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, ['nonsense']);
  const [, response] = await once(socket, 'unexpected-response');
  assert.equal(response.statusCode, 403);
  assert.match(await text(response), /^requested protocol\(s\) are not supported: \[nonsense\]; supports \[/);
});

test('a client that disconnects aborts the command', async () => {
  const gone = Promise.withResolvers<void>();
  await using server = await serving(async (upgrade) => {
    const command = await acceptRemoteCommand(upgrade, systemClock, all);
    command.signal.addEventListener('abort', () => gone.resolve());
  });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`, ['v4.channel.k8s.io']);
  await once(socket, 'open');
  socket.terminate();
  await gone.promise;
});

/** A port that responds with every line in capitals, and a server that forwards to it. */
async function forwarding(ports: readonly number[] = []) {
  const target = createTcpServer((socket) => {
    socket.on('data', (chunk) => socket.end(String(chunk).toUpperCase()));
    socket.on('error', () => {});
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  const { port } = target.address() as AddressInfo;
  const server = await serving((upgrade) =>
    acceptPortForward(upgrade, systemClock, {
      ports: ports.length > 0 ? ports : [port],
      connect({ port: asked, data, fail }) {
        if (asked !== port) return fail(`nothing listens on ${asked}`);
        const socket = connect(port, '127.0.0.1');
        socket.once('error', (error) => fail(error.message));
        void joinSockets(data, socket);
      },
    }),
  );
  return {
    port: server.port,
    target: port,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      target.close();
    },
  };
}

for (const numbered of [true, false]) {
  test(`ports are forwarded over SPDY with ${numbered ? 'request ids' : 'consecutive streams'}`, async () => {
    await using server = await forwarding();
    const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'portforward.k8s.io' };
    const { socket, head } = await upgradeTo(server.port, headers);
    const connection = createSpdyConnection(socket!, { role: 'client', clock: systemClock, head: head! });
    const open = async (streamtype: string, port: number, requestid: string) =>
      (await connection.open({ streamtype, port: String(port), ...(numbered ? { requestid } : {}) })).data;
    const reach = async (port: number, id: string) => {
      const error = await open('error', port, id);
      const data = await open('data', port, id);
      data.write(`hello ${id}`);
      return Promise.all([text(data), text(error)]);
    };
    assert.deepEqual(await reach(server.target, '1'), ['HELLO 1', '']);
    assert.deepEqual(await reach(9, '2'), ['', 'nothing listens on 9']);
    assert.deepEqual(await reach(server.target, '3'), ['HELLO 3', ''], 'one failure leaves the others alone');
    await assert.rejects(open('data', 70_000, '4'), /rejected/);
    await assert.rejects(open('nonsense', 80, '5'), /rejected/);
    connection.close();
    await connection.closed;
  });
}

test('ports are forwarded over WebSocket, and each channel starts with its port number', async () => {
  await using server = await forwarding();
  const { messages } = await readMessages(server.port, ['v4.channel.k8s.io'], (socket) =>
    socket.send(Buffer.from('\0hello')),
  );
  const number = Buffer.alloc(2);
  number.writeUInt16LE(server.target);
  assert.deepEqual(messages, [
    Buffer.concat([Buffer.of(0), number]),
    Buffer.concat([Buffer.of(1), number]),
    Buffer.from('\0HELLO'),
  ]);
});
