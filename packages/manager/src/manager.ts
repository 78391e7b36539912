/**
 * kruise-manager: all controllers under one lease, and the webhooks that default, validate and convert Kruise's kinds.
 * The same manager runs in one process with the API server, where webhooks are called without a socket, and as a
 * separate process on any cluster.
 */
import type { Controller, Runnable } from '@kruise/client/controller';
import { createEventRecorder } from '@kruise/client/event-recorder';
import { createCaches } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { type RunOptions, restartOnLeadershipLoss, runControllers } from '@kruise/client/manager';
import type { MetricRegistry } from '@kruise/client/metrics';
import type { Webhook } from '@kruise/client/webhook';
import { createWebhookMetrics, withWebhookMetrics } from '@kruise/client/webhook-server';
import type { Kind } from '@kruise/schema/kind';
import { createManagerMetrics } from './bootstrap/manager-metrics.ts';
import { countProtections } from './bootstrap/protection-metrics.ts';
import type { ManagerSettings } from './configuration/settings.ts';
import { controllerCatalogue } from './controllers.ts';
import { webhooksFor } from './webhooks/catalogue.ts';
import { installConfigurations, webhookServiceName } from './webhooks/configurations.ts';
import { budgetEventSource, type ProtectionEvent } from './webhooks/context.ts';

export type ManagerOptions = RunOptions & {
  readonly settings: ManagerSettings;
  /** Registers the webhooks with an API server in the same process: `namespace/service/path`. */
  readonly inProcessWebhooks?: { set(path: string, webhook: Webhook): unknown };
  /** Called once the webhooks are registered: from then on, objects of Kruise's kinds can be written. */
  readonly onServing?: () => void;
  /** Called when the Lease is lost, to become a standby again; without it `LeadershipLostError` is thrown. */
  readonly onLeadershipLost?: (error: Error) => void;
  /** Registry for the metrics of controllers, webhooks and refused deletions. */
  readonly registry?: MetricRegistry;
  /** Called for each deletion that was refused. */
  readonly onProtected?: (event: ProtectionEvent) => void;
};

/** Runs the manager in one process with the API server until the signal is aborted. */
export async function runManager(options: ManagerOptions, signal: AbortSignal): Promise<void> {
  const {
    settings,
    inProcessWebhooks,
    onServing,
    registry,
    onProtected = () => {},
    onLeadershipLost,
    ...runOptions
  } = options;
  const { client, clock, random, log = silentLog } = runOptions;
  // Webhooks and controllers share the caches. The webhooks run until the last controller has stopped.
  const served = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'background request failed; it will be tried again');
  const caches =
    runOptions.caches ??
    createCaches(client, clock, random, { newest: true, onError, ...runOptions.cacheOptions }, served.signal);
  try {
    if (inProcessWebhooks) {
      const recording = { component: budgetEventSource, onError };
      const { record } = createEventRecorder(client, clock, random, recording, served.signal);
      const protect = registry ? countProtections(registry, onProtected) : onProtected;
      const means = { settings, caches, client, clock, now: clock.now, random, record, onProtected: protect };
      const counts = registry && createWebhookMetrics(registry);
      for (const [path, webhook] of Object.entries(webhooksFor(means))) {
        const counted = counts ? withWebhookMetrics(webhook, path, { counts, clock }) : webhook;
        inProcessWebhooks.set(`${settings.namespace}/${webhookServiceName}${path}`, counted);
      }
      await installConfigurations(client, settings);
    }
    onServing?.();
    const metrics = registry ? { metrics: createManagerMetrics(registry) } : {};
    const run = () => runControllers(controllersFor(settings), { ...runOptions, caches, ...metrics }, signal);
    await (onLeadershipLost ? restartOnLeadershipLoss(run, onLeadershipLost) : run());
  } finally {
    served.abort();
  }
}

/** Returns the controllers that run with these settings, if their kinds are served. */
export function controllersFor(
  settings: ManagerSettings,
  isServed: (kind: Kind) => boolean = () => true,
): readonly (Controller | Runnable)[] {
  return controllerCatalogue.flatMap(({ kind, make, isOn = () => true }) =>
    isOn(settings) && (kind === undefined || isServed(kind)) ? make(settings) : [],
  );
}
