import { spawn } from 'node:child_process';
import { closeSync, createWriteStream, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { createInProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import type { Core } from '@kruise/apiserver/core';
import { inProcessTransport } from '@kruise/apiserver/in-process';
import { startApiServer } from '@kruise/apiserver/server';
import { serverItself } from '@kruise/apiserver/user';
import { createClient } from '@kruise/client/client';
import { jsonLog } from '@kruise/client/log';
import type { Webhook } from '@kruise/client/webhook';
import { type ComponentName, componentNames } from '@kruise/cluster/component-names';
import { type Components, startComponents } from '@kruise/cluster/components';
import { clusterGates } from '@kruise/cluster/feature-gates';
import { installKruiseKinds, kruiseConverterOf } from '@kruise/cluster/kruise-kinds';
import { createNodeDirectory } from '@kruise/node/node-directory';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type AuditOptions, openAudit } from '../audit.ts';
import { answerAboutNodes, controlSocket, type ProcessState, serveControl } from '../control.ts';
import {
  beginOf,
  createDataDirectory,
  type DataDirectory,
  dataDirectory,
  isAlive,
  type Running,
  resetDataDirectory,
  runningCluster,
  writeWhole,
} from '../data-directory.ts';
import { collectWhenIdle } from '../idle-collection.ts';
import { type KeptNodes, keptNodes } from '../kept-nodes.ts';
import { kubeconfigOf, kubeconfigText, mergeKubeconfig, usualKubeconfigFile } from '../kubeconfig.ts';
import { loadPki } from '../pki.ts';
import { advertisedIp, localHost } from '../server-address.ts';
import { createSteps } from '../steps.ts';

export type UpOptions = {
  readonly command: 'up' | 'apiserver';
  readonly data?: string;
  readonly memory?: boolean;
  readonly kubeconfig?: string;
  readonly kubernetesPort?: string;
  readonly bind: string;
  readonly etcd?: string;
  readonly tokenAuthFile?: string;
  readonly serviceAccountIssuer?: string;
  readonly reset?: boolean;
  readonly detach?: boolean;
  /** What someone else is to do. */
  readonly without?: readonly string[];
  readonly featureGates?: string;
  readonly nodes?: string;
} & AuditOptions;

/** How the process left behind by `--detach` is told what it is. */
const detachedMark = 'KRUISE_DETACHED';

export async function up(options: UpOptions): Promise<number> {
  const directory = dataDirectory(options.data);
  const running = runningCluster(directory);
  if (running) {
    console.error(`This cluster is running already, at ${running.server} (process ${running.pid}).`);
    console.error(`Stop it with: kruise down --data ${directory.path}`);
    return 1;
  }
  createDataDirectory(directory);
  if (options.reset) {
    resetDataDirectory(directory);
    createDataDirectory(directory);
  }
  if (options.detach && !process.env[detachedMark]) return detach(directory, options);
  return run(directory, options);
}

async function run(directory: DataDirectory, options: UpOptions): Promise<number> {
  const steps = createSteps();
  const without = componentsOf(options.without);
  const gates = clusterGates(options.featureGates ?? '');
  const begun = performance.now();
  const audit = await openAudit(options, systemClock);
  // The store's thread starts while keys are made.
  const opening = openStore(directory, options);
  opening.catch(() => {});
  const advertised = advertisedIp(options.bind);
  const pki = await steps.step('Certificates', () =>
    loadPki(directory.pki, [options.bind, advertised], systemClock.now()),
  );
  const store = await steps.step(storeTitle(options), () => opening);
  const nodeDirectory = createNodeDirectory(networkConnector(systemClock, pki.kubeletClient));
  const webhooks = new Map<string, Webhook>();
  const servers = createInProcessServers();
  const server = await steps.step('API server', () =>
    startApiServer({
      store,
      clock: systemClock,
      random: systemRandom,
      authentication: {
        serviceAccountKey: pki.serviceAccountKey,
        issuer: options.serviceAccountIssuer,
        staticTokens: options.tokenAuthFile && readFileSync(options.tokenAuthFile, 'utf8'),
      },
      clientAuthority: pki.ca.certificate,
      frontProxyAuthority: pki.frontProxy.certificate,
      frontProxyClient: pki.frontProxyClient,
      nodes: nodeDirectory,
      ...(audit ? { audit } : {}),
      // Where someone else's kruise-manager runs, its webhook converts, as its definitions say.
      ...(options.command === 'up' && !without.includes('manager') ? { converterOf: kruiseConverterOf } : {}),
      inProcessWebhooks: webhooks,
      inProcessServers: servers,
      onError: (error) => console.error(error),
    }),
  );
  if (options.command === 'up') await steps.step('Kruise kinds', () => installKruiseKinds(server.core));
  const kept = keptNodes(directory, { isKept: !options.memory });
  const logFile = createWriteStream(directory.log, { flags: 'a', mode: 0o600 });
  const log = jsonLog(systemClock.now, (line) => logFile.write(line));
  let listener: { readonly port: number } | undefined;
  const components =
    options.command === 'up'
      ? await startComponents({
          core: server.core,
          log,
          host: hostname(),
          webhooks,
          servers,
          nodes: {
            count: nodeCount(options.nodes),
            more: kept.all(),
            directory: nodeDirectory,
            outside: ({ host, port }) =>
              host === advertised && port === listener?.port ? () => connect(port, localHost(options.bind)) : undefined,
          },
          gates,
          settings: {
            rootAuthorities: pki.ca.certificate,
            signer: pki.ca,
            serviceAccountKey: pki.serviceAccountKey,
            // A part of 256 addresses each for 4,096 nodes.
            clusterRanges: ['10.240.0.0/12'],
            serviceRanges: ['10.96.0.0/16'],
            // Behind an etcd there may be other API servers, which have to hear of a deletion first.
            ...(options.etcd ? {} : { namespaceDeletionDelaySeconds: 0 }),
          },
          without,
          step: steps.step,
        })
      : undefined;
  listener = await steps.step('HTTPS', () => listen(server, directory, { ...options, advertised }, pki));
  const url = `https://${options.bind.includes(':') ? `[${options.bind}]` : options.bind}:${listener.port}`;
  const file = options.kubeconfig ?? usualKubeconfigFile();
  const context = await mergeKubeconfig(file, 'kruise', url, pki);
  writeWhole(directory.kubeconfig, kubeconfigText(kubeconfigOf('kruise', url, pki)));
  const control = components && (await openControl(directory, { server, components, kept, without }));
  const running: Running = {
    pid: process.pid,
    begun: beginOf(process.pid),
    server: url,
    startedAt: new Date().toISOString(),
    command: options.command,
    ...(control ? { control: control.socket } : {}),
  };
  writeWhole(directory.running, JSON.stringify(running));

  steps.say('');
  steps.say(`Ready in ${Math.round(performance.now() - begun)} ms at ${url}`);
  steps.say(`kubectl uses it: context ${styleText('bold', context)} in ${file}`);
  if (options.command === 'up') steps.say('Try: kubectl get nodes; kubectl create deployment web --image=nginx');
  if (!process.env[detachedMark]) steps.say('Stop with Ctrl-C. What it stores stays.');

  const stopping = new AbortController();
  collectWhenIdle(systemClock, stopping.signal);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  stopping.abort();
  control?.close();
  await components?.stop();
  await server.close();
  await new Promise<void>((resolve) => logFile.end(resolve));
  rmSync(directory.running, { force: true });
  steps.say('Stopped.');
  return 0;
}

type Parts = {
  readonly server: Awaited<ReturnType<typeof startApiServer>>;
  readonly components: Components;
  readonly kept: KeptNodes;
  readonly without: readonly ComponentName[];
};

/** Lets other commands ask how the cluster is doing, and change its nodes. */
async function openControl(directory: DataDirectory, { server, components, kept, without }: Parts) {
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

function storeTitle({ memory, etcd }: UpOptions): string {
  if (etcd) return `Store (etcd at ${etcd})`;
  return memory ? 'Store (in memory)' : 'Store';
}

async function openStore(directory: DataDirectory, { memory, etcd }: UpOptions) {
  if (etcd) {
    const { openEtcdStore } = await import('@kruise/apiserver/store/etcd');
    return openEtcdStore({ endpoints: etcd.split(','), clock: systemClock });
  }
  if (memory) {
    const { createMemoryStore } = await import('@kruise/apiserver/store/memory');
    return createMemoryStore({ clock: systemClock, acknowledge: setImmediate });
  }
  const { openSqliteStore } = await import('@kruise/apiserver/store/sqlite');
  return openSqliteStore({ path: join(directory.store, 'kruise.db'), clock: systemClock });
}

/** Listens on the port of the last time, so that kubeconfigs stay true, or on any that is free. */
async function listen(
  server: Awaited<ReturnType<typeof startApiServer>>,
  directory: DataDirectory,
  options: UpOptions & { readonly advertised: string },
  pki: Awaited<ReturnType<typeof loadPki>>,
) {
  const https = {
    host: options.bind,
    certificate: pki.server.certificate,
    key: pki.server.key,
    advertisedIp: options.advertised,
  };
  if (options.kubernetesPort !== undefined)
    return server.serveHttps({ ...https, port: Number(options.kubernetesPort) });
  const port = lastPort(directory);
  try {
    return await server.serveHttps({ ...https, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return server.serveHttps({ ...https, port: 0 });
  }
}

function lastPort(directory: DataDirectory): number {
  if (!existsSync(directory.kubeconfig)) return 0;
  const match = /server: .*:(\d+)/.exec(readFileSync(directory.kubeconfig, 'utf8'));
  return match ? Number(match[1]) : 0;
}

/** Starts another process that stays, and waits until it is ready. */
async function detach(directory: DataDirectory, options: UpOptions): Promise<number> {
  rmSync(directory.running, { force: true });
  const log = openSync(directory.log, 'a', 0o600);
  const args = process.argv.slice(2).filter((argument) => argument !== '--reset');
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, [detachedMark]: '1' },
  });
  closeSync(log);
  let exited = false;
  child.once('exit', () => {
    exited = true;
  });
  while (!runningCluster(directory)) {
    if (exited || (child.pid !== undefined && !isAlive(child.pid))) {
      console.error(`The cluster did not start. Its log, ${directory.log}, ends with:`);
      console.error(readFileSync(directory.log, 'utf8').split('\n').slice(-20).join('\n'));
      return 1;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.unref();
  const { server } = runningCluster(directory)!;
  console.log(`Ready at ${server}`);
  console.log(`Stop it with: kruise down${options.data ? ` --data ${options.data}` : ''}`);
  return 0;
}
