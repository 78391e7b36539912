/** A real node: its kubelet, the kubelet API, and the services of every node. */
import { mkdirSync } from 'node:fs';
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
import type { MachineRuntime } from './runtime.ts';

export type NodeParts = {
  /** A client with the permissions of the node. */
  readonly client: Client;
  /** A client that may review the tokens and the access of callers of the kubelet API. */
  readonly accessClient: Client;
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

/** Runs a real node until the signal is aborted. Containers keep running. */
export async function runNode(parts: NodeParts, signal: AbortSignal): Promise<RunningNode> {
  const { client, clock, random, log, name, address, runtime, data, sources } = parts;
  const directory = machineNodeDirectory(data);
  for (const each of [directory.kubelet, directory.podLogs, directory.containerLogs]) {
    mkdirSync(each, { recursive: true });
  }
  const metrics = createMetrics();
  const started = Promise.withResolvers<MachineNode>();
  const access = delegatedAccess(parts.accessClient, clock, name);
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
      sources,
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
