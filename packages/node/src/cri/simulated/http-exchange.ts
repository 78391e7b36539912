/** HTTP in earnest, over a bare connection: how simulated programs ask servers that are not of the simulation. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { asGoSays } from '@kruise/apiserver/connect/backend';
import type { HttpAnswer, HttpRequest } from '../runtime.ts';

/** What a program asks of a server. */
export type PeerRequest = HttpRequest & {
  readonly body?: Uint8Array;
  /** Without it any certificate is good. Within the simulation nobody has to show one. */
  readonly serverCheck?: ServerCheck;
};

/** How a client makes sure that it speaks with the right server. */
export type ServerCheck = {
  /** The name or address the server is to have a certificate for. */
  readonly serverName: string;
  /** Whose certificates are good, as PEM text; by default those of the authorities everyone knows. */
  readonly authorities?: string;
};

/** An exchange that came to nothing: the connection broke, or the client does not take the server's certificate. */
export class ExchangeError extends Error {
  override readonly name = 'ExchangeError';
  readonly reason: 'connection' | 'certificate';

  constructor(reason: ExchangeError['reason'], message: string, options: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

type ExchangeOptions = { readonly maxBodyBytes: number; readonly signal?: AbortSignal };

/** One exchange, after which the connection is of no more use. */
export async function exchange(
  connection: Duplex,
  request: PeerRequest,
  { maxBodyBytes, signal }: ExchangeOptions,
): Promise<HttpAnswer> {
  const abort = () => connection.destroy();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const socket = request.scheme === 'https' ? await secured(connection, request) : connection;
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

/** The connection with TLS on it, once it stands. */
function secured(connection: Duplex, { host, serverCheck }: PeerRequest): Promise<Duplex> {
  const name = serverCheck?.serverName ?? host;
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: connection,
      host: name,
      // An address is no name, and TLS takes names alone.
      servername: isIP(name) ? '' : name,
      rejectUnauthorized: serverCheck !== undefined,
      ...(serverCheck?.authorities !== undefined && { ca: serverCheck.authorities }),
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', (cause) => {
      // After what OpenSSL says comes Node's own advice.
      const [said = ''] = cause.message.split(';');
      reject(socket.authorizationError ? new ExchangeError('certificate', said, { cause }) : cause);
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
  const message = isOtherProtocol ? 'malformed HTTP response' : asGoSays(cause, host, port).message;
  return new ExchangeError('connection', message, { cause });
}
