import { expired } from '@kruise/machinery/status';
import type { Cached } from '../object.ts';
import { createOrderedMap } from '../store/ordered-map.ts';
import { CompactedError, type Entry, type Store, type StoreEvent } from '../store/store.ts';
import type { Feed } from './feed.ts';
import { type Change, type Scope, type WatchEvent, watchEventFor } from './watchers.ts';

/** Cache of the objects of one resource, with the recent changes. */
export interface ObjectCache {
  get(key: string): Cached | undefined;
  /** Returns the objects with a key prefix, sorted by key, starting at `start`. */
  list(range: { readonly keyPrefix: string; readonly start?: string }): readonly Cached[];
  readonly size: number;
  /** Revision of the newest change; the objects have not changed since. */
  readonly changedAt: number;
  /**
   * Watches from a revision on; every change is delivered as soon as it arrives. The returned function reports the
   * revision up to which all changes have been delivered.
   */
  watch(scope: Scope, afterRevision: number, watcher: Watcher): () => number;
  /** Returns the objects of a scope and watches all later changes. */
  listAndWatch(scope: Scope, watcher: Watcher): { readonly items: readonly Cached[]; readonly revision: number };
  /** Ends every watch, because the resource will be served differently from now on. */
  endWatches(): void;
  /** Unsubscribes from the feed and ends every watch. */
  close(): void;
}

/** Watcher: called for each event in order, and once at the end unless the watcher itself ended the watch. */
export type Watcher = {
  readonly signal: AbortSignal;
  readonly receive: (event: WatchEvent) => void;
  readonly end: (reason?: unknown) => void;
};

/**
 * Number of changes kept for watchers that resume; up to twice as many are held. A watcher that resumes from further
 * back reads the history of the store, so this only has to cover the usual reconnect. Each change keeps an object
 * version alive.
 */
const maxHistoryChanges = 256;
/** Maximum total size of the kept changes: a client can write an object of a megabyte repeatedly. */
const maxHistoryBytes = 32 * 2 ** 20;

/** Object as stored. */
export type StoredObject = Pick<Entry, 'key' | 'value' | 'modRevision'>;

