/**
 * Runs a process with an API server, either alone or with the other components of a cluster: its data directory,
 * certificates, store, endpoint, kubeconfig and shutdown.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { styleText } from 'node:util';
import { createInProcessServers, type InProcessServers } from '@kruise/apiserver/aggregation/in-process-servers';
import { type BootstrapSnapshot, restoreBootstrapSnapshot } from '@kruise/apiserver/bootstrap-snapshot';
import { networkConnector } from '@kruise/apiserver/connect/node-connector';
import { type ApiServer, type ServerParts, startApiServer } from '@kruise/apiserver/server';
import { createMemoryStore } from '@kruise/apiserver/store/memory';
import type { SpaceAlarm } from '@kruise/apiserver/store/quota';
import { openSqliteStore } from '@kruise/apiserver/store/sqlite';
import type { SqliteThread } from '@kruise/apiserver/store/sqlite-worker';
import type { Webhook } from '@kruise/client/webhook';
import { createNodeDirectory, type NodeDirectory } from '@kruise/node/node-directory';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type AuditOptions, openAudit } from './audit.ts';
import { type DataDirectory, processStartTime, type Running, writeFileAtomically } from './data-directory.ts';
import { boundHeapGrowth } from './heap-growth.ts';
import { collectWhenIdle } from './idle-collection.ts';
import { defaultKubeconfigFile, kubeconfigOf, kubeconfigText, mergeKubeconfig } from './kubeconfig.ts';
import { grantKubeletAccess, type KubeletAccessOptions, kubeletAccess } from './kubelet-access.ts';
import { loadPki, type Pki } from './pki.ts';
import type { Prepared } from './prepare.ts';
import { advertisedIp, isLoopback } from './server-address.ts';
import { createSteps, type Steps } from './steps.ts';

export type ClusterOptions = {
  readonly data?: string;
  readonly memory?: boolean;
  readonly kubeconfig?: string;
  readonly kubernetesPort?: string;
  readonly bind: string;
  readonly etcd?: string;
  readonly quotaBackendBytes: string;
  readonly tokenAuthFile?: string;
  readonly serviceAccountIssuer?: string;
  readonly reset?: boolean;
  readonly detach?: boolean;
  /** Container runtime of the real node that this machine is; simulated for none. */
  readonly runtime?: string;
} & AuditOptions &
  KubeletAccessOptions;

/** Idle time of the API server after which events are written. */
const pauseMs = 10;

/** A command that runs an API server. */
export type ClusterCommand = {
  readonly name: Running['command'];
  readonly converterOf?: ServerParts['converterOf'];
  /** Starts the other components. The API server already answers requests. */
  startClusterComponents?(parts: ClusterParts): Promise<RunningComponents>;
  /** Suggestion of a first command for the user. */
  readonly hint?: string;
};

/** Dependencies of the components that run beside the API server. */
export type ClusterParts = {
  readonly directory: DataDirectory;
  readonly server: ApiServer;
  readonly pki: Pki;
  /** Address that Pods use for the API server, and its port. */
  readonly address: { readonly advertised: string; readonly port: number };
  readonly nodeDirectory: NodeDirectory;
  /** Webhooks that the API server calls in process. Components may add their own. */
  readonly webhooks: Map<string, Webhook>;
  readonly servers: InProcessServers;
  readonly steps: Steps;
};

/** Components that run beside the API server. */
export type RunningComponents = {
  /** Path of the control socket. */
  readonly control: string;
  stop(): Promise<void>;
};

