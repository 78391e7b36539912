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
  /** The authorities whose certificates clients may show. */
  readonly clientAuthorities: readonly string[];
  readonly handle: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

export type HttpsServer = {
  /** Serves whoever is at the other end of a connection that was made elsewhere. */
  accept(connection: Duplex): void;
  /** Takes no new connections or requests; what is under way goes on. */
  stop(): void;
  /** Ends what is under way. */
  close(): Promise<void>;
};

export type Listener = HttpsServer & { readonly port: number };

export type ListenerOptions = HttpsServerOptions & {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
};

/** Windows as large as this let a watch or a list run at the speed of the network rather than of its round trips. */
const windowBytes = 1 << 20;

/** As large as the headers of a request may be, all together. */
const maxHeaderSize = 1 << 20;
/** A peer that is silent for this long is asked whether it is still there. */
const keepAliveMs = 30_000;

/** Listens for HTTP/2 and HTTP/1.1 on one port, over TLS. */
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

/** Speaks HTTP/2 and HTTP/1.1 over TLS, and listens nowhere by itself. */
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
  // Clients keep a connection for 90 s; whoever closes first should be the client.
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
