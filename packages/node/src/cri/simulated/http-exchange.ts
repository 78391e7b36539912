/** Real HTTP over a raw connection: used by simulated programs to reach servers outside of the simulation. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { toGoError } from '@kruise/apiserver/connect/backend';
import type { HttpRequest, HttpResponse } from '../runtime.ts';

/** HTTP request of a simulated program. */
export type PeerRequest = HttpRequest & {
  readonly body?: Uint8Array;
  /** Server verification; without it any certificate is accepted. Simulated servers need no certificate. */
  readonly serverCheck?: ServerCheck;
};

/** TLS verification of a server. */
export type ServerCheck = {
  /** Name or address that the certificate must match. */
  readonly serverName: string;
  /** Trusted CAs in PEM format; the well-known CAs by default. */
  readonly authorities?: string;
};

/** Failed HTTP exchange: the connection broke, or the server certificate was rejected. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly reason: 'connection' | 'certificate';

  constructor(reason: ExchangeError['reason'], message: string, options: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

type ExchangeOptions = { readonly maxBodyBytes: number; readonly signal?: AbortSignal };

/** Sends one request; the connection is not reused. */
export async function sendRequest(
  connection: Duplex,
  request: PeerRequest,
  { maxBodyBytes, signal }: ExchangeOptions,
): Promise<HttpResponse> {
  const abort = () => connection.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const socket = request.scheme === 'https' ? await startTls(connection, request) : connection;
    const response = await ask(socket, request);
    return {
      status: response.statusCode ?? 0,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body: await read(response, maxBodyBytes),
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ExchangeError ? error : broken(error as NodeJS.ErrnoException, request);
  } finally {
    signal?.removeEventListener('abort', abort);
    connection.destroy();
  }
}

/** Performs the TLS handshake on a connection. */
function startTls(connection: Duplex, { host, serverCheck }: PeerRequest): Promise<Duplex> {
  const name = serverCheck?.serverName ?? host;
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: connection,
      host: name,
      // TLS server names must not be IP addresses.
      servername: isIP(name) ? '' : name,
      rejectUnauthorized: serverCheck !== undefined,
      ...(serverCheck?.authorities !== undefined && { ca: serverCheck.authorities }),
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', (cause) => {
      // Node appends its own advice to OpenSSL's message.
      const [reason = ''] = cause.message.split(';');
      reject(socket.authorizationError ? new ExchangeError('certificate', reason, { cause }) : cause);
    });
  });
}

function ask(socket: Duplex, { host, port, method = 'GET', path, headers = [], body }: PeerRequest) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket,
      host,
      port,
      method,
      path,
      headers: byName(headers),
    });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

function byName(headers: NonNullable<HttpRequest['headers']>): Record<string, string | string[]> {
  const values = Map.groupBy(headers, ([name]) => name.toLowerCase());
  return Object.fromEntries([...values].map(([name, all]) => [name, all.map(([, value]) => value)]));
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function broken(cause: NodeJS.ErrnoException, { host, port }: PeerRequest): ExchangeError {
  const isOtherProtocol = cause.code?.startsWith('HPE_');
  const message = isOtherProtocol ? 'malformed HTTP response' : toGoError(cause, host, port).message;
  return new ExchangeError('connection', message, { cause });
}
