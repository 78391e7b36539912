/** HTTPS server for webhooks with certificate rotation. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  badRequest,
  failure,
  StatusError,
  tooLarge,
  unauthorized,
  unsupportedMediaType,
} from '@kruise/machinery/status';
import { type Clock, every } from '@kruise/values/clock';
import type { MetricRegistry } from './metrics.ts';
import type { Webhook } from './webhook.ts';
import { isCaller, type WebhookCallers } from './webhook-callers.ts';

/** Serving certificate and key in PEM. */
export type ServingCertificate = { readonly certificate: string; readonly key: string };

/** Options of a webhook server. */
export type WebhookServerOptions = {
  /** Webhooks by path: `{ '/mutate-pods': defaulting(…), '/convert': conversion(…) }`. */
  readonly webhooks: { readonly [path: string]: Webhook };
  readonly host?: string;
  /** Port to listen on; 0 selects a free one. */
  readonly port?: number;
  /**
   * Returns the serving certificate. Called at the start and then periodically; new connections use the new
   * certificate.
   */
  readonly certificate: () => ServingCertificate | Promise<ServingCertificate>;
  /** Permitted callers, reloaded together with the certificate; all clients by default. `/healthz` is always public. */
  readonly callers?: (() => WebhookCallers | Promise<WebhookCallers>) | undefined;
  /** Paths without authentication: conversion, for which API servers present no credentials. */
  readonly unauthenticatedPaths?: readonly string[];
  readonly reloadMs?: number;
  readonly metrics?: WebhookMetrics;
  readonly onError?: (error: unknown) => void;
};

/** A running webhook server. */
export type WebhookServer = {
  readonly port: number;
  /** Reloads the certificate immediately. */
  reload(): Promise<void>;
  /** Stops accepting requests; resolves when the requests in flight are done. */
  close(): Promise<void>;
};

/** Metrics recorder of a webhook server. */
export type WebhookMetrics = {
  started(path: string): void;
  ended(path: string, code: number, durationMs: number): void;
};

const defaultPort = 9443;
const defaultReloadMs = 10_000;
/** Enough for two objects of the maximum size and the rest of a review. */
const maxBodyBytes = 7 * 1024 * 1024;

/**
 * Starts a webhook server.
 *
 * ```ts
 * const server = await serveWebhooks(clock, {
 *   webhooks: { '/validate-widgets': validating(() => []) },
 *   certificate: () => ({ certificate: readFileSync('tls.crt', 'utf8'), key: readFileSync('tls.key', 'utf8') }),
 * });
 * ```
 */
export async function serveWebhooks(clock: Clock, options: WebhookServerOptions): Promise<WebhookServer> {
  const { webhooks, certificate, unauthenticatedPaths = [], metrics, onError = () => {} } = options;
  let current = await certificate();
  let callers = await options.callers?.();
  const server = createServer({
    ...secureContext(current, callers),
    // A response can name the missing credential; a failed handshake cannot.
    requestCert: callers !== undefined,
    rejectUnauthorized: false,
  });
  const stop = new AbortController();

  async function reload(): Promise<void> {
    try {
      const found = await certificate();
      const foundCallers = await options.callers?.();
      const isSame =
        found.certificate === current.certificate &&
        found.key === current.key &&
        foundCallers?.authorities === callers?.authorities;
      if (!isSame) server.setSecureContext(secureContext(found, foundCallers));
      current = found;
      callers = foundCallers;
    } catch (error) {
      // The two files may be read between their updates; the old pair is served until they match.
      onError(error);
    }
  }
  every(clock, options.reloadMs ?? defaultReloadMs, () => void reload(), stop.signal);

  async function answer(request: IncomingMessage): Promise<{ readonly code: number; readonly body: unknown }> {
    const path = pathOf(request);
    if (path === '/healthz' && request.method === 'GET') return { code: 200, body: undefined };
    const webhook = Object.hasOwn(webhooks, path) ? webhooks[path] : undefined;
    if (!webhook)
      return { code: 404, body: failure({ code: 404, reason: 'NotFound', message: `no webhook at ${path}` }) };
    const startedAt = clock.now();
    metrics?.started(path);
    let code = 200;
    try {
      const isOpen = !callers || unauthenticatedPaths.includes(path) || isCaller(callers, request);
      if (!isOpen) throw unauthorized();
      return { code, body: await webhook(await readJson(request)) };
    } catch (error) {
      const refusal =
        error instanceof StatusError ? error : new StatusError(failure({ code: 500, message: String(error) }));
      if (refusal !== error) onError(error);
      code = refusal.code;
      return { code, body: refusal.status };
    } finally {
      metrics?.ended(path, code, clock.now() - startedAt);
    }
  }

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void answer(request)
      .then(({ code, body }) => {
        response.writeHead(code, {
          'content-type': 'application/json',
          ...(stop.signal.aborted ? { connection: 'close' } : {}),
        });
        response.end(body === undefined ? '' : JSON.stringify(body));
      })
      .catch((error) => {
        onError(error);
        response.destroy();
      });
  });
  // TLS errors of clients are not logged: anyone could cause them.
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? defaultPort, options.host, () => resolve());
  });

  return {
    port: (server.address() as AddressInfo).port,
    reload,
    close() {
      stop.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

function secureContext({ certificate, key }: ServingCertificate, callers: WebhookCallers | undefined) {
  const authorities = callers?.authorities;
  return { cert: certificate, key, minVersion: 'TLSv1.2', ...(authorities ? { ca: authorities } : {}) } as const;
}

/** Registers the metrics of webhook servers with the names of controller-runtime. */
export function createWebhookMetrics(registry: MetricRegistry): WebhookMetrics {
  const total = registry.counter(
    'controller_runtime_webhook_requests_total',
    'Total number of webhook requests, by HTTP status code.',
    ['webhook', 'code'],
  );
  const latency = registry.histogram(
    'controller_runtime_webhook_latency_seconds',
    'Latency of webhook requests in seconds.',
    ['webhook'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  const inFlight = registry.gauge(
    'controller_runtime_webhook_requests_in_flight',
    'Current number of webhook requests in flight.',
    ['webhook'],
  );
  return {
    started: (path) => inFlight.of(path).increase(),
    ended(path, code, durationMs) {
      inFlight.of(path).decrease();
      total.of(path, String(code)).increase();
      latency.of(path).observe(durationMs / 1000);
    },
  };
}

/** Returns an in-process webhook that records the metrics of a webhook served at a path. */
export function withWebhookMetrics(
  webhook: Webhook,
  path: string,
  { counts, clock }: { readonly counts: WebhookMetrics; readonly clock: Clock },
): Webhook {
  return async (review) => {
    const startedAt = clock.now();
    let code = 500;
    counts.started(path);
    try {
      const answer = await webhook(review);
      code = 200;
      return answer;
    } catch (error) {
      if (error instanceof StatusError) code = error.code;
      throw error;
    } finally {
      counts.ended(path, code, clock.now() - startedAt);
    }
  };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  if (request.method !== 'POST') {
    throw new StatusError(
      failure({ code: 405, reason: 'MethodNotAllowed', message: 'a review must be sent with POST' }),
    );
  }
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/.test(type)) throw unsupportedMediaType(['application/json']);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw tooLarge(`limit is ${maxBodyBytes}`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${(error as Error).message}`);
  }
}
