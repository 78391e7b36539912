import { refusalOf } from '@kruise/client/http/refusal';
import type { ApiAnswer, ApiRequest, Transport, WatchEvent } from '@kruise/client/transport';
import { apiVersionOf } from '@kruise/schema/kind';
import { authorize } from './authorization/authorize.ts';
import type { RequestContext } from './context.ts';
import type { Core } from './core.ts';
import { aggregatedDiscovery, groupsOf, resourcesHere } from './discovery/discovery.ts';
import { type Answer, dispatch } from './dispatch.ts';
import type { Body } from './handlers/body.ts';
import { PlainRefusal } from './handlers/refusal.ts';
import type { KubeObject } from './object.ts';
import { requestInfo } from './request.ts';
import type { User } from './user.ts';

/**
 * A way to a server in the same process: the same checks as over the network, but no socket and no encoding. What it
 * hands out are the server's own objects, shared by everyone who holds them; they come without managed fields, which
 * only the server reads.
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

  async function answer(request: ApiRequest): Promise<{ readonly context: RequestContext; readonly answer: Answer }> {
    const context = contextOf(request);
    if (context.info.path === '/api' || context.info.path === '/apis')
      return { context, answer: await discovery(context) };
    const { info } = context;
    const isElsewhere = info.isResource && !core.resources.find(info.group, info.version, info.plural);
    const reading = isElsewhere && request.method === 'GET' ? await readElsewhere(context) : undefined;
    if (reading) return { context, answer: reading };
    const { body: value, contentType } = request;
    const body: Body | undefined =
      value === undefined ? undefined : { type: 'value', value, ...(contentType === undefined ? {} : { contentType }) };
    try {
      return { context, answer: await dispatch(core, context, body) };
    } catch (error) {
      // Over the network this is a page of text, of which the other side makes this Status.
      if (error instanceof PlainRefusal) throw refusalOf({ code: error.code, body: error.message });
      throw error;
    }
  }

  async function readElsewhere(context: RequestContext): Promise<Answer | undefined> {
    const read = core.readerElsewhere(context);
    if (!read) return undefined;
    await authorize(core, context);
    // Another server's objects are objects as any.
    return { type: 'object', code: 200, object: (await read()) as KubeObject };
  }

  /** What is told of this way: what other servers answer for is told of over the network alone. */
  async function discovery(context: RequestContext): Promise<Answer> {
    await authorize(core, context);
    const groups = groupsOf(resourcesHere(core.resources));
    return {
      type: 'object',
      code: 200,
      object: aggregatedDiscovery(groups, context.info.path === '/api') as KubeObject,
    };
  }

  return {
    async request(request): Promise<ApiAnswer> {
      request.signal?.throwIfAborted();
      const { context, answer: result } = await answer(request);
      return { code: 'code' in result ? result.code : 200, object: objectOf(result), warnings: [...context.warnings] };
    },
    async *watch(request) {
      if (request.signal?.aborted) return;
      const { answer: result } = await answer(request);
      if (result.type !== 'watch') throw new Error(`${request.path} cannot be watched`);
      yield* eventsOf(result, request.signal ?? core.signal);
    },
  };
}

/** The object an answer amounts to. */
export function objectOf(answer: Answer): unknown {
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

async function* eventsOf(answer: Extract<Answer, { type: 'watch' }>, signal: AbortSignal): AsyncGenerator<WatchEvent> {
  const { kind } = answer.resource;
  let queue: WatchEvent[] = [];
  let wake = () => {};
  let over = false;
  const stop = new AbortController();
  const push = (event: WatchEvent) => {
    queue.push(event);
    wake();
  };
  await answer.open(
    {
      event: (type, { object }) => push({ type, object }),
      bookmark(revision, initialEventsEnd) {
        const annotations = initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {};
        const metadata = { resourceVersion: String(revision), ...annotations };
        push({ type: 'BOOKMARK', object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } });
      },
      end(error) {
        if (error) push({ type: 'ERROR', object: error.status });
        over = true;
        wake();
      },
    },
    AbortSignal.any([signal, stop.signal]),
  );
  signal.addEventListener('abort', () => wake(), { once: true, signal: stop.signal });
  try {
    while (!signal.aborted) {
      const events = queue;
      queue = [];
      yield* events;
      if (queue.length > 0) continue;
      if (over || signal.aborted) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop.abort();
  }
}
