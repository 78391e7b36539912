import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import { trimTrailing } from '@kruise/values/trim';
import {
  type Credential,
  type Credentials,
  type Impersonation,
  impersonationHeaders,
  staticCredentials,
} from './credentials.ts';
import { type Connections, createConnections, type WireResponse } from './http/connections.ts';
import type { Endpoint } from './http/dial.ts';
import { splitLines } from './http/lines.ts';
import { hostOf, isLoopback } from './http/proxy.ts';
import { parseWarnings, statusErrorOf } from './http/status-error.ts';
import { ConnectError, reasonOf, TransportError } from './http/transport-error.ts';
import type { ApiRequest, ApiResponse, Transport, WatchEvent } from './transport.ts';

export { ConnectError, TransportError } from './http/transport-error.ts';

/** Address of an API server, its TLS configuration, and the credentials of the client. */
export type ServerConfig = {
  /** URL of the server; its path is the prefix of every request path. */
  readonly server: string;
  /** CA bundle of the server in PEM; defaults to the trust store of the system. */
  readonly authorities?: string;
  /** Name in the certificate of the server, if it differs from the host name of the URL. */
  readonly serverName?: string;
  /** Accepts any serving certificate. Insecure: a man in the middle can read and change everything. */
  readonly insecureSkipVerify?: boolean;
  readonly proxy?: URL;
  readonly credentials?: Credentials;
  readonly impersonate?: Impersonation;
  /** Requests compressed responses; enabled by default unless the server is on this machine. */
  readonly compress?: boolean;
};

/** Options of an HTTP transport; the defaults suit any cluster. */
export type HttpTransportOptions = ServerConfig & {
  readonly clock: Clock;
  /** User agent; the part before the first slash is the default field manager. */
  readonly userAgent?: string;
  readonly connectTimeoutMs?: number;
  /** Request timeout, except for watches. API servers time out after a minute. */
  readonly requestTimeoutMs?: number;
  readonly keepAliveMs?: number;
  readonly keepAliveTimeoutMs?: number;
};

/** A transport with open connections. */
export type HttpTransport = Transport & {
  /** Closes every connection and aborts the requests in flight. */
  close(): void;
};

/** Limits of retries: for responses with `Retry-After`, and for broken connections. */
const maxRetryAfterAttempts = 10;
const maxConnectionAttempts = 3;
/** A longer `Retry-After` is returned to the caller. */
const maxRetryAfterSeconds = 60;
/** Larger than any list of a server: protects the memory of the client. */
const maxResponseBytes = 512 * 2 ** 20;

/**
 * Creates a transport over HTTP/2, or HTTP/1.1 if the server does not support HTTP/2.
 *
 * ```ts
 * const transport = createHttpTransport({ server: 'https://127.0.0.1:6443', authorities, credentials, clock });
 * ```
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { clock, credentials = staticCredentials({}), impersonate, requestTimeoutMs = 90_000 } = options;
  const { server, prefix } = addressOf(options.server);
  const compress = options.compress ?? !(hostOf(server) === 'localhost' || isLoopback(hostOf(server)));
  const closing = new AbortController();
  const commonHeaders = {
    'user-agent': options.userAgent ?? 'kruise',
    ...(impersonate ? impersonationHeaders(impersonate) : {}),
  };

  let current: { readonly certificate: Credential['certificate']; readonly connections: Connections } | undefined;
  /** Returns the connections of a client certificate; connections with an earlier certificate are closed when idle. */
  function connectionsFor({ certificate }: Credential): Connections {
    if (
      current &&
      current.certificate?.certificate === certificate?.certificate &&
      current.certificate?.key === certificate?.key
    ) {
      return current.connections;
    }
    current?.connections.retire();
    const endpoint: Endpoint = {
      server,
      ...(options.authorities === undefined ? {} : { authorities: options.authorities }),
      ...(options.serverName === undefined ? {} : { serverName: options.serverName }),
      ...(options.insecureSkipVerify ? { insecureSkipVerify: true } : {}),
      ...(options.proxy ? { proxy: options.proxy } : {}),
      ...(certificate ? { clientCertificate: certificate } : {}),
    };
    const connections = createConnections(endpoint, {
      clock,
      connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
      keepAliveMs: options.keepAliveMs ?? 30_000,
      keepAliveTimeoutMs: options.keepAliveTimeoutMs ?? 15_000,
    });
    current = { certificate, connections };
    return connections;
  }

  /** Sends a request and retries it on `Retry-After`, rejected credentials and broken connections. */
  async function sendWithRetries(request: ApiRequest, signal: AbortSignal | undefined): Promise<WireResponse> {
    const { method, body, contentType = 'application/json' } = request;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const path = `${prefix}${request.path}${queryOf(request.query)}`;
    let retryAfterAttempts = 0;
    let failedAttempts = 0;
    let hasRenewedCredentials = false;
    for (;;) {
      if (closing.signal.aborted) throw new TransportError('the client is closed', { wasSent: false });
      const credential = await credentials.current(signal);
      const connections = connectionsFor(credential);
      let response: WireResponse;
      try {
        response = await connections.send({
          method,
          path,
          headers: {
            accept: request.accept ?? 'application/json',
            ...commonHeaders,
            ...(compress ? { 'accept-encoding': 'gzip' } : {}),
            ...(bytes ? { 'content-type': contentType } : {}),
            ...(credential.authorization === undefined ? {} : { authorization: credential.authorization }),
          },
          ...(bytes ? { body: bytes } : {}),
          ...(signal ? { signal } : {}),
        });
      } catch (error) {
        if (isRetriable(error, method) && ++failedAttempts < maxConnectionAttempts) continue;
        throw error;
      }
      if (response.code === 401 && !hasRenewedCredentials && credentials.rejected?.(credential)) {
        hasRenewedCredentials = true;
        response.body.resume();
        continue;
      }
      const waitSeconds = retryAfterOf(response);
      if (
        waitSeconds === undefined ||
        waitSeconds > maxRetryAfterSeconds ||
        ++retryAfterAttempts > maxRetryAfterAttempts
      )
        return response;
      response.body.resume();
      await after(clock, waitSeconds * 1000, signal ? AbortSignal.any([signal, closing.signal]) : closing.signal);
    }
  }

  return {
    async request(request): Promise<ApiResponse> {
      const timeout = new AbortController();
      const cancel = clock.setTimer(requestTimeoutMs, () =>
        timeout.abort(
          new TransportError(`no response from ${server.host} within ${requestTimeoutMs} ms`, { wasSent: true }),
        ),
      );
      const signal = request.signal ? AbortSignal.any([request.signal, timeout.signal]) : timeout.signal;
      try {
        const response = await sendWithRetries(request, signal);
        const text = await textOf(response, signal);
        const { code, headers } = response;
        if (code < 200 || code > 299) throw statusErrorIn(response, text);
        return { code, object: bodyValue(text, response), warnings: parseWarnings(headers.warning) };
      } finally {
        cancel();
      }
    },

    async *watch(request): AsyncGenerator<WatchEvent> {
      const { signal } = request;
      if (signal?.aborted) return;
      let response: WireResponse | undefined;
      try {
        response = await sendWithRetries(request, signal);
        if (response.code !== 200) throw statusErrorIn(response, await textOf(response, signal));
        for await (const { text, isComplete } of splitLines(decoded(response))) {
          if (!isComplete)
            throw new TransportError(`${server.host} closed the watch in the middle of an event`, { wasSent: true });
          if (text !== '') yield eventOf(text, server);
          if (signal?.aborted) return;
        }
        if (!response.isComplete() && !signal?.aborted) throw new Error('connection lost');
      } catch (error) {
        // An aborted watch ends without an error.
        if (signal?.aborted) return;
        if (error instanceof StatusError || error instanceof TransportError) throw error;
        throw new TransportError(`watch failed: ${reasonOf(error)}`, { wasSent: true, cause: error });
      } finally {
        response?.body.destroy();
      }
    },

    close() {
      closing.abort(new TransportError('the client is closed', { wasSent: false }));
      current?.connections.close();
    },
  };
}

