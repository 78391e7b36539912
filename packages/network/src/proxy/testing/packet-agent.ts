/**
 * Sends and receives packets in a network namespace. Started by `packet-lab.ts` with `ip netns exec`; receives one
 * request per line and replies with one line.
 *
 * A server replies with its own address and the address of the client that it sees.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import type { AgentRequest, Outcome } from './packet-lab.ts';

const timeoutMs = 700;

function reply(id: number, outcome: Outcome): void {
  process.stdout.write(`${JSON.stringify({ id, outcome })}\n`);
}

function failure(error: NodeJS.ErrnoException): Outcome {
  return error.code === 'ECONNREFUSED'
    ? { result: 'refused' }
    : { result: 'failed', code: error.code ?? error.message };
}

function parse(text: string): Outcome {
  const [server = '', client = ''] = text.split(' ');
  return { result: 'reached', server, client };
}

function nameOf(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function listen(address: string, port: number): Promise<unknown> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${nameOf(address, port)} ${socket.remoteAddress}`);
  });
  const udp = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (_message, { address: client, port: clientPort }) => {
    // A reply that the rules under test block is lost, as is every reply to a client that has gone.
    udp.send(`${nameOf(address, port)} ${client}`, clientPort, client, () => {});
  });
  const listening = Promise.all([
    new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, address, resolve)),
    new Promise<void>((resolve, reject) => udp.once('error', reject).bind(port, address, resolve)),
  ]);
  // ICMP errors of earlier replies.
  return listening.then(() => udp.on('error', () => {}));
}

function sendTcp(id: number, address: string, port: number): void {
  const socket = connect({ host: address, port });
  let text = '';
  const timer = setTimeout(() => finish({ result: 'dropped' }), timeoutMs);
  const finish = (outcome: Outcome) => {
    clearTimeout(timer);
    socket.destroy();
    reply(id, outcome);
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.once('end', () => finish(parse(text)));
  socket.once('error', (error) => finish(failure(error)));
}

function sendUdp(id: number, address: string, port: number): void {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  let isFinished = false;
  let isConnected = false;
  const finish = (outcome: Outcome) => {
    if (isFinished) return;
    isFinished = true;
    clearTimeout(timer);
    clearTimeout(again);
    socket.close();
    reply(id, outcome);
  };
  const timer = setTimeout(() => finish({ result: 'dropped' }), timeoutMs);
  socket.on('error', (error) => finish(failure(error)));
  socket.on('message', (message) => finish(parse(message.toString())));
  const send = () => socket.send('hello', (error) => error && finish(failure(error)));
  // A datagram may be lost when two flows begin at the same time.
  const again = setTimeout(() => isConnected && !isFinished && send(), timeoutMs / 2);
  socket.once('connect', () => {
    isConnected = true;
    send();
  });
  socket.connect(port, address);
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as AgentRequest;
  const { id } = request;
  if (request.type === 'listen') {
    await Promise.all(request.servers.map(({ address, port }) => listen(address, port)));
    reply(id, { result: 'reached', server: '', client: '' });
  } else if (request.protocol === 'TCP') sendTcp(id, request.address, request.port);
  else sendUdp(id, request.address, request.port);
}
process.exit(0);
