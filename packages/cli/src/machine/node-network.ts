/** Network of a real node: Pod network, NetworkPolicy and kube-proxy, and their removal. */
import type { Node } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import { createMetrics } from '@kruise/client/metrics';
import { defaultHostPaths, systemFiles } from '@kruise/network/cni/host-files';
import { removePodNetwork, runPodNetwork } from '@kruise/network/cni/run';
import { systemCommands } from '@kruise/network/host/run-command';
import { removeNetworkPolicies, runNetworkPolicies } from '@kruise/network/policy/run';
import { defaultProxyConfiguration } from '@kruise/network/proxy/configuration';
import { removeProxyRules, runKubeProxy } from '@kruise/network/proxy/kube-proxy';
import { localMachine } from '@kruise/network/proxy/machine';
import type { RuntimeRecord } from './directory.ts';
import { claimNetwork, networkNamespace } from './network-claim.ts';
import type { NodeService } from './node-services.ts';
import { cniDirectories } from './requirements.ts';

/** Pod network and NetworkPolicy: the runtime gets its CNI configuration as soon as policies are enforced. */
export const podNetworkService: NodeService = {
  name: 'pod-network',
  async run({ nodeName, caches, clock, log, metrics, cniConfiguration, addresses }, signal) {
    const common = { nodeName, caches, clock, log, metrics, run: systemCommands() };
    const policies = runNetworkPolicies(common, signal);
    const podNetwork = runPodNetwork(
      {
        ...common,
        files: hostFiles(cniConfiguration),
        leaseDirectory: addresses,
        isRouted: hasRealPods,
        isReady: policies.hasSynced,
      },
      signal,
    );
    await Promise.all([policies.stopped, podNetwork.stopped]);
  },
};

/** kube-proxy with the permissions of a client. The limits of the machine's connection tracking are left alone. */
export function proxyService(client: Client): NodeService {
  return {
    name: 'kube-proxy',
    run: ({ nodeName, clock, random, log, clusterRanges }, signal) =>
      runKubeProxy(
        {
          client,
          clock,
          random,
          log,
          nodeName,
          machine: localMachine(),
          registry: createMetrics(),
          configuration: {
            ...defaultProxyConfiguration,
            clusterCIDR: clusterRanges.join(),
            // The process is also the kubelet, and with `kruise up` the API server.
            oomScoreAdj: undefined,
            conntrack: {
              maxPerCore: 0,
              min: 0,
              tcpEstablishedTimeoutMs: 0,
              tcpCloseWaitTimeoutMs: 0,
              tcpBeLiberal: false,
              udpTimeoutMs: 0,
              udpStreamTimeoutMs: 0,
            },
          },
          onRunning: (running) => log.info({ node: nodeName, ...running }, 'kube-proxy started'),
        },
        signal,
      ),
  };
}

/** Returns whether packets can reach the Pods of a node: those of simulated nodes exist in one process only. */
export function hasRealPods({ status }: Node): boolean {
  return status?.nodeInfo?.containerRuntimeVersion?.startsWith('simulated://') !== true;
}

/**
 * Removes the rules and routes of a stopped node, and its CNI configuration. Rules stay where another node has taken
 * them over, or where this process cannot see them: in another network namespace.
 */
export async function removeNodeNetwork(
  record: Pick<RuntimeRecord, 'cniConfiguration' | 'networkNamespace'>,
): Promise<void> {
  const files = hostFiles(record.cniConfiguration);
  await files.removeConfiguration();
  if (record.networkNamespace !== networkNamespace()) return;
  const claim = await claimNetwork();
  if (!claim) return;
  try {
    const run = systemCommands();
    await removeProxyRules(localMachine());
    await removeNetworkPolicies(run);
    await removePodNetwork(run, files);
  } finally {
    claim.release();
  }
}

function hostFiles(configurations: string) {
  return systemFiles({ ...defaultHostPaths, configurations, plugins: cniDirectories });
}
