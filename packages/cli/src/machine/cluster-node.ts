/** The real node of `kruise up`: this machine, in the process of the API server. */
import { mkdirSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import type { Machine, MachineParts } from '@kruise/cluster/components';
import { machineAddress } from '@kruise/node/kubelet/node/machine';
import { sharedSources } from '@kruise/node/kubelet/pods/sources';
import type { ClusterParts } from '../cluster-command.ts';
import { clusterDns, clusterDomain, clusterRanges } from './cluster-network.ts';
import { machineNodeDirectory } from './directory.ts';
import { dnsService } from './dns-service.ts';
import { requireNetwork } from './network-claim.ts';
import { runNode } from './node.ts';
import { podNetworkService, proxyService } from './node-network.ts';
import { openRuntime } from './runtime.ts';
import type { RuntimeChoice } from './runtime-choice.ts';

export type MachineSettings = {
  readonly choice: Exclude<RuntimeChoice, { readonly kind: 'simulated' }>;
  readonly sandboxImage: string;
  readonly registryMirror?: string;
};

/** The opened runtime of this machine. */
export type ClusterNode = {
  /** Starts the kubelet; resolves once the Node is registered. */
  start(parts: MachineParts, until: AbortSignal): Promise<Machine>;
  /** Stops a runtime that was started for this node. Containers keep running. */
  stop(): Promise<void>;
};

/** Finds or starts the container runtime of this machine. */
export async function openClusterNode(
  settings: MachineSettings,
  { directory, pki, address: server, nodeDirectory }: ClusterParts,
): Promise<ClusterNode> {
  const address = nodeAddress(server.advertised);
  mkdirSync(machineNodeDirectory(directory.path).path, { recursive: true, mode: 0o711 });
  const runtime = await openRuntime({ ...settings, directory: directory.path });
  const claim = await requireNetwork().catch(async (error: unknown) => {
    await runtime.stop();
    throw error;
  });
  return {
    async start(parts, until) {
      const name = hostname().toLowerCase();
      const { client, ...rest } = { ...parts, client: parts.clientOf(name) };
      const hosts = [name, address];
      const serving = pki.ca.issue({
        subject: { commonName: `system:node:${name}`, organizations: ['system:nodes'] },
        usages: ['server auth'],
        hosts,
        nowMs: rest.clock.now(),
      });
      const node = await runNode(
        {
          ...rest,
          client,
          accessClient: parts.reader,
          name,
          network: { clusterRanges, clusterDns, clusterDomain },
          address,
          runtime,
          services: [
            podNetworkService,
            proxyService(parts.userClient('system:kube-proxy')),
            dnsService({ admin: parts.reader, dns: parts.accountClient('kruise-dns') }),
          ],
          sources: sharedSources(parts.caches, until).of(name, until),
          serving: { ...serving, clientAuthority: pki.ca.certificate },
          data: directory.path,
          gates: parts.gates.kubelet,
        },
        until,
      );
      nodeDirectory.add(name, { handler: node.kubelet.handler, address, port: node.port });
      until.addEventListener('abort', () => nodeDirectory.remove(name), { once: true });
      parts.accompany?.({ name, runtime: node.runtime }, until);
      await node.kubelet.registered;
      return { name, runtime: node.runtime, stopped: node.stopped };
    },
    async stop() {
      await runtime.stop();
      claim.release();
    },
  };
}

/** Returns the address of this machine that Pods and other nodes reach. */
function nodeAddress(advertised: string): string {
  const isOwn = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === advertised));
  const found = isOwn ? advertised : machineAddress();
  if (found === undefined) {
    throw new Error(
      'this machine has no network address that Pods could reach: a real node needs one besides loopback',
    );
  }
  return found;
}
