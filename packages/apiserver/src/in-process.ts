import { statusErrorOf } from '@kruise/client/http/status-error';
import type { ApiRequest, ApiResponse, Transport, WatchEvent } from '@kruise/client/transport';
import { StatusError } from '@kruise/machinery/status';
import { uuid } from '@kruise/machinery/uuid';
import { apiVersionOf } from '@kruise/schema/kind';
import { after } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import type { AuditOrigin } from './audit/audit.ts';
import { authorize } from './authorization/authorize.ts';
import type { RequestContext } from './context.ts';
import type { Core } from './core.ts';
import { aggregatedDiscovery, groupsOf, localResources } from './discovery/discovery.ts';
import { dispatch, type RequestResult, resolve } from './dispatch.ts';
import type { FilteredRequest } from './filter-chain.ts';
import { TooManyRequestsError } from './flow-control/flow-control.ts';
import type { Body } from './handlers/body.ts';
import { PlainTextError } from './handlers/http-errors.ts';
import type { KubeObject } from './object.ts';
import { requestInfo } from './request.ts';
import type { User } from './user.ts';

/**
 * In-process transport to a server: the same checks as over the network, but without sockets and encoding. Returned
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

  /** Runs a request through the filter chain. A request that is rejected with 429 is retried, as over the network. */
  async function runWithRetries(request: ApiRequest): Promise<AnsweredRequest> {
    for (let retries = 0; ; retries++) {
      try {
        return await runOnce(request);
      } catch (error) {
        if (!(error instanceof TooManyRequestsError)) throw error;
        const { message, retryAfterSeconds } = error;
        if (retries === maxRetries) throw statusErrorOf({ code: 429, body: message, retryAfterSeconds });
        await after(core.clock, retryAfterSeconds * 1000, request.signal ?? core.signal);
      }
    }
  }

  async function runOnce(request: ApiRequest): Promise<AnsweredRequest> {
    const context = contextOf(request);
    const filtered = core.filterChain.begin({
      context,
      sender: user,
      origin: () => originOf(core, context),
      isBackground: request.isBackground ?? false,
    });
    const { record } = filtered;
    try {
      const pending = filtered.admit();
      if (pending instanceof Promise) await pending;
      record?.request(() => request.body);
      const result = await answer(context, request);
      record?.response(() => objectOf(result));
      return { context, filtered, answer: result };
    } catch (error) {
      if (error instanceof StatusError) record?.response(() => error.status);
      filtered.end(codeOf(error, context.signal));
      throw error;
    }
  }

  async function answer(
    context: RequestContext,
    { method, body: value, contentType }: ApiRequest,
  ): Promise<RequestResult> {
    const { info } = context;
    await authorize(core, context);
    if (info.path === '/api' || info.path === '/apis') return discovery(context);
    const isAggregated = info.isResource && !core.resources.find(info.group, info.version, info.plural);
    const aggregated = isAggregated && method === 'GET' ? await readAggregated(context) : undefined;
    if (aggregated) return aggregated;
    const body: Body | undefined =
      value === undefined ? undefined : { type: 'value', value, ...(contentType === undefined ? {} : { contentType }) };
    try {
      return await dispatch(core, context, resolve(core, context), body);
    } catch (error) {
      // Over the network the response is plain text, which clients convert to this Status.
      if (error instanceof PlainTextError) throw statusErrorOf({ code: error.code, body: error.message });
      throw error;
    }
  }

  async function readAggregated(context: RequestContext): Promise<RequestResult | undefined> {
    const read = core.aggregatedReader(context);
    if (!read) return undefined;
    // Objects of an aggregated server are handled like any others.
    return { type: 'object', code: 200, object: (await read()) as KubeObject };
  }

  /** Serves local discovery; group versions of aggregated servers are only in discovery over the network. */
  function discovery(context: RequestContext): RequestResult {
    const groups = groupsOf(localResources(core.resources));
    return {
      type: 'object',
      code: 200,
      object: aggregatedDiscovery(groups, context.info.path === '/api') as KubeObject,
    };
  }

  return {
    async request(request): Promise<ApiResponse> {
      request.signal?.throwIfAborted();
      const { context, filtered, answer: result } = await runWithRetries(request);
      const code = 'code' in result ? result.code : 200;
      filtered.end(code);
      return { code, object: objectOf(result), warnings: [...context.warnings] };
    },
    async *watch(request) {
      if (request.signal?.aborted) return;
      const { filtered, answer: result } = await runWithRetries(request);
      try {
        if (result.type !== 'watch') throw new Error(`${request.path} cannot be watched`);
        filtered.record?.started(200);
        const counted = core.filterChain.watchEvents(result.resource.kind);
        yield* eventsOf(result, request.signal ?? core.signal, { opened: filtered.release, counted });
      } finally {
        filtered.end(200);
      }
    },
  };
}

/** Admitted and answered request; it ends when the caller has received the whole response. */
type AnsweredRequest = {
  readonly context: RequestContext;
  readonly filtered: FilteredRequest;
  readonly answer: RequestResult;
};

/** Maximum number of retries after 429. */
const maxRetries = 10;

function originOf({ random }: Core, { info, query }: RequestContext): AuditOrigin {
  const uri = query.size === 0 ? info.path : `${info.path}?${query}`;
  return { auditId: uuid(random), uri, sourceIps: [] };
}

/** Returns the status code of an error; 0 if the caller has cancelled the request. */
function codeOf(error: unknown, signal: AbortSignal): number {
  if (error instanceof StatusError) return error.code;
  if (error instanceof TooManyRequestsError) return 429;
  return signal.aborted ? 0 : 500;
}

/** Returns the object of a response. */
export function objectOf(answer: RequestResult): unknown {
  switch (answer.type) {
    case 'found':
      return answer.found.object;
    case 'object':
      return answer.object;
    case 'list': {
      const { kind } = answer.resource;
      return {
        kind: kind.listKind,
        apiVersion: apiVersionOf(kind),
        metadata: answer.listed.metadata,
        items: answer.listed.items.map(({ object }) => object),
      };
    }
    case 'watch':
      return undefined;
  }
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
