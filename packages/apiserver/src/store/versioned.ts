/**
 * The store of one process: a history in memory that decides, and a journal that makes the decisions last.
 *
 * A write is decided at once, against everything decided before it, and acknowledged when the journal has it; until
 * then nobody can see it. If the journal fails, all that is not yet acknowledged is taken back: nothing had been built
 * on it that anyone could have seen.
 *
 * A watch is a position in the history, not a queue: a slow consumer costs nothing but what it will read late.
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
  /** Puts that would take up more than this are refused; without it there is no limit. */
  readonly quotaBytes?: number | undefined;
  readonly onAlarm?: ((alarm: SpaceAlarm) => void) | undefined;
};

export type VersionedStoreOptions = StoreLimits & {
  readonly clock: Clock;
  readonly history: History;
  /** Revisions the history no longer needs but the journal still has. */
  readonly superfluous?: readonly number[];
  readonly openJournal: (listener: JournalListener) => Journal;
  /** How many bytes of the newest values stay in memory; the others are read from the journal when asked for. */
  readonly heldBytes: number;
  /** How many of them stay once every watch has gone past them; all, unless told. What goes soon is collected at once. */
  readonly seenBytes?: number;
};

/** One read of the journal: small enough that the writes queued behind it hardly notice. */
const valuesPerRead = 256;
const eventsPerBatch = 1000;
/** How far a watch that finds nothing looks back in one turn. */
const revisionsPerBatch = 20_000;
const revisionsPerCollection = 256;

type WriteBatch = { readonly versions: Version[]; readonly durable: PromiseWithResolvers<void> };

type Watcher = {
  readonly prefix: string;
  /** Everything up to here has been looked at; all of it, while the watcher waits. */
  position: number;
  /** The revision of the last batch yielded. */
  reported: number;
  /** Set while the watcher waits. */
  wake: (() => void) | undefined;
  /** Set when the next batch is wanted even if it is empty. */
  needsProgress: boolean;
  end(): void;
};

/** Estimates the space a version takes up. */
function sizeOf({ key, value }: Version): number {
  return key.length + (value?.length ?? 0);
}

export function createVersionedStore(options: VersionedStoreOptions): Store {
  const { clock, history, superfluous = [], openJournal, heldBytes, seenBytes = heldBytes } = options;
  const { quotaBytes = Number.POSITIVE_INFINITY, onAlarm = () => {} } = options;
  let acknowledged = history.head();
  let isOpen = true;
  const batches: WriteBatch[] = [];
  let openBatch: WriteBatch | undefined;
  const watchers = new Set<Watcher>();
  const reads = new Set<Promise<unknown>>();
  let oldestHeld = acknowledged + 1;
  let heldSoFar = 0;
  /** The size of appended versions that are not durable yet. */
  let unsavedBytes = 0;

  const journal = openJournal({ onDurable: acknowledge, onFailed: takeBack });
  // Not worth failing for: what is left over now is found again at the next start.
  let compaction = discard(superfluous.map((revision) => ({ revision, value: undefined }))).catch(() => {});
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
      heldSoFar += version.value?.length ?? 0;
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

  function takeBack(error: Error): void {
    history.rollback(acknowledged);
    openBatch = undefined;
    unsavedBytes = 0;
    for (const { durable } of batches.splice(0)) durable.reject(error);
  }

  /** Settles when the version is durable, or is taken back. */
  function durability({ revision }: Version): Promise<void> | undefined {
    if (revision <= acknowledged) return undefined;
    return batches.find(({ versions }) => versions.at(-1)!.revision >= revision)!.durable.promise;
  }

  /** Lets go of the values written before a revision, and of as many more as are over the bounds. */
  function releaseValues({ before }: { before: number }): void {
    const seen = seenByAll();
    const mayGo = () => oldestHeld < before || heldSoFar > heldBytes || (heldSoFar > seenBytes && oldestHeld <= seen);
    for (; oldestHeld <= acknowledged && mayGo(); oldestHeld++) {
      const version = history.writtenAt(oldestHeld);
      heldSoFar -= version.value?.length ?? 0;
      version.value = undefined;
    }
  }

  /** The revision that every watch has gone past. */
  function seenByAll(): number {
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

  /** The entries of versions, in the same order; those not held in memory are read from the journal. */
  async function entriesOf(versions: readonly Version[]): Promise<Entry[]> {
    const entries: Entry[] = [];
    for (let first = 0; first < versions.length; first += valuesPerRead) {
      const page = versions.slice(first, first + valuesPerRead);
      const missing = page.filter(({ value }) => value === undefined).map(({ revision }) => revision);
      // Taken before the wait, in which held values may be released.
      const held = page.map(({ value }) => value);
      const read = missing.length > 0 ? await journal.read(missing) : [];
      let nextRead = 0;
      page.forEach(({ key, createRevision, revision }, index) => {
        entries.push({ key, value: held[index] ?? read[nextRead++]!, createRevision, modRevision: revision });
      });
    }
    return entries;
  }

  /** The entry a version took the place of, unless it was none or is compacted away. */
  function replacedBy({ revision, previous }: Version): Version | undefined {
    return revision > history.compactRevision() && !previous?.deleted ? previous : undefined;
  }

  /** Keeps compaction from discarding what a read is about to fetch. */
  function reading<Result>(read: Promise<Result>): Promise<Result> {
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
      const [entry] = await reading(entriesOf([version]));
      return { entry: entry!, revision };
    },

    async range({ prefix, start, limit = Number.POSITIVE_INFINITY, revision: requested }) {
      assertOpen();
      const revision = readableRevision(requested);
      const { versions, count } = history.range({ prefix, start, limit, revision });
      const entries = await reading(entriesOf(versions));
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
        const [current] = await reading(entriesOf([newest]));
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
      // Only the newest values are held, and what is compacted is no longer within reach to be released later.
      if (heldBytes !== Number.POSITIVE_INFINITY) releaseValues({ before: revision });
      history.compact(revision);
      const readsBefore = [...reads];
      // One after the other, whether the one before succeeded or not.
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

    /** Moves on over the changes made since and picks those to keys with the prefix. */
    function take(): readonly Version[] {
      // Changes are known from the compacted revision on, so a watch may stand right before it.
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
        const versions = take();
        const revision = watcher.position;
        const isCaughtUp = revision >= acknowledged;
        const isProgress = revision > watcher.reported && (watcher.needsProgress || !isCaughtUp);
        if (isCaughtUp) watcher.needsProgress = false;
        if (versions.length > 0 || isProgress) {
          const events = versions.length > 0 ? await reading(eventsOf(versions)) : [];
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
      // Looked up before the wait, in which compaction may cut a version off from the one before it.
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
