/**
 * kruise-manager as a separate process on any cluster: its webhooks over HTTPS with certificates that it manages
 * itself, on every replica; its controllers on the leader; health and metrics endpoints.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import type { Client } from '@kruise/client/client';
import { discover } from '@kruise/client/discovery';
import { createEventRecorder } from '@kruise/client/event-recorder';
import { type HealthCheck, ping, serveHealth } from '@kruise/client/health';
import { createCaches } from '@kruise/client/informer';
import type { LeaderElectionOptions } from '@kruise/client/leader-election';
import type { Log } from '@kruise/client/log';
import { runControllers } from '@kruise/client/manager';
import type { MetricRegistry } from '@kruise/client/metrics';
import type { WebhookCallers } from '@kruise/client/webhook-callers';
import { createWebhookMetrics, serveWebhooks } from '@kruise/client/webhook-server';
import type { Kind } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import {
  type CertificateStore,
  externalStore,
  fileStore,
  readFiles,
  secretStore,
  writeFiles,
} from './bootstrap/certificate-store.ts';
import { filesOf } from './bootstrap/certificates.ts';
import { type ManagerEnvironment, webhookHostOf } from './bootstrap/environment.ts';
import { createManagerMetrics } from './bootstrap/manager-metrics.ts';
import { countProtections } from './bootstrap/protection-metrics.ts';
import { checkRegistration, register } from './bootstrap/registration.ts';
import { webhookController } from './bootstrap/webhook-controller.ts';
import type { ManagerSettings } from './configuration/settings.ts';
import { controllersFor } from './manager.ts';
import { webhooksFor } from './webhooks/catalogue.ts';
import { budgetEventSource, type ProtectionEvent } from './webhooks/context.ts';

export type Address = { readonly host: string; readonly port: number };

export type ManagerProcessOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: MetricRegistry;
  readonly settings: ManagerSettings;
  readonly environment: ManagerEnvironment;
  readonly metricsAddress: Address;
  readonly healthAddress: Address;
  /** Runs the controllers on one replica only. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Restricts the manager to objects of this namespace. */
  readonly watchedNamespace?: string;
  readonly expectationTimeoutMs: number;
  /** The permitted callers of the webhooks; any client, by default. */
  readonly webhookCallers?: (() => WebhookCallers) | undefined;
  /** Time limit for obtaining the certificates at the start. */
  readonly initializeTimeoutMs: number;
  /** Called for each refused deletion. */
  readonly onProtected: (event: ProtectionEvent) => void;
};

/** Runs until the signal is aborted. Throws if the manager cannot start, or loses its lease. */
export async function runManagerProcess(options: ManagerProcessOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, registry, settings, environment } = options;
  // The servers outlive the controllers, so that these can stop gracefully.
  const served = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'background request failed; it will be tried again');
  const { watchedNamespace } = options;
  const defaults = watchedNamespace ? { defaults: { namespace: watchedNamespace } } : {};
  const caches = createCaches(client, clock, random, { newest: true, onError, ...defaults }, served.signal);
  const onProtected = countProtections(registry, options.onProtected);
  const kinds = await servedKinds(client);
  const isServed = ({ group, version, kind }: Kind) => kinds.has(`${group}/${version} ${kind}`);
  const recording = { component: budgetEventSource, onError };
  const { record } = createEventRecorder(client, clock, random, recording, served.signal);
  const means = { settings, caches, client, clock, now: clock.now, random, onProtected, record };
  const webhooks = webhooksFor(means, isServed);
  const bootstrap = startBootstrap(options, (path) => path in webhooks, served.signal);

  const closers: (() => Promise<void>)[] = [];
  try {
    const metrics = await serveHealth({ ...options.metricsAddress, metrics: registry });
    closers.push(metrics.close);
    const ready = { 'webhook-ready': bootstrap.isReady };
    const health = await serveHealth({ ...options.healthAddress, live: { ping }, ready });
    closers.push(health.close);

    await bootstrap.initialized(options.initializeTimeoutMs);
    const server = await serveWebhooks(clock, {
      webhooks,
      host: '0.0.0.0',
      port: environment.webhookPort,
      certificate: () => servedFrom(environment.certificateDirectory),
      callers: options.webhookCallers,
      unauthenticatedPaths: ['/convert'],
      metrics: createWebhookMetrics(registry),
      onError: (error) => log.error({ error }, 'webhook failed'),
    });
    closers.push(server.close);
    log.info({ port: server.port }, 'webhooks are served');

    const controllers = controllersFor(settings, isServed);
    const { leaderElection, expectationTimeoutMs } = options;
    await runControllers(
      controllers,
      {
        client,
        clock,
        random,
        caches,
        log,
        expectationTimeoutMs,
        metrics: createManagerMetrics(registry),
        ...(leaderElection ? { leaderElection } : {}),
        onRunning: () => log.info({ controllers: controllers.map(({ name }) => name) }, 'controllers are running'),
      },
      signal,
    );
  } finally {
    served.abort();
    await Promise.all(closers.map((close) => close()));
    await bootstrap.stopped;
  }
}

