/**
 * Keeps a copy of a kind's objects up to date: lists them, then watches what changes, over any transport and through
 * any of its failures. Whoever receives is given every change once and in order; what happened while no watch could
 * be had is in the next list.
 */
import type { Status } from '@kruise/api/meta/status';
import { StatusError } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import type { Client } from './client.ts';
import { type KubernetesObject, keyOf } from './object-key.ts';
import {
  afterEnd,
  afterEvent,
  afterFailure,
  afterState,
  delayMs,
  GarbageError,
  initialState,
  listRequest,
  SilenceError,
  watchRequest,
} from './reflector-state.ts';

/** Which objects of a kind. */
export type Selection = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

/** How a reflector goes about it; the defaults suit any cluster. */
export type ReflectorOptions = Selection & {
  /** Objects a page of a list has. */
  readonly pageSize?: number;
  /** Asks for the first state as events of a watch, which spares the server one long answer; lists if it cannot. */
  readonly stream?: boolean;
  /** Begins with the newest state there is: a server's cache, which is asked otherwise, may lag behind. */
  readonly newest?: boolean;
  /** A watch without any event or bookmark for so long is taken for dead and opened anew. */
  readonly maxSilenceMs?: number;
  /** A page of a list that takes longer is asked for again. */
  readonly listTimeoutMs?: number;
  /** Told of each failure; the reflector goes on. */
  readonly onError?: (error: unknown) => void;
};

/** Who is told what a reflector sees. */
export type ReflectorSink<T> = {
  /** All objects there are, as of a version. What came before and is not among them is gone. */
  replace(objects: readonly T[], version: string): void;
  /** One object changed. */
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Nothing has changed up to a version but what has been told. */
  progress(version: string): void;
};

const defaultPageSize = 500;
/** Servers send a bookmark about once a minute, so that three are missed; a resumed watch is cheap all the same. */
const defaultMaxSilenceMs = 180_000;
const defaultListTimeoutMs = 120_000;
/** How long a watch is asked for: so long, up to twice as long, so that not all watches end together. */
const watchTimeoutSeconds = 300;
/** A watch that ends sooner, without an event, was no watch: a server that is going down, say. */
const shortestWatchMs = 1000;

/**
 * Reflects a kind into a sink until the signal is aborted.
 *
 * ```ts
 * await runReflector(client, clock, random, pod, { namespace: 'default' }, sink, signal);
 * ```
 */
export async function runReflector<K extends Kind>(
  client: Client,
  clock: Clock,
  random: Random,
  kind: K,
  options: ReflectorOptions,
  sink: ReflectorSink<ObjectOf<K>>,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, labelSelector, fieldSelector } = options;
  const selection = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
  const apiVersion = apiVersionOf(kind);
  let state = initialState(options);

  /** Lists of servers leave out what each item is, as the list says it. */
  const typed = (object: KubernetesObject): KubernetesObject =>
    object.kind === undefined || object.apiVersion === undefined ? { ...object, kind: kind.kind, apiVersion } : object;

  async function list(): Promise<void> {
    const objects: KubernetesObject[] = [];
    const request = listRequest(state, options.pageSize ?? defaultPageSize);
    let token: string | undefined;
    for (;;) {
      const page = await within(clock, options.listTimeoutMs ?? defaultListTimeoutMs, signal, (limit) =>
        client.list(kind, {
          ...selection,
          // The token has the version in it.
          ...(token ? { limit: request.limit ?? defaultPageSize, continue: token } : request),
          signal: limit,
        }),
      );
      if (!Array.isArray(page?.items)) throw new GarbageError(`a list of ${kind.plural} has no items`);
      for (const item of page.items) objects.push(typed(checked(item)));
      token = page.metadata?.continue;
      if (token) continue;
      const version = page.metadata?.resourceVersion;
      if (!version) throw new GarbageError(`a list of ${kind.plural} has no version`);
      // What a server lists of a kind are objects of that kind.
      sink.replace(objects as ObjectOf<K>[], version);
      state = afterState(state, version);
      return;
    }
  }

  async function watch(): Promise<void> {
    const opened = clock.elapsedMs();
    const timeoutSeconds = Math.round(jitter(random, watchTimeoutSeconds, 1));
    // Gathers the first state where it comes as events.
    let initial = state.next === 'stream' ? new Map<string, KubernetesObject>() : undefined;
    let count = 0;

    const receive = ({ type, object }: { type: string; object: unknown }): void => {
      if (type === 'ERROR') throw new StatusError(statusIn(object));
      if (type === 'BOOKMARK') {
        const { resourceVersion, annotations } = (object as KubernetesObject | null)?.metadata ?? {};
        if (!resourceVersion) throw new GarbageError('a bookmark has no version');
        if (initial === undefined) {
          sink.progress(resourceVersion);
          state = afterEvent(state, resourceVersion);
        } else if (annotations?.['k8s.io/initial-events-end'] === 'true') {
          sink.replace([...initial.values()] as ObjectOf<K>[], resourceVersion);
          initial = undefined;
          state = afterState(state, resourceVersion);
        }
        return;
      }
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
        throw new GarbageError(`an event has the type ${JSON.stringify(type)}`);
      }
      const found = typed(checked(object));
      if (initial === undefined) {
        sink.change(type, found as ObjectOf<K>);
        // It was checked that there is one.
        state = afterEvent(state, found.metadata.resourceVersion!);
      } else if (type === 'DELETED') {
        initial.delete(keyOf(found));
      } else {
        initial.set(keyOf(found), found);
      }
    };

    await consume(
      clock,
      { maxSilenceMs: options.maxSilenceMs ?? defaultMaxSilenceMs, signal },
      (connection) => client.watch(kind, { ...selection, ...watchRequest(state, timeoutSeconds), signal: connection }),
      (event) => {
        count++;
        receive(event);
      },
    );
    if (initial) throw new SilenceError('the watch ended before the first state was complete');
    state = afterEnd(state, { wasFruitful: count > 0 || clock.elapsedMs() - opened >= shortestWatchMs });
  }

  while (!signal.aborted) {
    let failure: unknown;
    try {
      await (state.next === 'list' ? list() : watch());
    } catch (error) {
      if (signal.aborted) return;
      failure = error;
      state = afterFailure(state, error);
      options.onError?.(error);
    }
    const waitMs = delayMs(state, failure, random);
    if (waitMs > 0) await after(clock, waitMs, signal).catch(() => {});
  }
}

