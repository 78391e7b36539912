/**
 * Network shared by all simulated nodes of a process: listeners by address, and connections without sockets. HTTP
 * between simulated programs is a function call.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex, duplexPair, pipeline } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import { after, type Clock } from '@kruise/values/clock';
import type { CallOptions, HostNetwork, HttpResponse, NetworkTarget } from '../runtime.ts';
import { type PeerRequest, sendRequest } from './http-exchange.ts';
import { runtimeError } from './runtime-error.ts';

/** A listener that serves HTTP or accepts raw connections. */
export type Listener = {
  http?(request: ServedRequest): HttpResponse | 'hang' | Promise<HttpResponse | 'hang'>;
  connection?(connection: Duplex): void;
  /** Serving certificate, if the listener serves HTTPS. */
  readonly certificate?: SecureContext;
  health?(service: string): 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
  /** Returns the reply to a datagram, if any. A listener with this method receives datagrams only. */
  datagram?(message: string, clientAddress: string): string | undefined;
  /** Transport of connections; TCP by default. */
  readonly transport?: 'TCP' | 'SCTP';
  /** Connections are refused while this returns false. */
  isListening?(): boolean;
};

export type ServedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly clientAddress: string;
};

/** Network as seen from an address. */
export type NetworkPeer = Omit<HostNetwork, 'connect' | 'request'> & {
  connect(target: NetworkTarget, options?: CallOptions & { readonly transport?: 'TCP' | 'SCTP' }): Promise<Duplex>;
  request(request: PeerRequest, options?: { readonly signal?: AbortSignal }): Promise<HttpResponse>;
  readonly address: string;
  /** Returns the ports with listeners at its address. */
  listening(transport: Transport): readonly number[];
  /** Resolves a fully qualified name. */
  resolve(name: string): readonly string[];
  /** Returns the DNS records of a fully qualified name, in zone file format. */
  records(name: string, type: string): readonly string[];
  /** Sends a UDP datagram; undefined if there is no reply. */
  ask(target: NetworkTarget, message: string): string | undefined;
};

export type Transport = 'TCP' | 'UDP' | 'SCTP';

/** Target of a routed connection. A source replaces the address of the client that the target sees. */
export type RoutedTarget = NetworkTarget & { readonly source?: string };

/** Service addresses and DNS names. */
export type ServiceRoutes = {
  /** Returns the target of a connection to a virtual address; undefined if the address is unknown. */
  route(
    target: NetworkTarget,
    from: { readonly transport: Transport; readonly clientAddress: string },
  ): RoutedTarget | 'refuse' | 'drop' | undefined;
  resolve(name: string): readonly string[];
  records(name: string, type: string): readonly string[];
};

/** Connector to servers outside of the simulation; undefined if the target is not reachable. */
export type Outside = (target: NetworkTarget) => (() => Duplex) | undefined;

/** NetworkPolicies. Addresses are those after Service routing. */
export type NetworkFilter = {
  isAllowed(connection: {
    readonly source: string;
    readonly destination: string;
    readonly protocol: Transport;
    readonly port: number;
  }): boolean;
  /** Clock of the timeout of connections whose packets are dropped. */
  readonly clock: Clock;
};

export type SimulatedNetworkOptions = {
  readonly services?: ServiceRoutes;
  /** Packets of connections that are not allowed are dropped. */
  readonly filter?: NetworkFilter;
  readonly outside?: Outside;
};

/** All addresses of the simulation. */
export type SimulatedNetwork = {
  /**
   * Attaches an address. An attached address without listeners refuses connections; other addresses are unreachable.
   */
  attach(address: string): NetworkInterface;
  /** Returns the network as seen from an address, whether attached or not. */
  viewFrom(address: string, localAddresses?: readonly string[]): NetworkPeer;
};

export type NetworkInterface = {
  /** Adds a listener: for datagrams if it replies to them, otherwise for connections. */
  listen(port: number, listener: Listener): () => void;
  /** Forwards connections on a port to another target. */
  forward(port: number, target: NetworkTarget, transport?: Transport): () => void;
  detach(): void;
};

const connectMessages = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ETIMEDOUT: 'connect: connection timed out',
} as const;

/** Time after which Linux gives up a connection without a response. */
const connectTimeoutMs = 127_000;

