/**
 * Store of one process: an in-memory history makes the decisions, and a journal makes them durable.
 *
 * A write is decided at once against all earlier decisions, acknowledged when the journal has saved it, and invisible
 * until then. If the journal fails, all unacknowledged writes are rolled back: no client has seen them or anything that
 * depends on them.
 */
import assert from 'node:assert/strict';
import type { Clock } from '@kruise/values/clock';
import { createCompaction } from './compaction.ts';
import { createExpiry } from './expiry.ts';
import { createHeldValues } from './held-values.ts';
import type { History, Version } from './history.ts';
import type { Journal, JournalListener } from './journal.ts';
import { createQuota, type SpaceAlarm } from './quota.ts';
import { CompactedError, FutureRevisionError, type Store, StoreClosedError } from './store.ts';
import { createWatchers } from './watchers.ts';
import { createWriteBatches } from './write-batches.ts';

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

/** Creates the store of a history and a journal. */
export function createVersionedStore(options: VersionedStoreOptions): Store {
  const { clock, history, superseded = [], openJournal, heldBytes, seenBytes = heldBytes } = options;
  const { quotaBytes = Number.POSITIVE_INFINITY, onAlarm = () => {} } = options;
  let acknowledged = history.head();
  let isOpen = true;

  const journal = openJournal({ onDurable: acknowledge, onFailed: rollbackUnacknowledged });
  const batches = createWriteBatches(history, (versions) => journal.append(versions));
  const values = createHeldValues(history, journal, { heldBytes, seenBytes }, acknowledged);
  const compaction = createCompaction({ history, journal, values, superseded, isOpen: () => isOpen });
  const watchers = createWatchers({ history, values, acknowledged: () => acknowledged, isOpen: () => isOpen });
  const quota = createQuota({
    quotaBytes,
    sizeBytes: () => journal.sizeBytes() + batches.unsavedBytes(),
    compact: () => store.compact(acknowledged),
    onAlarm,
  });
  const expiry = createExpiry(clock, ({ key, revision }) => store.write({ key, expected: revision, delete: true }));
  const everything = { prefix: '', start: undefined, limit: Number.POSITIVE_INFINITY, revision: acknowledged };
  for (const version of history.range(everything).versions) if (version.expiresAtMs) expiry.add(version);

  function acknowledge(revision: number): void {
    const before = acknowledged;
    acknowledged = revision;
    for (let next = before + 1; next <= revision; next++) {
      const version = history.writtenAt(next);
      values.add(version);
      batches.recordSaved(version);
      if (version.expiresAtMs) expiry.add(version);
    }
    watchers.notify({ after: before, upTo: revision });
    releaseValues({ before: 0 });
    batches.resolveUpTo(revision);
    quota.written();
  }

  function rollbackUnacknowledged(error: Error): void {
    history.rollback(acknowledged);
    batches.reject(error);
  }

  /** Settles when the version is durable or rolled back. */
  function durabilityOf(version: Version): Promise<void> | undefined {
    return version.revision > acknowledged ? batches.durabilityOf(version) : undefined;
  }

  function releaseValues({ before }: { before: number }): void {
    values.release({ before, acknowledged, seen: watchers.minPosition() });
  }

  function readableRevision(requested: number | undefined): number {
    const revision = requested ?? acknowledged;
    if (revision < history.compactRevision()) throw new CompactedError(revision, history.compactRevision());
    if (revision > acknowledged) throw new FutureRevisionError(revision, acknowledged);
    return revision;
  }

  function assertOpen(): void {
    if (!isOpen) throw new StoreClosedError();
  }

  const store: Store = {
    async currentRevision() {
      assertOpen();
      watchers.requestProgress();
      return acknowledged;
    },

    async get(key, at) {
      assertOpen();
      const revision = readableRevision(at?.revision);
      const version = history.at(key, revision);
      if (!version) return { revision };
      const [entry] = await values.trackRead(values.entriesOf([version]));
      return { entry: entry!, revision };
    },

    async range({ prefix, start, limit = Number.POSITIVE_INFINITY, revision: requested }) {
      assertOpen();
      const revision = readableRevision(requested);
      const { versions, count } = history.range({ prefix, start, limit, revision });
      const entries = await values.trackRead(values.entriesOf(versions));
      return { entries, count, more: count > entries.length, revision };
    },

    async write(request) {
      assertOpen();
      const { key, expected } = request;
      assert(key !== '' && key.isWellFormed(), 'a key is not empty and has a UTF-8 form');
      const newest = history.newest(key);
      const modRevision = newest && !newest.deleted ? newest.revision : 0;
      if (modRevision !== expected) {
        if (newest) await durabilityOf(newest);
        if (!newest || newest.deleted) return { ok: false, revision: acknowledged };
        const [current] = await values.trackRead(values.entriesOf([newest]));
        return { ok: false, current: current!, revision: acknowledged };
      }
      if ('delete' in request) {
        if (!newest || newest.deleted) return { ok: true, revision: acknowledged };
        const { version, durable } = batches.append({ key, deleted: true, expiresAtMs: 0, value: undefined });
        await durable;
        return { ok: true, revision: version.revision };
      }
      const { value, ttlSeconds } = request;
      quota.admit(value.length);
      const expiresAtMs = ttlSeconds === undefined ? 0 : Math.ceil(clock.now() + ttlSeconds * 1000);
      const { version, durable } = batches.append({ key, deleted: false, expiresAtMs, value });
      await durable;
      return { ok: true, revision: version.revision };
    },

    watch: (request) => ({ [Symbol.asyncIterator]: () => watchers.watch(request) }),

    async compact(revision) {
      assertOpen();
      if (revision > acknowledged) throw new FutureRevisionError(revision, acknowledged);
      if (revision <= history.compactRevision()) return;
      // Only the newest values are held, and compacted versions can no longer be released later.
      if (heldBytes !== Number.POSITIVE_INFINITY) releaseValues({ before: revision });
      history.compact(revision);
      await compaction.run(revision);
    },

    async close() {
      if (!isOpen) return;
      isOpen = false;
      expiry.stop();
      watchers.close();
      await Promise.allSettled([...batches.pending(), ...values.reads(), compaction.last()]);
      await journal.close();
    },
  };

  return store;
}
