/** Small HTTP servers for health, metrics and other endpoints that are only read. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type MetricRegistry, scrape } from './metrics.ts';

/** A request; the path has no query. */
export type HttpRequest = { readonly url: string; readonly path: string; readonly headers: IncomingHttpHeaders };

/** A response. The content type defaults to plain text. */
export type HttpReply = {
  readonly code: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A server that listens until `close` is called. */
export type HttpServer = { readonly port: number; close(): Promise<void> };

/** Options of an HTTP server. */
export type HttpServerOptions = {
  /** Address to listen on; all addresses by default. */
  readonly host?: string | undefined;
  /** Port to listen on; 0 selects a free one. */
  readonly port: number;
  /** Serving certificate; enables HTTPS. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined;
};

/** Response to a path that does not exist. */
export const notFound: HttpReply = { code: 404, body: '404 page not found\n' };

/** Returns the response to a scrape, in the format that the `Accept` header prefers. */
export function metricsReply(registry: MetricRegistry, accept?: string): HttpReply {
  const { type, text } = scrape(registry, accept);
  return { code: 200, body: text, headers: { 'content-type': type } };
}

/**
 * Serves GET and HEAD requests. Rejects if the server cannot listen.
 *
 * ```ts
 * const server = await serveHttp({ port: 8080 }, ({ path }) => (path === '/health' ? { code: 200, body: 'OK' } : notFound));
 * ```
 */
export async function serveHttp(
  { host, port, tls }: HttpServerOptions,
  reply: (request: HttpRequest) => HttpReply | Promise<HttpReply>,
): Promise<HttpServer> {
  const answer = async ({ method, url = '/', headers }: IncomingMessage): Promise<HttpReply> => {
    if (method !== 'GET' && method !== 'HEAD') return { code: 405, body: 'Method Not Allowed\n' };
    return reply({ url, path: url.split('?', 1)[0] ?? '/', headers });
  };
  const respond = (request: IncomingMessage, response: ServerResponse) => {
    void answer(request)
      .catch((): HttpReply => ({ code: 500, body: 'Internal Server Error\n' }))
      .then(({ code, body, headers }) => {
        response.writeHead(code, {
          'content-type': 'text/plain; charset=utf-8',
          'x-content-type-options': 'nosniff',
          ...headers,
        });
        response.end(body);
      });
  };
  const server = tls ? createSecureServer({ cert: tls.certificate, key: tls.key }, respond) : createServer(respond);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
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
