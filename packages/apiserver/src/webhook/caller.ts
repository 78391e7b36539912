import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { WebhookClientConfig } from '@kruise/api/admissionregistration/webhook-client';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';
import type { Clock } from '@kruise/values/clock';
import { stringify } from '@kruise/values/go-json';
import { quote } from '@kruise/values/go-syntax';
import { dialingAgent } from '../connect/dialing-agent.ts';
import type { Dial } from '../connect/node-connector.ts';
import { connectionError, statusError } from './go-errors.ts';
import type { ServiceResolver } from './service-resolver.ts';

/**
 * Error: a webhook could not be called, or its response is invalid. The message has the wording of Go's HTTP client.
 */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
}

/**
 * In-process webhook: receives the review and returns it with a response. Both are plain values; the input is shared
 * and must not be changed.
 */
export type InProcessWebhook = (review: unknown) => unknown;

/**
 * In-process webhooks by the address in their configuration: `https://host:port/path`, or
 * `namespace/service/path` for a Service. They behave like any other webhook, without a network connection.
 */
export type InProcessWebhooks = Map<string, InProcessWebhook>;

export type CallOptions = { readonly timeoutSeconds: number; readonly signal: AbortSignal };

/** Calls webhooks, for admission and conversion. */
export type WebhookCaller = {
  /** Sends a review and returns the parsed response. Throws a WebhookCallError. */
  call(client: WebhookClientConfig, review: unknown, options: CallOptions): Promise<unknown>;
  /** Closes idle connections. */
  close(): void;
};

/** Maximum number of configurations with kept connections; the least recently used is closed first. */
const maxAgents = 200;
/** Maximum size of a response. */
const maxResponseBytes = 16 * 1024 * 1024;

export function createWebhookCaller(parts: {
  readonly clock: Clock;
  readonly resolve: ServiceResolver;
  readonly inProcess?: InProcessWebhooks;
  /** Connects to Services whose network is not that of this machine. */
  readonly dial?: Dial;
}): WebhookCaller {
  const { clock, resolve, inProcess, dial } = parts;
  const agents = new Map<string, Agent>();

  function agentFor({ url }: Address, { service, caBundle = '' }: WebhookClientConfig): Agent {
    const key = `${service ? 'service' : 'url'} ${url} ${caBundle}`;
    const trust = caBundle === '' ? {} : { ca: Buffer.from(caBundle, 'base64') };
    const agent =
      agents.get(key) ??
      (service && dial ? dialingAgent(dial, { keepAlive: true, ...trust }) : new Agent({ keepAlive: true, ...trust }));
    agents.delete(key);
    agents.set(key, agent);
    if (agents.size > maxAgents) {
      const [oldest, unused] = agents.entries().next().value!;
      unused.destroy();
      agents.delete(oldest);
    }
    return agent;
  }

  async function post(
    client: WebhookClientConfig,
    body: string,
    { timeoutSeconds, signal }: CallOptions,
  ): Promise<ParsedResponse> {
    const address = addressOf(client);
    const url = `${address.url}?timeout=${timeoutSeconds}s`;
    const expiry = new AbortController();
    const cancel = clock.setTimer(timeoutSeconds * 1000, () => expiry.abort());
    try {
      return await httpRequest(address, {
        ...(client.service ? resolve({ ...client.service, port: client.service.port ?? 443 }) : {}),
        query: `?timeout=${timeoutSeconds}s`,
        body,
        agent: agentFor(address, client),
        signal: AbortSignal.any([signal, expiry.signal]),
      });
    } catch (error) {
      const why = expiry.signal.aborted
        ? 'context deadline exceeded'
        : connectionError(error as Error, address.servername || address.host, clock.now());
      throw new WebhookCallError(`Post ${quote(url)}: ${why}`, { cause: error });
    } finally {
      cancel();
    }
  }

  return {
    async call(client, review, options) {
      const local = inProcess?.get(inProcessKey(client));
      if (local) return callInProcess(clock, local, review, options);
      return read(await post(client, stringify(review), options));
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

/** Calls an in-process webhook with a timeout; an error that it throws counts as a failed call. */
async function callInProcess(
  clock: Clock,
  webhook: InProcessWebhook,
  review: unknown,
  { timeoutSeconds }: CallOptions,
): Promise<unknown> {
  let cancel = () => {};
  const expiry = new Promise<never>((_, reject) => {
    cancel = clock.setTimer(timeoutSeconds * 1000, () => reject(new Error('context deadline exceeded')));
  });
  try {
    return await Promise.race([webhook(review), expiry]);
  } catch (error) {
    throw new WebhookCallError((error as Error).message, { cause: error });
  } finally {
    cancel();
  }
}

function inProcessKey({ url, service }: WebhookClientConfig): string {
  return service ? `${service.namespace}/${service.name}${service.path ?? ''}` : (url ?? '');
}

type Address = {
  /** URL for messages, without the query. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** TLS server name; empty if there is only an address. */
  readonly servername: string;
};

function addressOf({ url, service }: WebhookClientConfig): Address {
  if (service) {
    const host = `${service.name}.${service.namespace}.svc`;
    const port = service.port ?? 443;
    const path = service.path || '/';
    return { url: `https://${host}:${port}${path}`, host, port, path, servername: host };
  }
  if (!url) throw new WebhookCallError('webhook configuration must have either service or URL');
  const { origin, hostname, port, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    url: `${origin}${pathname}`,
    host,
    port: port === '' ? 443 : Number(port),
    path: pathname,
    servername: isIP(host) ? '' : host,
  };
}

type ParsedResponse = { readonly status: number; readonly type: string; readonly body: Buffer };

type Exchange = {
  /** Host to connect to, if it differs from the URL. */
  readonly host?: string;
  readonly port?: number;
  readonly query: string;
  readonly body: string;
  readonly agent: Agent;
  readonly signal: AbortSignal;
};

function httpRequest(address: Address, { host, port, query, body, agent, signal }: Exchange): Promise<ParsedResponse> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        method: 'POST',
        host: host ?? address.host,
        port: port ?? address.port,
        path: `${address.path}${query}`,
        servername: address.servername,
        headers: {
          Host: `${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          Accept: 'application/json, */*',
          'User-Agent': 'kube-apiserver-admission',
        },
        agent,
        signal,
      },
      (response) => {
        readBody(response).then(
          (answer) =>
            resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body: answer }),
          reject,
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxResponseBytes) throw new Error(`the answer is larger than ${maxResponseBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function read({ status, type, body }: ParsedResponse): unknown {
  if (status < 200 || status > 206) {
    throw new WebhookCallError(statusError(status, type.startsWith('text/') ? body.toString().trim() : 'unknown'));
  }
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new WebhookCallError(`couldn't get version/kind; json parse error: ${error.message}`, { cause: error });
  }
}
