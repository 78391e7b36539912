/** Health endpoints of a component, as Kubernetes components serve them: `/livez`, `/readyz`, `/healthz`. */
import { type HttpReply, type HttpRequest, type HttpServer, metricsReply, notFound, serveHttp } from './http-server.ts';
import type { MetricRegistry } from './metrics.ts';

/** A health check; throws or rejects if the check fails. */
export type HealthCheck = () => void | Promise<void>;

/** Health checks by name. */
export type HealthChecks = { readonly [name: string]: HealthCheck };

/** Response of a health endpoint. */
export type HealthResponse = { readonly code: number; readonly text: string };

/** Health check that always succeeds: the response itself proves that the process is alive. */
export const ping: HealthCheck = () => {};

/**
 * Returns the response to `/readyz`, `/readyz/<check>`, `/readyz?verbose` or `/readyz?exclude=<check>`.
 *
 * ```ts
 * await healthResponse('readyz', { ping, caches: () => assert(caches.hasSynced()) }, '/readyz?verbose');
 * ```
 */
export async function healthResponse(endpoint: string, checks: HealthChecks, url: string): Promise<HealthResponse> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const name = pathname.slice(`/${endpoint}/`.length);
  if (name !== '') {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) return { code: 404, text: '404 page not found\n' };
    const reason = await failureOf(check);
    return reason === undefined ? { code: 200, text: 'ok' } : { code: 500, text: `internal server error: ${reason}\n` };
  }
  const excluded = new Set(searchParams.getAll('exclude'));
  const results = await Promise.all(
    Object.entries(checks).map(async ([each, check]) => {
      if (excluded.delete(each)) return { line: `[+]${each} excluded: ok`, isHealthy: true };
      // The reason is in the log only, because this endpoint is readable without authentication.
      const isHealthy = (await failureOf(check)) === undefined;
      return { line: isHealthy ? `[+]${each} ok` : `[-]${each} failed: reason withheld`, isHealthy };
    }),
  );
  const isHealthy = results.every((result) => result.isHealthy);
  if (isHealthy && !searchParams.has('verbose')) return { code: 200, text: 'ok' };
  const lines = results.map(({ line }) => line);
  if (excluded.size > 0) {
    const unknown = [...excluded].map((each) => JSON.stringify(each)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`);
  }
  lines.push(`${endpoint} check ${isHealthy ? 'passed' : 'failed'}`);
  return { code: isHealthy ? 200 : 500, text: `${lines.join('\n')}\n` };
}

async function failureOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Options of a health server. */
export type HealthServerOptions = {
  readonly host?: string;
  /** Port to listen on; 0 selects a free one. */
  readonly port: number;
  /** Liveness checks, served as `/livez` and `/healthz`. The process is restarted if one fails. */
  readonly live?: HealthChecks;
  /** Readiness checks, served as `/readyz`. */
  readonly ready?: HealthChecks;
  /** Metrics, served as `/metrics`. */
  readonly metrics?: MetricRegistry;
  /** Serving certificate; enables HTTPS. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /**
   * Authorizes `/metrics` by the `Authorization` header; without it metrics are public. Health endpoints are always
   * public.
   */
  readonly authorize?: (path: string, authorization: string | undefined) => Promise<AccessDecision>;
};

/** Result of an authorization; `unknown` means that the caller is not authenticated. */
export type AccessDecision = 'allowed' | 'forbidden' | 'unknown';

/**
 * Serves health endpoints and metrics until `close` is called.
 *
 * ```ts
 * const { port, close } = await serveHealth({ port: 8081, ready: { caches: () => assert(caches.hasSynced()) } });
 * ```
 */
export async function serveHealth(options: HealthServerOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', port, live = { ping }, ready = { ping }, metrics, tls, authorize } = options;
  const endpoints: { readonly [endpoint: string]: HealthChecks } = { healthz: live, livez: live, readyz: ready };

  async function reply({ url, headers }: HttpRequest): Promise<HttpReply> {
    const endpoint = /^\/(\w+)(?:[/?]|$)/.exec(url)?.[1] ?? '';
    if (endpoint === 'metrics' && metrics) {
      const access = (await authorize?.('/metrics', headers.authorization)) ?? 'allowed';
      if (access === 'unknown') return { code: 401, body: 'Unauthorized\n' };
      if (access === 'forbidden') return { code: 403, body: 'Forbidden\n' };
      return metricsReply(metrics, headers.accept);
    }
    const checks = Object.hasOwn(endpoints, endpoint) ? endpoints[endpoint] : undefined;
    if (!checks) return notFound;
    const { code, text } = await healthResponse(endpoint, checks, url);
    return { code, body: text };
  }

  return serveHttp({ host, port, tls }, async (request) => {
    const { headers, ...rest } = await reply(request);
    return { ...rest, headers: { 'cache-control': 'no-store', ...headers } };
  });
}
