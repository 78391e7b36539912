import { type HealthCheck, type HealthReport, reportHealth } from '../health/health.ts';
import type { Exchange, Headers } from './exchange.ts';
import type { Page } from './pages.ts';

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };

/** Creates the health endpoints, such as `/livez`, with a path for each check, such as `/livez/etcd`. */
export function healthPages(
  checks: { readonly [endpoint: string]: readonly HealthCheck[] },
  onFailed: (endpoint: string, failed: HealthReport['failed']) => void,
): ReadonlyMap<string, Page> {
  const pages = new Map<string, Page>();
  for (const [endpoint, all] of Object.entries(checks)) {
    pages.set(`/${endpoint}`, async (exchange, _context, headers) => {
      const question = { verbose: exchange.query.has('verbose'), exclude: exchange.query.getAll('exclude') };
      const { code, body, failed } = await reportHealth(endpoint, all, question);
      if (failed.length > 0) onFailed(endpoint, failed);
      await exchange.send(code, { ...headers, ...plainText }, body);
    });
    for (const each of all) {
      pages.set(`/${endpoint}/${each.name}`, (exchange, _context, headers) => serveCheck(each, exchange, headers));
    }
  }
  return pages;
}

async function serveCheck({ check }: HealthCheck, exchange: Exchange, headers: Headers): Promise<void> {
  try {
    await check();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    await exchange.send(500, { ...headers, ...plainText }, `internal server error: ${why}\n`);
    return;
  }
  await exchange.send(200, { ...headers, ...plainText }, 'ok');
}
