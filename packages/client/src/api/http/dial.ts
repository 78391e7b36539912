import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Clock } from '@kruise/values/clock';
import { hostOf, tunnel } from './proxy.ts';
import { ConnectError, reasonOf } from './transport-error.ts';

/** Client certificate and its key in PEM. */
export type ClientCertificate = { readonly certificate: string; readonly key: string };

/** Address and TLS configuration of a server. */
export type Endpoint = {
  readonly server: URL;
  /** CA bundle of the server in PEM; defaults to the trust store of the system. */
  readonly authorities?: string;
  /** Name in the certificate of the server, if it differs from the host name of the URL. */
  readonly serverName?: string;
  /** Accepts any serving certificate. Insecure: a man in the middle can read and change everything. */
  readonly insecureSkipVerify?: boolean;
  readonly clientCertificate?: ClientCertificate;
  readonly proxy?: URL;
};

/** Connection timeout. */
export type DialOptions = { readonly clock: Clock; readonly connectTimeoutMs: number };

/** ALPN protocols of HTTP. */
export type Protocol = 'h2' | 'http/1.1';

/** An established connection and its negotiated protocol. */
export type DialResult = { readonly socket: Socket; readonly protocol: Protocol };

/** Connects to a server, through its proxy if there is one, and negotiates the protocol. */
export async function dial(
  endpoint: Endpoint,
  offered: readonly Protocol[],
  { clock, connectTimeoutMs }: DialOptions,
): Promise<DialResult> {
  const { server, proxy } = endpoint;
  const open: { socket?: Socket } = {};
  const timeout = Promise.withResolvers<never>();
  const cancel = clock.setTimer(connectTimeoutMs, () =>
    timeout.reject(new Error(`connection timed out after ${connectTimeoutMs} ms`)),
  );
  try {
    return await Promise.race([timeout.promise, connectVia(endpoint, offered, open)]);
  } catch (error) {
    open.socket?.destroy();
    if (error instanceof ConnectError) throw error;
    const through = proxy ? ` through ${proxy.host}` : '';
    throw new ConnectError(`cannot connect to ${server.host}${through}: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    cancel();
  }
}

async function connectVia(
  endpoint: Endpoint,
  offered: readonly Protocol[],
  open: { socket?: Socket },
): Promise<DialResult> {
  const { server, proxy } = endpoint;
  const destination = destinationOf(server);
  let socket = await connectTcp(destinationOf(proxy ?? server), open);
  if (proxy) {
    if (proxy.protocol === 'https:') socket = await startTls(socket, { server: proxy }, [], open);
    await tunnel(socket, proxy, destination);
  }
  if (server.protocol === 'http:') return { socket, protocol: 'http/1.1' };
  const secured = await startTls(socket, endpoint, offered, open);
  return { socket: secured, protocol: secured.alpnProtocol === 'h2' ? 'h2' : 'http/1.1' };
}

const defaultPorts: { readonly [protocol: string]: number } = { 'http:': 80, 'https:': 443 };
const socksPort = 1080;

function destinationOf(url: URL): { readonly host: string; readonly port: number } {
  return { host: hostOf(url), port: Number(url.port || (defaultPorts[url.protocol] ?? socksPort)) };
}

function connectTcp(
  address: { readonly host: string; readonly port: number },
  open: { socket?: Socket },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // TCP keepalive detects a lost peer of an HTTP/1.1 connection, which has no ping.
    const socket = connect({ ...address, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 });
    open.socket = socket;
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

function startTls(
  socket: Socket,
  { server, authorities, serverName, insecureSkipVerify, clientCertificate }: Endpoint,
  offered: readonly Protocol[],
  open: { socket?: Socket },
): Promise<TLSSocket> {
  const host = serverName || hostOf(server);
  return new Promise((resolve, reject) => {
    const secured = connectTls({
      socket,
      host,
      // SNI must not contain an IP address.
      ...(isIP(host) ? {} : { servername: host }),
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...(clientCertificate ? { cert: clientCertificate.certificate, key: clientCertificate.key } : {}),
      ...(offered.length > 0 ? { ALPNProtocols: [...offered] } : {}),
      rejectUnauthorized: !insecureSkipVerify,
    });
    open.socket = secured;
    secured.once('error', reject);
    secured.once('close', () => reject(new Error('the server closed the connection')));
    secured.once('secureConnect', () => {
      secured.off('error', reject);
      // A TLS alert after the handshake, for example from a server that requires another certificate, would otherwise
      // leave the socket half open forever.
      secured.on('error', () => secured.destroy());
      resolve(secured);
    });
  });
}