/** An object that can be told from others and put in order, or an error. */
function checked(object: unknown): KubernetesObject {
  const metadata = (object as KubernetesObject | null | undefined)?.metadata;
  if (!metadata?.name || !metadata.resourceVersion) throw new GarbageError('an object has no name or no version');
  return object as KubernetesObject;
}

/** Why a server ends a watch. */
function statusIn(object: unknown): Status {
  const status = object as Status | null | undefined;
  if (status?.kind !== 'Status') throw new GarbageError('an error says nothing');
  return status;
}

/** Runs something that takes a signal, and gives up on it after a while whether it heeds the signal or not. */
async function within<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const stop = () => limit.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const cancel = clock.setTimer(limitMs, () => limit.abort(new SilenceError(`no answer in ${limitMs} ms`)));
  try {
    return await new Promise<T>((resolve, reject) => {
      limit.signal.addEventListener('abort', () => reject(limit.signal.reason), { once: true });
      if (signal.aborted) stop();
      else run(limit.signal).then(resolve, reject);
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', stop);
  }
}

type Liveness = { readonly maxSilenceMs: number; readonly signal: AbortSignal };

/**
 * Hands on what a stream gives until it ends, the signal is aborted, or it has been silent for too long. A stream that
 * does not heed its own signal is left to itself.
 */
async function consume<E>(
  clock: Clock,
  { maxSilenceMs, signal }: Liveness,
  open: (signal: AbortSignal) => AsyncIterable<E>,
  receive: (item: E) => void,
): Promise<void> {
  const connection = new AbortController();
  let heardAt = clock.elapsedMs();
  let fail: (reason: unknown) => void = () => {};
  const close = (reason: unknown) => {
    connection.abort(reason);
    fail(reason);
  };
  const stop = () => close(signal.reason);
  // One timer a connection, not one an event: it looks how long ago the last event was.
  const listen = (delayMs: number) => {
    clock.setTimer(
      delayMs,
      () => {
        const silentMs = clock.elapsedMs() - heardAt;
        if (silentMs < maxSilenceMs) listen(maxSilenceMs - silentMs);
        else close(new SilenceError(`no event for ${silentMs} ms`));
      },
      connection.signal,
    );
  };
  signal.addEventListener('abort', stop, { once: true });
  listen(maxSilenceMs);
  let iterator: AsyncIterator<E> | undefined;
  try {
    iterator = open(connection.signal)[Symbol.asyncIterator]();
    for (;;) {
      const next = iterator.next();
      const result = await new Promise<IteratorResult<E>>((resolve, reject) => {
        fail = reject;
        if (connection.signal.aborted) reject(connection.signal.reason);
        next.then(resolve, reject);
      });
      if (connection.signal.aborted) throw connection.signal.reason;
      if (result.done) return;
      heardAt = clock.elapsedMs();
      receive(result.value);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    if (!connection.signal.aborted) connection.abort();
    // Whether the stream minds being left is its own affair: nobody waits for it.
    void Promise.resolve(iterator?.return?.()).catch(() => {});
  }
}