function addressOf(text: string): { readonly server: URL; readonly prefix: string } {
  const server = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (!server || (server.protocol !== 'https:' && server.protocol !== 'http:')) {
    throw new Error(`${JSON.stringify(text)} is not a valid server address; use https://host:port`);
  }
  return { server, prefix: trimTrailing(server.pathname, '/') };
}

function queryOf(query: ApiRequest['query'] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) search.append(name, String(each));
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

/** GET requests are idempotent; a write is retried only if the server cannot have received it. */
function isRetriable(error: unknown, method: string): boolean {
  // A failed connection attempt is not retried here, so that callers apply their backoff.
  if (!(error instanceof TransportError) || error instanceof ConnectError) return false;
  return method === 'GET' || !error.wasSent;
}

/** Returns the seconds of a `Retry-After` header, if there is one. */
function retryAfterOf({ code, headers }: WireResponse): number | undefined {
  if (code !== 429 && code < 500) return undefined;
  const seconds = headers['retry-after'];
  return typeof seconds === 'string' && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

function statusErrorIn(response: WireResponse, body: string): StatusError {
  const retryAfterSeconds = retryAfterOf(response);
  return statusErrorOf({
    code: response.code,
    body,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function decoded({ headers, body }: WireResponse): Readable {
  if (headers['content-encoding'] !== 'gzip') return body;
  const plain = createGunzip();
  body.once('error', (error) => plain.destroy(error));
  body.once('close', () => body.readableEnded || plain.destroy(new Error('response truncated')));
  plain.once('close', () => body.destroy());
  return body.pipe(plain);
}

async function textOf(response: WireResponse, signal: AbortSignal | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxResponseBytes) throw new RangeError(`the response exceeds ${maxResponseBytes} bytes`);
      chunks.push(chunk);
    }
    if (!response.isComplete()) throw new Error('connection lost');
  } catch (error) {
    signal?.throwIfAborted();
    throw new TransportError(`failed to read the response: ${reasonOf(error)}`, { wasSent: true, cause: error });
  }
  const contentLength = response.headers['content-length'];
  const isPlain = response.headers['content-encoding'] === undefined;
  if (isPlain && contentLength !== undefined && Number(contentLength) !== size) {
    throw new TransportError(`response truncated after ${size} of ${contentLength} bytes`, { wasSent: true });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses a JSON body; other content types (`ok`, metrics) are returned as text. */
function bodyValue(text: string, { headers }: WireResponse): unknown {
  const type = headers['content-type'] ?? '';
  if (!/^application\/(json|[\w.-]+\+json)\b/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TransportError(`the response is not valid JSON: ${reasonOf(error)}`, { wasSent: true, cause: error });
  }
}

const eventTypes = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function eventOf(text: string, server: URL): WatchEvent {
  let event: WatchEvent;
  try {
    event = JSON.parse(text);
  } catch (error) {
    throw new TransportError(`${server.host} sent an invalid watch event: ${text.slice(0, 100)}`, {
      wasSent: true,
      cause: error,
    });
  }
  if (!eventTypes.has(event?.type) || typeof event.object !== 'object' || event.object === null) {
    throw new TransportError(`${server.host} sent an invalid watch event: ${text.slice(0, 100)}`, { wasSent: true });
  }
  return event;
}
