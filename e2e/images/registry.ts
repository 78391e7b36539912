/** Read-only image registry over a store: a mirror of all registries, as the OCI distribution specification defines it. */
import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { type ImageStore, manifestType } from './store.ts';

export type Registry = { readonly url: string; close(): void };

/** Serves the images of a store under their own names. */
export async function serveRegistry(store: ImageStore, host = '127.0.0.1', port = 0): Promise<Registry> {
  const server = createServer((request, response) => answer(store, request, response));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  server.unref();
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(store: ImageStore, { url = '/', method }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://registry');
  if (pathname === '/v2/' || pathname === '/v2') {
    response.end('{}');
    return;
  }
  const [, repository = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
  // A client of a mirror names the registry that it wants.
  const name = `${searchParams.get('ns') ?? 'docker.io'}/${repository}:${reference}`;
  const digest = reference.startsWith('sha256:') ? reference : kind === 'manifests' ? store.digestOf(name) : undefined;
  const file = digest && store.blob(digest);
  if (!digest || !file) {
    const errors = [{ code: kind === 'blobs' ? 'BLOB_UNKNOWN' : 'MANIFEST_UNKNOWN', message: `${name} is unknown` }];
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ errors }));
    return;
  }
  response.writeHead(200, {
    'content-type': kind === 'manifests' ? manifestType : 'application/octet-stream',
    'content-length': statSync(file).size,
    'docker-content-digest': digest,
  });
  if (method === 'HEAD') response.end();
  else pipeline(createReadStream(file), response, () => {});
}
