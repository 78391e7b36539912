import type { MetricRegistry } from '@kruise/client/metrics';
import { after } from '@kruise/values/clock';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { Core } from '../core.ts';
import { healthChecks } from '../health/health.ts';
import { createDiscoveryEndpoints } from './discovery-endpoints.ts';
import { healthEndpoints } from './health-endpoints.ts';
import { metricsEndpoints } from './metrics-endpoints.ts';
import {
  createNonResourceEndpoints,
  type EndpointHandler,
  type NonResourceEndpoints,
  versionEndpoint,
} from './non-resource-endpoints.ts';
import { openApiEndpoints } from './openapi-endpoints.ts';

export type ServerEndpointsOptions = {
  readonly address: () => string;
  readonly aggregation: Aggregation;
  readonly metrics: MetricRegistry;
  /** Reports whether the server is shutting down and accepts no new clients. */
  readonly isStopping: () => boolean;
  /** Additional endpoints of other components. */
  readonly more: ReadonlyMap<string, EndpointHandler>;
  readonly onError: (error: unknown) => void;
};

/** Timeout of the store health check. */
const storeTimeoutMs = 2000;

/** Creates all non-resource endpoints of this server. */
export function serverEndpoints(core: Core, options: ServerEndpointsOptions): NonResourceEndpoints {
  const checks = healthChecks({
    storeAnswers: () => storeAnswers(core),
    cachesFollow() {
      if (core.feed.failed) throw new Error('the caches have lost the store');
    },
    // The server starts to listen only after the start is complete.
    isStarted: () => true,
    isStopping: options.isStopping,
  });
  const endpoints = new Map<string, EndpointHandler>([
    ...healthEndpoints(checks, (endpoint, failed) => {
      for (const { name, why } of failed) {
        if (name !== 'shutdown') options.onError(new Error(`${endpoint} check ${name} failed`, { cause: why }));
      }
    }),
    ...metricsEndpoints(options.metrics, checks.readyz!),
    ...openApiEndpoints(core, options.aggregation),
    ...options.more,
    ['/version', versionEndpoint],
  ]);
  return createNonResourceEndpoints({
    discovery: createDiscoveryEndpoints(core, options.aggregation, options.address),
    endpoints,
  });
}

async function storeAnswers({ store, clock }: Core): Promise<void> {
  const answered = new AbortController();
  const late = after(clock, storeTimeoutMs, answered.signal).then(() => {
    throw new Error('the store does not answer');
  });
  await Promise.race([store.currentRevision(), late]).finally(() => {
    late.catch(() => {});
    answered.abort();
  });
}
