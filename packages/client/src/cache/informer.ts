/**
 * Shared informers: each kind is listed and watched once and cached once, regardless of the number of controllers.
 * Reads from the cache are synchronous. Each handler receives every event in order, independently of other handlers.
 */
import { parseSelector } from '@kruise/machinery/label-selector';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import { jitter, type Random } from '@kruise/values/random';
import type { Client } from '../api/client.ts';
import { isVersionAtLeast, type Key, type KubernetesObject, keyOf, referenceOf } from './object-key.ts';
import { createObjectStore, type ObjectReader } from './object-store.ts';
import { type ReflectorOptions, type ReflectorSink, runReflector, type Selection } from './reflector.ts';

/** An event of an informer. */
export type Change<T> = {
  readonly type: 'added' | 'updated' | 'deleted';
  /** Current object; for a deletion the last known state. */
  readonly object: T;
  /** Object before an update. */
  readonly previous?: T;
  /** Cause of the event: a change in the cluster, the initial list for a new handler, or a resync. */
  readonly cause: 'event' | 'initial' | 'resync';
};

/** Event handler. Events are delivered sequentially: the next one after the returned promise has settled. */
export type Handler<T> = (change: Change<T>) => void | Promise<void>;

/** Options of an event handler. */
export type HandlerOptions = {
  /** Resync period, with a jitter of up to a tenth; no resync by default. */
  readonly resyncMs?: number;
  /** Removes the handler. */
  readonly signal?: AbortSignal;
};

/** Cache of a kind, kept up to date by a watch. */
export type Informer<T> = ObjectReader<T> & {
  /** Adds an event handler. It receives all cached objects first, then every event. */
  handle(handler: Handler<T>, options?: HandlerOptions): void;
  /** Reports whether the initial list is complete. Before that, reads from the cache are meaningless. */
  hasSynced(): boolean;
  /** Resolves when the initial list is complete and, after `refresh`, when the new list is complete. */
  readonly synced: Promise<void>;
  /**
   * Lists again from the newest state. A new leader calls this, so that it does not decide from a cache that is older
   * than the writes of the last leader. The cache stays readable meanwhile.
   */
  refresh(): void;
  /** Reports whether the cache has reached a resourceVersion, as far as versions are comparable. */
  hasReached(version: string): boolean;
  /** Live read of an object, bypassing the cache; undefined if it does not exist. */
  getLive(key: Key): Promise<T | undefined>;
};

/** A cache was read before its initial list was complete. The caller waits for `synced` and retries. */
export class NotSyncedError extends Error {
  override readonly name = 'NotSyncedError';
  readonly synced: Promise<void>;

  constructor(kind: Kind, synced: Promise<void>) {
    super(`the cache of ${kind.plural} has not synced`);
    this.synced = synced;
  }
}

/** Calls a function that reads caches, and retries it until they have synced. */
export async function onceSynced<T>(read: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof NotSyncedError)) throw error;
      await error.synced;
    }
  }
}

/** Selection, transformation and error handling of an informer. */
export type InformerOptions = Omit<ReflectorOptions, 'onError'> & {
  /** Receives the errors of requests and of event handlers. */
  readonly onError?: (error: unknown) => void;
  /** Transforms an object before it is cached, for example drops its managed fields to save memory. */
  readonly transform?: (object: KubernetesObject) => KubernetesObject;
};

/** Transforms an object before it is cached: managed fields are half of an object, and few readers need them. */
export function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/**
 * Starts an informer that runs until the signal is aborted.
 *
 * ```ts
 * const pods = startInformer(client, clock, random, pod, {}, signal);
 * await pods.synced;
 * pods.list({ namespace: 'default' });
 * ```
 */
