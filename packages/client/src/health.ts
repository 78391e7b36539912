/** Whether a process is alive and ready, told the way Kubernetes' components tell it: `/livez`, `/readyz`, `/healthz`. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type MetricRegistry, scrape } from './metrics.ts';

/** Throws, or rejects, with what is wrong. */
export type HealthCheck = () => void | Promise<void>;

/** Checks by name. */
export type HealthChecks = { readonly [name: string]: HealthCheck };

/** What a page says. */
export type HealthAnswer = { readonly code: number; readonly text: string };

/** Always well: that there is an answer says enough. */
export const ping: HealthCheck = () => {};

/**
 * The answer to `/readyz`, `/readyz/<check>`, `/readyz?verbose` or `/readyz?exclude=<check>`.
 *
 * ```ts
 * await healthAnswer('readyz', { ping, caches: () => assert(caches.hasSynced()) }, '/readyz?verbose');
 * ```
 */
export async function healthAnswer(page: string, checks: HealthChecks, url: string): Promise<HealthAnswer> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const name = pathname.slice(`/${page}/`.length);
  if (name !== '') {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) return { code: 404, text: '404 page not found\n' };
    const reason = await faultOf(check);
    return reason === undefined ? { code: 200, text: 'ok' } : { code: 500, text: `internal server error: ${reason}\n` };
  }
  const excluded = new Set(searchParams.getAll('exclude'));
  const results = await Promise.all(
    Object.entries(checks).map(async ([each, check]) => {
      if (excluded.delete(each)) return { line: `[+]${each} excluded: ok`, isWell: true };
      // Why is for those who may read the log; anyone may read this.
      const isWell = (await faultOf(check)) === undefined;
      return { line: isWell ? `[+]${each} ok` : `[-]${each} failed: reason withheld`, isWell };
    }),
  );
  const isWell = results.every((result) => result.isWell);
  if (isWell && !searchParams.has('verbose')) return { code: 200, text: 'ok' };
  const lines = results.map(({ line }) => line);
  if (excluded.size > 0) {
    const unknown = [...excluded].map((each) => JSON.stringify(each)).join(', ');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown}`);
  }
  lines.push(`${page} check ${isWell ? 'passed' : 'failed'}`);
  return { code: isWell ? 200 : 500, text: `${lines.join('\n')}\n` };
}

async function faultOf(check: HealthCheck): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What a health server tells. */
export type HealthServerOptions = {
  readonly host?: string;
  /** 0 takes any that is free. */
  readonly port: number;
  /** Whether the process should go on; restarted where not. Served as `/livez` and `/healthz`. */
  readonly live?: HealthChecks;
  /** Whether it can do its work. Served as `/readyz`. */
  readonly ready?: HealthChecks;
  /** Served as `/metrics`. */
  readonly metrics?: MetricRegistry;
  /** Serves over HTTPS, showing this certificate. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Who may read metrics, by the `Authorization` header: everyone where it is left out. Health is for everyone. */
  readonly mayRead?: (path: string, authorization: string | undefined) => Promise<Access>;
};

/** Whether someone may see something: someone unknown may not either. */
export type Access = 'allowed' | 'forbidden' | 'unknown';

/** Serves health and metrics until it is closed. */
export async function serveHealth(
  options: HealthServerOptions,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { live = { ping }, ready = { ping }, metrics, tls, mayRead } = options;
  const pages: { readonly [page: string]: HealthChecks } = { healthz: live, livez: live, readyz: ready };

  async function answer({ url = '/', headers, method }: IncomingMessage): Promise<HealthAnswer & { type: string }> {
    const plain = 'text/plain; charset=utf-8';
    if (method !== 'GET' && method !== 'HEAD') return { code: 405, text: 'Method Not Allowed\n', type: plain };
    const page = /^\/(\w+)(?:[/?]|$)/.exec(url)?.[1] ?? '';
    if (page === 'metrics' && metrics) {
      const access = (await mayRead?.('/metrics', headers.authorization)) ?? 'allowed';
      if (access === 'unknown') return { code: 401, text: 'Unauthorized\n', type: plain };
      if (access === 'forbidden') return { code: 403, text: 'Forbidden\n', type: plain };
      const { type, text } = scrape(metrics, headers.accept);
      return { code: 200, type, text };
    }
    const checks = Object.hasOwn(pages, page) ? pages[page] : undefined;
    if (!checks) return { code: 404, text: '404 page not found\n', type: plain };
    return { ...(await healthAnswer(page, checks, url)), type: plain };
  }

  const respond = (request: IncomingMessage, response: ServerResponse) => {
    const failed = { code: 500, text: 'Internal Server Error\n', type: 'text/plain; charset=utf-8' };
    void answer(request)
      .catch(() => failed)
      .then(({ code, text, type }) => {
        response.writeHead(code, {
          'content-type': type,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        });
        response.end(text);
      });
  };
  const server = tls ? createSecureServer({ cert: tls.certificate, key: tls.key }, respond) : createServer(respond);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host ?? '127.0.0.1', () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