/** Loads the objects of a resource and keeps the cache current. */
export async function loadObjectCache(
  store: Store,
  feed: Feed,
  prefix: string,
  cached: (entry: StoredObject) => Cached,
): Promise<ObjectCache> {
  const entries = createOrderedMap<Cached>();
  let size = 0;
  let changedAt = 0;
  // Changes after `historySince`, oldest first.
  let recentChanges: (Change & { readonly bytes: number })[] = [];
  let bytes = 0;
  let historySince = 0;
  const watching = new Set<{ readonly scope: Scope; readonly watcher: Watcher }>();
  const replaying = new Set<Watcher>();
  let early: StoreEvent[] | undefined = [];

  function accept(event: StoreEvent): void {
    const { key, revision } = event;
    const previous = entries.get(key);
    let current: Cached | undefined;
    if (event.type === 'put') {
      current = cached({ key, value: event.value, modRevision: revision });
      entries.set(key, current);
      if (!previous) size++;
    } else if (previous) {
      entries.delete(key);
      size--;
    }
    changedAt = revision;
    const change = { revision, key, previous, current, bytes: event.type === 'put' ? event.value.length : 0 };
    recordChange(change);
    for (const { scope, watcher } of watching) {
      const seen = watchEventFor(scope, change);
      if (seen) watcher.receive(seen);
    }
  }

  function recordChange(change: (typeof recentChanges)[number]): void {
    recentChanges.push(change);
    bytes += change.bytes;
    let dropped = recentChanges.length < 2 * maxHistoryChanges ? 0 : maxHistoryChanges;
    for (let left = bytes; left > maxHistoryBytes && dropped < recentChanges.length - 1; dropped++) {
      left -= recentChanges[dropped]!.bytes;
    }
    if (dropped === 0) return;
    recentChanges = recentChanges.slice(dropped);
    bytes = recentChanges.reduce((sum, each) => sum + each.bytes, 0);
    historySince = recentChanges[0]!.revision - 1;
  }

  function attach(scope: Scope, watcher: Watcher): void {
    const watch = { scope, watcher };
    watching.add(watch);
    watcher.signal.addEventListener('abort', () => watching.delete(watch), { once: true });
  }

  /** Delivers the kept changes after a revision, then all new changes. */
  function resume(scope: Scope, afterRevision: number, watcher: Watcher): void {
    let index = recentChanges.length;
    while (index > 0 && recentChanges[index - 1]!.revision > afterRevision) index--;
    for (const change of recentChanges.slice(index)) {
      const seen = watchEventFor(scope, change);
      if (seen) watcher.receive(seen);
    }
    attach(scope, watcher);
  }

  /** Replays changes from the store's history until the kept changes take over. */
  async function replay(
    scope: Scope,
    afterRevision: number,
    watcher: Watcher,
    progressed: (revision: number | 'live') => void,
  ): Promise<void> {
    const reading = new AbortController();
    const signal = AbortSignal.any([watcher.signal, reading.signal]);
    replaying.add(watcher);
    try {
      for await (const batch of store.watch({ prefix, afterRevision, signal, withPrevious: true })) {
        for (const event of batch.events) {
          const seen = watchEventFor(scope, {
            revision: event.revision,
            key: event.key,
            previous: event.previous && cached(event.previous),
            current: event.type === 'put' ? cached({ ...event, modRevision: event.revision }) : undefined,
          });
          if (seen) watcher.receive(seen);
        }
        // The feed must have reached this revision too, or the changes in between would be lost.
        if (batch.revision >= historySince && batch.revision <= feed.revision) {
          resume(scope, batch.revision, watcher);
          progressed('live');
          return;
        }
        progressed(batch.revision);
      }
    } catch (error) {
      if (watcher.signal.aborted) return;
      const tooOld = `too old resource version: ${afterRevision} (${historySince})`;
      watcher.end(error instanceof CompactedError ? expired(tooOld) : error);
    } finally {
      replaying.delete(watcher);
      reading.abort();
    }
  }

  function endWatches(): void {
    const watchers = [...replaying, ...Array.from(watching, ({ watcher }) => watcher)];
    watching.clear();
    for (const watcher of watchers) watcher.end();
  }

  const { after } = feed.subscribe(prefix, (event) => {
    if (early) early.push(event);
    else accept(event);
  });
  const initial = await store.range({ prefix });
  for (const entry of initial.entries) {
    entries.set(entry.key, cached(entry));
    changedAt = Math.max(changedAt, entry.modRevision);
  }
  size = initial.entries.length;
  historySince = Math.max(after, initial.revision);
  for (const event of early) if (event.revision > initial.revision) accept(event);
  early = undefined;

  function list({ keyPrefix, start }: { readonly keyPrefix: string; readonly start?: string }): readonly Cached[] {
    const found: Cached[] = [];
    entries.visit({ prefix: keyPrefix, ...(start === undefined ? {} : { start }) }, (entry) => {
      found.push(entry);
    });
    return found;
  }

  return {
    get: (key) => entries.get(key),
    list,
    get size() {
      return size;
    },
    get changedAt() {
      return changedAt;
    },
    watch(scope, afterRevision, watcher) {
      if (afterRevision >= historySince) {
        resume(scope, afterRevision, watcher);
        return () => feed.revision;
      }
      let progress: number | 'live' = afterRevision;
      void replay(scope, afterRevision, watcher, (revision) => {
        progress = revision;
      });
      return () => (progress === 'live' ? feed.revision : progress);
    },
    listAndWatch(scope, watcher) {
      const items = list({ keyPrefix: scope.keyPrefix }).filter(({ object }) => scope.matches?.(object) ?? true);
      attach(scope, watcher);
      return { items, revision: feed.revision };
    },
    endWatches,
    close() {
      feed.unsubscribe(prefix);
      endWatches();
    },
  };
}