export function startInformer<K extends Kind>(
  client: Client,
  clock: Clock,
  random: Random,
  kind: K,
  options: InformerOptions,
  signal: AbortSignal,
): Informer<ObjectOf<K>> {
  type T = ObjectOf<K>;
  const { transform, onError = () => {}, ...reflectorOptions } = options;
  const store = createObjectStore<T>();
  const listeners = new Set<Listener<T>>();
  let pendingSync = Promise.withResolvers<void>();
  let isListed = false;
  let version: string | undefined;

  const notify = (change: Change<T>) => {
    for (const listener of listeners) listener.notify(change);
  };
  const upsert = (key: Key, object: T, cause: Change<T>['cause']) => {
    const cached = store.get(key);
    // A list contains unchanged objects, too.
    if (cached !== undefined && isSameVersion(cached, object)) return;
    const stored = transform ? (transform(object) as T) : object;
    store.set(key, stored);
    if (cached === undefined) {
      notify({ type: 'added', object: stored, cause });
    } else if (cached.metadata.uid !== stored.metadata.uid) {
      // The object was deleted and created again with the same name while the watch was interrupted.
      notify({ type: 'deleted', object: cached, cause: 'event' });
      notify({ type: 'added', object: stored, cause: 'event' });
    } else {
      notify({ type: 'updated', object: stored, previous: cached, cause: 'event' });
    }
  };
  const remove = (key: Key, last: T | undefined) => {
    const cached = store.remove(key);
    if (cached !== undefined) notify({ type: 'deleted', object: last ?? cached, cause: 'event' });
  };

  const sink: ReflectorSink<T> = {
    replace(objects, listVersion) {
      const cause = version === undefined ? 'initial' : 'event';
      const stale = new Set(version === undefined ? [] : store.keys());
      version = listVersion;
      for (const object of objects) {
        const key = keyOf(object);
        stale.delete(key);
        upsert(key, object, cause);
      }
      for (const key of stale) remove(key, undefined);
      isListed = true;
      pendingSync.resolve();
    },
    change(type, object) {
      version = object.metadata.resourceVersion;
      if (type === 'DELETED') remove(keyOf(object), object);
      else upsert(keyOf(object), object, 'event');
    },
    progress(reached) {
      version = reached;
    },
  };
  let run = linkedController(signal);
  const startReflector = (newest: Pick<ReflectorOptions, 'newest'>) => {
    const { signal: ended } = run;
    const settings = { ...reflectorOptions, ...newest, onError };
    void runReflector(client, clock, random, kind, settings, untilAborted(sink, ended), ended);
  };
  startReflector({});

  return {
    get: store.get,
    list: store.list,
    byIndex: store.byIndex,
    ownedBy: store.ownedBy,
    controlledBy: store.controlledBy,
    get size() {
      return store.size;
    },
    handle(handler, { resyncMs, signal: ending } = {}) {
      const ended = ending ? linkedController(signal, ending).signal : signal;
      if (ended.aborted) return;
      const listener = createListener<T>(handler, onError);
      ended.addEventListener('abort', () => listeners.delete(listener), { once: true });
      for (const object of store.list()) listener.notify({ type: 'added', object, cause: 'initial' });
      listeners.add(listener);
      if (!resyncMs) return;
      const wait = () => {
        clock.setTimer(
          jitter(random, resyncMs, 0.1),
          () => {
            for (const object of store.list()) {
              listener.notify({ type: 'updated', object, previous: object, cause: 'resync' });
            }
            wait();
          },
          ended,
        );
      };
      wait();
    },
    hasSynced: () => version !== undefined,
    get synced() {
      return pendingSync.promise;
    },
    refresh() {
      // While a list is pending its promise is kept: the list of this refresh is newer and resolves that promise as
      // well.
      if (isListed) pendingSync = Promise.withResolvers();
      isListed = false;
      run.abort();
      run = linkedController(signal);
      startReflector({ newest: true });
    },
    hasReached: (wanted) => isVersionAtLeast(version, wanted),
    async getLive(key) {
      const { name, ...place } = referenceOf(key);
      // A list with a field selector: an informer needs the permission to list, and so no further permission is
      // necessary.
      const { items } = await client.list(kind, { ...place, fieldSelector: `metadata.name=${name}`, signal });
      return items[0];
    },
  };
}

/** Wraps a sink so that it ignores a reflector that has been aborted but still delivers a result. */
function untilAborted<T>({ replace, change, progress }: ReflectorSink<T>, ended: AbortSignal): ReflectorSink<T> {
  return {
    replace: (objects, version) => ended.aborted || replace(objects, version),
    change: (type, object) => ended.aborted || change(type, object),
    progress: (version) => ended.aborted || progress(version),
  };
}

function isSameVersion(a: KubernetesObject, b: KubernetesObject): boolean {
  return a.metadata.resourceVersion === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid;
}

type Listener<T> = { notify(change: Change<T>): void };

/**
 * Delivers events to one handler in order. An idle handler is called synchronously. Events for a busy handler are put
 * into its own backlog, so that it does not block other handlers. The backlog is unbounded, because no event may be
 * dropped; handlers should only enqueue keys and return.
 */
