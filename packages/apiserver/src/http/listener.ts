import type { IncomingMessage } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type HttpsServerOptions = {
  readonly certificate: string;
  readonly key: string;
  /** CAs of client certificates. */
  readonly clientAuthorities: readonly string[];
  readonly handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

export type HttpsServer = {
  /** Serves a connection that was established elsewhere. */
  accept(connection: Duplex): void;
  /** Stops accepting connections and requests; in-flight requests continue. */
  stop(): void;
  /** Closes all connections. */
  close(): Promise<void>;
};

export type Listener = HttpsServer & { readonly port: number };

export type ListenerOptions = HttpsServerOptions & {
  readonly host: string;
  /** Port; 0 selects a free port. */
  readonly port: number;
};

/** HTTP/2 window size, large enough that a watch or a list is limited by bandwidth rather than by round trips. */
const windowBytes = 1 << 20;

/** Maximum total size of request headers. */
const maxHeaderSize = 1 << 20;
/** Idle time after which TCP keep-alive probes are sent. */
const keepAliveMs = 30_000;

/** Listens for HTTP/2 and HTTP/1.1 over TLS on one port. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { server, ...serving } = createHttpsServer(options);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return { ...serving, port: (server.address() as AddressInfo).port };
}

/** Creates an HTTPS server for HTTP/2 and HTTP/1.1 that does not listen by itself. */
export function createHttpsServer(options: HttpsServerOptions): HttpsServer & { readonly server: Http2SecureServer } {
  const server: Http2SecureServer = createSecureServer({
    allowHTTP1: true,
    cert: options.certificate,
    key: options.key,
    ca: [...options.clientAuthorities],
    requestCert: true,
    rejectUnauthorized: false,
    settings: { maxConcurrentStreams: 1000, initialWindowSize: windowBytes, maxHeaderListSize: maxHeaderSize },
  });
  const sockets = new Set<Socket>();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, keepAliveMs);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    session.setLocalWindowSize(16 * windowBytes);
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('sessionError', () => {});
  server.on('request', options.handle);
  server.on('upgrade', options.upgrade);
  // Clients keep connections for 90 s; the client should close first.
  Object.assign(server, { keepAliveTimeout: 120_000, headersTimeout: 125_000, requestTimeout: 0, maxHeaderSize });
  const closed = Promise.withResolvers<void>();
  let isStopping = false;
  const stopListening = () => {
    if (!isStopping) server.close(() => closed.resolve());
    isStopping = true;
  };
  return {
    server,
    accept: (connection) => void server.emit('connection', connection),
    stop() {
      stopListening();
      for (const session of sessions) session.close();
    },
    close() {
      stopListening();
      for (const socket of sockets) socket.destroy();
      return closed.promise;
    },
  };
}
