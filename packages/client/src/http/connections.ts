import { Agent, request as requestOverHttp1 } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import { type DialOptions, dial, type Endpoint } from './dial.ts';
import { ConnectError, reasonOf, TransportError } from './transport-error.ts';

/** One request as it goes onto the wire. */
export type WireRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
};

/** The head of an answer, and its body as it comes. */
export type WireAnswer = {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Whether the server has ended the answer, rather than the connection: asked once the body is over. */
  readonly isWhole: () => boolean;
};

/** The connections to one server, made when needed. */
export interface Connections {
  /** Sends a request. What fails before its answer begins is a {@link TransportError}, or the signal's reason. */
  send(request: WireRequest): Promise<WireAnswer>;
  /** Ends every connection, and with it whatever is under way. */
  close(): void;
  /** Ends each connection once nothing is under way on it. */
  retire(): void;
}

/** How connections are made and watched over. */
export type ConnectionOptions = DialOptions & {
  /** While requests are under way, a server is asked for a sign of life this often… */
  readonly keepAliveMs: number;
  /** …and given up if there is none for this long. */
  readonly keepAliveTimeoutMs: number;
};

/** HTTP/2's default of 64 KB makes a server wait for us several times a megabyte: a third of the speed of watches. */
const streamWindowBytes = 2 ** 20;
/** As good as none: were there one, a few watches that nobody reads would stop all others on the connection. */
const sessionWindowBytes = 2 ** 30;
/** Beyond Node's default of 10, hundreds of large answers at once would be reset by our own side. */
const sessionMemoryMegabytes = 1024;
/** An idle connection of HTTP/1.1 is left before servers, which wait 90 s and more, leave it under our hands. */
const idleMs = 60_000;
/** Until a server has said how many streams it takes. */
const usualStreams = 100;

/** Makes {@link Connections} to a server; nothing is connected yet. */
export function createConnections(endpoint: Endpoint, options: ConnectionOptions): Connections {
  const sessions = new Set<Session>();
  let connecting: Promise<void> | undefined;
  let http1: Http1 | undefined;
  let isClosed = false;

  async function connectOnce(): Promise<void> {
    connecting ??= (async () => {
      const { socket, protocol } = await dial(endpoint, ['h2', 'http/1.1'], options);
      if (isClosed) {
        socket.destroy();
        throw closed();
      }
      if (protocol === 'http/1.1') {
        http1 = createHttp1(endpoint, options, socket);
        return;
      }
      const session = await openSession(endpoint, options, socket);
      if (isClosed) {
        session.http2.destroy();
        throw closed();
      }
      sessions.add(session);
      session.http2.once('close', () => sessions.delete(session));
    })().finally(() => {
      connecting = undefined;
    });
    await connecting;
  }

  return {
    async send(request) {
      for (;;) {
        request.signal?.throwIfAborted();
        if (isClosed) throw closed();
        if (http1) return http1.send(request);
        const session = [...sessions].find((each) => each.hasRoom());
        if (session) return session.send(request);
        await untilAborted(connectOnce(), request.signal);
      }
    },
    close() {
      isClosed = true;
      for (const session of sessions) session.http2.destroy();
      http1?.close();
    },
    retire() {
      isClosed = true;
      for (const session of sessions) session.http2.close();
      http1?.close();
    },
  };
}

function closed(): TransportError {
  return new TransportError('the client is closed', { wasSent: false });
}

