import type { MetricRegistry } from '@kruise/client/metrics';
import { after } from '@kruise/values/clock';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { Core } from '../core.ts';
import { healthChecks } from '../health/health.ts';
import { createDiscoveryPages } from './discovery-pages.ts';
import { healthPages } from './health-pages.ts';
import { metricsPages } from './metrics-pages.ts';
import { openApiPages } from './openapi-pages.ts';
import { createPages, type Page, type Pages, versionPage } from './pages.ts';

export type ServerPagesOptions = {
  readonly address: () => string;
  readonly aggregation: Aggregation;
  readonly metrics: MetricRegistry;
  /** Reports whether the server is shutting down and accepts no new clients. */
  readonly isStopping: () => boolean;
  /** Additional endpoints of other components. */
  readonly more: ReadonlyMap<string, Page>;
  readonly onError: (error: unknown) => void;
};

/** Timeout of the store health check. */
const storePatienceMs = 2000;

/** Creates all non-resource endpoints of this server. */
export function serverPages(core: Core, options: ServerPagesOptions): Pages {
  const checks = healthChecks({
    storeAnswers: () => storeAnswers(core),
    cachesFollow() {
      if (core.feed.failed) throw new Error('the caches have lost the store');
    },
    // The server starts to listen only after the start is complete.
    isStarted: () => true,
    isStopping: options.isStopping,
  });
  const pages = new Map<string, Page>([
    ...healthPages(checks, (endpoint, failed) => {
      for (const { name, why } of failed) {
        if (name !== 'shutdown') options.onError(new Error(`${endpoint} check ${name} failed`, { cause: why }));
      }
    }),
    ...metricsPages(options.metrics, checks.readyz!),
    ...openApiPages(core, options.aggregation),
    ...options.more,
    ['/version', versionPage],
  ]);
  return createPages({ discovery: createDiscoveryPages(core, options.aggregation, options.address), pages });
}

async function storeAnswers({ store, clock }: Core): Promise<void> {
  const answered = new AbortController();
  const late = after(clock, storePatienceMs, answered.signal).then(() => {
    throw new Error('the store does not answer');
  });
  await Promise.race([store.currentRevision(), late]).finally(() => {
    late.catch(() => {});
    answered.abort();
  });
}
