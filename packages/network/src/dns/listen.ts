/** The sockets of a DNS server: UDP, and TCP with several queries on one connection. */
import { createSocket } from 'node:dgram';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import { readUint16 } from './decode.ts';
import { maxMessageSize } from './encode.ts';
import type { Client, QueryHandler, Response } from './handler.ts';
import { numericLookup } from './upstream.ts';

export type ListenOptions = {
  readonly host: string;
  /** Port for both protocols; 0 selects a free one. */
  readonly port: number;
  readonly clock: Clock;
  readonly handle: QueryHandler['handle'];
  readonly onError: (error: unknown) => void;
};

export type DnsListener = {
  readonly port: number;
  /** Stops to receive queries, waits for pending responses up to a time, and closes all sockets. */
  close(graceMs: number): Promise<void>;
};

/** Bursts of queries wait in the kernel while a batch is processed. */
const receiveBufferBytes = 4 * 1024 * 1024;
/** A client with as many bytes unread gets no further responses until it reads. */
const maxUnsentBytes = 256 * 1024;
const maxConnections = 4096;
/** Queries of one connection that wait for upstream servers. */
const maxPipelined = 128;
/** Time for the first query of a connection, and between two. */
const firstQueryMs = 3000;
const idleMs = 10_000;

/** Listens on one address, with both protocols. */
export async function listenDns({ host, port, clock, handle, onError }: ListenOptions): Promise<DnsListener> {
  const family = isIPv6(host) ? 6 : 4;
  let pendingCount = 0;
  let onIdle = () => {};
  const track = (response: Promise<Response>, send: (bytes: Uint8Array) => void) => {
    pendingCount++;
    void response
      .then((bytes) => bytes && send(bytes), onError)
      .finally(() => {
        pendingCount--;
        if (pendingCount === 0) onIdle();
      });
  };

  const udp = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    // IPv4 has a socket of its own.
    ipv6Only: family === 6,
    recvBufferSize: receiveBufferBytes,
    lookup: numericLookup,
  });
  const datagramClient: Client = { transport: 'udp', family };
  let isUdpOpen = true;
  udp.on('message', (message, remote) => {
    // A forged source: there is no port to respond to, and Node throws for it.
    if (remote.port === 0) return;
    const response = handle(message, message.length, datagramClient);
    if (response === undefined) return;
    if (response instanceof Uint8Array) udp.send(response, remote.port, remote.address, ignoreSendError);
    else track(response, (bytes) => isUdpOpen && udp.send(bytes, remote.port, remote.address, ignoreSendError));
  });

  const connections = new Set<Socket>();
  const tcp = createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    // A connection that breaks is the client's choice.
    socket.on('error', () => socket.destroy());
    serveConnection(socket, { clock, handle, track, family });
  });
  tcp.maxConnections = maxConnections;

  try {
    await listenTcp(tcp, host, await bindUdp(udp, host, port));
  } catch (error) {
    udp.close();
    throw error;
  }
  udp.on('error', onError);
  tcp.on('error', onError);

  return {
    port: udp.address().port,
    async close(graceMs) {
      tcp.close();
      if (pendingCount > 0) {
        await new Promise<void>((resolve) => {
          const cancel = clock.setTimer(graceMs, resolve);
          onIdle = () => {
            cancel();
            resolve();
          };
        });
      }
      isUdpOpen = false;
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => udp.close(resolve));
    },
  };
}

/** Sources of datagrams can be forged: that one cannot be reached is no event of this server, and must not fill its log. */
function ignoreSendError(): void {}

type ConnectionOptions = {
  readonly clock: Clock;
  readonly handle: QueryHandler['handle'];
  readonly track: (response: Promise<Response>, send: (bytes: Uint8Array) => void) => void;
  readonly family: 4 | 6;
};

/** Answers the queries of a connection, in the order in which the answers are known. */
function serveConnection(socket: Socket, { clock, handle, track, family }: ConnectionOptions): void {
  const client: Client = { transport: 'tcp', family };
  let received: Buffer = Buffer.alloc(0);
  let pipelined = 0;
  let cancel: CancelTimer = clock.setTimer(firstQueryMs, () => socket.destroy());
  socket.once('close', () => cancel());

  const resumeIfPossible = () => {
    const isBusy = socket.writableLength > maxUnsentBytes || pipelined >= maxPipelined;
    if (isBusy) socket.pause();
    else if (socket.isPaused()) {
      socket.resume();
      processReceived();
    }
    return !isBusy;
  };
  const send = (bytes: Uint8Array) => {
    if (socket.destroyed || bytes.length > maxMessageSize) return;
    const prefix = Buffer.from([bytes.length >> 8, bytes.length & 0xff]);
    socket.cork();
    socket.write(prefix);
    socket.write(bytes);
    socket.uncork();
  };
  function processReceived(): void {
    let offset = 0;
    while (received.length - offset >= 2 && !socket.destroyed) {
      const size = readUint16(received, offset);
      if (received.length - offset < 2 + size) break;
      const message = received.subarray(offset + 2, offset + 2 + size);
      offset += 2 + size;
      cancel();
      cancel = clock.setTimer(idleMs, () => socket.destroy());
      const response = handle(message, size, client);
      if (response instanceof Uint8Array) send(response);
      else if (response !== undefined) {
        pipelined++;
        track(response, (bytes) => {
          pipelined--;
          send(bytes);
          resumeIfPossible();
        });
      }
      if (!resumeIfPossible()) break;
    }
    received = received.subarray(offset);
  }
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    processReceived();
  });
  socket.on('drain', () => resumeIfPossible());
  socket.on('end', () => socket.end());
}

function bindUdp(udp: ReturnType<typeof createSocket>, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind({ address: host, port }, () => {
      udp.off('error', reject);
      resolve(udp.address().port);
    });
  });
}

function listenTcp(tcp: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    tcp.once('error', reject);
    tcp.listen({ host, port, ipv6Only: isIPv6(host) }, () => {
      tcp.off('error', reject);
      resolve();
    });
  });
}
