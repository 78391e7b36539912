/**
 * Reflector: lists the objects of a kind and watches their changes, over any transport and through all of its failures.
 * The sink receives every event once and in order; changes during an interruption of the watch are in the next list.
 */
import type { Status } from '@kruise/api/meta/status';
import { StatusError } from '@kruise/machinery/status';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { apiVersionOf } from '@kruise/schema/kind';
import { after, type Clock } from '@kruise/values/clock';
import { jitter, type Random } from '@kruise/values/random';
import type { Client } from '../api/client.ts';
import { type KubernetesObject, keyOf } from './object-key.ts';
import {
  afterEnd,
  afterEvent,
  afterFailure,
  afterList,
  delayMs,
  InvalidResponseError,
  initialState,
  listRequest,
  StalledError,
  watchRequest,
} from './reflector-state.ts';

/** Selection of objects of a kind. */
export type Selection = {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

/** Options of a reflector; the defaults suit any cluster. */
export type ReflectorOptions = Selection & {
  /** Page size of lists. */
  readonly pageSize?: number;
  /**
   * WatchList: requests the initial state as watch events, which saves the server a large response. Falls back to a
   * list.
   */
  readonly watchList?: boolean;
  /**
   * Starts with the most recent state. Otherwise the initial list comes from the cache of the server, which may be
   * stale.
   */
  readonly newest?: boolean;
  /** A watch without an event or bookmark for this time is considered dead and restarted. */
  readonly watchIdleTimeoutMs?: number;
  /** Timeout of a page of a list. */
  readonly listTimeoutMs?: number;
  /** Receives each error; the reflector continues. */
  readonly onError?: (error: unknown) => void;
};

/** Receiver of the events of a reflector. */
export type ReflectorSink<T> = {
  /** Replaces all objects with the state at a resourceVersion. Objects that are not in the list are gone. */
  replace(objects: readonly T[], version: string): void;
  /** Adds, updates or deletes one object. */
  change(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Bookmark: all changes up to a resourceVersion have been delivered. */
  progress(version: string): void;
};

const defaultPageSize = 500;
/** Servers send a bookmark about once a minute, so this is three missed bookmarks. A resumed watch is cheap anyway. */
const defaultWatchIdleTimeoutMs = 180_000;
const defaultListTimeoutMs = 120_000;
/** Requested duration of a watch: between one and two times this value, so that not all watches end together. */
const watchTimeoutSeconds = 300;
/** A watch that ends earlier without an event counts as failed, for example because the server is shutting down. */
const minWatchMs = 1000;

/**
 * Runs a reflector until the signal is aborted.
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

  /** Adds apiVersion and kind, which servers omit in the items of a list. */
  const withType = (object: KubernetesObject): KubernetesObject =>
    object.kind === undefined || object.apiVersion === undefined ? { ...object, kind: kind.kind, apiVersion } : object;

  async function list(): Promise<void> {
    const objects: KubernetesObject[] = [];
    const request = listRequest(state, options.pageSize ?? defaultPageSize);
    let token: string | undefined;
    for (;;) {
      const page = await withTimeout(clock, options.listTimeoutMs ?? defaultListTimeoutMs, signal, (limit) =>
        client.list(kind, {
          ...selection,
          // The continue token contains the resourceVersion.
          ...(token ? { limit: request.limit ?? defaultPageSize, continue: token } : request),
          signal: limit,
        }),
      );
      if (!Array.isArray(page?.items)) throw new InvalidResponseError(`a list of ${kind.plural} has no items`);
      for (const item of page.items) objects.push(withType(validateObject(item)));
      token = page.metadata?.continue;
      if (token) continue;
      const version = page.metadata?.resourceVersion;
      if (!version) throw new InvalidResponseError(`a list of ${kind.plural} has no version`);
      // A list of a kind contains objects of that kind.
      sink.replace(objects as ObjectOf<K>[], version);
      state = afterList(state, version);
      return;
    }
  }

  async function watch(): Promise<void> {
    const startMs = clock.elapsedMs();
    const timeoutSeconds = Math.round(jitter(random, watchTimeoutSeconds, 1));
    // Collects the initial events of a WatchList.
    let initial = state.next === 'stream' ? new Map<string, KubernetesObject>() : undefined;
    let count = 0;

    const receive = ({ type, object }: { type: string; object: unknown }): void => {
      if (type === 'ERROR') throw new StatusError(statusOf(object));
      if (type === 'BOOKMARK') {
        const { resourceVersion, annotations } = (object as KubernetesObject | null)?.metadata ?? {};
        if (!resourceVersion) throw new InvalidResponseError('a bookmark has no version');
        if (initial === undefined) {
          sink.progress(resourceVersion);
          state = afterEvent(state, resourceVersion);
        } else if (annotations?.['k8s.io/initial-events-end'] === 'true') {
          sink.replace([...initial.values()] as ObjectOf<K>[], resourceVersion);
          initial = undefined;
          state = afterList(state, resourceVersion);
        }
        return;
      }
      if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') {
        throw new InvalidResponseError(`an event has the type ${JSON.stringify(type)}`);
      }
      const found = withType(validateObject(object));
      if (initial === undefined) {
        sink.change(type, found as ObjectOf<K>);
        // `validateObject` has checked that the resourceVersion exists.
        state = afterEvent(state, found.metadata.resourceVersion!);
      } else if (type === 'DELETED') {
        initial.delete(keyOf(found));
      } else {
        initial.set(keyOf(found), found);
      }
    };

    await consume(
      clock,
      { watchIdleTimeoutMs: options.watchIdleTimeoutMs ?? defaultWatchIdleTimeoutMs, signal },
      (connection) => client.watch(kind, { ...selection, ...watchRequest(state, timeoutSeconds), signal: connection }),
      (event) => {
        count++;
        receive(event);
      },
    );
    if (initial) throw new StalledError('the watch ended before the first state was complete');
    state = afterEnd(state, { madeProgress: count > 0 || clock.elapsedMs() - startMs >= minWatchMs });
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

/** Returns the object if it has a name and a resourceVersion; otherwise throws. */
function validateObject(object: unknown): KubernetesObject {
  const metadata = (object as KubernetesObject | null | undefined)?.metadata;
  if (!metadata?.name || !metadata.resourceVersion)
    throw new InvalidResponseError('an object has no name or no version');
  return object as KubernetesObject;
}

/** Returns the Status of an ERROR event. */
function statusOf(object: unknown): Status {
  const status = object as Status | null | undefined;
  if (status?.kind !== 'Status') throw new InvalidResponseError('an error says nothing');
  return status;
}

/** Runs a function with a timeout, even if the function ignores its signal. */
async function withTimeout<T>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const stop = () => limit.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const cancel = clock.setTimer(limitMs, () => limit.abort(new StalledError(`no answer in ${limitMs} ms`)));
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

type Liveness = { readonly watchIdleTimeoutMs: number; readonly signal: AbortSignal };

/**
 * Reads a stream until it ends, the signal is aborted, or no item arrives for too long. A stream that ignores its
 * signal is abandoned.
 */
async function consume<E>(
  clock: Clock,
  { watchIdleTimeoutMs, signal }: Liveness,
  open: (signal: AbortSignal) => AsyncIterable<E>,
  receive: (item: E) => void,
): Promise<void> {
  const connection = new AbortController();
  let lastEventMs = clock.elapsedMs();
  let fail: (reason: unknown) => void = () => {};
  const close = (reason: unknown) => {
    connection.abort(reason);
    fail(reason);
  };
  const stop = () => close(signal.reason);
  // One timer per connection, not per event: the timer compares the time of the last event.
  const scheduleSilenceCheck = (delayMs: number) => {
    clock.setTimer(
      delayMs,
      () => {
        const idleMs = clock.elapsedMs() - lastEventMs;
        if (idleMs < watchIdleTimeoutMs) scheduleSilenceCheck(watchIdleTimeoutMs - idleMs);
        else close(new StalledError(`no event for ${idleMs} ms`));
      },
      connection.signal,
    );
  };
  signal.addEventListener('abort', stop, { once: true });
  scheduleSilenceCheck(watchIdleTimeoutMs);
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
      lastEventMs = clock.elapsedMs();
      receive(result.value);
    }
  } finally {
    signal.removeEventListener('abort', stop);
    if (!connection.signal.aborted) connection.abort();
    // The result of closing the stream is ignored.
    void Promise.resolve(iterator?.return?.()).catch(() => {});
  }
}