/** What a promise gives, unless the signal is aborted before. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

type Session = {
  readonly http2: ClientHttp2Session;
  hasRoom(): boolean;
  send(request: WireRequest): Promise<WireAnswer>;
};

function openSession({ server }: Endpoint, options: ConnectionOptions, socket: Socket): Promise<Session> {
  const { clock, connectTimeoutMs } = options;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) =>
      reject(new ConnectError(`cannot connect to ${server.host}: ${reasonOf(error)}`, { cause: error }));
    const http2 = connectHttp2(server.origin, {
      createConnection: () => socket,
      maxSessionMemory: sessionMemoryMegabytes,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    const cancel = clock.setTimer(connectTimeoutMs, () => http2.destroy(new Error('the server did not greet')));
    // Stays for good: an error after the connection was made is told by the streams it breaks.
    http2.on('error', (error) => {
      cancel();
      fail(error);
    });
    http2.once('close', () => {
      cancel();
      fail(new Error('the server closed the connection'));
    });
    // Not at 'connect': until its settings come, the other side may not speak HTTP/2 after all.
    http2.once('remoteSettings', () => {
      cancel();
      http2.setLocalWindowSize(sessionWindowBytes);
      resolve(sessionOf(server, http2, options));
    });
  });
}

function sessionOf(server: URL, http2: ClientHttp2Session, options: ConnectionOptions): Session {
  let streams = 0;
  let isLeaving = false;
  http2.once('goaway', () => {
    isLeaving = true;
  });
  const stop = keepAlive(http2, () => streams > 0, options.clock, {
    everyMs: options.keepAliveMs,
    timeoutMs: options.keepAliveTimeoutMs,
  });
  http2.once('close', stop);

  return {
    http2,
    hasRoom: () =>
      !http2.closed &&
      !http2.destroyed &&
      !isLeaving &&
      streams < (http2.remoteSettings.maxConcurrentStreams ?? usualStreams),
    send({ method, path, headers, body, signal }) {
      return new Promise((resolve, reject) => {
        let stream: ClientHttp2Stream;
        try {
          stream = http2.request(
            { ...headers, ':method': method, ':path': path },
            { endStream: body === undefined, ...(signal ? { signal } : {}) },
          );
        } catch (error) {
          // The session has ended, though that has not been told yet.
          reject(new TransportError(`the connection to ${server.host} has ended`, { wasSent: false, cause: error }));
          return;
        }
        streams++;
        let cause: unknown;
        // Stays for good: an error after the answer has begun is told to whoever reads the answer.
        stream.on('error', (error) => {
          cause = error;
        });
        stream.once('close', () => {
          streams--;
          if (signal?.aborted) {
            reject(signal.reason);
            return;
          }
          const wasSent = stream.id !== undefined && stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM;
          reject(broken(server, wasSent, cause));
        });
        stream.once('response', (received) => {
          // A stream that is lost with its connection ends as if nothing had happened, but for this code.
          const isWhole = () => stream.rstCode === constants.NGHTTP2_NO_ERROR;
          resolve({ code: received[':status'] ?? 0, headers: received, body: stream, isWhole });
        });
        if (body !== undefined) stream.end(body);
      });
    },
  };
}

function broken(server: URL, wasSent: boolean, cause: unknown): TransportError {
  const why = cause === undefined ? 'the connection was closed' : reasonOf(cause);
  return new TransportError(`no answer from ${server.host}: ${why}`, { wasSent, cause });
}

/** Destroys a session that gives no sign of life while something is under way on it. */
function keepAlive(
  http2: ClientHttp2Session,
  isUsed: () => boolean,
  clock: Clock,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
): CancelTimer {
  let cancel: CancelTimer = () => {};
  const wait = () => {
    cancel = clock.setTimer(everyMs, () => (isUsed() ? ask() : wait()));
  };
  const ask = () => {
    if (http2.destroyed) return;
    cancel = clock.setTimer(timeoutMs, () => http2.destroy(new Error('the server gives no sign of life')));
    http2.ping(() => {
      cancel();
      if (!http2.destroyed) wait();
    });
  };
  wait();
  return () => cancel();
}

type Http1 = { send(request: WireRequest): Promise<WireAnswer>; close(): void };

/** Connections of HTTP/1.1: one request at a time on each, kept for the next. */
function createHttp1(endpoint: Endpoint, options: DialOptions, first: Socket): Http1 {
  const { server } = endpoint;
  // The socket by which we learnt what the server speaks is as good as any.
  let spare: Socket | undefined = first;
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  agent.createConnection = (_options, done) => {
    const known = spare;
    spare = undefined;
    if (known && !known.destroyed) return known;
    dial(endpoint, ['http/1.1'], options).then(
      ({ socket }) => done?.(null, socket),
      // The types know only of errors without a socket or sockets without an error.
      (error: Error) => done?.(error, undefined as unknown as Socket),
    );
    return undefined;
  };

  return {
    send: ({ method, path, headers, body, signal }) =>
      new Promise((resolve, reject) => {
        const request = requestOverHttp1({
          agent,
          method,
          path,
          headers: { ...headers, host: server.host, ...(body ? { 'content-length': body.length } : {}) },
          ...(signal ? { signal } : {}),
        });
        let hasSocket = false;
        request.once('socket', () => {
          hasSocket = true;
        });
        request.on('error', (error) => {
          if (signal?.aborted) reject(signal.reason);
          else reject(error instanceof TransportError ? error : broken(server, hasSocket, error));
        });
        request.once('response', (response) => {
          // Node tells of an answer cut off by an error of the answer, which whoever reads it sees.
          response.on('error', () => {});
          const isWhole = () => response.complete;
          resolve({ code: response.statusCode ?? 0, headers: response.headers, body: response, isWhole });
        });
        request.end(body);
      }),
    close() {
      spare?.destroy();
      agent.destroy();
    },
  };
}
