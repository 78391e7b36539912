import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';
import type { CancelTimer, Clock } from '@kruise/values/clock';
import { GrpcError } from './status.ts';

/** Address of a server: host and port, or the path of a Unix socket. */
export type Target = { readonly host: string; readonly port: number } | { readonly socketPath: string };

/** TLS configuration: CA bundle, client certificate and server name. Without it the connection is plain text. */
export type TlsOptions = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> & { readonly serverName?: string };

/**
 * Parses endpoints in the format of etcd's tools: `http://host:port`, `https://host:port`, `unix:///path`, `host:port`.
 */
export function parseEndpoints(
  endpoints: readonly string[],
  tls: TlsOptions | undefined,
): { readonly targets: readonly Target[]; readonly tls?: TlsOptions } {
  let isSecure: boolean | undefined;
  const targets = endpoints.map((endpoint): Target => {
    const url = URL.parse(endpoint.includes('://') ? endpoint : `http://${endpoint}`);
    if (!url || !['http:', 'https:', 'unix:'].includes(url.protocol)) throw new Error(`${endpoint} is not an endpoint`);
    const isThisSecure = url.protocol === 'https:';
    if ((isSecure ??= isThisSecure) !== isThisSecure) throw new Error('all endpoints must use TLS, or none');
    if (url.protocol === 'unix:') return { socketPath: decodeURIComponent(url.pathname) };
    const port = Number(url.port || (isThisSecure ? 443 : 80));
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
  });
  return { targets, ...(isSecure && { tls: tls ?? {} }) };
}

/** Options of a connection; the defaults suit servers on the same machine or network. */
export type ConnectionOptions = {
  readonly clock: Clock;
  /** Addresses, tried in turn. */
  readonly targets: readonly Target[];
  readonly tls?: TlsOptions;
  readonly connectTimeoutMs?: number;
  /** Maximum backoff between failed connection attempts. */
  readonly maxBackoffMs?: number;
  /** Interval of keepalive pings while calls are in flight. */
  readonly keepAliveMs?: number;
  /** Time without a ping response after which the connection is closed. */
  readonly keepAliveTimeoutMs?: number;
};

/** At most one HTTP/2 connection, established on first use and re-established when it is lost. */
export interface Connection {
  /**
   * Opens a stream for a call. Waits for a connection in progress; fails immediately while the connection is in
   * backoff.
   */
  open(headers: OutgoingHttpHeaders): Promise<ClientHttp2Stream>;
  /** Closes the connection when the calls in flight have ended. */
  close(): void;
}

const firstBackoffMs = 100;
const backoffFactor = 1.6;
/** With the default HTTP/2 window of 64 KB, a sender has to wait for window updates several times per megabyte. */
const streamWindowBytes = 4 * 2 ** 20;
const sessionWindowBytes = 16 * 2 ** 20;
/** With Node's default of 10 MB, hundreds of concurrent calls with large messages would be reset by the client. */
const sessionMemoryMegabytes = 1024;

/**
 * Creates a {@link Connection}. Nothing is connected yet.
 *
 * ```ts
 * const connection = createConnection({ clock, targets: [{ socketPath: '/run/containerd/containerd.sock' }] });
 * ```
 */
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
    // The session has ended, but its close event has not been emitted yet.
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
    // A TLS alert after the handshake, for example from a server that requires a client certificate, would otherwise
    // leave socket and session half open forever.
    socket.on('error', () => socket.destroy());
    const session = connect(authority, {
      createConnection: () => socket,
      maxSessionMemory: sessionMemoryMegabytes,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    const cancelTimeout = clock.setTimer(connectTimeoutMs, () => session.destroy(new Error('connection timed out')));
    // The listener stays registered: an error after the connection is established is reported by its streams.
    session.on('error', (error) => {
      cancelTimeout();
      reject(error);
    });
    // A server that closes the connection before it sends anything causes no error event.
    session.once('close', () => reject(new Error('connection closed')));
    // The 'connect' event is too early: until the settings arrive, the server may not be an HTTP/2 server.
    session.once('remoteSettings', () => {
      cancelTimeout();
      session.setLocalWindowSize(sessionWindowBytes);
      resolve(session);
    });
  });
}

/**
 * Destroys the session if pings are not answered. Pings are sent only while calls are in flight, because servers reject
 * them otherwise.
 */
function keepAlive(active: ActiveSession, clock: Clock, period: { everyMs: number; timeoutMs: number }): CancelTimer {
  const { session } = active;
  let cancel: CancelTimer;
  const schedulePing = () => {
    cancel = clock.setTimer(period.everyMs, () => (active.streams > 0 ? sendPing() : schedulePing()));
  };
  const sendPing = () => {
    if (session.destroyed) return;
    cancel = clock.setTimer(period.timeoutMs, () => session.destroy(new Error('keepalive ping timed out')));
    session.ping(() => {
      cancel();
      if (!session.destroyed) schedulePing();
    });
  };
  schedulePing();
  return () => cancel();
}
