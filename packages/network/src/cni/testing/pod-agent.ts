/**
 * Program of a Pod in tests: listens on some ports over TCP and UDP, and probes addresses on request. Reads requests
 * and writes results as JSON lines.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

export type Probe = {
  readonly address: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly port: number;
  readonly timeoutMs: number;
};

export type ProbeRequest = { readonly id: number; readonly probes: readonly Probe[] };
/** For each probe the address of the client as the server saw it; undefined (null) if there was no connection. */
export type ProbeResponse = { readonly id: number; readonly results: readonly (string | null)[] };

const plain = (address: string | undefined) => (address ?? '').replace(/^::ffff:/, '');

function probeTcp({ address, port, timeoutMs }: Probe): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    const end = (result: string | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => end(null), timeoutMs);
    socket.on('data', (data) => end(data.toString()));
    socket.on('error', () => end(null));
  });
}

function probeUdp({ address, port, timeoutMs }: Probe): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const send = () => socket.send('ping', port, address, () => {});
    // The first datagram may be lost while the neighbor is resolved.
    const repeat = setInterval(send, timeoutMs / 3);
    const end = (result: string | null) => {
      clearInterval(repeat);
      clearTimeout(timer);
      socket.close();
      resolve(result);
    };
    const timer = setTimeout(() => end(null), timeoutMs);
    socket.on('message', (data) => end(data.toString()));
    socket.on('error', () => end(null));
    send();
  });
}

async function main(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(plain(socket.remoteAddress));
    });
    await new Promise<void>((resolve) => server.listen(port, '::', resolve));
    for (const type of ['udp4', 'udp6'] as const) {
      const socket = createSocket({ type, ipv6Only: type === 'udp6' });
      socket.on('message', (_data, from) => socket.send(plain(from.address), from.port, from.address));
      await new Promise<void>((resolve) => socket.bind(port, resolve));
    }
  }
  process.stdout.write('ready\n');
  for await (const line of createInterface(process.stdin)) {
    const { id, probes } = JSON.parse(line) as ProbeRequest;
    const results = await Promise.all(
      probes.map((each) => (each.protocol === 'TCP' ? probeTcp(each) : probeUdp(each))),
    );
    process.stdout.write(`${JSON.stringify({ id, results } satisfies ProbeResponse)}\n`);
  }
  process.exit(0);
}

if (import.meta.main) await main(process.argv.slice(2).map(Number));
