/**
 * Store of one process: an in-memory history makes the decisions, and a journal makes them durable.
 *
 * A write is decided at once against all earlier decisions, acknowledged when the journal has saved it, and invisible
 * until then. If the journal fails, all unacknowledged writes are rolled back: no client has seen them or anything that
 * depends on them.
 *
 * A watch is a position in the history, not a queue: a slow consumer needs no memory except for the values that it
 * reads late.
 */
import assert from 'node:assert/strict';
import type { Clock } from '@kruise/values/clock';
import { createExpiry } from './expiry.ts';
import type { History, Version } from './history.ts';
import type { DiscardedVersion, Journal, JournalListener } from './journal.ts';
import { createQuota, type SpaceAlarm } from './quota.ts';
import {
  CompactedError,
  type Entry,
  FutureRevisionError,
  type Store,
  StoreClosedError,
  type StoreEvent,
  type WatchBatch,
  type WatchRequest,
} from './store.ts';

/** Quota of a store, and the callback when it is exceeded. */
export type StoreLimits = {
  /** Quota in bytes; puts that would exceed it are rejected. No limit if absent. */
  readonly quotaBytes?: number | undefined;
  readonly onAlarm?: ((alarm: SpaceAlarm) => void) | undefined;
};

export type VersionedStoreOptions = StoreLimits & {
  readonly clock: Clock;
  readonly history: History;
  /** Revisions that the history no longer needs but the journal still has. */
  readonly superseded?: readonly number[];
  readonly openJournal: (listener: JournalListener) => Journal;
  /** Bytes of the newest values to hold in memory; the others are read from the journal on demand. */
  readonly heldBytes: number;
  /**
   * Bytes of values to hold after every watch has passed them; all by default. Short-lived values are cheap to
   * garbage-collect.
   */
  readonly seenBytes?: number;
};

/** Values per journal read: small enough not to delay the writes queued behind it. */
const valuesPerRead = 256;
const eventsPerBatch = 1000;
/** Maximum number of revisions that a watch without matches scans per event loop turn. */
const revisionsPerBatch = 20_000;
const revisionsPerCollection = 256;

type WriteBatch = { readonly versions: Version[]; readonly durable: PromiseWithResolvers<void> };

type Watcher = {
  readonly prefix: string;
  /** Revision up to which the watch has scanned the history; the newest while the watcher waits. */
  position: number;
  /** Revision of the last yielded batch. */
  reported: number;
  /** Resolves the wait of the watcher, if it waits. */
  wake: (() => void) | undefined;
  /** The next batch is needed even if it is empty. */
  needsProgress: boolean;
  end(): void;
};

/** Estimates the size of a version. */
function sizeOf({ key, value }: Version): number {
  return key.length + (value?.length ?? 0);
}

