/** Small HTTP servers for health, metrics and health check node ports. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HttpReply = {
  readonly code: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type HttpServer = { readonly port: number; close(): Promise<void> };

/** Serves GET requests. Throws if the address cannot be bound. */
export async function serveHttp(
  { host, port }: { readonly host: string; readonly port: number },
  reply: (path: string, accept: string) => HttpReply,
): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const { method = '', url = '/', headers: given } = request;
    const path = url.split('?', 1)[0] ?? '/';
    const isRead = method === 'GET' || method === 'HEAD';
    const { code, body, headers } = isRead
      ? reply(path, given.accept ?? '')
      : { code: 405, body: 'Method Not Allowed\n', headers: {} };
    response.writeHead(code, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      ...headers,
    });
    response.end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, ipv6Only: false }, resolve);
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
