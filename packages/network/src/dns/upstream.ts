/** One upstream server: exchanges over UDP and TCP, and the health check that decides whether it is used. */
import { createSocket, type Socket } from 'node:dgram';
import { connect } from 'node:net';
import type { Clock } from '@kruise/values/clock';
import { headerSize, type Message, readResponse, readUint16 } from './decode.ts';
import { createEncoder } from './encode.ts';
import {
  type Edns,
  headerFlag,
  internetClass,
  isSameName,
  lowerCaseName,
  noRecords,
  type Question,
  recordType,
} from './message.ts';

export type UpstreamAddress = { readonly host: string; readonly port: number };

/** A query to an upstream server. */
export type UpstreamQuery = {
  readonly question: Question;
  /** Recursion desired, checking disabled and authenticated data, as the client set them. */
  readonly flags: number;
  readonly edns: Pick<Edns, 'size' | 'flags'> | undefined;
};

export type Upstream = {
  readonly address: string;
  exchange(query: UpstreamQuery, transport: 'udp' | 'tcp'): Promise<Message>;
  /** Starts health checks, until one succeeds. */
  checkHealth(): void;
  readonly isDown: boolean;
  close(): void;
};

export type UpstreamOptions = {
  readonly clock: Clock;
  /** Returns an unpredictable number below 65536: responses can be forged by guessing it. */
  readonly randomId: () => number;
  readonly onHealthCheckFailure?: () => void;
};

/** The server did not respond in time, or with something that is no response. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
}

const timeoutMs = 2000;
const healthCheckIntervalMs = 500;
const healthCheckTimeoutMs = 1000;
/** Failed health checks after which a server counts as down. */
const maxFailures = 2;
/** Sockets, each with its own random port, and the time after which a socket is replaced. */
const maxSockets = 8;
const socketLifetimeMs = 10_000;
/** Size of the largest UDP response without EDNS. */
const plainUdpSize = 512;

type Pending = { readonly question: Question; settle(result: Message | UpstreamError): void };
type PooledSocket = {
  readonly socket: Socket;
  readonly pending: Map<number, Pending>;
  readonly openedMs: number;
  isRetired: boolean;
};

const rootQuery: UpstreamQuery = {
  question: { name: [], type: recordType.NS, class: internetClass },
  flags: headerFlag.recursionDesired,
  edns: undefined,
};

