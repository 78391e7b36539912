import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as requestPlain,
} from 'node:http';
import { type AgentOptions, request as requestSecure, Agent as SecureAgent } from 'node:https';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '@kruise/values/clock';

/** Backend that this server proxies to: a kubelet, or a server in a Pod. */
export interface Backend {
  /** URL for messages, such as `https://10.0.0.7:10250`. */
  readonly url: string;
  send(request: BackendRequest): Promise<BackendResponse>;
  /** Requests a protocol upgrade. */
  upgrade(request: BackendRequest): Promise<Switched | BackendResponse>;
}

export type BackendRequest = {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body?: Readable;
  /** Aborts the request and the upgraded connection. */
  readonly signal: AbortSignal;
};

export type BackendResponse = {
  readonly code: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
};

/** Accepted upgrade; the caller owns the socket. */
export type Switched = {
  readonly code: 101;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  readonly head: Buffer;
};

export function hasSwitched(answer: Switched | BackendResponse): answer is Switched {
  return 'socket' in answer;
}

/** Network location of a backend. */
export type Location = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** TLS server name, if it differs from the host. */
  readonly serverName?: string;
};

/** TLS settings for connections to a backend. */
export type BackendTls = {
  readonly certificate?: string;
  readonly key?: string;
  /** CA of the backend's certificate; without a CA the certificate is not verified. */
  readonly authority?: string;
  /** Verifies the certificate with the system CAs. */
  readonly trustsSystem?: boolean;
};

/** Timeout for connecting to a backend. */
const dialTimeoutMs = 30_000;

/** Creates a client for backends on the network. Connections of plain requests are reused. */
export function createNetwork(
  clock: Clock,
  tls: BackendTls,
  agentOf: (options: AgentOptions) => SecureAgent = (options) => new SecureAgent(options),
): { at(location: Location): Backend; close(): void } {
  const trust = {
    ...(tls.certificate === undefined ? {} : { cert: tls.certificate, key: tls.key }),
    ...(tls.authority === undefined ? { rejectUnauthorized: tls.trustsSystem ?? false } : { ca: tls.authority }),
  };
  const agents = { http: new PlainAgent({ keepAlive: true }), https: agentOf({ ...trust, keepAlive: true }) };

  return {
    at({ scheme, host, port, serverName }) {
      const begin = ({ method, path, headers, signal }: BackendRequest, upgrade: boolean) => {
        // Node.js reads and writes header bytes as Latin-1.
        const named = serverName === undefined ? {} : { servername: serverName };
        const options = { host, port, method, path, headers, signal, ...named, setHost: headers.host === undefined };
        if (scheme === 'http') return requestPlain({ ...options, agent: upgrade ? false : agents.http });
        return upgrade
          ? requestSecure({ ...options, agent: agentOf(trust) })
          : requestSecure({ ...options, agent: agents.https });
      };
      const dial = (request: BackendRequest, upgrade: boolean): ClientRequest => {
        const outgoing = begin(request, upgrade);
        const cancel = clock.setTimer(dialTimeoutMs, () =>
          outgoing.destroy(Object.assign(new Error('not connected in time'), { code: 'ETIMEDOUT' })),
        );
        outgoing.once('close', cancel);
        outgoing.once('socket', (socket) => {
          if (socket.connecting) socket.once('connect', cancel);
          else cancel();
        });
        return outgoing;
      };
      return {
        url: `${scheme}://${hostAndPort(host, port)}`,
        send: (request) =>
          new Promise((resolve, reject) => {
            const outgoing = dial(request, false);
            outgoing.once('response', (response) => resolve(toResponse(response)));
            outgoing.once('error', (error) => reject(toGoError(error, host, port)));
            if (request.body) {
              // For some methods Node.js expects no body, and would send the body without framing.
              if (request.headers['content-length'] === undefined) outgoing.setHeader('transfer-encoding', 'chunked');
              request.body.once('error', (error) => outgoing.destroy(error));
              request.body.pipe(outgoing);
            } else outgoing.end();
          }),
        upgrade: (request) =>
          new Promise((resolve, reject) => {
            const outgoing = dial(request, true);
            outgoing.once('response', (response) => resolve(toResponse(response)));
            outgoing.once('upgrade', (response, socket, head) => {
              socket.on('error', () => socket.destroy());
              socket.setKeepAlive?.(true, 30_000);
              socket.setNoDelay?.(true);
              request.signal.addEventListener('abort', () => socket.destroy(), { once: true });
              const { headers, statusMessage = '' } = response;
              resolve({ code: 101, reason: statusMessage, headers, socket, head });
            });
            outgoing.once('error', (error) => reject(toGoError(error, host, port)));
            outgoing.end();
          }),
      };
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function toResponse(response: IncomingMessage): BackendResponse {
  const { statusCode = 0, statusMessage = '', headers } = response;
  return { code: statusCode, reason: statusMessage, headers, body: response };
}

/** Formats an address with a port, as in a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const connectErrors: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

/** Converts a connection error to Go's wording, which users search for. */
export function toGoError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = '' } = error;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new Error(`dial tcp: lookup ${host}: no such host`, { cause: error });
  }
  const known = connectErrors[code];
  if (known) return new Error(`dial tcp ${hostAndPort(host, port)}: ${known}`, { cause: error });
  if (code === 'ECONNRESET' || error.message === 'socket hang up') return new Error('EOF', { cause: error });
  return error;
}
