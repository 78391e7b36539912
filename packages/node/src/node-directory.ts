/**
 * In-process node directory: connects the API server to kubelets and Pods of this process without sockets. The
 * directory exists before the nodes, because the API server starts first.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { Backend, BackendRequest, BackendResponse, Location, Switched } from '@kruise/apiserver/connect/backend';
import { hostAndPort } from '@kruise/apiserver/connect/backend';
import type { NodeConnector } from '@kruise/apiserver/connect/node-connector';
import { connectOnMachine } from './cri/machine/network.ts';
import type { HostNetwork } from './cri/runtime.ts';
import type { KubeletHandler } from './kubelet/server/handler.ts';
import { inProcessBackend } from './kubelet/server/in-process.ts';

/** A node of this process. */
export type LocalNode = {
  readonly handler: KubeletHandler;
  /** The simulated network of the node and its Pods; absent for a node that is on the network of this machine. */
  readonly network?: HostNetwork;
  readonly address: string;
  readonly port: number;
};

/** Nodes of this process, with a fallback connector for all others. */
export type NodeDirectory = NodeConnector & {
  add(name: string, node: LocalNode): void;
  /** Removes a node; requests to it then go to the fallback connector and fail. */
  remove(name: string): void;
};

/** Creates an empty directory; other nodes are reached through `elsewhere`. */
export function createNodeDirectory(fallback: NodeConnector): NodeDirectory {
  const nodes = new Map<string, LocalNode>();
  const nodeOf = (name: string | undefined) => nodes.get(name ?? '');
  /** Returns the network that all simulated nodes share. */
  const simulatedNetwork = () => {
    for (const { network } of nodes.values()) if (network) return network;
    return undefined;
  };
  const hasRealNodes = () => nodes.values().some(({ network }) => network === undefined);

  return {
    add: (name, node) => void nodes.set(name, node),
    remove: (name) => void nodes.delete(name),
    kubelet(node, options) {
      const found = nodeOf(node.metadata.name);
      if (!found) return fallback.kubelet(node, options);
      return inProcessBackend(`https://${hostAndPort(found.address, found.port)}`, found.handler);
    },
    async proxy(node, target) {
      const found = nodeOf(node.metadata.name);
      if (!found) return fallback.proxy(node, target);
      const { scheme, port } = target;
      if (port === '' || port === String(found.port)) {
        return inProcessBackend(`https://${hostAndPort(found.address, found.port)}`, found.handler);
      }
      if (!found.network) return fallback.proxy(node, target);
      return networkBackend(found.network, {
        scheme: scheme === 'https' ? 'https' : 'http',
        host: found.address,
        port: Number(port),
      });
    },
    address(location) {
      const network = simulatedNetwork();
      if (!network) return fallback.address(location);
      return networkBackend(hasRealNodes() ? orMachine(network) : network, location);
    },
    async dial(target) {
      try {
        return await simulatedNetwork()?.connect(target);
      } catch (error) {
        // An address outside of the simulated network may exist on the real one.
        if ((error as NodeJS.ErrnoException).code === 'EHOSTUNREACH') return undefined;
        throw error;
      }
    },
    close: () => fallback.close(),
  };
}

/** Returns a network that reaches addresses outside of the simulated network through this machine. */
function orMachine(network: HostNetwork): Pick<HostNetwork, 'connect'> {
  return {
    async connect(target, options) {
      try {
        return await network.connect(target, options);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EHOSTUNREACH') throw error;
        return connectOnMachine(target, options);
      }
    },
  };
}

/** Returns a backend for an address in a node's network. */
function networkBackend(network: Pick<HostNetwork, 'connect'>, { scheme, host, port, serverName }: Location): Backend {
  async function dial(signal: AbortSignal): Promise<Duplex> {
    const socket = await network.connect({ host, port }, { signal });
    if (scheme === 'http') return socket;
    // TLS server names must not be IP addresses.
    const servername = serverName ?? (isIP(host) ? '' : host);
    return connectTls({ socket, servername, rejectUnauthorized: false });
  }
  const startRequest = async ({ method, path, headers, signal }: BackendRequest): Promise<ClientRequest> => {
    const socket = await dial(signal);
    return httpRequest({ createConnection: () => socket, host, port, method, path, headers, signal });
  };
  return {
    url: `${scheme}://${hostAndPort(host, port)}`,
    async send(request) {
      const outgoing = await startRequest(request);
      return new Promise<BackendResponse>((resolve, reject) => {
        outgoing.once('response', (response) => resolve(responseOf(response)));
        outgoing.once('error', reject);
        if (request.body) request.body.pipe(outgoing);
        else outgoing.end();
      });
    },
    async upgrade(request) {
      const outgoing = await startRequest(request);
      return new Promise<Switched | BackendResponse>((resolve, reject) => {
        outgoing.once('response', (response) => resolve(responseOf(response)));
        outgoing.once('upgrade', ({ headers, statusMessage = '' }, socket, head) =>
          resolve({ code: 101, reason: statusMessage, headers, socket, head }),
        );
        outgoing.once('error', reject);
        outgoing.end();
      });
    },
  };
}

function responseOf(response: IncomingMessage): BackendResponse {
  const { statusCode = 0, statusMessage = '', headers } = response;
  return { code: statusCode, reason: statusMessage, headers, body: response };
}
