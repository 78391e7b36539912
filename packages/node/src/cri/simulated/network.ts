/**
 * Network shared by all simulated nodes of a process: listeners by address, and connections without sockets. HTTP
 * between simulated programs is a function call.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex, duplexPair, pipeline } from 'node:stream';
import { type SecureContext, TLSSocket } from 'node:tls';
import type { HostNetwork, HttpResponse, NetworkTarget } from '../runtime.ts';
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
export type NetworkPeer = Omit<HostNetwork, 'request'> & {
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

export type Transport = 'TCP' | 'UDP';

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

export type SimulatedNetworkOptions = {
  readonly services?: ServiceRoutes;
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

/** Failed connection, with Go's message. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly code: 'ECONNREFUSED' | 'EHOSTUNREACH' | 'ENOTFOUND' | 'ETIMEDOUT';
  readonly address: string;
  readonly port: number;

  constructor(code: ConnectError['code'], { host, port }: NetworkTarget) {
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    super(
      code === 'ENOTFOUND'
        ? `dial tcp: lookup ${host}: no such host`
        : code === 'ETIMEDOUT'
          ? `dial tcp ${address}: i/o timeout`
          : `dial tcp ${address}: connect: ${code === 'ECONNREFUSED' ? 'connection refused' : 'no route to host'}`,
    );
    this.code = code;
    this.address = host;
    this.port = port;
  }
}

type PortKey = number | `udp/${number}`;

function portKey(port: number, transport: Transport): PortKey {
  return transport === 'UDP' ? `udp/${port}` : port;
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

export function createSimulatedNetwork({ services, outside }: SimulatedNetworkOptions = {}): SimulatedNetwork {
  type Ports = Map<PortKey, Listener | NetworkTarget>;
  const interfaces = new Map<string, Ports>();
  const httpServer = lazyHttpServer();

  /** A listener, and the address of the client that it sees. */
  type Found = { readonly listener: Listener; readonly source: string };

  function find(target: NetworkTarget, clientAddress: string, transport: Transport = 'TCP'): Found {
    const ports = interfaces.get(target.host);
    // A listener on port 0 receives every port without another listener.
    const found = ports?.get(portKey(target.port, transport)) ?? ports?.get(portKey(0, transport));
    if (!found) {
      const routed = services?.route(target, { transport, clientAddress });
      // A dropped packet has no reply. The client gives up at once, because its timeout has no other effect.
      if (routed === 'drop') throw new ConnectError('ETIMEDOUT', target);
      if (routed && routed !== 'refuse') return find(routed, routed.source ?? clientAddress, transport);
      const dial = ports || routed || transport === 'UDP' ? undefined : outside?.(target);
      if (dial) return { listener: { connection: (near) => join(near, dial()) }, source: clientAddress };
      throw new ConnectError(
        ports || routed ? 'ECONNREFUSED' : isName(target.host) ? 'ENOTFOUND' : 'EHOSTUNREACH',
        target,
      );
    }
    if ('host' in found) return find(found, clientAddress, transport);
    if (found.isListening?.() === false) throw new ConnectError('ECONNREFUSED', target);
    return { listener: found, source: clientAddress };
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
        [...(interfaces.get(local)?.keys() ?? [])].flatMap((key) => {
          const isUdp = typeof key === 'string';
          return isUdp === (transport === 'UDP') ? Number(isUdp ? key.slice('udp/'.length) : key) : [];
        }),
      resolve: (name) => services?.resolve(name) ?? [],
      records: (name, type) => services?.records(name, type) ?? [],
      async connect(target) {
        return open(find(locate(target), address));
      },
      async request(request, { signal } = {}) {
        const found = find(locate(request), address);
        const { listener, source } = found;
        const { maxBodyBytes = defaultMaxBodyBytes } = request;
        if (!listener.http) return sendRequest(open(found), request, { maxBodyBytes, ...(signal && { signal }) });
        const answer = await listener.http(served(request, source));
        if (answer === 'hang') return untilAborted(signal);
        return answer.body.length > maxBodyBytes ? { ...answer, body: answer.body.subarray(0, maxBodyBytes) } : answer;
      },
      ask(target, message) {
        const { listener, source } = find(locate(target, 'UDP'), address, 'UDP');
        return listener.datagram?.(message, source);
      },
      async checkHealth(target) {
        const health = find(locate(target), address).listener.health?.(target.service ?? '');
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
        listen: (port, listener) => put(portKey(port, listener.datagram ? 'UDP' : 'TCP'), listener),
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
