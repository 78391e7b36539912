import { createWriteStream } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import type { Core } from '@kruise/apiserver/core';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { serverItself } from '@kruise/apiserver/user';
import { createClient } from '@kruise/client/client';
import { jsonLog } from '@kruise/client/log';
import { type ComponentName, componentNames } from '@kruise/cluster/component-names';
import { type Components, startComponents } from '@kruise/cluster/components';
import { type ClusterGates, clusterGates } from '@kruise/cluster/feature-gates';
import { installKruiseKinds, kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import { systemClock } from '@kruise/values/system';
import { type ClusterOptions, type ClusterParts, type Rest, runCluster } from '../cluster-command.ts';
import { answerAboutNodes, controlSocket, type ProcessState, serveControl } from '../control.ts';
import { type KeptNodes, keptNodes } from '../kept-nodes.ts';
import type { Prepared } from '../prepare.ts';
import { localHost } from '../server-address.ts';

export type UpOptions = ClusterOptions & {
  /** What someone else is to do. */
  readonly without?: readonly string[];
  readonly featureGates?: string;
  readonly nodes?: string;
};

/** What the options say, read. */
type Plan = {
  readonly without: readonly ComponentName[];
  readonly gates: ClusterGates;
  readonly nodes: number;
  readonly options: UpOptions;
};

export function up(options: UpOptions, prepared: Prepared): Promise<number> {
  const plan: Plan = {
    without: componentsOf(options.without),
    gates: clusterGates(options.featureGates ?? ''),
    nodes: nodeCount(options.nodes),
    options,
  };
  return runCluster(
    {
      name: 'up',
      // Where someone else's kruise-manager runs, its webhook converts, as its definitions say.
      ...(plan.without.includes('manager') ? {} : { converterOf: kruiseConverterOf }),
      startRest: (parts) => startRest(plan, parts),
      hint: 'Try: kubectl get nodes; kubectl create deployment web --image=nginx',
    },
    options,
    prepared,
  );
}

async function startRest({ without, gates, nodes, options }: Plan, parts: ClusterParts): Promise<Rest> {
  const { directory, server, pki, address, nodeDirectory, webhooks, servers, steps } = parts;
  await steps.step('Kruise kinds', () => installKruiseKinds(server.core));
  const kept = keptNodes(directory, { isKept: !options.memory });
  const logFile = createWriteStream(directory.log, { flags: 'a', mode: 0o600 });
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
        host === address.advertised && port === address.port ? () => connect(port, localHost(options.bind)) : undefined,
    },
    gates,
    settings: {
      rootAuthorities: pki.ca.certificate,
      signer: pki.ca,
      serviceAccountKey: await pki.serviceAccountKey,
      // A part of 256 addresses each for 4,096 nodes.
      clusterRanges: ['10.240.0.0/12'],
      serviceRanges: ['10.96.0.0/16'],
      // Behind an etcd there may be other API servers, which have to hear of a deletion first.
      ...(options.etcd ? {} : { namespaceDeletionDelaySeconds: 0 }),
    },
    without,
    step: steps.step,
  });
  const control = await openControl(parts, { components, kept, without });
  return {
    control: control.socket,
    async stop() {
      control.close();
      await components.stop();
      await new Promise<void>((resolve) => logFile.end(resolve));
    },
  };
}

type Started = {
  readonly components: Components;
  readonly kept: KeptNodes;
  readonly without: readonly ComponentName[];
};

/** Lets other commands ask how the cluster is doing, and change its nodes. */
async function openControl({ directory, server }: ClusterParts, { components, kept, without }: Started) {
  const socket = controlSocket(directory);
  const client = createClient(inProcessTransport(server.core, serverItself, 'kruise'));
  const keeping = { nodes: components.nodes, kept, client };
  const { close } = await serveControl(socket, async (question) => {
    if (question.ask !== 'status') return answerAboutNodes(keeping, question);
    const { user, system } = process.cpuUsage();
    const state: ProcessState = {
      components: ['apiserver', ...componentNames.filter((name) => !without.includes(name))],
      nodes: components.nodes.list().length,
      objects: countObjects(server.core),
      memoryBytes: process.memoryUsage.rss(),
      processorSeconds: (user + system) / 1e6,
    };
    return state;
  });
  return { socket, close };
}

/** How many objects are stored; one that is served in several versions counts once. */
function countObjects({ resources }: Core): number {
  const caches = new Set([...resources.all()].map(({ storage }) => storage.cache));
  return [...caches].reduce((sum, { size }) => sum + size, 0);
}

function nodeCount(text = '3'): number {
  if (!/^\d+$/.test(text)) throw new Error(`--nodes wants a number, not ${text}`);
  return Number(text);
}

function componentsOf(names: readonly string[] = []): readonly ComponentName[] {
  return names.map((name) => {
    const found = componentNames.find((each) => each === name);
    if (!found) throw new Error(`there is no component ${name}: there are ${componentNames.join(', ')}`);
    return found;
  });
}
