/**
 * Shared informers: however many controllers read a kind, it is listed and watched once and kept once. Reads never
 * wait; handlers are told of every change in order, each at its own pace.
 */
import { parseSelector } from '@kruise/machinery/label-selector';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import { linkedController } from '@kruise/values/linked-controller';
import { jitter, type Random } from '@kruise/values/random';
import type { Client } from './client.ts';
import { isAtLeast, type Key, type KubernetesObject, keyOf, referenceOf } from './object-key.ts';
import { createObjectStore, type ObjectReader } from './object-store.ts';
import { type ReflectorOptions, type ReflectorSink, runReflector, type Selection } from './reflector.ts';

/** What happened to an object. */
export type Change<T> = {
  readonly type: 'added' | 'updated' | 'deleted';
  /** The object as it is now; of a deleted one the last that is known of it. */
  readonly object: T;
  /** The object as it was before an update. */
  readonly previous?: T;
  /** Whether something happened at all, or the object was only shown: when the handler began, or at a resync. */
  readonly cause: 'event' | 'initial' | 'resync';
};

/** Is told of changes, one after the other: the next comes when what it returned has settled. */
export type Handler<T> = (change: Change<T>) => void | Promise<void>;

/** When a handler is told. */
export type HandlerOptions = {
  /** Shows the handler every object again after so long, stretched by up to a tenth; never by default. */
  readonly resyncMs?: number;
  /** Ends the telling. */
  readonly signal?: AbortSignal;
};

/** A kind's objects as this process knows them. */
export type Informer<T> = ObjectReader<T> & {
  /** Tells a handler of all there is, then of every change. */
  handle(handler: Handler<T>, options?: HandlerOptions): void;
  /** Whether the first state is here: before, nothing that is read says anything. */
  hasSynced(): boolean;
  /** Resolves once the first state is here and, after a refresh, one that is no older than that. */
  readonly synced: Promise<void>;
  /**
   * Lists anew, whatever watches have told: for who begins to decide, and must not do so by a time before it did.
   * Meanwhile what is known can be read.
   */
  refresh(): void;
  /** Whether everything up to a version is here, as far as that can be told. */
  hasReached(version: string): boolean;
  /** An object as the server has it now, whatever has been told of it; undefined if there is none. */
  ask(key: Key): Promise<T | undefined>;
};

/** A kind was read before its first state had come. Whoever meets it waits for `synced` and tries again. */
export class NotSyncedError extends Error {
  override readonly name = 'NotSyncedError';
  readonly synced: Promise<void>;

  constructor(kind: Kind, synced: Promise<void>) {
    super(`${kind.plural} are not known yet`);
    this.synced = synced;
  }
}

/** The answer to a question that reads caches, as soon as they know enough. */
export async function onceSynced<T>(ask: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof NotSyncedError)) throw error;
      await error.synced;
    }
  }
}

/** What an informer keeps, and how it gets it. */
export type InformerOptions = Omit<ReflectorOptions, 'onError'> & {
  /** Told of failed requests and of what handlers throw. */
  readonly onError?: (error: unknown) => void;
  /** What is kept of an object, to save memory: say, all but its managed fields. */
  readonly transform?: (object: KubernetesObject) => KubernetesObject;
};

/**
 * Starts an informer; it runs until the signal is aborted.
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
  // An object of a kind has what every object has.
  type T = ObjectOf<K> & KubernetesObject;
  const { transform, onError = () => {}, ...reflectorOptions } = options;
  const store = createObjectStore<T>();
  const listeners = new Set<Listener<T>>();
  let awaited = Promise.withResolvers<void>();
  let isListed = false;
  let version: string | undefined;

  const tell = (change: Change<T>) => {
    for (const listener of listeners) listener.tell(change);
  };
  const put = (key: Key, object: T, cause: Change<T>['cause']) => {
    const known = store.get(key);
    // A list shows what has not changed, too.
    if (known !== undefined && isSameVersion(known, object)) return;
    const kept = transform ? (transform(object) as T) : object;
    store.set(key, kept);
    if (known === undefined) {
      tell({ type: 'added', object: kept, cause });
    } else if (known.metadata.uid !== kept.metadata.uid) {
      // One was deleted and another made of its name while nobody watched.
      tell({ type: 'deleted', object: known, cause: 'event' });
      tell({ type: 'added', object: kept, cause: 'event' });
    } else {
      tell({ type: 'updated', object: kept, previous: known, cause: 'event' });
    }
  };
  const take = (key: Key, last: T | undefined) => {
    const known = store.remove(key);
    if (known !== undefined) tell({ type: 'deleted', object: last ?? known, cause: 'event' });
  };

  const sink: ReflectorSink<T> = {
    replace(objects, listVersion) {
      const cause = version === undefined ? 'initial' : 'event';
      const left = new Set(version === undefined ? [] : store.keys());
      version = listVersion;
      for (const object of objects) {
        const key = keyOf(object);
        left.delete(key);
        put(key, object, cause);
      }
      for (const key of left) take(key, undefined);
      isListed = true;
      awaited.resolve();
    },
    change(type, object) {
      version = object.metadata.resourceVersion;
      if (type === 'DELETED') take(keyOf(object), object);
      else put(keyOf(object), object, 'event');
    },
    progress(reached) {
      version = reached;
    },
  };
  let round = linkedController(signal);
  const reflect = (newest: Pick<ReflectorOptions, 'newest'>) => {
    const { signal: ended } = round;
    const settings = { ...reflectorOptions, ...newest, onError };
    void runReflector(client, clock, random, kind, settings, whileUnended(sink, ended), ended);
  };
  reflect({});

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
      for (const object of store.list()) listener.tell({ type: 'added', object, cause: 'initial' });
      listeners.add(listener);
      if (!resyncMs) return;
      const wait = () => {
        clock.setTimer(
          jitter(random, resyncMs, 0.1),
          () => {
            for (const object of store.list()) {
              listener.tell({ type: 'updated', object, previous: object, cause: 'resync' });
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
      return awaited.promise;
    },
    refresh() {
      // While a list is pending its promise stays: the list of this refresh is newer, so it resolves that one as well.
      if (isListed) awaited = Promise.withResolvers();
      isListed = false;
      round.abort();
      round = linkedController(signal);
      reflect({ newest: true });
    },
    hasReached: (wanted) => isAtLeast(version, wanted),
    async ask(key) {
      const { name, ...place } = referenceOf(key);
      // A list of one: who may keep a kind in mind may list it, and need not be allowed anything else.
      const { items } = await client.list(kind, { ...place, fieldSelector: `metadata.name=${name}`, signal });
      return items[0];
    },
  };
}

/** A sink that takes nothing more from a reflector that was told to end, but was about to hand something on. */
function whileUnended<T>({ replace, change, progress }: ReflectorSink<T>, ended: AbortSignal): ReflectorSink<T> {
  return {
    replace: (objects, version) => ended.aborted || replace(objects, version),
    change: (type, object) => ended.aborted || change(type, object),
    progress: (version) => ended.aborted || progress(version),
  };
}

