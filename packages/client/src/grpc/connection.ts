import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import { GrpcError } from './status.ts';

/** Where a server listens: a host and port, or the path of a unix socket. */
export type Target = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/** How to make sure of the server, and how it can make sure of us. Without it a connection is plain. */
export type TlsOptions = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> & { readonly serverName?: string };

/** Reads endpoints as etcd's tools take them: `http://host:port`, `https://host:port`, `unix:///path`, `host:port`. */
export function parseEndpoints(
  endpoints: readonly string[],
  tls: TlsOptions | undefined,
): { readonly targets: readonly Target[]; readonly tls?: TlsOptions } {
  let isSecure: boolean | undefined;
  const targets = endpoints.map((endpoint): Target => {
    const url = URL.parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`);
    if (!url || !['http:', 'https:', 'unix:'].includes(url.protocol)) throw new Error(`${endpoint} is not an endpoint`);
    const isThisSecure = url.protocol === 'https:';
    if ((isSecure ??= isThisSecure) !== isThisSecure) throw new Error('either all endpoints use TLS or none does');
    if (url.protocol === 'unix:') return { socketPath: decodeURIComponent(url.pathname) };
    const port = Number(url.port || (isThisSecure ? 443 : 80));
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  });
  return { targets, ...(isSecure && { tls: tls ?? {} }) };
}

/** How a connection is made and kept; the defaults suit servers on the same machine or network. */
export type ConnectionOptions = {
  readonly clock: Clock;
  /** Tried in turn. */
  readonly targets: readonly Target[];
  readonly tls?: TlsOptions;
  readonly connectTimeoutMs?: number;
  /** After failures, the longest wait before it is tried again. */
  readonly maxBackoffMs?: number;
  /** While calls are under way, the server is asked for a sign of life this often… */
  readonly keepAliveMs?: number;
  /** …and given up if there is none for this long. */
  readonly keepAliveTimeoutMs?: number;
};

/** One HTTP/2 connection at a time, made when first needed and made anew when lost. */
export interface Connection {
  /**
   * Opens a stream for a call. Waits for a connection being made; throws, at once, while the last attempt is recent
   * and failed.
   */
  open(headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  /** Ends the connection once the calls under way are over. */
  close(): void;
}

const firstBackoffMs = 100;
const backoffFactor = 1.6;
/** HTTP/2's default of 64 KB makes a sender wait for us several times a megabyte. */
const streamWindowBytes = 4 * 2 ** 20;
const sessionWindowBytes = 16 * 2 ** 20;
/** Beyond Node's default of 10, hundreds of calls with large messages at once would be reset by our own side. */
const sessionMemoryMegabytes = 1024;

/** Makes a {@link Connection}; nothing is connected yet. */
export function createConnection(options: ConnectionOptions): Connection {
  const { clock, targets, maxBackoffMs = 10_000, keepAliveMs = 30_000, keepAliveTimeoutMs = 10_000 } = options;
  let current: ActiveSession | undefined;
  let connecting: Promise<ActiveSession> | undefined;
  let failures = 0;
  let retryAt = 0;
  let lastError: unknown;
  let nextTarget = 0;
  let isClosed = false;

  async function connectAny(): Promise<ActiveSession> {
    for (let attempt = 0; attempt < targets.length; attempt++) {
      const target = targets[nextTarget++ % targets.length]!;
      try {
        return adopt(await openSession(target, options));
      } catch (error) {
        lastError = error;
      }
    }
    const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * backoffFactor ** failures++);
    retryAt = clock.now() + backoffMs;
    throw unavailable(lastError);
  }

  function adopt(session: ClientHttp2Session): ActiveSession {
    failures = 0;
    const active = { session, streams: 0 };
    const stopKeepAlive = keepAlive(active, clock, { everyMs: keepAliveMs, timeoutMs: keepAliveTimeoutMs });
    const retire = () => {
      if (current === active) current = undefined;
    };
    session.on('goaway', retire);
    session.on('error', retire);
    session.on('close', () => {
      retire();
      stopKeepAlive();
    });
    if (isClosed) session.close();
    else current = active;
    return active;
  }

  function connectOnce(): Promise<ActiveSession> {
    if (!connecting) {
      if (failures > 0 && clock.now() < retryAt) throw unavailable(lastError);
      connecting = connectAny().finally(() => {
        connecting = undefined;
      });
    }
    return connecting;
  }

  return {
    async open(headers) {
      if (isClosed) throw closed();
      const active = current && !current.session.closed ? current : await connectOnce();
      if (isClosed) throw closed();
      const stream = openStream(active.session, headers);
      active.streams++;
      stream.once('close', () => active.streams--);
      return stream;
    },
    close() {
      isClosed = true;
      current?.session.close();
    },
  };
}

function openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  try {
    return session.request(headers, { endStream: false });
  } catch (error) {
    // The session has ended, though that has not been told yet.
    throw unavailable(error);
  }
}

type ActiveSession = { readonly session: ClientHttp2Session; streams: number };

function closed(): GrpcError {
  return new GrpcError('CANCELLED', 'the channel is closed', { wasSent: false });
}

function unavailable(cause: unknown): GrpcError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new GrpcError('UNAVAILABLE', `no connection: ${reason}`, { wasSent: false, cause });
}

function openSession(
  target: Target,
  { clock, tls, connectTimeoutMs = 10_000 }: ConnectionOptions,
): Promise<ClientHttp2Session> {
  const host = 'host' in target ? target.host : 'localhost';
  const port = 'port' in target ? `:${target.port}` : '';
  const authority = `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}${port}`;
  const address = 'socketPath' in target ? { path: target.socketPath } : { host: target.host, port: target.port };
  return new Promise((resolve, reject) => {
    const socket = tls
      ? connectTls({
          ...address,
          ...tls,
          ALPNProtocols: ['h2'],
          ...(tls.serverName !== undefined && { servername: tls.serverName }),
        })
      : connectSocket({ ...address, noDelay: true });
    // A TLS alert after the handshake, as from a server that wants a certificate, otherwise leaves socket and session
    // half open for good.
    socket.on('error', () => socket.destroy());
    const session = connect(authority, {
      createConnection: () => socket,
      maxSessionMemory: sessionMemoryMegabytes,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    const cancelTimeout = clock.setTimer(connectTimeoutMs, () =>
      session.destroy(new Error('the connection timed out')),
    );
    // Stays for good: an error after the connection was made is told by the streams it breaks.
    session.on('error', (error) => {
      cancelTimeout();
      reject(error);
    });
    // A server that closes before it says anything gives no error.
    session.once('close', () => reject(new Error('the connection was closed')));
    // Not at 'connect': until its settings come, the other side may not speak HTTP/2 at all.
    session.once('remoteSettings', () => {
      cancelTimeout();
      session.setLocalWindowSize(sessionWindowBytes);
      resolve(session);
    });
  });
}

/** Destroys the session if it gives no sign of life. Servers take it amiss to be asked while no call is under way. */
function keepAlive(active: ActiveSession, clock: Clock, period: { everyMs: number; timeoutMs: number }): CancelTimer {
  const { session } = active;
  let cancel: CancelTimer;
  const wait = () => {
    cancel = clock.setTimer(period.everyMs, () => (active.streams > 0 ? ask() : wait()));
  };
  const ask = () => {
    if (session.destroyed) return;
    cancel = clock.setTimer(period.timeoutMs, () => session.destroy(new Error('the server gives no sign of life')));
    session.ping(() => {
      cancel();
      if (!session.destroyed) wait();
    });
  };
  wait();
  return () => cancel();
}
