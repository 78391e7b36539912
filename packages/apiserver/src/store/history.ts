/**
 * Versions of all keys, indexed twice: by key, newest first, and by revision. Every write takes exactly one revision,
 * so the second index is an array.
 *
 * A history is synchronous and cannot fail. Appended versions may be rolled back, so the caller tracks the acknowledged
 * revision.
 */
import assert from 'node:assert/strict';
import { createOrderedMap } from './ordered-map.ts';

export type Version = {
  readonly key: string;
  readonly revision: number;
  readonly createRevision: number;
  readonly deleted: boolean;
  /** Expiration time in milliseconds since the epoch; 0 means never. */
  readonly expiresAtMs: number;
  /** Value, if it is held in memory. */
  value: Uint8Array | undefined;
  /** Previous version of the key, until it is compacted. */
  previous: Version | undefined;
};

export interface History {
  /** Returns the newest revision; an empty history is at 1, so that 0 can mean "none". */
  head(): number;
  /** Returns the oldest readable revision. */
  compactRevision(): number;
  /** Returns the newest version of a key, which may be a deletion. */
  newest(key: string): Version | undefined;
  /** Returns the version of a key at a revision, if the key existed. */
  at(key: string, revision: number): Version | undefined;
  /** Returns the first `limit` versions at a revision of the keys with a prefix, and the total count. */
  range(request: {
    readonly prefix: string;
    readonly start: string | undefined;
    readonly limit: number;
    readonly revision: number;
  }): { readonly versions: readonly Version[]; readonly count: number };
  /** Returns the version written at a revision that is not compacted. */
  writtenAt(revision: number): Version;
  /** Appends a version at the next revision. */
  append(version: Omit<Version, 'revision' | 'createRevision' | 'previous'>): Version;
  /** Removes every version after a revision. */
  rollback(revision: number): void;
  /** Makes all earlier revisions unreadable. `collect` then returns the superseded versions. */
  compact(revision: number): void;
  /**
   * Scans the next `limit` revisions before a compacted one, and removes the versions that they superseded; undefined
   * when the scan is complete.
   */
  collect(request: { readonly before: number; readonly limit: number }): readonly Version[] | undefined;
}

/** Version without its value, as loaded from the journal. */
export type SavedVersion = Omit<Version, 'value' | 'previous'>;

const emptyRevision = 1;

export function createHistory(): History {
  return restoreHistory([], 0).history;
}

/**
 * Restores a history from saved versions in order of revision, and returns the versions that a previous compaction left
 * behind. Throws if a revision is missing.
 */
export function restoreHistory(
  saved: Iterable<SavedVersion>,
  compacted: number,
): { readonly history: History; readonly superseded: readonly number[] } {
  const newestByKey = createOrderedMap<Version>();
  const superseded: number[] = [];
  let compactRevision = Math.max(compacted, emptyRevision);
  let firstInLog = compacted === 0 ? emptyRevision + 1 : compacted;
  let collectedTo = firstInLog;
  let log: Version[] = [];

  for (const version of saved) {
    const before = newestByKey.get(version.key);
    if (version.revision <= compacted && before) superseded.push(before.revision);
    if (version.revision < compacted && version.deleted) {
      superseded.push(version.revision);
      newestByKey.delete(version.key);
      continue;
    }
    const restored: Version = {
      ...version,
      key: before?.key ?? version.key,
      value: undefined,
      previous: version.revision > compacted ? before : undefined,
    };
    newestByKey.set(version.key, restored);
    if (version.revision >= firstInLog) {
      const expected = firstInLog + log.length;
      if (version.revision !== expected) throw new Error(`revision ${expected} is missing`);
      log.push(restored);
    }
  }

  const head = () => firstInLog + log.length - 1;
  if (head() < compacted) throw new Error(`revision ${compacted} is missing`);

  const history: History = {
    head,
    compactRevision: () => compactRevision,
    newest: (key) => newestByKey.get(key),
    at: (key, revision) => versionAt(newestByKey.get(key), revision),

    range({ prefix, start, limit, revision }) {
      const versions: Version[] = [];
      let count = 0;
      newestByKey.visit({ prefix, ...(start !== undefined && { start }) }, (newest) => {
        const version = versionAt(newest, revision);
        if (!version) return;
        count++;
        if (count <= limit) versions.push(version);
      });
      return { versions, count };
    },

    writtenAt(revision) {
      const version = log[revision - firstInLog];
      assert(version && revision >= compactRevision, `revision ${revision} is in the log`);
      return version;
    },

    append({ key, deleted, expiresAtMs, value }) {
      const previous = newestByKey.get(key);
      const revision = head() + 1;
      const version: Version = {
        // All versions of a key share one string, which is as large as the rest of a version.
        key: previous?.key ?? key,
        revision,
        createRevision: previous && !previous.deleted ? previous.createRevision : revision,
        deleted,
        expiresAtMs,
        value,
        previous,
      };
      newestByKey.set(key, version);
      log.push(version);
      return version;
    },

    rollback(revision) {
      assert(revision >= compactRevision, 'only what is not yet acknowledged is rolled back');
      while (head() > revision) {
        const { key, previous } = log.pop()!;
        const isKnown = previous && !(previous.deleted && previous.revision < compactRevision);
        if (isKnown) newestByKey.set(key, previous);
        else newestByKey.delete(key);
      }
    },

    compact(revision) {
      assert(revision <= head(), 'the compacted revision exists');
      compactRevision = Math.max(compactRevision, revision);
    },

    collect({ before, limit }) {
      assert(before <= compactRevision, 'only compacted revisions are collected');
      if (collectedTo >= before) {
        log = log.slice(collectedTo - firstInLog);
        firstInLog = collectedTo;
        return undefined;
      }
      const dropped: Version[] = [];
      const end = Math.min(before, collectedTo + limit);
      for (; collectedTo < end; collectedTo++) {
        const version = log[collectedTo - firstInLog]!;
        if (version.deleted) {
          dropped.push(version);
          if (newestByKey.get(version.key) === version) newestByKey.delete(version.key);
        }
        // A replaced version is needed until the replacing revision is the oldest readable one. The version at the
        // compacted revision itself is kept, even a deletion: a watch may still start there.
        const next = log[collectedTo + 1 - firstInLog]!;
        if (next.previous && !next.previous.deleted) dropped.push(next.previous);
        next.previous = undefined;
      }
      return dropped;
    },
  };
  return { history, superseded };
}

function versionAt(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version && version.revision > revision) version = version.previous;
  return version?.deleted ? undefined : version;
}
