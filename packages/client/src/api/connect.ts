import type { Clock } from '@kruise/values/clock';
import { type Client, createClient } from './client.ts';
import type { Credentials } from './credentials.ts';
import { createHttpTransport, type HttpTransport, type HttpTransportOptions } from './http-transport.ts';
import { inClusterServer, isInCluster } from './in-cluster.ts';
import {
  type KubeconfigLocation,
  type KubeconfigOverrides,
  loadKubeconfig,
  type ResolvedServer,
  resolveServer,
} from './kubeconfig.ts';

/** A client of a cluster and its default namespace. */
export type ClusterConnection = {
  readonly client: Client;
  readonly namespace: string;
  /** CA bundle of the server in PEM, if it is not the trust store of the system. */
  readonly authorities?: string;
  /** Returns a client of the same server that uses other credentials. */
  as(credentials: Credentials, options?: Pick<HttpTransportOptions, 'userAgent'>): Client;
  /** Closes every connection and aborts the requests in flight. */
  close(): void;
};

/** Options of a connection. Everything that is omitted is resolved as kubectl does. */
export type ConnectOptions = Omit<KubeconfigOverrides, 'clock'> &
  KubeconfigLocation &
  Pick<HttpTransportOptions, 'userAgent' | 'connectTimeoutMs' | 'requestTimeoutMs'>;

/**
 * Connects to the cluster that kubectl would use: the current context of the kubeconfig or, in a Pod without a
 * kubeconfig, the in-cluster configuration.
 *
 * ```ts
 * const { client, close } = connect(systemClock, { userAgent: 'reporter/1.0' });
 * for (const { metadata } of (await client.list(pod)).items) console.log(metadata.name);
 * close();
 * ```
 */
export function connect(clock: Clock, options: ConnectOptions = {}): ClusterConnection {
  const { namespace, ...server } = serverOf(clock, options);
  const { userAgent, connectTimeoutMs, requestTimeoutMs } = options;
  const common = {
    ...server,
    clock,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  };
  const transports: HttpTransport[] = [];
  const createClientFor = (transportOptions: HttpTransportOptions) => {
    const transport = createHttpTransport(transportOptions);
    transports.push(transport);
    return createClient(transport);
  };
  const { impersonate: _, ...withoutImpersonation } = common;
  return {
    client: createClientFor(common),
    namespace,
    ...(server.authorities === undefined ? {} : { authorities: server.authorities }),
    as: (credentials, more) => createClientFor({ ...withoutImpersonation, credentials, ...more }),
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

function serverOf(clock: Clock, options: ConnectOptions): ResolvedServer {
  const config = loadKubeconfig(options);
  const isEmpty = config.clusters.size === 0 && config.contexts.size === 0;
  if (isEmpty && options.path === undefined && isInCluster(options)) return inClusterServer(clock, options);
  return resolveServer(config, { ...options, clock });
}