/** Failed connection, with Go's message. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly code: keyof typeof connectMessages | 'ENOTFOUND';
  readonly address: string;
  readonly port: number;

  constructor(code: ConnectError['code'], { host, port }: NetworkTarget) {
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    super(
      code === 'ENOTFOUND' ? `dial tcp: lookup ${host}: no such host` : `dial tcp ${address}: ${connectMessages[code]}`,
    );
    this.code = code;
    this.address = host;
    this.port = port;
  }
}

type PortKey = number | `${'udp' | 'sctp'}/${number}`;

function portKey(port: number, transport: Transport): PortKey {
  if (transport === 'TCP') return port;
  return transport === 'UDP' ? `udp/${port}` : `sctp/${port}`;
}

/** Splits the key of a port. */
function transportOf(key: PortKey): { readonly transport: Transport; readonly port: number } {
  if (typeof key === 'number') return { transport: 'TCP', port: key };
  const transport = key.startsWith('udp') ? 'UDP' : 'SCTP';
  return { transport, port: Number(key.slice(key.indexOf('/') + 1)) };
}

const defaultMaxBodyBytes = 10 * 1024;
const loopback = /^(localhost|127\..*|::1)$/;

export function isLoopback(host: string): boolean {
  return loopback.test(host);
}

/** Returns the loopback key of an address, which only clients at the same address reach. */
export function loopbackOf(address: string): string {
  return `lo@${address}`;
}

export function createSimulatedNetwork({ services, outside, filter }: SimulatedNetworkOptions = {}): SimulatedNetwork {
  type Ports = Map<PortKey, Listener | NetworkTarget>;
  const interfaces = new Map<string, Ports>();
  const httpServer = lazyHttpServer();

  /** A listener, and the address of the client that it sees. */
  type Found = { readonly listener: Listener; readonly source: string };

  function find(
    target: NetworkTarget,
    clientAddress: string,
    transport: Transport = 'TCP',
    source = clientAddress,
  ): Found {
    const ports = interfaces.get(target.host);
    // A listener on port 0 receives every port without another listener.
    const found = ports?.get(portKey(target.port, transport)) ?? ports?.get(portKey(0, transport));
    if (!found) {
      const routed = services?.route(target, { transport, clientAddress });
      if (routed === 'drop') throw new ConnectError('ETIMEDOUT', target);
      // Policies apply before the source is replaced.
      if (routed && routed !== 'refuse') return find(routed, clientAddress, transport, routed.source ?? source);
      if (!routed) dropUnlessAllowed(target, clientAddress, transport);
      const dial = ports || routed || transport !== 'TCP' ? undefined : outside?.(target);
      if (dial) return { listener: { connection: (near) => join(near, dial()) }, source };
      throw new ConnectError(
        ports || routed ? 'ECONNREFUSED' : isName(target.host) ? 'ENOTFOUND' : 'EHOSTUNREACH',
        target,
      );
    }
    if ('host' in found) return find(found, clientAddress, transport, source);
    dropUnlessAllowed(target, clientAddress, transport);
    if (found.isListening?.() === false) throw new ConnectError('ECONNREFUSED', target);
    return { listener: found, source };
  }

  function dropUnlessAllowed(target: NetworkTarget, source: string, protocol: Transport): void {
    const { host: destination, port } = target;
    if (filter && !filter.isAllowed({ source, destination, protocol, port }))
      throw new ConnectError('ETIMEDOUT', target);
  }

  /** Lets a client whose packets are dropped wait as long as it would for an answer; rethrows all other errors. */
  async function waitIfDropped(error: unknown, signal: AbortSignal | undefined): Promise<never> {
    if (filter && error instanceof ConnectError && error.code === 'ETIMEDOUT') {
      await after(filter.clock, connectTimeoutMs, signal);
    }
    throw error;
  }

  function viewFrom(address: string, localAddresses: readonly string[] = [address]): NetworkPeer {
    const local = localAddresses[0] ?? address;
    const locate = <T extends NetworkTarget>(target: T, transport: Transport = 'TCP'): T => {
      if (!isLoopback(target.host)) return target;
      const isOwn = interfaces.get(loopbackOf(local))?.has(portKey(target.port, transport));
      return { ...target, host: isOwn ? loopbackOf(local) : local };
    };
    const open = ({ listener, source }: Found): Duplex => {
      const [near, far] = duplexPair();
      if (listener.connection) listener.connection(far);
      else if (listener.http) httpServer.serve(listener.http, secured(far, listener.certificate), source);
      else far.destroy();
      return near;
    };
    return {
      address,
      listening: (transport) =>
        [...(interfaces.get(local)?.keys() ?? [])]
          .map(transportOf)
          .flatMap((each) => (each.transport === transport ? each.port : [])),
      resolve: (name) => services?.resolve(name) ?? [],
      records: (name, type) => services?.records(name, type) ?? [],
      async connect(target, { signal, transport = 'TCP' } = {}) {
        let found: Found;
        try {
          found = find(locate(target, transport), address, transport);
        } catch (error) {
          return waitIfDropped(error, signal);
        }
        return open(found);
      },
      async request(request, { signal } = {}) {
        let found: Found;
        try {
          found = find(locate(request), address);
        } catch (error) {
          return waitIfDropped(error, signal);
        }
        const { listener, source } = found;
        const { maxBodyBytes = defaultMaxBodyBytes } = request;
        if (!listener.http) return sendRequest(open(found), request, { maxBodyBytes, ...(signal && { signal }) });
        const answer = await listener.http(served(request, source));
        if (answer === 'hang') return untilAborted(signal);
        return answer.body.length > maxBodyBytes ? { ...answer, body: answer.body.subarray(0, maxBodyBytes) } : answer;
      },
      ask(target, message) {
        try {
          const { listener, source } = find(locate(target, 'UDP'), address, 'UDP');
          return listener.datagram?.(message, source);
        } catch (error) {
          if (error instanceof ConnectError && error.code === 'ETIMEDOUT') return undefined;
          throw error;
        }
      },
      async checkHealth(target, { signal } = {}) {
        let found: Found;
        try {
          found = find(locate(target), address);
        } catch (error) {
          return waitIfDropped(error, signal);
        }
        const health = found.listener.health?.(target.service ?? '');
        if (health === undefined) throw runtimeError('UNIMPLEMENTED', 'unknown service grpc.health.v1.Health');
        if (health === 'SERVICE_UNKNOWN') throw runtimeError('NOT_FOUND', 'unknown service');
        return health;
      },
    };
  }

  return {
    attach(address) {
      const ports: Ports = interfaces.get(address) ?? new Map();
      interfaces.set(address, ports);
      const own = new Set<PortKey>();
      const put = (key: PortKey, entry: Listener | NetworkTarget) => {
        ports.set(key, entry);
        own.add(key);
        return () => {
          own.delete(key);
          if (ports.get(key) === entry) ports.delete(key);
        };
      };
      return {
        listen: (port, listener) =>
          put(portKey(port, listener.datagram ? 'UDP' : (listener.transport ?? 'TCP')), listener),
        forward: (port, target, transport = 'TCP') => put(portKey(port, transport), target),
        detach() {
          for (const key of own) ports.delete(key);
          if (ports.size === 0) interfaces.delete(address);
        },
      };
    },
    viewFrom,
  };
}