function isSameVersion(a: KubernetesObject, b: KubernetesObject): boolean {
  return a.metadata.resourceVersion === b.metadata.resourceVersion && a.metadata.uid === b.metadata.uid;
}

type Listener<T> = { tell(change: Change<T>): void };

/**
 * Tells one handler of changes in order. A handler that is ready is called at once; one that waits for something finds
 * what happened meanwhile in its own backlog, and keeps nobody else waiting. The backlog has no bound: to drop a change
 * would be to lie, and a handler that is not to fall behind puts keys into a queue and returns.
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
  const catchUp = async (pending: Promise<void> | undefined) => {
    await pending;
    while (backlog.length > 0) {
      const batch = backlog;
      backlog = [];
      for (const change of batch) await call(change);
    }
    isBusy = false;
  };
  return {
    tell(change) {
      if (isBusy) {
        backlog.push(change);
        return;
      }
      // What a handler itself brings about, in this very call, comes after the change it is at.
      isBusy = true;
      const pending = call(change);
      if (pending || backlog.length > 0) void catchUp(pending);
      else isBusy = false;
    },
  };
}

/** Where the kinds of one process are read. */
export type Caches = {
  /** What is known of a kind. The kind is listed and watched from the first time it is asked for. */
  of<K extends Kind>(kind: K, selection?: Selection): ObjectReader<ObjectOf<K>>;
  /** The informer behind it, for handlers and for waiting. */
  informer<K extends Kind>(kind: K, selection?: Selection): Informer<ObjectOf<K>>;
  /** Stops watching a kind and lets go of what is known of it: it is served no more, say. */
  forget(kind: Kind): void;
  /** The informers of a kind that will see an object, as far as that can be told. */
  seeing(kind: Kind, object: KubernetesObject): readonly Informer<KubernetesObject>[];
  /** Refreshes every kind asked for so far: `synced` waits for that. */
  refresh(): void;
  /** Whether every kind asked for so far has its first state. */
  hasSynced(): boolean;
  /** Resolves once every kind asked for so far has its first state, or that of the last refresh. */
  synced(): Promise<void>;
};

/** How the informers of a process are made. */
export type CachesOptions = Omit<InformerOptions, keyof Selection> & {
  /** What is kept of a kind unless something else is asked for: only one namespace, say. */
  readonly defaults?: Selection;
};

/**
 * The caches of a process: one informer for each kind and selection.
 *
 * ```ts
 * const caches = createCaches(client, clock, random, {}, signal);
 * caches.of(pod).ownedBy(job);
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
  const informers = new Map<string, Selected>();

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
      // An object of a kind has what every object has.
      found = { kind, stop, sees: coverageOf(selection), informer: started as unknown as Informer<KubernetesObject> };
      informers.set(id, found);
    }
    // It was made for this very kind.
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
    seeing: (kind, object) =>
      [...informers.values()].filter((each) => each.kind === kind && each.sees(object)).map(({ informer }) => informer),
    refresh() {
      for (const { informer: each } of informers.values()) each.refresh();
    },
    hasSynced: () => [...informers.values()].every(({ informer: each }) => each.hasSynced()),
    async synced() {
      await Promise.all([...informers.values()].map(({ informer: { synced } }) => synced));
    },
  };
}

type Selected = {
  readonly kind: Kind;
  readonly stop: () => void;
  readonly sees: (object: KubernetesObject) => boolean;
  readonly informer: Informer<KubernetesObject>;
};

/** Whether an object is among those selected. What field selectors choose is known to the server alone. */
function coverageOf({ namespace, labelSelector, fieldSelector }: Selection): (object: KubernetesObject) => boolean {
  if (fieldSelector) return () => false;
  const { matches } = parseSelector(labelSelector ?? '');
  return ({ metadata }) => (!namespace || metadata.namespace === namespace) && matches(metadata.labels);
}
