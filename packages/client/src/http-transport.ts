import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { StatusError } from '@kruise/machinery/status';
import { after, type Clock } from '@kruise/values/clock';
import { trimTrailing } from '@kruise/values/trim';
import {
  type Credential,
  type Credentials,
  fixedCredentials,
  type Impersonation,
  impersonationHeaders,
} from './credentials.ts';
import { type Connections, createConnections, type WireAnswer } from './http/connections.ts';
import type { Endpoint } from './http/dial.ts';
import { linesOf } from './http/lines.ts';
import { hostOf, isLoopback } from './http/proxy.ts';
import { refusalOf, warningsIn } from './http/refusal.ts';
import { ConnectError, reasonOf, TransportError } from './http/transport-error.ts';
import type { ApiAnswer, ApiRequest, Transport, WatchEvent } from './transport.ts';

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
const maxPostponed = 10;
const maxBroken = 3;
/** A longer `Retry-After` is returned to the caller. */
const maxRetryAfterSeconds = 60;
/** Larger than any list of a server: protects the memory of the client. */
const maxAnswerBytes = 512 * 2 ** 20;

/**
 * Creates a transport over HTTP/2, or HTTP/1.1 if the server does not support HTTP/2.
 *
 * ```ts
 * const transport = createHttpTransport({ server: 'https://127.0.0.1:6443', authorities, credentials, clock });
 * ```
 */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const { clock, credentials = fixedCredentials({}), impersonate, requestTimeoutMs = 90_000 } = options;
  const { server, prefix } = addressOf(options.server);
  const compress = options.compress ?? !(hostOf(server) === 'localhost' || isLoopback(hostOf(server)));
  const closing = new AbortController();
  const commonHeaders = {
    'user-agent': options.userAgent ?? 'kruise',
    ...(impersonate ? impersonationHeaders(impersonate) : {}),
  };

  let used: { readonly certificate: Credential['certificate']; readonly connections: Connections } | undefined;
  /** Returns the connections of a client certificate; connections with an earlier certificate are closed when idle. */
  function connectionsFor({ certificate }: Credential): Connections {
    if (
      used &&
      used.certificate?.certificate === certificate?.certificate &&
      used.certificate?.key === certificate?.key
    ) {
      return used.connections;
    }
    used?.connections.retire();
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
    used = { certificate, connections };
    return connections;
  }

  /** Sends a request and retries it on `Retry-After`, rejected credentials and broken connections. */
  async function exchange(request: ApiRequest, signal: AbortSignal | undefined): Promise<WireAnswer> {
    const { method, body, contentType = 'application/json' } = request;
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const path = `${prefix}${request.path}${queryOf(request.query)}`;
    let postponed = 0;
    let broken = 0;
    let wasRenewed = false;
    for (;;) {
      if (closing.signal.aborted) throw new TransportError('the client is closed', { wasSent: false });
      const credential = await credentials.current(signal);
      const connections = connectionsFor(credential);
      let answer: WireAnswer;
      try {
        answer = await connections.send({
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
        if (isWorthRepeating(error, method) && ++broken < maxBroken) continue;
        throw error;
      }
      if (answer.code === 401 && !wasRenewed && credentials.refused?.(credential)) {
        wasRenewed = true;
        answer.body.resume();
        continue;
      }
      const waitSeconds = retryAfterOf(answer);
      if (waitSeconds === undefined || waitSeconds > maxRetryAfterSeconds || ++postponed > maxPostponed) return answer;
      answer.body.resume();
      await after(clock, waitSeconds * 1000, signal ? AbortSignal.any([signal, closing.signal]) : closing.signal);
    }
  }

  return {
    async request(request): Promise<ApiAnswer> {
      const late = new AbortController();
      const cancel = clock.setTimer(requestTimeoutMs, () =>
        late.abort(
          new TransportError(`no response from ${server.host} within ${requestTimeoutMs} ms`, { wasSent: true }),
        ),
      );
      const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal;
      try {
        const answer = await exchange(request, signal);
        const text = await textOf(answer, signal);
        const { code, headers } = answer;
        if (code < 200 || code > 299) throw refusalIn(answer, text);
        return { code, object: bodyValue(text, answer), warnings: warningsIn(headers.warning) };
      } finally {
        cancel();
      }
    },

    async *watch(request): AsyncGenerator<WatchEvent> {
      const { signal } = request;
      if (signal?.aborted) return;
      let answer: WireAnswer | undefined;
      try {
        answer = await exchange(request, signal);
        if (answer.code !== 200) throw refusalIn(answer, await textOf(answer, signal));
        for await (const { text, isWhole } of linesOf(decoded(answer))) {
          if (!isWhole)
            throw new TransportError(`${server.host} closed the watch in the middle of an event`, { wasSent: true });
          if (text !== '') yield eventOf(text, server);
          if (signal?.aborted) return;
        }
        if (!answer.isWhole() && !signal?.aborted) throw new Error('connection lost');
      } catch (error) {
        // An aborted watch ends without an error.
        if (signal?.aborted) return;
        if (error instanceof StatusError || error instanceof TransportError) throw error;
        throw new TransportError(`watch failed: ${reasonOf(error)}`, { wasSent: true, cause: error });
      } finally {
        answer?.body.destroy();
      }
    },

    close() {
      closing.abort(new TransportError('the client is closed', { wasSent: false }));
      used?.connections.close();
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
function isWorthRepeating(error: unknown, method: string): boolean {
  // A failed connection attempt is not retried here, so that callers apply their backoff.
  if (!(error instanceof TransportError) || error instanceof ConnectError) return false;
  return method === 'GET' || !error.wasSent;
}

/** Returns the seconds of a `Retry-After` header, if there is one. */
function retryAfterOf({ code, headers }: WireAnswer): number | undefined {
  if (code !== 429 && code < 500) return undefined;
  const seconds = headers['retry-after'];
  return typeof seconds === 'string' && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

function refusalIn(answer: WireAnswer, body: string): StatusError {
  const retryAfterSeconds = retryAfterOf(answer);
  return refusalOf({ code: answer.code, body, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
}

function decoded({ headers, body }: WireAnswer): Readable {
  if (headers['content-encoding'] !== 'gzip') return body;
  const plain = createGunzip();
  body.once('error', (error) => plain.destroy(error));
  body.once('close', () => body.readableEnded || plain.destroy(new Error('response truncated')));
  plain.once('close', () => body.destroy());
  return body.pipe(plain);
}

async function textOf(answer: WireAnswer, signal: AbortSignal | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(answer) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes) throw new RangeError(`the response exceeds ${maxAnswerBytes} bytes`);
      chunks.push(chunk);
    }
    if (!answer.isWhole()) throw new Error('connection lost');
  } catch (error) {
    signal?.throwIfAborted();
    throw new TransportError(`failed to read the response: ${reasonOf(error)}`, { wasSent: true, cause: error });
  }
  const announced = answer.headers['content-length'];
  const isPlain = answer.headers['content-encoding'] === undefined;
  if (isPlain && announced !== undefined && Number(announced) !== size) {
    throw new TransportError(`response truncated after ${size} of ${announced} bytes`, { wasSent: true });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Parses a JSON body; other content types (`ok`, metrics) are returned as text. */
function bodyValue(text: string, { headers }: WireAnswer): unknown {
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
