import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createCertificateAuthority } from '@kruise/machinery/x509/certificate';

/** Handles a review in a test's webhook: returns a response, or a complete body instead of a review. */
export type Handler = (request: ReviewRequest, path: string) => Response | Promise<Response>;
export type ReviewRequest = { readonly uid: string; readonly [field: string]: unknown };
export type Response = {
  readonly allowed?: boolean;
  /** JSON patch operations. */
  readonly patch?: readonly object[];
  /** Raw status and body, instead of the other fields. */
  readonly raw?: { readonly status: number; readonly body: string };
  readonly [field: string]: unknown;
};

export type WebhookServer = {
  readonly url: string;
  readonly port: number;
  /** CA bundle for webhook configurations. */
  readonly caBundle: string;
  /** Received requests, in order. */
  readonly requests: { readonly path: string; readonly version: string; readonly request: ReviewRequest }[];
  [Symbol.asyncDispose](): Promise<void>;
};

/** Starts a webhook on its own port, with a certificate for `hosts`. */
export async function startWebhookServer(
  handler: Handler,
  hosts: readonly string[] = ['127.0.0.1'],
  nowMs = Date.parse('2026-01-01T00:00:00Z'),
): Promise<WebhookServer> {
  const authority = createCertificateAuthority('webhook-test', nowMs);
  const { certificate, key } = authority.issue({
    subject: { commonName: 'webhook' },
    usages: ['server auth'],
    hosts,
    nowMs,
  });
  const requests: WebhookServer['requests'] = [];
  const server = createServer({ cert: certificate, key }, async (request, response) => {
    const review = JSON.parse(await text(request));
    const path = request.url ?? '';
    requests.push({ path, version: review.apiVersion, request: review.request });
    const { patch, raw, ...answer } = await handler(review.request, path);
    if (raw) {
      response.writeHead(raw.status, { 'content-type': 'text/plain' }).end(raw.body);
      return;
    }
    const changes = patch && { patch: Buffer.from(JSON.stringify(patch)).toString('base64'), patchType: 'JSONPatch' };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(
        JSON.stringify({ ...review, request: undefined, response: { uid: review.request.uid, ...answer, ...changes } }),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
