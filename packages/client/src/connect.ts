import type { Clock } from '@kruise/values/clock';
import { type Client, createClient } from './client.ts';
import type { Credentials } from './credentials.ts';
import { createHttpTransport, type HttpTransport, type HttpTransportOptions } from './http-transport.ts';
import { inClusterServer, isInCluster } from './in-cluster.ts';
import {
  type ChosenServer,
  chooseServer,
  type KubeconfigChoice,
  type KubeconfigPlace,
  loadKubeconfig,
} from './kubeconfig.ts';

/** A client of a cluster and its default namespace. */
export type Connected = {
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
export type ConnectOptions = Omit<KubeconfigChoice, 'clock'> &
  KubeconfigPlace &
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
export function connect(clock: Clock, options: ConnectOptions = {}): Connected {
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
  const clientBy = (transportOptions: HttpTransportOptions) => {
    const transport = createHttpTransport(transportOptions);
    transports.push(transport);
    return createClient(transport);
  };
  const { impersonate: _, ...asOneself } = common;
  return {
    client: clientBy(common),
    namespace,
    ...(server.authorities === undefined ? {} : { authorities: server.authorities }),
    as: (credentials, more) => clientBy({ ...asOneself, credentials, ...more }),
    close() {
      for (const transport of transports) transport.close();
    },
  };
}

function serverOf(clock: Clock, options: ConnectOptions): ChosenServer {
  const config = loadKubeconfig(options);
  const isEmpty = config.clusters.size === 0 && config.contexts.size === 0;
  if (isEmpty && options.path === undefined && isInCluster(options)) return inClusterServer(clock, options);
  return chooseServer(config, { ...options, clock });
}
