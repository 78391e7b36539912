import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { node as nodeKind } from '@kruise/api/core/node';
import type { Core } from '@kruise/apiserver/core';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { serverItself } from '@kruise/apiserver/user';
import { createClient } from '@kruise/client/client';
import { jsonLog } from '@kruise/client/log';
import { type ComponentName, componentNames } from '@kruise/cluster/component-names';
import { type Components, registerManagerWebhooks, startComponents } from '@kruise/cluster/components';
import type { ClusterGates } from '@kruise/cluster/feature-gates';
import { installKruiseKinds } from '@kruise/cluster/kruise-kinds';
import { openProtectionLog } from '@kruise/manager/bootstrap/protection-log';
import { systemClock } from '@kruise/values/system';
import type { ClusterParts, RunningComponents } from './cluster-command.ts';
import { type ComponentEndpoints, componentEndpoints } from './component-endpoints.ts';
import { controlSocket, handleNodeRequest, type ProcessState, serveControl } from './control.ts';
import { clusterRanges, serviceRanges } from './machine/cluster-network.ts';
import type { MachineSettings } from './machine/cluster-node.ts';
import { loadPersistedNodes, type PersistedNodes } from './persisted-nodes.ts';
import { localHost } from './server-address.ts';

/** Configuration of the components that run beside the API server. */
export type Plan = {
  readonly without: readonly ComponentName[];
  readonly gates: ClusterGates;
  readonly nodes: number;
  readonly bind: string;
  readonly isInMemory: boolean;
  /** True if other API servers may use the same store. */
  readonly isShared: boolean;
  /** Settings of the real node that this machine is; none if all nodes are simulated. */
  readonly machine?: MachineSettings;
};

/** Opens the container runtime of this machine. The code is loaded only for clusters with a real node. */
async function openMachine(settings: MachineSettings, parts: ClusterParts) {
  const { openClusterNode } = await import('./machine/cluster-node.ts');
  return parts.steps.step('Container runtime', () => openClusterNode(settings, parts));
}

/** Starts the components that turn an API server into a cluster: Kruise's CRDs, the controllers and the nodes. */
export async function startClusterComponents(
  { without, gates, nodes, ...plan }: Plan,
  parts: ClusterParts,
): Promise<RunningComponents> {
  const { directory, server, pki, address, nodeDirectory, webhooks, servers, steps } = parts;
  await steps.step('Kruise kinds', async () => {
    if (!without.includes('manager')) await registerManagerWebhooks(server.core, gates);
    await installKruiseKinds(server.core);
  });
  const kept = loadPersistedNodes(directory, { isPersistent: !plan.isInMemory });
  const endpoints = componentEndpoints(createClient(inProcessTransport(server.core, serverItself, 'kruise')), {
    host: localHost(plan.bind),
    tls: pki.server,
  });
  const logFile = createWriteStream(directory.log, { flags: 'a', mode: 0o600 });
  const machine = plan.machine && (await openMachine(plan.machine, parts));
  const components = await startComponents({
    core: server.core,
    log: jsonLog(systemClock.now, (line) => logFile.write(line)),
    host: hostname(),
    webhooks,
    servers,
    nodes: {
      count: nodes,
      more: kept.all(),
      directory: nodeDirectory,
      outside: ({ host, port }) =>
        host === address.advertised && port === address.port ? () => connect(port, localHost(plan.bind)) : undefined,
    },
    gates,
    ...(machine ? { startMachine: machine.start } : {}),
    settings: {
      rootAuthorities: pki.ca.certificate,
      signer: pki.ca,
      serviceAccountKey: await pki.serviceAccountKey,
      clusterRanges,
      serviceRanges,
      // With etcd, other API servers may exist. They must observe the deletion first.
      ...(plan.isShared ? {} : { namespaceDeletionDelaySeconds: 0 }),
    },
    without,
    registryOf: endpoints.registryOf,
    onProtected: openProtectionLog(directory.path),
    // Other controllers may use the same etcd.
    ...(plan.isShared ? { leaderElection: { identity: `${hostname()}_${randomUUID()}` } } : {}),
    step: steps.step,
  });
  await endpoints.serve();
  const control = await openControl(parts, { components, kept, without, endpoints });
  return {
    control: control.socket,
    async stop() {
      control.close();
      await components.stop();
      await machine?.stop();
      await endpoints.close();
      await new Promise<void>((resolve) => logFile.end(resolve));
    },
  };
}

type Started = {
  readonly components: Components;
  readonly kept: PersistedNodes;
  readonly without: readonly ComponentName[];
  readonly endpoints: ComponentEndpoints;
};

/** Serves control requests for the status of the cluster and its nodes. */
async function openControl({ directory, server }: ClusterParts, { components, kept, without, endpoints }: Started) {
  const socket = controlSocket(directory);
  const client = createClient(inProcessTransport(server.core, serverItself, 'kruise'));
  const management = { nodes: components.nodes, kept, client };
  const { close } = await serveControl(socket, async (question) => {
    if (question.ask !== 'status') return handleNodeRequest(management, question);
    const { user, system } = process.cpuUsage();
    const state: ProcessState = {
      components: ['apiserver', ...componentNames.filter((name) => !without.includes(name))],
      endpoints: endpoints.urls(),
      nodes: components.caches.informer(nodeKind).list().length,
      objects: countObjects(server.core),
      memoryBytes: process.memoryUsage.rss(),
      processorSeconds: (user + system) / 1e6,
      stuck: components.stuckKeys.list(),
    };
    return state;
  });
  return { socket, close };
}

/** Returns the number of stored objects. A resource with several served versions counts once. */
function countObjects({ resources }: Core): number {
  const caches = new Set([...resources.all()].map(({ storage }) => storage.cache));
  return [...caches].reduce((sum, { size }) => sum + size, 0);
}
