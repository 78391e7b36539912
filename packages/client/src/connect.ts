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

/** A client of a cluster, and the namespace meant where none is named. */
export type Connected = {
  readonly client: Client;
  readonly namespace: string;
  /** The authorities that vouch for the server, in PEM, where they are not the machine's own. */
  readonly authorities?: string;
  /** A client of the same server that shows other credentials. */
  as(credentials: Credentials, options?: Pick<HttpTransportOptions, 'userAgent'>): Client;
  /** Ends every connection, and with it whatever is under way. */
  close(): void;
};

/** What to connect to; everything that is not said is found as kubectl finds it. */
export type ConnectOptions = Omit<KubeconfigChoice, 'clock'> &
  KubeconfigPlace &
  Pick<HttpTransportOptions, 'userAgent' | 'connectTimeoutMs' | 'requestTimeoutMs'>;

/**
 * A client of the cluster that kubectl would use here: the kubeconfig's current one or, in a Pod without a kubeconfig,
 * the Pod's own.
 *
 *     const { client, close } = connect(systemClock, { userAgent: 'reporter/1.0' });
 *     for (const { metadata } of (await client.list(pod)).items) console.log(metadata.name);
 *     close();
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