/** Creates a client of an upstream server. Sockets are opened by the first query. */
export function createUpstream(
  { host, port }: UpstreamAddress,
  { clock, randomId, onHealthCheckFailure = () => {} }: UpstreamOptions,
): Upstream {
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  const encoder = createEncoder();
  const ended = new AbortController();
  let sockets: PooledSocket[] = [];
  /** All sockets that are not closed: those in use, and retired ones with pending queries. */
  const open = new Set<PooledSocket>();
  let failures = 0;
  let isChecking = false;

  function encodeQuery({ question, flags, edns }: UpstreamQuery, id: number): Buffer {
    const { bytes } = encoder.encode(question, flags, noRecords);
    const message = Buffer.alloc(bytes.length + (edns ? 11 : 0));
    message.set(bytes);
    message.writeUInt16BE(id, 0);
    if (edns) {
      message.writeUInt16BE(1, 10);
      message.writeUInt16BE(recordType.OPT, bytes.length + 1);
      message.writeUInt16BE(Math.max(edns.size, plainUdpSize), bytes.length + 3);
      message.writeUInt16BE(edns.flags & 0x8000, bytes.length + 7);
    }
    return message;
  }

  function openSocket(): PooledSocket {
    const socket = createSocket({ type: host.includes(':') ? 'udp6' : 'udp4', lookup: numericLookup });
    const pooled: PooledSocket = { socket, pending: new Map(), openedMs: clock.elapsedMs(), isRetired: false };
    socket.on('message', (bytes) => {
      const pending = bytes.length >= headerSize ? pooled.pending.get(readUint16(bytes, 0)) : undefined;
      if (!pending) return;
      const message = readResponse(bytes, bytes.length);
      // A response to another question is forged or late: the right one may still come.
      if (message && !isAnswerTo(message, pending.question)) return;
      pending.settle(message ?? new UpstreamError(`${address} sent a malformed response`));
    });
    // For example "connection refused", which the kernel reports for connected sockets.
    socket.on('error', (cause) => {
      retire(pooled);
      for (const { settle } of [...pooled.pending.values()]) {
        settle(new UpstreamError(`cannot reach ${address}`, { cause }));
      }
      closeWhenIdle(pooled);
    });
    socket.connect(port, host);
    open.add(pooled);
    return pooled;
  }

  function retire(pooled: PooledSocket): void {
    if (pooled.isRetired) return;
    pooled.isRetired = true;
    sockets = sockets.filter((each) => each !== pooled);
  }

  function closeWhenIdle(pooled: PooledSocket): void {
    if (!pooled.isRetired || pooled.pending.size > 0 || !open.delete(pooled)) return;
    pooled.socket.close();
  }

  function selectSocket(): PooledSocket {
    const nowMs = clock.elapsedMs();
    for (const pooled of sockets) {
      if (nowMs - pooled.openedMs < socketLifetimeMs) continue;
      retire(pooled);
      closeWhenIdle(pooled);
    }
    const index = randomId() % maxSockets;
    const found = sockets[index];
    if (found) return found;
    const opened = openSocket();
    sockets.push(opened);
    return opened;
  }

  function exchangeUdp(query: UpstreamQuery, limitMs: number): Promise<Message> {
    const pooled = selectSocket();
    let id = randomId();
    while (pooled.pending.has(id)) id = (id + 1) & 0xffff;
    return new Promise((resolve, reject) => {
      const cancel = clock.setTimer(
        limitMs,
        () => pending.settle(new UpstreamError(`${address} did not respond in time`)),
        ended.signal,
      );
      const pending: Pending = {
        question: query.question,
        settle(result) {
          cancel();
          pooled.pending.delete(id);
          closeWhenIdle(pooled);
          if (result instanceof Error) reject(result);
          else resolve(result);
        },
      };
      pooled.pending.set(id, pending);
      const send = () =>
        pooled.socket.send(encodeQuery(query, id), (error) => {
          if (error && pooled.pending.get(id) === pending) {
            pending.settle(new UpstreamError(`cannot send to ${address}`, { cause: error }));
          }
        });
      if (isConnected(pooled.socket)) send();
      else pooled.socket.once('connect', send);
    });
  }

  function exchangeTcp(query: UpstreamQuery): Promise<Message> {
    const id = randomId();
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port });
      let received = Buffer.alloc(0);
      const settle = (result: Message | UpstreamError) => {
        cancel();
        socket.destroy();
        if (result instanceof Error) reject(result);
        else resolve(result);
      };
      const cancel = clock.setTimer(
        timeoutMs,
        () => settle(new UpstreamError(`${address} did not respond in time`)),
        ended.signal,
      );
      socket.on('connect', () => {
        const message = encodeQuery(query, id);
        const prefix = Buffer.alloc(2);
        prefix.writeUInt16BE(message.length);
        socket.write(Buffer.concat([prefix, message]));
      });
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
        const bytes = received.subarray(2, 2 + received.readUInt16BE(0));
        const message = readResponse(bytes, bytes.length);
        const isRight = message?.id === id && isAnswerTo(message, query.question);
        settle(isRight ? message : new UpstreamError(`${address} sent a malformed response`));
      });
      socket.on('error', (cause) => settle(new UpstreamError(`cannot reach ${address}`, { cause })));
      socket.on('close', () => settle(new UpstreamError(`${address} closed the connection`)));
    });
  }

  async function probe(): Promise<void> {
    try {
      await exchangeUdp(rootQuery, healthCheckTimeoutMs);
      failures = 0;
      isChecking = false;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      failures++;
      onHealthCheckFailure();
      clock.setTimer(healthCheckIntervalMs, () => void probe(), ended.signal);
    }
  }

  return {
    address,
    exchange(query, transport) {
      if (ended.signal.aborted) return Promise.reject(new UpstreamError(`${address} is not used any more`));
      return transport === 'tcp' ? exchangeTcp(query) : exchangeUdp(query, timeoutMs);
    },
    checkHealth() {
      if (isChecking || ended.signal.aborted) return;
      isChecking = true;
      void probe();
    },
    get isDown() {
      return failures > maxFailures;
    },
    close() {
      for (const pooled of [...open]) {
        pooled.isRetired = true;
        for (const { settle } of [...pooled.pending.values()])
          settle(new UpstreamError(`${address} is not used any more`));
        closeWhenIdle(pooled);
      }
      sockets = [];
      ended.abort();
    },
  };
}

function isAnswerTo({ question }: Message, asked: Question): boolean {
  return question.type === asked.type && isSameName(lowerCaseName(question.name), lowerCaseName(asked.name));
}

function isConnected(socket: Socket): boolean {
  try {
    return socket.remoteAddress() !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SOCKET_DGRAM_NOT_CONNECTED') return false;
    throw error;
  }
}

/** Addresses are numeric, and so there is nothing to look up: the callback is called at once. */
export function numericLookup(
  hostname: string,
  _options: unknown,
  callback: (error: NodeJS.ErrnoException | null, address: string, family: number) => void,
): void {
  callback(null, hostname, hostname.includes(':') ? 6 : 4);
}
