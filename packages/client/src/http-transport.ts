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

/** Where a server is, and who asks. */
export type ServerConfig = {
  /** Its address; what follows the host stands before every path. */
  readonly server: string;
  /** The authorities that may vouch for the server, in PEM; the machine's own where there are none. */
  readonly authorities?: string;
  /** The name the server's certificate is for, where it is not the one it is reached by. */
  readonly serverName?: string;
  /** Takes any certificate: whoever is in between can read and change everything. */
  readonly insecureSkipVerify?: boolean;
  readonly proxy?: URL;
  readonly credentials?: Credentials;
  readonly impersonate?: Impersonation;
  /** Has long answers compressed; by default if the server is not on this machine. */
  readonly compress?: boolean;
};

/** What a transport over HTTP is made of; the defaults suit any cluster. */
export type HttpTransportOptions = ServerConfig & {
  readonly clock: Clock;
  /** Who the server hears from; up to the first slash it names the manager of fields. */
  readonly userAgent?: string;
  readonly connectTimeoutMs?: number;
  /** How long an answer may take, watches apart: servers give up after a minute. */
  readonly requestTimeoutMs?: number;
  readonly keepAliveMs?: number;
  readonly keepAliveTimeoutMs?: number;
};

/** A transport that holds connections. */
export type HttpTransport = Transport & {
  /** Ends every connection, and with it whatever is under way. */
  close(): void;
};

/** How often a request is sent again that a server put off, or that a broken connection swallowed. */
const maxPostponed = 10;
const maxBroken = 3;
/** Who is told to come back later than this is better told so. */
const maxRetryAfterSeconds = 60;
/** More than any list of a server: what comes is refused before it fills the memory. */
const maxAnswerBytes = 512 * 2 ** 20;

/** Reaches a server over HTTP/2, or over HTTP/1.1 where it speaks nothing newer. */
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
  /** The connections made with a certificate; those made with an earlier one are left. */
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

  /** Sends until there is an answer that is not "later", or reason to give up. */
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
        late.abort(new TransportError(`no answer from ${server.host} in ${requestTimeoutMs} ms`, { wasSent: true })),
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
            throw new TransportError(`${server.host} ended a watch in the middle of an event`, { wasSent: true });
          if (text !== '') yield eventOf(text, server);
          if (signal?.aborted) return;
        }
        if (!answer.isWhole() && !signal?.aborted) throw new Error('the connection was lost');
      } catch (error) {
        // Whoever aborts a watch knows that it is over.
        if (signal?.aborted) return;
        if (error instanceof StatusError || error instanceof TransportError) throw error;
        throw new TransportError(`the watch broke: ${reasonOf(error)}`, { wasSent: true, cause: error });
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
    throw new Error(`${JSON.stringify(text)} is not the address of a server`);
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

/** Reading twice harms nobody; a write is repeated only if the server cannot have seen it. */
function isWorthRepeating(error: unknown, method: string): boolean {
  // A server that cannot be connected to is not tried in a hurry.
  if (!(error instanceof TransportError) || error instanceof ConnectError) return false;
  return method === 'GET' || !error.wasSent;
}

/** How long a server asks to wait, if it does. */
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
  body.once('close', () => body.readableEnded || plain.destroy(new Error('the answer was cut off')));
  plain.once('close', () => body.destroy());
  return body.pipe(plain);
}

async function textOf(answer: WireAnswer, signal: AbortSignal | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(answer) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxAnswerBytes) throw new RangeError(`the answer is longer than ${maxAnswerBytes} bytes`);
      chunks.push(chunk);
    }
    if (!answer.isWhole()) throw new Error('the connection was lost');
  } catch (error) {
    signal?.throwIfAborted();
    throw new TransportError(`the answer broke off: ${reasonOf(error)}`, { wasSent: true, cause: error });
  }
  const announced = answer.headers['content-length'];
  const isPlain = answer.headers['content-encoding'] === undefined;
  if (isPlain && announced !== undefined && Number(announced) !== size) {
    throw new TransportError(`the answer broke off after ${size} of ${announced} bytes`, { wasSent: true });
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** JSON as the value it is; what is not JSON (`ok`, a page of metrics) as its text. */
function bodyValue(text: string, { headers }: WireAnswer): unknown {
  const type = headers['content-type'] ?? '';
  if (!/^application\/(json|[\w.-]+\+json)\b/.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TransportError(`the answer is no JSON: ${reasonOf(error)}`, { wasSent: true, cause: error });
  }
}

const eventTypes = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function eventOf(text: string, server: URL): WatchEvent {
  let event: WatchEvent;
  try {
    event = JSON.parse(text);
  } catch (error) {
    throw new TransportError(`${server.host} sent what is no event: ${text.slice(0, 100)}`, {
      wasSent: true,
      cause: error,
    });
  }
  if (!eventTypes.has(event?.type) || typeof event.object !== 'object' || event.object === null) {
    throw new TransportError(`${server.host} sent what is no event: ${text.slice(0, 100)}`, { wasSent: true });
  }
  return event;
}