/** Runs a cluster until the process receives a signal. Returns the exit code. */
export async function runCluster(
  command: ClusterCommand,
  options: ClusterOptions,
  { directory, thread, isDetached }: Prepared,
): Promise<number> {
  const steps = createSteps();
  const startMs = performance.now();
  const audit = openAudit(options, systemClock);
  const opening = openStore(options, directory, thread);
  opening.catch(() => {});
  const advertised = advertisedIp(options.bind);
  const pki = await steps.step('Certificates', () =>
    loadPki(directory.pki, [options.bind, advertised], systemClock.now()),
  );
  const store = await steps.step(storeTitle(options), async () => {
    const opened = await opening;
    await restoreBootstrapSnapshot(opened, systemClock, systemRandom, readBootstrapSnapshot);
    return opened;
  });
  const access = kubeletAccess(options, pki.kubeletClient);
  const nodeDirectory = createNodeDirectory(networkConnector(systemClock, access));
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
      ...(command.converterOf ? { converterOf: command.converterOf } : {}),
      inProcessWebhooks: webhooks,
      inProcessServers: servers,
      pause: (callback) => setTimeout(callback, pauseMs),
      onError: (error) => console.error(error),
    }),
  );
  if (options.kubeletClientCertificate === undefined) await grantKubeletAccess(server);
  const { port, registered } = await steps.step('HTTPS', () =>
    listen(server, directory, { ...options, advertised }, pki),
  );
  const url = `https://${options.bind.includes(':') ? `[${options.bind}]` : options.bind}:${port}`;
  const file = options.kubeconfig ?? defaultKubeconfigFile();
  const context = await mergeKubeconfig(file, 'kruise', url, pki);
  writeFileAtomically(directory.kubeconfig, kubeconfigText(kubeconfigOf('kruise', url, pki)));
  await registered;
  const rest = await command.startClusterComponents?.({
    directory,
    server,
    pki,
    address: { advertised, port },
    nodeDirectory,
    webhooks,
    servers,
    steps,
  });
  await pki.serviceAccountKey;
  const running: Running = {
    pid: process.pid,
    processStartTime: processStartTime(process.pid),
    server: url,
    startedAt: new Date().toISOString(),
    command: command.name,
    ...(rest ? { control: rest.control } : {}),
  };
  writeFileAtomically(directory.running, JSON.stringify(running));

  steps.print('');
  steps.print(`Ready in ${Math.round(performance.now() - startMs)} ms at ${url}`);
  steps.print(`kubectl context: ${styleText('bold', context)} in ${file}`);
  if (command.hint) steps.print(command.hint);
  if (!isDetached) steps.print('Press Ctrl-C to stop. Stored objects are kept.');

  // Flush now, so that the next start has the cache even if this process is killed.
  flushCompileCache();
  const stopping = new AbortController();
  boundHeapGrowth(systemClock, stopping.signal);
  collectWhenIdle(systemClock, stopping.signal);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  stopping.abort();
  await rest?.stop();
  await server.close();
  rmSync(directory.running, { force: true });
  steps.print(isRealNode(options) ? 'Stopped. Containers keep running: kruise down removes them.' : 'Stopped.');
  return 0;
}

/** Returns the bootstrap snapshot that lies beside the bundle. A start from source has none and builds every object. */
function readBootstrapSnapshot(): BootstrapSnapshot {
  const file = new URL('./foundation.json', import.meta.url);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

function storeTitle({ memory, etcd }: ClusterOptions): string {
  if (etcd) return `Store (etcd at ${etcd})`;
  return memory ? 'Store (in memory)' : 'Store';
}

async function openStore(options: ClusterOptions, directory: DataDirectory, thread?: SqliteThread) {
  const { memory, etcd } = options;
  if (etcd) {
    const { openEtcdStore } = await import('@kruise/apiserver/store/etcd');
    return openEtcdStore({ endpoints: etcd.split(','), clock: systemClock });
  }
  const limits = { quotaBytes: quotaBytes(options.quotaBackendBytes), onAlarm: reportAlarm };
  if (memory) {
    return createMemoryStore({ clock: systemClock, acknowledge: setImmediate, ...limits });
  }
  return openSqliteStore({ path: directory.database, clock: systemClock, thread, ...limits });
}

/** Default quota of etcd. */
const defaultQuotaBytes = 2 * 2 ** 30;

function quotaBytes(given: string): number {
  const bytes = Number(given);
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    throw new Error(`--quota-backend-bytes must be a number of bytes, not ${JSON.stringify(given)}`);
  }
  return bytes === 0 ? defaultQuotaBytes : bytes;
}

function reportAlarm({ isRaised, sizeBytes, quotaBytes }: SpaceAlarm): void {
  const size = `${sizeBytes} of ${quotaBytes} bytes`;
  console.error(
    isRaised
      ? `alarm:NOSPACE raised: the store has ${size}. Delete objects, or restart with a larger --quota-backend-bytes.`
      : `alarm:NOSPACE disarmed: the store has ${size}.`,
  );
}

function isRealNode({ runtime = 'simulated' }: ClusterOptions): boolean {
  return runtime !== 'simulated';
}

/** Listens on the previous port, so that existing kubeconfigs stay valid, or on any free port. */
async function listen(
  server: ApiServer,
  directory: DataDirectory,
  options: ClusterOptions & { readonly advertised: string },
  pki: Pki,
) {
  const https = {
    host: options.bind,
    certificate: pki.server.certificate,
    key: pki.server.key,
    advertisedIp: options.advertised,
    // Pods of real nodes cannot reach the loopback address.
    ...(isRealNode(options) && isLoopback(options.bind) ? { moreHosts: [options.advertised] } : {}),
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
  const [, server = ''] = /^ *server: (\S+)$/m.exec(readFileSync(directory.kubeconfig, 'utf8')) ?? [];
  return Number(URL.parse(server)?.port ?? 0);
}
