/** Values of versions: the newest ones are held in memory, the others are read from the journal on demand. */
import type { History, Version } from './history.ts';
import type { Journal } from './journal.ts';
import type { Entry } from './store.ts';

/** Values of a store. */
export type HeldValues = {
  /** Counts the value of a version that has become durable. */
  add(version: Version): void;
  /**
   * Releases the values written before a revision, and further values that exceed the limits. `seen` is the revision
   * that every watch has passed.
   */
  release(range: { readonly before: number; readonly acknowledged: number; readonly seen: number }): void;
  /** Returns the entries of versions in the same order. */
  entriesOf(versions: readonly Version[]): Promise<Entry[]>;
  /** Prevents compaction from discarding values that a read is about to fetch. */
  trackRead<Result>(read: Promise<Result>): Promise<Result>;
  /** Returns the reads in progress. */
  reads(): readonly Promise<unknown>[];
};

/** Limits of the values in memory. */
export type ValueLimits = {
  /** Bytes of the newest values to hold. */
  readonly heldBytes: number;
  /** Bytes of values to hold after every watch has passed them. */
  readonly seenBytes: number;
};

/** Values per journal read: small enough not to delay the writes queued behind it. */
const valuesPerRead = 256;

/** Creates the values of a history, of which none is held up to the given revision. */
export function createHeldValues(
  history: History,
  journal: Pick<Journal, 'read'>,
  { heldBytes, seenBytes }: ValueLimits,
  acknowledgedAtStart: number,
): HeldValues {
  const reads = new Set<Promise<unknown>>();
  let oldestHeld = acknowledgedAtStart + 1;
  let currentBytes = 0;

  return {
    add({ value }) {
      currentBytes += value?.length ?? 0;
    },
    release({ before, acknowledged, seen }) {
      const isReleasable = () =>
        oldestHeld < before || currentBytes > heldBytes || (currentBytes > seenBytes && oldestHeld <= seen);
      for (; oldestHeld <= acknowledged && isReleasable(); oldestHeld++) {
        const version = history.writtenAt(oldestHeld);
        currentBytes -= version.value?.length ?? 0;
        version.value = undefined;
      }
    },
    async entriesOf(versions) {
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
    },
    trackRead(read) {
      reads.add(read);
      const done = () => void reads.delete(read);
      read.then(done, done);
      return read;
    },
    reads: () => [...reads],
  };
}