function createListener<T>(handler: Handler<T>, onError: (error: unknown) => void): Listener<T> {
  let backlog: Change<T>[] = [];
  let isBusy = false;

  const call = (change: Change<T>): Promise<void> | undefined => {
    try {
      const pending = handler(change);
      return pending instanceof Promise ? pending.catch(onError) : undefined;
    } catch (error) {
      onError(error);
      return undefined;
    }
  };
  const drainBacklog = async (pending: Promise<void> | undefined) => {
    await pending;
    while (backlog.length > 0) {
      const batch = backlog;
      backlog = [];
      for (const change of batch) await call(change);
    }
    isBusy = false;
  };
  return {
    notify(change) {
      if (isBusy) {
        backlog.push(change);
        return;
      }
      // Events that the handler itself causes during this call are delivered after the current one.
      isBusy = true;
      const pending = call(change);
      if (pending || backlog.length > 0) void drainBacklog(pending);
      else isBusy = false;
    },
  };
}

/** Informers of a process, one per kind and selection. */
export type Caches = {
  /**
   * Returns the cache of a kind. The first call starts the list and watch. Throws `NotSyncedError` before the initial
   * list is complete.
   */
  of<K extends Kind>(kind: K, selection?: Selection): ObjectReader<ObjectOf<K>>;
  /** Returns the informer of a kind, to add handlers or to wait for it. */
  informer<K extends Kind>(kind: K, selection?: Selection): Informer<ObjectOf<K>>;
  /** Stops the informers of a kind and drops their caches, for example when the kind is no longer served. */
  forget(kind: Kind): void;
  /** Returns the informers that select an object, as far as that is known. */
  informersFor(kind: Kind, object: KubernetesObject): readonly Informer<KubernetesObject>[];
  /** Refreshes all informers; `synced` waits for the new lists. */
  refresh(): void;
  /** Reports whether all informers have synced. */
  hasSynced(): boolean;
  /** Resolves when all informers have synced, after a refresh with the new lists. */
  synced(): Promise<void>;
};

/** Options of all informers of a process. */
export type CachesOptions = Omit<InformerOptions, keyof Selection> & {
  /** Default selection, for example one namespace. */
  readonly defaults?: Selection;
};

/**
 * Creates the caches of a process: one informer per kind and selection.
 *
 * ```ts
 * const caches = createCaches(client, clock, random, {}, signal);
 * caches.of(pod).ownedBy(set);
 * ```
 */
export function createCaches(
  client: Client,
  clock: Clock,
  random: Random,
  options: CachesOptions,
  signal: AbortSignal,
): Caches {
  const { defaults = {}, ...informerOptions } = options;
  const informers = new Map<string, InformerEntry>();

  const informer = <K extends Kind>(kind: K, selection: Selection = defaults): Informer<ObjectOf<K>> => {
    const { namespace = '', labelSelector = '', fieldSelector = '' } = selection;
    const id = [kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector].join('\n');
    let found = informers.get(id);
    if (!found) {
      const ending = new AbortController();
      const stop = () => {
        signal.removeEventListener('abort', stop);
        ending.abort(signal.reason);
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
      const started = startInformer(client, clock, random, kind, { ...informerOptions, ...selection }, ending.signal);
      found = { kind, stop, selects: matcherOf(selection), informer: started };
      informers.set(id, found);
    }
    // The informer was created for this kind.
    return found.informer as unknown as Informer<ObjectOf<K>>;
  };

  return {
    informer,
    of(kind, selection) {
      const found = informer(kind, selection);
      if (!found.hasSynced()) throw new NotSyncedError(kind, found.synced);
      return found;
    },
    forget(kind) {
      for (const [id, { kind: each, stop }] of informers) {
        if (each !== kind) continue;
        stop();
        informers.delete(id);
      }
    },
    informersFor: (kind, object) =>
      [...informers.values()]
        .filter((each) => each.kind === kind && each.selects(object))
        .map(({ informer }) => informer),
    refresh() {
      for (const { informer: each } of informers.values()) each.refresh();
    },
    hasSynced: () => [...informers.values()].every(({ informer: each }) => each.hasSynced()),
    async synced() {
      await Promise.all([...informers.values()].map(({ informer: { synced } }) => synced));
    },
  };
}

type InformerEntry = {
  readonly kind: Kind;
  readonly stop: () => void;
  readonly selects: (object: KubernetesObject) => boolean;
  readonly informer: Informer<KubernetesObject>;
};

/** Returns a predicate for the selected objects. Field selectors are evaluated by the server only. */
function matcherOf({ namespace, labelSelector, fieldSelector }: Selection): (object: KubernetesObject) => boolean {
  if (fieldSelector) return () => false;
  const { matches } = parseSelector(labelSelector ?? '');
  return ({ metadata }) => (!namespace || metadata.namespace === namespace) && matches(metadata.labels);
}