export function createVersionedStore(options: VersionedStoreOptions): Store {
  const { clock, history, superseded = [], openJournal, heldBytes, seenBytes = heldBytes } = options;
  const { quotaBytes = Number.POSITIVE_INFINITY, onAlarm = () => {} } = options;
  let acknowledged = history.head();
  let isOpen = true;
  const batches: WriteBatch[] = [];
  let openBatch: WriteBatch | undefined;
  const watchers = new Set<Watcher>();
  const reads = new Set<Promise<unknown>>();
  let oldestHeld = acknowledged + 1;
  let currentHeldBytes = 0;
  /** Size of appended versions that are not durable yet. */
  let unsavedBytes = 0;

  const journal = openJournal({ onDurable: acknowledge, onFailed: rollbackUnacknowledged });
  // A failure is ignored: the next start finds the remaining versions again.
  let compaction = discard(superseded.map((revision) => ({ revision, value: undefined }))).catch(() => {});
  const quota = createQuota({
    quotaBytes,
    sizeBytes: () => journal.sizeBytes() + unsavedBytes,
    compact: () => store.compact(acknowledged),
    onAlarm,
  });
  const expiry = createExpiry(clock, ({ key, revision }) => store.write({ key, expected: revision, delete: true }));
  const everything = { prefix: '', start: undefined, limit: Number.POSITIVE_INFINITY, revision: acknowledged };
  for (const version of history.range(everything).versions) if (version.expiresAtMs) expiry.add(version);

  function append(version: Parameters<History['append']>[0]): { version: Version; durable: Promise<void> } {
    if (!openBatch) {
      openBatch = { versions: [], durable: Promise.withResolvers() };
      batches.push(openBatch);
      queueMicrotask(sendBatch);
    }
    const appended = history.append(version);
    openBatch.versions.push(appended);
    unsavedBytes += sizeOf(appended);
    return { version: appended, durable: openBatch.durable.promise };
  }

  function sendBatch(): void {
    const batch = openBatch;
    openBatch = undefined;
    if (batch) journal.append(batch.versions);
  }

  function acknowledge(revision: number): void {
    const before = acknowledged;
    acknowledged = revision;
    for (let next = before + 1; next <= revision; next++) {
      const version = history.writtenAt(next);
      currentHeldBytes += version.value?.length ?? 0;
      unsavedBytes -= sizeOf(version);
      if (version.expiresAtMs) expiry.add(version);
    }
    for (const watcher of watchers) {
      if (!watcher.wake) continue;
      if (hasChange(watcher.prefix, { after: before, upTo: revision })) watcher.wake();
      else watcher.position = Math.max(watcher.position, revision);
    }
    releaseValues({ before: 0 });
    while (batches[0] && batches[0].versions.at(-1)!.revision <= revision) {
      batches.shift()!.durable.resolve();
    }
    quota.written();
  }

  function rollbackUnacknowledged(error: Error): void {
    history.rollback(acknowledged);
    openBatch = undefined;
    unsavedBytes = 0;
    for (const { durable } of batches.splice(0)) durable.reject(error);
  }

  /** Settles when the version is durable or rolled back. */
  function durability({ revision }: Version): Promise<void> | undefined {
    if (revision <= acknowledged) return undefined;
    return batches.find(({ versions }) => versions.at(-1)!.revision >= revision)!.durable.promise;
  }

  /** Releases the values written before a revision, and further values that exceed the limits. */
  function releaseValues({ before }: { before: number }): void {
    const seen = minWatchPosition();
    const isReleasable = () =>
      oldestHeld < before || currentHeldBytes > heldBytes || (currentHeldBytes > seenBytes && oldestHeld <= seen);
    for (; oldestHeld <= acknowledged && isReleasable(); oldestHeld++) {
      const version = history.writtenAt(oldestHeld);
      currentHeldBytes -= version.value?.length ?? 0;
      version.value = undefined;
    }
  }

  /** Returns the revision that every watch has passed. */
  function minWatchPosition(): number {
    let seen = acknowledged;
    for (const { position } of watchers) seen = Math.min(seen, position);
    return seen;
  }

  function hasChange(prefix: string, { after, upTo }: { after: number; upTo: number }): boolean {
    for (let revision = after + 1; revision <= upTo; revision++) {
      if (history.writtenAt(revision).key.startsWith(prefix)) return true;
    }
    return false;
  }

  /** Returns the entries of versions in the same order; values that are not in memory are read from the journal. */
  async function entriesOf(versions: readonly Version[]): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let first = 0; first < versions.length; first += valuesPerRead) {
      const page = versions.slice(first, first + valuesPerRead);
      const missing = page.filter(({ value }) => value === undefined).map(({ revision }) => revision);
      // Captured before the await, during which values may be released.
      const held = page.map(({ value }) => value);
      const read = missing.length > 0 ? await journal.read(missing) : [];
      let nextRead = 0;
      page.forEach(({ key, createRevision, revision }, index) => {
        entries.push({ key, value: held[index] ?? read[nextRead++]!, createRevision, modRevision: revision });
      });
    }
    return entries;
  }

  /** Returns the version that a version replaced, unless there was none or it is compacted. */
  function replacedBy({ revision, previous }: Version): Version | undefined {
    return revision > history.compactRevision() && !previous?.deleted ? previous : undefined;
  }

  /** Prevents compaction from discarding values that a read is about to fetch. */
  function trackRead<Result>(read: Promise<Result>): Promise<Result> {
    reads.add(read);
    const done = () => void reads.delete(read);
    read.then(done, done);
    return read;
  }

  function readableRevision(requested: number | undefined): number {
    const revision = requested ?? acknowledged;
    if (revision < history.compactRevision()) throw new CompactedError(revision, history.compactRevision());
    if (revision > acknowledged) throw new FutureRevisionError(revision, acknowledged);
    return revision;
  }

  async function discard(versions: readonly DiscardedVersion[]): Promise<void> {
    for (let first = 0; first < versions.length && isOpen; first += revisionsPerCollection) {
      await journal.discard(versions.slice(first, first + revisionsPerCollection));
    }
  }

  function assertOpen(): void {
    if (!isOpen) throw new StoreClosedError();
  }

  const store: Store = {
    async currentRevision() {
      assertOpen();
      for (const watcher of watchers) {
        if (watcher.reported >= acknowledged) continue;
        watcher.needsProgress = true;
        watcher.wake?.();
      }
      return acknowledged;
    },

    async get(key, at) {
      assertOpen();
      const revision = readableRevision(at?.revision);
      const version = history.at(key, revision);
      if (!version) return { revision };
      const [entry] = await trackRead(entriesOf([version]));
      return { entry: entry!, revision };
    },

    async range({ prefix, start, limit = Number.POSITIVE_INFINITY, revision: requested }) {
      assertOpen();
      const revision = readableRevision(requested);
      const { versions, count } = history.range({ prefix, start, limit, revision });
      const entries = await trackRead(entriesOf(versions));
      return { entries, count, more: count > entries.length, revision };
    },

    async write(request) {
      assertOpen();
      const { key, expected } = request;
      assert(key !== '' && key.isWellFormed(), 'a key is not empty and has a UTF-8 form');
      const newest = history.newest(key);
      const modRevision = newest && !newest.deleted ? newest.revision : 0;
      if (modRevision !== expected) {
        if (newest) await durability(newest);
        if (!newest || newest.deleted) return { ok: false, revision: acknowledged };
        const [current] = await trackRead(entriesOf([newest]));
        return { ok: false, current: current!, revision: acknowledged };
      }
      if ('delete' in request) {
        if (!newest || newest.deleted) return { ok: true, revision: acknowledged };
        const { version, durable } = append({ key, deleted: true, expiresAtMs: 0, value: undefined });
        await durable;
        return { ok: true, revision: version.revision };
      }
      const { value, ttlSeconds } = request;
      quota.admit(value.length);
      const expiresAtMs = ttlSeconds === undefined ? 0 : Math.ceil(clock.now() + ttlSeconds * 1000);
      const { version, durable } = append({ key, deleted: false, expiresAtMs, value });
      await durable;
      return { ok: true, revision: version.revision };
    },

    watch: (request) => ({ [Symbol.asyncIterator]: () => watchFrom(request) }),

    async compact(revision) {
      assertOpen();
      if (revision > acknowledged) throw new FutureRevisionError(revision, acknowledged);
      if (revision <= history.compactRevision()) return;
      // Only the newest values are held, and compacted versions can no longer be released later.
      if (heldBytes !== Number.POSITIVE_INFINITY) releaseValues({ before: revision });
      history.compact(revision);
      const readsBefore = [...reads];
      // Compactions run one after the other, whether or not the previous one succeeded.
      const before = Promise.allSettled([compaction]);
      compaction = (async () => {
        await before;
        await journal.compact(revision);
        await Promise.allSettled(readsBefore);
        while (isOpen) {
          const dropped = history.collect({ before: revision, limit: revisionsPerCollection });
          if (!dropped) break;
          await discard(dropped);
        }
      })();
      await compaction;
    },

    async close() {
      if (!isOpen) return;
      isOpen = false;
      expiry.stop();
      for (const watcher of watchers) watcher.end();
      await Promise.allSettled([...batches.map(({ durable }) => durable.promise), ...reads, compaction]);
      await journal.close();
    },
  };

  function watchFrom({ prefix, afterRevision, signal, withPrevious = false }: WatchRequest): AsyncIterator<WatchBatch> {
    let isEnded = !isOpen || signal.aborted;

    const watcher: Watcher = {
      prefix,
      position: afterRevision,
      reported: afterRevision,
      wake: undefined,
      needsProgress: false,
      end() {
        isEnded = true;
        watchers.delete(watcher);
        signal.removeEventListener('abort', watcher.end);
        watcher.wake?.();
      },
    };
    if (!isEnded) {
      watchers.add(watcher);
      signal.addEventListener('abort', watcher.end);
    }

    /** Advances over the new changes and returns those with the prefix. */
    function takeChanges(): readonly Version[] {
      // Changes are available from the compacted revision on, so a watch may be positioned right before it.
      if (watcher.position + 1 < history.compactRevision()) {
        watcher.end();
        throw new CompactedError(watcher.position + 1, history.compactRevision());
      }
      const versions: Version[] = [];
      const end = Math.min(acknowledged, watcher.position + revisionsPerBatch);
      while (watcher.position < end && versions.length < eventsPerBatch) {
        const version = history.writtenAt(++watcher.position);
        if (version.key.startsWith(prefix)) versions.push(version);
      }
      return versions;
    }

    async function next(): Promise<IteratorResult<WatchBatch>> {
      while (!isEnded) {
        const versions = takeChanges();
        const revision = watcher.position;
        const isCaughtUp = revision >= acknowledged;
        const isProgress = revision > watcher.reported && (watcher.needsProgress || !isCaughtUp);
        if (isCaughtUp) watcher.needsProgress = false;
        if (versions.length > 0 || isProgress) {
          const events = versions.length > 0 ? await trackRead(eventsOf(versions)) : [];
          if (isEnded) break;
          watcher.reported = revision;
          return { done: false, value: { events, revision } };
        }
        await new Promise<void>((resolve) => {
          watcher.wake = resolve;
        });
        watcher.wake = undefined;
      }
      return { done: true, value: undefined };
    }

    async function eventsOf(versions: readonly Version[]): Promise<StoreEvent[]> {
      const puts = versions.filter(({ deleted }) => !deleted);
      // Looked up before the await, during which compaction may unlink a version from its predecessor.
      const replaced = withPrevious ? versions.map(replacedBy) : [];
      const entries = new Map<number, Entry>();
      for (const entry of await entriesOf([...puts, ...replaced.filter((version) => version !== undefined)])) {
        entries.set(entry.modRevision, entry);
      }
      return versions.map(({ key, revision, createRevision, deleted }, index): StoreEvent => {
        const previous = replaced[index] && entries.get(replaced[index].revision);
        return {
          ...(deleted
            ? { type: 'delete', key, revision }
            : { type: 'put', key, revision, createRevision, value: entries.get(revision)!.value }),
          ...(previous && { previous }),
        };
      });
    }

    return {
      next,
      async return() {
        watcher.end();
        return { done: true, value: undefined };
      },
    };
  }

  return store;
}
