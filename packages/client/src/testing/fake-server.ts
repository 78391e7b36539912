import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';

/** Handler of a request. */
export type Handle = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse & Http2ServerResponse,
) => void;

/** HTTP server for tests of error cases. */
export type FakeServer = {
  readonly url: string;
  readonly port: number;
  readonly authorities: string;
  readonly sockets: ReadonlySet<Socket>;
  readonly connections: number;
  readonly http2?: Http2SecureServer;
  close(): Promise<void>;
};

const authority = createCertificateAuthority('fake', Date.parse('2026-01-01T00:00:00Z'), 36_500);
const pair = authority.issue({
  subject: { commonName: 'fake' },
  usages: ['server auth'],
  hosts: ['localhost', 'fake.example'],
  nowMs: Date.parse('2026-01-01T00:00:00Z'),
  validDays: 36_500,
});

/** Starts a server with one protocol and a certificate for `localhost` and `fake.example`. */
export async function startFakeServer(
  protocol: 'h2' | 'http/1.1',
  handle: Handle,
  options: { readonly maxConcurrentStreams?: number; readonly clientAuthorities?: readonly string[] } = {},
): Promise<FakeServer> {
  const tls = {
    cert: pair.certificate,
    key: pair.key,
    ...(options.clientAuthorities
      ? { ca: [...options.clientAuthorities], requestCert: true, rejectUnauthorized: false }
      : {}),
  };
  const { maxConcurrentStreams } = options;
  const http2 =
    protocol === 'h2'
      ? createSecureServer({ ...tls, settings: maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams } })
      : undefined;
  const server: Http2SecureServer | Server = http2 ?? createHttpsServer(tls);
  server.on('request', handle as () => void);
  server.on('sessionError', () => {});
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('secureConnection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    port,
    authorities: authority.certificate,
    sockets,
    get connections() {
      return connections;
    },
    ...(http2 ? { http2 } : {}),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
