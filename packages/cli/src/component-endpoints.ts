/**
 * Health and metrics endpoints of the components of one process, on the ports that the components have as separate
 * processes.
 */

import type { Client } from '@kruise/client/client';
import { delegatedAuthorization } from '@kruise/client/delegated-authorization';
import { serveHealth } from '@kruise/client/health';
import { addProcessMetrics, createMetrics, type MetricRegistry } from '@kruise/client/metrics';
import type { ComponentName } from '@kruise/cluster/component-names';
import type { KeyPair } from '@kruise/machinery/x509/certificate';
import { systemClock } from '@kruise/values/system';

/** Default port of each component. */
const usualPorts: { readonly [name in ComponentName]?: number } = {
  'controller-manager': 10257,
  'cloud-controller-manager': 10258,
  scheduler: 10259,
  manager: 8080,
  daemon: 10221,
};

type HealthServer = Awaited<ReturnType<typeof serveHealth>>;

export type ComponentEndpoints = {
  /** Returns the registry of a component, created on first use. */
  registryOf(name: ComponentName): MetricRegistry;
  /** Serves all registered components, each on its default port or, if that port is in use, on a free port. */
  serve(): Promise<void>;
  /** Returns the URL of each component: `https://127.0.0.1:10257`. */
  urls(): { readonly [name: string]: string };
  close(): Promise<void>;
};

/**
 * Creates the endpoints. Metrics require permission to `get` the path, as the API server authorizes it; health is
 * public.
 */
export function componentEndpoints(
  client: Client,
  { host, tls }: { readonly host: string; readonly tls: KeyPair },
): ComponentEndpoints {
  const registries = new Map<ComponentName, MetricRegistry>();
  const servers = new Map<ComponentName, HealthServer>();
  const authorize = delegatedAuthorization(client);
  const startedAt = systemClock.now();

  async function serveOne(name: ComponentName, metrics: MetricRegistry): Promise<void> {
    const options = { host, tls, authorize, metrics };
    const usual = usualPorts[name] ?? 0;
    const server = await serveHealth({ ...options, port: usual }).catch((error: NodeJS.ErrnoException) => {
      // Several clusters may run on one machine.
      if (error.code !== 'EADDRINUSE') throw error;
      return serveHealth({ ...options, port: 0 });
    });
    servers.set(name, server);
  }

  return {
    registryOf(name) {
      let registry = registries.get(name);
      if (!registry) {
        registry = createMetrics();
        addProcessMetrics(registry, process, startedAt);
        registries.set(name, registry);
      }
      return registry;
    },
    async serve() {
      await Promise.all(Array.from(registries, ([name, registry]) => serveOne(name, registry)));
    },
    urls() {
      const shown = host.includes(':') ? `[${host}]` : host;
      return Object.fromEntries(Array.from(servers, ([name, { port }]) => [name, `https://${shown}:${port}`]));
    },
    async close() {
      await Promise.all(Array.from(servers.values(), (server) => server.close()));
    },
  };
}
