/**
 * Which key had which version when. Versions are kept twice over: by key, newest first, and by revision. As every
 * write takes exactly one revision, the second is a plain array.
 *
 * Pure data: nothing waits, nothing fails. What has been appended may still be rolled back, so whoever uses a history
 * knows up to which revision it is acknowledged.
 */
import assert from 'node:assert/strict';
import { createOrderedMap } from './ordered-map.ts';

export type Version = {
  readonly key: string;
  readonly revision: number;
  readonly createRevision: number;
  readonly deleted: boolean;
  /** When the key is to be deleted, in whole milliseconds since the epoch; 0 for never. */
  readonly expiresAtMs: number;
  /** Set while there is reason to keep it in memory. */
  value: Uint8Array | undefined;
  /** The version before this one, until it is compacted away. */
  previous: Version | undefined;
};

export interface History {
  /** The newest revision; an empty history is at 1, so that 0 can mean "none". */
  head(): number;
  /** The oldest revision whose state is known. */
  compactRevision(): number;
  /** The key's newest version, a deletion included. */
  newest(key: string): Version | undefined;
  /** The key's version as of a revision, unless it was absent then. */
  at(key: string, revision: number): Version | undefined;
  /** The first `limit` versions, as of a revision, of the keys with a prefix, and the number of all. */
  range(request: {
    readonly prefix: string;
    readonly start: string | undefined;
    readonly limit: number;
    readonly revision: number;
  }): { readonly versions: readonly Version[]; readonly count: number };
  /** What was written at a revision that has not been compacted. */
  writtenAt(revision: number): Version;
  /** Adds a version at the next revision. */
  append(version: Omit<Version, 'revision' | 'createRevision' | 'previous'>): Version;
  /** Takes back every version after a revision. */
  rollback(revision: number): void;
  /** From now on nothing before this revision is known. `collect` gives out what that makes superfluous. */
  compact(revision: number): void;
  /**
   * Looks at the next `limit` revisions before a compacted one and lets go of what they make superfluous; undefined when
   * none is left to look at.
   */
  collect(request: { readonly before: number; readonly limit: number }): readonly Version[] | undefined;
}

/** A version as it was saved. */
export type SavedVersion = Omit<Version, 'value' | 'previous'>;

const emptyRevision = 1;

export function createHistory(): History {
  return restoreHistory([], 0).history;
}

/**
 * A history from what was saved of it, in order of revision, with what should have been let go of before.
 * Throws if a revision is missing.
 */
export function restoreHistory(
  saved: Iterable<SavedVersion>,
  compacted: number,
): { readonly history: History; readonly superfluous: readonly number[] } {
  const newestByKey = createOrderedMap<Version>();
  const superfluous: number[] = [];
  let compactRevision = Math.max(compacted, emptyRevision);
  let firstInLog = compacted === 0 ? emptyRevision + 1 : compacted;
  let collectedTo = firstInLog;
  let log: Version[] = [];

  for (const version of saved) {
    const before = newestByKey.get(version.key);
    if (version.revision <= compacted && before) superfluous.push(before.revision);
    if (version.revision < compacted && version.deleted) {
      superfluous.push(version.revision);
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
    at: (key, revision) => asOf(newestByKey.get(key), revision),

    range({ prefix, start, limit, revision }) {
      const versions: Version[] = [];
      let count = 0;
      newestByKey.visit({ prefix, ...(start !== undefined && { start }) }, (newest) => {
        const version = asOf(newest, revision);
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
        // The same string for all versions of a key: it is as large as all the rest.
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
        // What a version replaced is needed until the version's own revision is the oldest known. The one at the
        // compacted revision itself stays, even if it is a deletion: a watch may still begin there.
        const next = log[collectedTo + 1 - firstInLog]!;
        if (next.previous && !next.previous.deleted) dropped.push(next.previous);
        next.previous = undefined;
      }
      return dropped;
    },
  };
  return { history, superfluous };
}

function asOf(newest: Version | undefined, revision: number): Version | undefined {
  let version = newest;
  while (version && version.revision > revision) version = version.previous;
  return version?.deleted ? undefined : version;
}
