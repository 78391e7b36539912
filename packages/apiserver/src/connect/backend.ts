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

/** A server behind this one: a kubelet, or whatever listens in a Pod. */
export interface Backend {
  /** `https://10.0.0.7:10250`, for messages. */
  readonly url: string;
  send(request: BackendRequest): Promise<BackendAnswer>;
  /** Asks to speak another protocol from here on. */
  upgrade(request: BackendRequest): Promise<Switched | BackendAnswer>;
}

export type BackendRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body?: Readable;
  /** Ends the request, and what came of it. */
  readonly signal: AbortSignal;
};

export type BackendAnswer = {
  readonly code: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
};

/** The backend agreed, and the socket is the callers'. */
export type Switched = {
  readonly code: 101;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Duplex;
  readonly head: Buffer;
};

export function hasSwitched(answer: Switched | BackendAnswer): answer is Switched {
  return 'socket' in answer;
}

/** Where a backend is on the network. */
export type Location = {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** The name its certificate must have, where that is not its host. */
  readonly serverName?: string;
};

/** How to show and check who is who. */
export type BackendTls = {
  readonly certificate?: string;
  readonly key?: string;
  /** The authority that the backend's certificate must be of; without one, any is taken. */
  readonly authority?: string;
  /** Takes certificates of the authorities that the system trusts, rather than any. */
  readonly trustsSystem?: boolean;
};

/** Whoever has not answered the phone by now is not there. */
const dialTimeoutMs = 30_000;

/** Reaches backends over the network. Connections for plain requests are kept for the next. */
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
        // Node writes headers byte by byte, and takes them for Latin-1 as it does when it reads them.
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
            outgoing.once('response', (response) => resolve(answerOf(response)));
            outgoing.once('error', (error) => reject(asGoSays(error, host, port)));
            if (request.body) {
              // For some methods Node does not expect a body, and would send it without saying where it ends.
              if (request.headers['content-length'] === undefined) outgoing.setHeader('transfer-encoding', 'chunked');
              request.body.once('error', (error) => outgoing.destroy(error));
              request.body.pipe(outgoing);
            } else outgoing.end();
          }),
        upgrade: (request) =>
          new Promise((resolve, reject) => {
            const outgoing = dial(request, true);
            outgoing.once('response', (response) => resolve(answerOf(response)));
            outgoing.once('upgrade', (response, socket, head) => {
              socket.on('error', () => socket.destroy());
              socket.setKeepAlive?.(true, 30_000);
              socket.setNoDelay?.(true);
              request.signal.addEventListener('abort', () => socket.destroy(), { once: true });
              const { headers, statusMessage = '' } = response;
              resolve({ code: 101, reason: statusMessage, headers, socket, head });
            });
            outgoing.once('error', (error) => reject(asGoSays(error, host, port)));
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

function answerOf(response: IncomingMessage): BackendAnswer {
  const { statusCode = 0, statusMessage = '', headers } = response;
  return { code: statusCode, reason: statusMessage, headers, body: response };
}

/** An address with a port, as it stands in a URL. */
export function hostAndPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const connectErrors: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'i/o timeout',
};

/** What failed in the words of Go, which people look for. */
export function asGoSays(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const { code = '' } = error;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new Error(`dial tcp: lookup ${host}: no such host`, { cause: error });
  }
  const known = connectErrors[code];
  if (known) return new Error(`dial tcp ${hostAndPort(host, port)}: ${known}`, { cause: error });
  if (code === 'ECONNRESET' || error.message === 'socket hang up') return new Error('EOF', { cause: error });
  return error;
}
