import { type HealthCheck, type HealthReport, reportHealth } from '../health/health.ts';
import type { Headers, HttpRequest } from './http-request.ts';
import type { EndpointHandler } from './non-resource-endpoints.ts';

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

/** Creates the health endpoints, such as `/livez`, with a path for each check, such as `/livez/etcd`. */
export function healthEndpoints(
  checks: { readonly [endpoint: string]: readonly HealthCheck[] },
  onFailed: (endpoint: string, failed: HealthReport['failed']) => void,
): ReadonlyMap<string, EndpointHandler> {
  const endpoints = new Map<string, EndpointHandler>();
  for (const [endpoint, all] of Object.entries(checks)) {
    endpoints.set(`/${endpoint}`, async (httpRequest, _context, headers) => {
      const options = { verbose: httpRequest.query.has('verbose'), exclude: httpRequest.query.getAll('exclude') };
      const { code, body, failed } = await reportHealth(endpoint, all, options);
      if (failed.length > 0) onFailed(endpoint, failed);
      await httpRequest.send(code, { ...headers, ...plainText }, body);
    });
    for (const each of all) {
      endpoints.set(`/${endpoint}/${each.name}`, (httpRequest, _context, headers) =>
        serveCheck(each, httpRequest, headers),
      );
    }
  }
  return endpoints;
}

async function serveCheck({ check }: HealthCheck, httpRequest: HttpRequest, headers: Headers): Promise<void> {
  try {
    await check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await httpRequest.send(500, { ...headers, ...plainText }, `internal server error: ${why}\n`);
    return;
  }
  await httpRequest.send(200, { ...headers, ...plainText }, 'ok');
}
