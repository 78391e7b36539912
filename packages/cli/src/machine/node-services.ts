/** Services that run beside the kubelet of a real node, in its process: Pod network, kube-proxy and cluster DNS. */
import type { Caches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import type { MetricRegistry } from '@kruise/client/metrics';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';

export type NodeServiceOptions = {
  readonly nodeName: string;
  /** IP address of the node. */
  readonly address: string;
  /** Informer caches of the process to share. */
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  /** CIDR ranges of Pod IPs of the whole cluster. */
  readonly clusterRanges: readonly string[];
  /** Address of the cluster DNS Service. */
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Directory of CNI configurations that the runtime watches. */
  readonly cniConfiguration: string;
  /** Directory of the addresses that the Pod network allocates. */
  readonly addresses: string;
};

/** A service of a node: runs until the signal is aborted. */
export type NodeService = {
  readonly name: string;
  run(options: NodeServiceOptions, signal: AbortSignal): Promise<void>;
};

/** Runs services of a node until the signal is aborted. A service that fails is logged and ends alone. */
export async function runNodeServices(
  services: readonly NodeService[],
  options: NodeServiceOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log, nodeName } = options;
  await Promise.all(
    services.map(async ({ name, run }) => {
      try {
        await run(options, signal);
      } catch (error) {
        if (!signal.aborted) log.error({ node: nodeName, service: name, error }, 'node service failed');
      }
    }),
  );
}
