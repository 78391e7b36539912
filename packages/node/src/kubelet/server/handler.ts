/**
 * Kubelet API handler, independent of the transport: a network listener, or an API server in the same process. Callers
 * authorize requests before.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Pod } from '@kruise/api/core/pod';
import { scrape } from '@kruise/client/metrics';
import type { Upgrade } from '@kruise/client/streaming/upgrade';
import type { PodWorker } from '../pods/pod-worker.ts';
import { cadvisorMetrics } from './cadvisor-metrics.ts';
import { attach, type CommandRequest, exec, portForward, runOnce } from './commands.ts';
import { readLog } from './logs.ts';
import { checkpoint, readNodeLog } from './node-files.ts';
import type { RequestTarget } from './request-target.ts';
import { resourceMetrics } from './resource-metrics.ts';
import { summaryOf } from './summary.ts';
import { KubeletError, type KubeletView } from './view.ts';

/** A request to a kubelet. */
export type KubeletRequest = {
  readonly method: string;
  /** The target, parsed once, by the caller that also authorizes the request. */
  readonly target: RequestTarget;
  readonly headers: IncomingHttpHeaders;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
};

/** Response of the kubelet API. */
export type KubeletResponse = {
  readonly code: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Readable;
};

/** Kubelet API. */
export type KubeletHandler = {
  send(request: KubeletRequest): Promise<KubeletResponse>;
  /** Handles an upgrade request on its socket. */
  upgrade(request: KubeletRequest, upgrade: Upgrade): Promise<void>;
};

const plainText = 'text/plain; charset=utf-8';
const prometheusText = 'text/plain; version=0.0.4; charset=utf-8';
/** Health checks that always pass: a kubelet that answers at all is healthy, because it runs on one thread. */
const healthChecks = ['ping', 'log', 'syncloop'];

function textResponse(body: string, type = plainText, code = 200): KubeletResponse {
  return {
    code,
    headers: { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) },
    body: Readable.from([Buffer.from(body)]),
  };
}

/** Returns the response to a failed request. */
export function errorResponse(error: unknown): KubeletResponse {
  return textResponse((error as Error).message, plainText, error instanceof KubeletError ? error.code : 500);
}

/** Creates the kubelet API handler. */
export function createKubeletHandler(view: KubeletView): KubeletHandler {
  const json = (value: unknown) => textResponse(JSON.stringify(value), 'application/json');

  async function respond(request: KubeletRequest): Promise<KubeletResponse> {
    const { segments, query } = request.target;
    const [first = '', ...rest] = segments;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    switch (first) {
      case 'healthz':
        return respondHealth(rest[0], query);
      case 'pods':
        if (!isRead) throw methodNotAllowed();
        return json(podList(view.workers().map((worker) => podWithStatus(worker))));
      case 'runningpods':
        if (!isRead) throw methodNotAllowed();
        return json(
          podList(
            view
              .workers()
              .filter(isRunning)
              .map((worker) => runningPod(worker)),
          ),
        );
      case 'configz':
        return json({ kubeletconfig: view.configuration() });
      case 'containerLogs':
        if (isRead)
          return {
            code: 200,
            headers: { 'content-type': 'text/plain' },
            body: await readLog(view, rest, query, request.signal),
          };
        break;
      case 'stats':
        if (!isRead) throw methodNotAllowed();
        if (rest[0] === 'summary') return json(await summaryOf(view, query.get('only_cpu_and_memory') === 'true'));
        break;
      case 'metrics':
        return respondMetrics(rest[0], request);
      case 'logs':
        if (isRead) return { code: 200, headers: { 'content-type': plainText }, body: await readNodeLog(view, rest) };
        break;
      case 'checkpoint':
        if (request.method === 'POST') return json(await checkpoint(view, rest));
        break;
      case 'run':
        if (request.method === 'POST')
          return textResponse(await runOnce(view, rest, query.getAll('cmd'), request.signal));
        break;
      case 'exec':
      case 'attach':
      case 'portForward':
        throw new KubeletError(400, 'Upgrade request required');
    }
    throw new KubeletError(404, '404 page not found');
  }

  function respondHealth(checkName: string | undefined, query: URLSearchParams): KubeletResponse {
    if (checkName !== undefined && !healthChecks.includes(checkName)) throw new KubeletError(404, '404 page not found');
    if (!query.has('verbose')) return textResponse('ok');
    const asked = checkName === undefined ? healthChecks : [checkName];
    return textResponse(`${asked.map((name) => `[+]${name} ok\n`).join('')}healthz check passed\n`);
  }

  async function respondMetrics(checkName: string | undefined, { headers }: KubeletRequest): Promise<KubeletResponse> {
    if (checkName === undefined) {
      const { type, text: body } = scrape(view.metrics, headers.accept);
      return textResponse(body, type);
    }
    if (checkName === 'probes') {
      const { type, text: body } = scrape(view.probeMetrics, headers.accept);
      return textResponse(body, type);
    }
    if (checkName === 'resource') return textResponse(await resourceMetrics(view), prometheusText);
    if (checkName === 'cadvisor') return textResponse(await cadvisorMetrics(view), prometheusText);
    throw new KubeletError(404, '404 page not found');
  }

  return {
    async send(request) {
      try {
        return await respond(request);
      } catch (error) {
        return errorResponse(error);
      }
    },
    async upgrade(request, upgrade) {
      const { segments, query } = request.target;
      const [first, ...path] = segments;
      const asked: CommandRequest = { path, query, upgrade };
      if (first === 'exec') return exec(view, asked);
      if (first === 'attach') return attach(view, asked);
      if (first === 'portForward') return portForward(view, asked);
      throw new KubeletError(404, '404 page not found');
    },
  };
}

function methodNotAllowed(): KubeletError {
  return new KubeletError(405, '405: Method Not Allowed');
}

/** Returns a Pod with the kubelet's status, which may be newer than the API server's. */
function podWithStatus(worker: PodWorker): Pod {
  return { ...worker.pod(), status: worker.status() };
}

function isRunning(worker: PodWorker): boolean {
  return worker.runtimePod().containers.some(({ state }) => state === 'running');
}

/** Returns a Pod as the runtime reports it. */
function runningPod(worker: PodWorker): Pod {
  const { name, namespace, uid } = worker.pod().metadata;
  const running = worker.runtimePod().containers.filter(({ state }) => state === 'running');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name ? { name } : {}),
      ...(namespace ? { namespace } : {}),
      ...(uid ? { uid } : {}),
    },
    spec: { containers: running.map((each) => ({ name: each.name, image: each.image })) },
    status: {},
  };
}

function podList(items: readonly Pod[]) {
  return { kind: 'PodList', apiVersion: 'v1', metadata: {}, items };
}
