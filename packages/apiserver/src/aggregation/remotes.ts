import type { Clock } from '@kruise/values/clock';
import { type Backend, createNetwork } from '../connect/backend.ts';
import { dialingAgent } from '../connect/dialing-agent.ts';
import type { Dial } from '../connect/node-connector.ts';
import type { User } from '../user.ts';
import type { ServiceResolver } from '../webhook/service-resolver.ts';
import type { Aggregated } from './aggregated.ts';
import { backendOf, type InProcessServers } from './in-process-servers.ts';

/**
 * Client certificate of the front proxy. Aggregated servers trust the identity headers of requests with this
 * certificate.
 */
export type FrontProxyClient = { readonly certificate: string; readonly key: string };

/** Backends of APIServices. */
export type Remotes = {
  /** Returns the backend of an aggregated version. Throws if the Service cannot be resolved. */
  at(aggregated: Aggregated): Backend;
  close(): void;
};

export type RemotesOptions = {
  readonly resolve: ServiceResolver;
  readonly servers: InProcessServers;
  readonly client: FrontProxyClient | undefined;
  /** Connects to Services whose network is not that of this machine. */
  readonly dial: Dial | undefined;
};

export function createRemotes(clock: Clock, { resolve, servers, client, dial }: RemotesOptions): Remotes {
  const networks = new Map<string, ReturnType<typeof createNetwork>>();

  function networkOf({ authority, insecure }: Aggregated): ReturnType<typeof createNetwork> {
    const id = insecure ? 'any' : (authority ?? 'system');
    let network = networks.get(id);
    if (!network) {
      const trust = insecure ? {} : authority === undefined ? { trustsSystem: true } : { authority };
      network = createNetwork(clock, { ...client, ...trust }, dial && ((options) => dialingAgent(dial, options)));
      networks.set(id, network);
    }
    return network;
  }

  return {
    at(aggregated) {
      const { namespace, name } = aggregated.service;
      const inProcessServer = servers.get(`${namespace}/${name}`);
      if (inProcessServer) return backendOf(inProcessServer, `${name}.${namespace}.svc`);
      const place = resolve(aggregated.service);
      return networkOf(aggregated).at({ scheme: 'https', ...place, serverName: `${name}.${namespace}.svc` });
    },
    close() {
      for (const network of networks.values()) network.close();
    },
  };
}

/** Returns the front-proxy headers that carry the identity of a user. */
export function identityHeaders({ username, uid, groups, extra = {} }: User): { [name: string]: string | string[] } {
  return {
    'x-remote-user': username,
    ...(uid ? { 'x-remote-uid': uid } : {}),
    'x-remote-group': [...groups],
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [
        `x-remote-extra-${encodeURIComponent(key).toLowerCase()}`,
        [...values],
      ]),
    ),
  };
}
