import { createMetrics, type MetricRegistry, scrapeChunks } from '@kruise/client/metrics';
import type { HealthCheck } from '../health/health.ts';
import type { EndpointHandler } from './non-resource-endpoints.ts';
import { send } from './send.ts';

/** Creates the `/metrics` endpoint, and `/metrics/slis` with the health checks as metrics. */
export function metricsEndpoints(
  metrics: MetricRegistry,
  checks: readonly HealthCheck[],
): ReadonlyMap<string, EndpointHandler> {
  const slis = createMetrics();
  const health = slis.gauge(
    'kubernetes_healthcheck',
    'Result of the last health check: 1 if it passed, 0 if it failed.',
    ['name', 'type'],
  );
  const made = slis.counter('kubernetes_healthchecks_total', 'Number of executed health checks, by result.', [
    'name',
    'type',
    'status',
  ]);

  async function check(): Promise<void> {
    for (const { name, check: run } of checks) {
      const passed = await Promise.try(run).then(
        () => true,
        () => false,
      );
      health.of(name, 'readyz').set(passed ? 1 : 0);
      made.of(name, 'readyz', passed ? 'success' : 'error').increase();
    }
  }

  function page(registry: MetricRegistry, update?: () => Promise<void>): EndpointHandler {
    return async (httpRequest, _context, headers) => {
      await update?.();
      const { type, chunks } = scrapeChunks(registry, httpRequest.headers.accept);
      if (httpRequest.method === 'HEAD') return httpRequest.send(200, { ...headers, 'content-type': type }, '');
      await send(httpRequest, 200, { ...headers, 'content-type': type }, bytesOf(chunks));
    };
  }

  return new Map([
    ['/metrics', page(metrics)],
    ['/metrics/slis', page(slis, check)],
  ]);
}

function* bytesOf(pieces: Iterable<string>): Generator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece);
}