/** Returns the served kinds by version. Where discovery fails, no kind is left out. */
async function servedKinds(client: Client): Promise<ReadonlySet<string>> {
  const { kinds } = await discover(client);
  return new Set(kinds.map(({ group, version, kind }: Kind) => `${group}/${version} ${kind}`));
}

function startBootstrap(
  { client, clock, random, log, settings, environment }: ManagerProcessOptions,
  isServed: (path: string) => boolean,
  signal: AbortSignal,
) {
  const { certificateDirectory } = environment;
  const isExternal = settings.gates.EnableExternalCerts;
  const store = storeFor(client, clock, environment, isExternal);
  const first = Promise.withResolvers<void>();
  let isInitialized = false;

  const sync = async () => {
    const certificates = await store();
    writeFiles(certificateDirectory, filesOf(certificates));
    const place = { ...environment, authority: certificates.authorityCertificate };
    if (isExternal) await checkRegistration(client, place, isServed);
    else await register(client, place, isServed);
    isInitialized = true;
    first.resolve();
  };
  const controller = webhookController(environment, sync);
  const stopped = runControllers([controller], { client, clock, random, log }, signal);

  const isReady: HealthCheck = async () => {
    if (!isInitialized) throw new Error('webhook controller has not initialized');
    await probeWebhookServer(environment.webhookPort, readFileSync(join(certificateDirectory, 'ca-cert.pem')));
  };
  return {
    stopped,
    isReady,
    async initialized(timeoutMs: number): Promise<void> {
      const tooLate = after(clock, timeoutMs, signal).then(() => {
        throw new Error(`failed to start webhook controller for waiting more than ${timeoutMs / 1000}s`);
      });
      await Promise.race([first.promise, tooLate, stopped]);
      tooLate.catch(() => {});
    },
  };
}

function storeFor(
  client: Client,
  clock: Clock,
  environment: ManagerEnvironment,
  isExternal: boolean,
): CertificateStore {
  const { namespace, secretName, certificateDirectory, keepsFiles, renewBeforeMs } = environment;
  const reference = { namespace, name: secretName };
  if (isExternal) return externalStore(client, reference);
  const terms = { host: webhookHostOf(environment), renewBeforeMs, now: clock.now };
  return keepsFiles ? fileStore(certificateDirectory, terms) : secretStore(client, reference, terms);
}

function servedFrom(directory: string) {
  const found = readFiles(directory);
  if (!found) throw new Error(`no certificate found in ${directory}`);
  return { certificate: found.certificate, key: found.key };
}

/** Resolves if the webhook server of this process responds, with any status. Rejects if the connection fails. */
function probeWebhookServer(port: number, ca: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: 'localhost', port, path: '/healthz', ca, agent: false }, (response) => {
      response.resume();
      resolve();
    });
    asked.on('error', reject);
    asked.end();
  });
}
