import { statusErrorOf } from '@kruise/client/http/status-error';
import type { ApiRequest, ApiResponse, Transport, WatchEvent } from '@kruise/client/transport';
import { StatusError } from '@kruise/machinery/status';
import { uuid } from '@kruise/machinery/uuid';
import { apiVersionOf } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import type { AuditOrigin } from '../audit/audit.ts';
import type { RequestContext } from '../context.ts';
import type { Core } from '../core.ts';
import { aggregatedDiscovery, groupsOf, localResources } from '../discovery/discovery.ts';
import { TooManyRequestsError } from '../flow-control/flow-control.ts';
import type { Body } from '../handlers/body.ts';
import { PlainTextError } from '../handlers/http-errors.ts';
import { objectOf, type RequestResult } from '../handlers/result.ts';
import type { KubeObject } from '../object.ts';
import { requestInfo } from '../request-info.ts';
import type { Resource } from '../resource.ts';
import type { User } from '../user.ts';
import { endRequest } from './audit.ts';
import { inProcessStages, runStages } from './pipeline.ts';
import { type Backend, PipelineRequest } from './request.ts';

/** Request from a component in the same process. */
class InProcessRequest extends PipelineRequest {
  readonly #sent: ApiRequest;

  constructor(core: Core, sent: ApiRequest, context: RequestContext) {
    super(core);
    this.#sent = sent;
    this.context = context;
  }

  override get isBackground(): boolean {
    return this.#sent.isBackground ?? false;
  }

  override origin(): AuditOrigin {
    const { info, query } = this.context;
    const uri = query.size === 0 ? info.path : `${info.path}?${query}`;
    return { auditId: uuid(this.core.random), uri, sourceIps: [] };
  }

  override findBackend(resource: Resource | undefined): Backend | undefined {
    const { core, context } = this;
    const { info } = context;
    if (info.path === '/api' || info.path === '/apis') return async () => discovery(core, info.path === '/api');
    const isAggregated = info.isResource && !resource && this.#sent.method === 'GET';
    const read = isAggregated ? core.aggregatedReader(context) : undefined;
    // Objects of an aggregated server are handled like any others.
    return read && (async () => ({ type: 'object', code: 200, object: (await read()) as KubeObject }));
  }

  override readBody(): Body | undefined {
    const { body: value, contentType } = this.#sent;
    if (value === undefined) return undefined;
    return contentType === undefined ? { type: 'value', value } : { type: 'value', value, contentType };
  }
}

/** Serves local discovery; group versions of aggregated servers are only in discovery over the network. */
function discovery(core: Core, isCore: boolean): RequestResult {
  const groups = groupsOf(localResources(core.resources));
  return { type: 'object', code: 200, object: aggregatedDiscovery(groups, isCore) as KubeObject };
}

/**
 * In-process transport to a server: the same stages as over the network, but without sockets and encoding. Returned
 * objects are the server's own and shared; they have no managedFields, which only the server reads.
 */
export function inProcessTransport(core: Core, user: User, userAgent = 'kruise'): Transport {
  function contextOf({ method, path, query = {}, signal }: ApiRequest): RequestContext {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined) search.append(name, String(each));
      }
    }
    return {
      info: requestInfo(method, path, search),
      query: search,
      user,
      userAgent,
      clock: core.clock,
      random: core.random,
      signal: signal ?? core.signal,
      warnings: new Set(),
      auditAnnotations: new Map(),
    };
  }

  /** Runs a request through the pipeline. A request that is rejected with 429 is retried, as over the network. */
  async function serve(sent: ApiRequest): Promise<Answered> {
    for (let retries = 0; ; retries++) {
      try {
        return await serveOnce(sent);
      } catch (error) {
        if (!(error instanceof TooManyRequestsError)) throw error;
        const { message, retryAfterSeconds } = error;
        if (retries === maxRetries) throw statusErrorOf({ code: 429, body: message, retryAfterSeconds });
        await after(core.clock, retryAfterSeconds * 1000, sent.signal ?? core.signal);
      }
    }
  }

  /** Runs a request through the pipeline; the request ends when the caller has received the whole response. */
  async function serveOnce(sent: ApiRequest): Promise<Answered> {
    const request = new InProcessRequest(core, sent, contextOf(sent));
    try {
      await runStages(inProcessStages, request);
      // Dispatch sets the result of every request in the same process.
      return { request, result: request.result! };
    } catch (thrown) {
      const error = asClientError(thrown);
      if (error instanceof StatusError) request.record?.response(() => error.status);
      endRequest(request, codeOf(error, request.context.signal));
      throw error;
    }
  }

  return {
    async request(sent): Promise<ApiResponse> {
      sent.signal?.throwIfAborted();
      const { request, result } = await serve(sent);
      const code = 'code' in result ? result.code : 200;
      endRequest(request, code);
      return { code, object: objectOf(result), warnings: [...request.context.warnings] };
    },
    async *watch(sent) {
      if (sent.signal?.aborted) return;
      const { request, result } = await serve(sent);
      try {
        if (result.type !== 'watch') throw new Error(`${sent.path} cannot be watched`);
        request.record?.started(200);
        const counted = core.controls.metrics.watchEvents(result.resource.kind);
        yield* eventsOf(result, sent.signal ?? core.signal, { opened: () => request.release(), counted });
      } finally {
        endRequest(request, 200);
      }
    },
  };
}

type Answered = { readonly request: PipelineRequest; readonly result: RequestResult };

/** Maximum number of retries after 429. */
const maxRetries = 10;

/** Over the network a plain-text response reaches the client, who converts it to this Status. */
function asClientError(error: unknown): unknown {
  return error instanceof PlainTextError ? statusErrorOf({ code: error.code, body: error.message }) : error;
}

/** Returns the status code of an error; 0 if the caller has cancelled the request. */
function codeOf(error: unknown, signal: AbortSignal): number {
  if (error instanceof StatusError) return error.code;
  if (error instanceof TooManyRequestsError) return 429;
  return signal.aborted ? 0 : 500;
}

/** Yields the events of a watch. `opened` is called once the watch only waits, and `counted` for each event. */
async function* eventsOf(
  answer: Extract<RequestResult, { type: 'watch' }>,
  signal: AbortSignal,
  { opened, counted }: { readonly opened: () => void; readonly counted: () => void },
): AsyncGenerator<WatchEvent> {
  const { kind } = answer.resource;
  let queue: WatchEvent[] = [];
  let wake = () => {};
  let hasEnded = false;
  const stop = linkedController(signal);
  stop.signal.addEventListener('abort', () => wake(), { once: true });
  const push = (event: WatchEvent) => {
    queue.push(event);
    wake();
  };
  await answer.open(
    {
      event(type, { object }) {
        counted();
        push({ type, object });
      },
      bookmark(revision, initialEventsEnd) {
        const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
        const metadata = { resourceVersion: String(revision), ...annotations };
        push({ type: 'BOOKMARK', object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } });
      },
      end(error) {
        if (error) push({ type: 'ERROR', object: error.status });
        hasEnded = true;
        wake();
      },
    },
    stop.signal,
  );
  opened();
  try {
    while (!signal.aborted) {
      const events = queue;
      queue = [];
      yield* events;
      if (queue.length > 0) continue;
      if (hasEnded || signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    // Aborting creates an expensive reason object even if the signal is already aborted.
    if (!stop.signal.aborted) stop.abort();
  }
}
