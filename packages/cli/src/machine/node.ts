/** A real node: its kubelet, the kubelet API, the Pod network and the services of every node. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { Node } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { Caches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import { defaultLogLimits } from '@kruise/node/kubelet/eviction/log-rotation';
import type { KubeletOptions } from '@kruise/node/kubelet/kubelet-options';
import type { Sources } from '@kruise/node/kubelet/pods/sources';
import { delegatedAccess } from '@kruise/node/kubelet/server/access';
import { type ListeningKubelet, type ListenOptions, listenKubelet } from '@kruise/node/kubelet/server/listen';
import { type MachineNode, startMachineNode } from '@kruise/node/machine-node';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { machineNodeDirectory } from './directory.ts';
import { type NodeService, type NodeServiceOptions, runNodeServices } from './node-services.ts';
import { writePodNetwork } from './pod-network.ts';
import type { MachineRuntime } from './runtime.ts';

export type NodeParts = {
  /** A client with the permissions of the node. */
  readonly client: Client;
  /** A client with the permissions of the services of nodes: kube-proxy and DNS. */
  readonly serviceClient: Client;
  readonly caches: Caches;
  readonly sources: Sources;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly name: string;
  readonly address: string;
  readonly runtime: MachineRuntime;
  readonly serving: Pick<ListenOptions, 'certificate' | 'key' | 'clientAuthority'>;
  readonly services: readonly NodeService[];
  /** Data directory of the node. */
  readonly data: string;
  readonly network: Pick<NodeServiceOptions, 'clusterRanges' | 'clusterDns' | 'clusterDomain'>;
} & Pick<KubeletOptions, 'gates' | 'labels' | 'taints'>;

export type RunningNode = MachineNode & {
  /** Port of the kubelet API. */
  readonly port: number;
  readonly listening: ListeningKubelet;
  /** Resolves when everything has stopped after the signal was aborted. */
  readonly stopped: Promise<void>;
};

const kubeletPort = 10250;
const maxPods = 110;
const defaultMtu = 1500;

/** Runs a real node until the signal is aborted. Containers keep running. */
export async function runNode(parts: NodeParts, signal: AbortSignal): Promise<RunningNode> {
  const { client, clock, random, log, name, address, runtime, data, sources } = parts;
  const directory = machineNodeDirectory(data);
  for (const each of [directory.kubelet, directory.podLogs, directory.containerLogs]) {
    mkdirSync(each, { recursive: true });
  }
  const metrics = createMetrics();
  const configurePodNetwork = podNetworkOf(parts);
  const started = Promise.withResolvers<MachineNode>();
  const access = delegatedAccess(parts.serviceClient, clock, name);
  const handler = {
    send: async (...args: Parameters<MachineNode['kubelet']['handler']['send']>) =>
      (await started.promise).kubelet.handler.send(...args),
    upgrade: async (...args: Parameters<MachineNode['kubelet']['handler']['upgrade']>) =>
      (await started.promise).kubelet.handler.upgrade(...args),
  };
  const listen = (port: number) => listenKubelet(handler, { host: address, port, ...parts.serving, access }, signal);
  // The usual port belongs to another kubelet if several run on one machine.
  const listening = await listen(kubeletPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return listen(0);
  });
  const node = await startMachineNode(
    {
      client,
      clock,
      random,
      log,
      metrics,
      sources: {
        ...sources,
        watchNode: (handler) =>
          sources.watchNode((found) => {
            handler(found);
            configurePodNetwork(found);
          }),
      },
      nodeName: name,
      address,
      port: listening.port,
      endpoint: runtime.endpoint,
      maxPods,
      logLimits: defaultLogLimits,
      settings: {
        rootDirectory: directory.kubelet,
        podLogsDirectory: directory.podLogs,
        containerLogsDirectory: directory.containerLogs,
        cgroupRoot: directory.cgroupRoot,
        clusterDns: parts.network.clusterDns,
        clusterDomain: parts.network.clusterDomain,
      },
      ...(parts.gates ? { gates: parts.gates } : {}),
      ...(parts.labels ? { labels: parts.labels } : {}),
      ...(parts.taints ? { taints: parts.taints } : {}),
    },
    signal,
  );
  started.resolve(node);
  const services = runNodeServices(
    parts.services,
    {
      nodeName: name,
      address,
      client: parts.serviceClient,
      caches: parts.caches,
      clock,
      random,
      log,
      metrics,
      ...parts.network,
      cniConfiguration: runtime.cniConfiguration,
      addresses: directory.addresses,
    },
    signal,
  );
  const stopped = Promise.all([node.kubelet.stopped, services]).then(() => {});
  return { ...node, port: listening.port, listening, stopped };
}

/** Returns a function that configures the Pod network as soon as the node has a Pod CIDR. */
function podNetworkOf({ runtime, data, address, log, name }: NodeParts): (node: Node | undefined) => void {
  const { addresses: allocations } = machineNodeDirectory(data);
  let configured: string | undefined;
  return (node) => {
    const { podCIDR: podRange } = node?.spec ?? {};
    if (!podRange || podRange === configured) return;
    configured = podRange;
    const settings = { podRange, allocations, mtu: mtuOf(address), hasFirewall: runtime.hasFirewall };
    const isWritten = writePodNetwork(runtime.cniConfiguration, settings);
    const facts = { node: name, podCIDR: podRange, directory: runtime.cniConfiguration };
    if (isWritten) log.info(facts, 'pod network configured');
    else log.warn(facts, 'pod network left alone: another network is configured');
  };
}

/** Returns the MTU of the interface with an address. */
function mtuOf(address: string): number {
  const found = Object.entries(networkInterfaces()).find(([, all]) => all?.some((each) => each.address === address));
  const file = `/sys/class/net/${found?.[0]}/mtu`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : defaultMtu;
}