/** Pipes two connections into each other until one of them ends. */
function join(near: Duplex, far: Duplex): void {
  // A broken connection closes its own end; the error needs no handling.
  const ignore = () => {};
  pipeline(near, far, ignore);
  pipeline(far, near, ignore);
}

function secured(connection: Duplex, certificate: SecureContext | undefined): Duplex {
  if (!certificate) return connection;
  return new TLSSocket(connection, { isServer: true, secureContext: certificate });
}

function isName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host);
}

const nothing = new Uint8Array();

function served(request: PeerRequest, clientAddress: string): ServedRequest {
  const mark = request.path.indexOf('?');
  const path = mark < 0 ? request.path : request.path.slice(0, mark);
  return {
    method: request.method ?? 'GET',
    path: path === '' ? '/' : path,
    // Lazy, because most servers use neither.
    get query() {
      return new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1));
    },
    get headers() {
      const headers: Record<string, string> = {};
      for (const [name, value] of request.headers ?? []) headers[name.toLowerCase()] = value;
      return headers;
    },
    body: request.body ?? nothing,
    clientAddress,
  };
}

/** Rejects when the client aborts; the timeout is the client's. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Response of Go servers to input that is not HTTP. */
const badRequest =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request';

type Handler = NonNullable<Listener['http']>;

/** HTTP server for raw connections such as forwarded ports; created on first use. */
function lazyHttpServer() {
  const handlers = new WeakMap<Duplex, { readonly handler: Handler; readonly clientAddress: string }>();
  let server: ReturnType<typeof createServer> | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const served = handlers.get(request.socket);
    if (!served) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [path = '/', query = ''] = (request.url ?? '/').split('?', 2);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
    const result = await served.handler({
      method: request.method ?? 'GET',
      path,
      query: new URLSearchParams(query),
      headers,
      body: Buffer.concat(chunks),
      clientAddress: served.clientAddress,
    });
    if (result === 'hang') return;
    response.writeHead(result.status, { ...result.headers, 'content-length': result.body.length });
    response.end(result.body);
  };
  return {
    serve(handler: Handler, connection: Duplex, clientAddress: string): void {
      server ??= Object.assign(
        createServer((request, response) => {
          answer(request, response).catch(() => request.socket.destroy());
        }).on('clientError', (_error, socket) => socket.end(badRequest)),
        // A client that has closed its sending side still receives the response.
        { httpAllowHalfOpen: true },
      );
      handlers.set(connection, { handler, clientAddress });
      server.emit('connection', connection);
    },
  };
}

/** Returns a plain-text response. */
export function textResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body: Buffer.from(text) };
}
