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

/** An HTTP request. */
export type WireRequest = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Buffer;
  readonly signal?: AbortSignal;
};

/** Status and headers of a response, and its body as a stream. */
export type WireResponse = {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
  /** Reports whether the server, not a lost connection, ended the body. Valid after the body has ended. */
  readonly isComplete: () => boolean;
};

/** Connection pool of one server. */
export interface Connections {
  /** Sends a request. Rejects with a {@link TransportError} or the reason of the signal if no response arrives. */
  send(request: WireRequest): Promise<WireResponse>;
  /** Closes every connection and aborts the requests in flight. */
  close(): void;
  /** Closes each connection when it is idle. */
  retire(): void;
}

/** Timeouts and keepalive of connections. */
export type ConnectionOptions = DialOptions & {
  /** Interval of keepalive pings while requests are in flight. */
  readonly keepAliveMs: number;
  /** Time without a ping response after which the connection is closed. */
  readonly keepAliveTimeoutMs: number;
};

/**
 * With the default HTTP/2 window of 64 KB, a server waits for window updates several times per megabyte: watches run at
 * a third of the speed.
 */
const streamWindowBytes = 2 ** 20;
/**
 * Effectively unlimited: with a session window, a few watches that are not read would block all others on the
 * connection.
 */
const sessionWindowBytes = 2 ** 30;
/** With Node's default of 10 MB, hundreds of concurrent large responses would be reset by the client. */
const sessionMemoryMegabytes = 1024;
/** Idle HTTP/1.1 connections are closed before servers close them, which takes 90 s or more. */
const idleMs = 60_000;
/** Limit of concurrent streams until the server has sent its settings. */
const defaultMaxStreams = 100;

/** Creates {@link Connections} to a server. Nothing is connected yet. */
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
        const session = [...sessions].find((each) => each.hasCapacity());
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

/** Returns the result of a promise, or rejects when the signal is aborted. */
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
  hasCapacity(): boolean;
  send(request: WireRequest): Promise<WireResponse>;
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
    const cancel = clock.setTimer(connectTimeoutMs, () =>
      http2.destroy(new Error('the server sent no HTTP/2 settings')),
    );
    // The listener stays registered: an error after the connection is established is reported by its streams.
    http2.on('error', (error) => {
      cancel();
      fail(error);
    });
    http2.once('close', () => {
      cancel();
      fail(new Error('the server closed the connection'));
    });
    // The 'connect' event is too early: until the settings arrive, the server may not be an HTTP/2 server.
    http2.once('remoteSettings', () => {
      cancel();
      http2.setLocalWindowSize(sessionWindowBytes);
      resolve(sessionOf(server, http2, options));
    });
  });
}

function sessionOf(server: URL, http2: ClientHttp2Session, options: ConnectionOptions): Session {
  let streams = 0;
  let isGoingAway = false;
  http2.once('goaway', () => {
    isGoingAway = true;
  });
  const stop = keepAlive(http2, () => streams > 0, options.clock, {
    everyMs: options.keepAliveMs,
    timeoutMs: options.keepAliveTimeoutMs,
  });
  http2.once('close', stop);

  return {
    http2,
    hasCapacity: () =>
      !http2.closed &&
      !http2.destroyed &&
      !isGoingAway &&
      streams < (http2.remoteSettings.maxConcurrentStreams ?? defaultMaxStreams),
    send({ method, path, headers, body, signal }) {
      return new Promise((resolve, reject) => {
        let stream: ClientHttp2Stream;
        try {
          stream = http2.request(
            { ...headers, ':method': method, ':path': path },
            { endStream: body === undefined, ...(signal ? { signal } : {}) },
          );
        } catch (error) {
          // The session has ended, but its close event has not been emitted yet.
          reject(new TransportError(`the connection to ${server.host} is closed`, { wasSent: false, cause: error }));
          return;
        }
        streams++;
        let cause: unknown;
        // The listener stays registered: an error after the response headers is reported by the body.
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
          // If the connection is lost, the stream ends normally; only this code shows the loss.
          const isComplete = () => stream.rstCode === constants.NGHTTP2_NO_ERROR;
          resolve({ code: received[':status'] ?? 0, headers: received, body: stream, isComplete });
        });
        if (body !== undefined) stream.end(body);
      });
    },
  };
}

function broken(server: URL, wasSent: boolean, cause: unknown): TransportError {
  const why = cause === undefined ? 'connection closed' : reasonOf(cause);
  return new TransportError(`no response from ${server.host}: ${why}`, { wasSent, cause });
}

/** Destroys a session that does not answer pings while requests are in flight. */
function keepAlive(
  http2: ClientHttp2Session,
  isUsed: () => boolean,
  clock: Clock,
  { everyMs, timeoutMs }: { readonly everyMs: number; readonly timeoutMs: number },
): CancelTimer {
  let cancel: CancelTimer = () => {};
  const schedulePing = () => {
    cancel = clock.setTimer(everyMs, () => (isUsed() ? sendPing() : schedulePing()));
  };
  const sendPing = () => {
    if (http2.destroyed) return;
    cancel = clock.setTimer(timeoutMs, () => http2.destroy(new Error('keepalive ping timed out')));
    http2.ping(() => {
      cancel();
      if (!http2.destroyed) schedulePing();
    });
  };
  schedulePing();
  return () => cancel();
}

type Http1 = { send(request: WireRequest): Promise<WireResponse>; close(): void };

/** HTTP/1.1 connections: each handles one request at a time and is reused. */
function createHttp1(endpoint: Endpoint, options: DialOptions, first: Socket): Http1 {
  const { server } = endpoint;
  // The socket of the protocol negotiation is reused for the first request.
  let spare: Socket | undefined = first;
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  agent.createConnection = (_options, done) => {
    const known = spare;
    spare = undefined;
    if (known && !known.destroyed) return known;
    dial(endpoint, ['http/1.1'], options).then(
      ({ socket }) => done?.(null, socket),
      // The types do not allow an error without a socket.
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
          // Node reports a truncated response as an error of the body, which its reader receives.
          response.on('error', () => {});
          const isComplete = () => response.complete;
          resolve({ code: response.statusCode ?? 0, headers: response.headers, body: response, isComplete });
        });
        request.end(body);
      }),
    close() {
      spare?.destroy();
      agent.destroy();
    },
  };
}
