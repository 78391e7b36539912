/** Compaction of a store: versions that no client can read any more are removed, one compaction after the other. */
import type { HeldValues } from './held-values.ts';
import type { History } from './history.ts';
import type { DiscardedVersion, Journal } from './journal.ts';

/** Compaction of a store. */
export type Compaction = {
  /** Compacts the journal and the superseded versions of a history that is compacted already. */
  run(revision: number): Promise<void>;
  /** Returns the last compaction. */
  last(): Promise<void>;
};

/** Dependencies of compaction. */
export type CompactionContext = {
  readonly history: History;
  readonly journal: Pick<Journal, 'compact' | 'discard'>;
  readonly values: Pick<HeldValues, 'reads'>;
  /** Revisions that the history no longer needs but the journal still has. */
  readonly superseded: readonly number[];
  readonly isOpen: () => boolean;
};

const revisionsPerCollection = 256;

/** Creates the compaction of a store, and discards the superseded revisions. */
export function createCompaction({ history, journal, values, superseded, isOpen }: CompactionContext): Compaction {
  // A failure is ignored: the next start finds the remaining versions again.
  let last = discard(superseded.map((revision) => ({ revision, value: undefined }))).catch(() => {});

  async function discard(versions: readonly DiscardedVersion[]): Promise<void> {
    for (let first = 0; first < versions.length && isOpen(); first += revisionsPerCollection) {
      await journal.discard(versions.slice(first, first + revisionsPerCollection));
    }
  }

  return {
    run(revision) {
      const readsBefore = values.reads();
      // Compactions run one after the other, whether or not the previous one succeeded.
      const before = Promise.allSettled([last]);
      last = (async () => {
        await before;
        await journal.compact(revision);
        await Promise.allSettled(readsBefore);
        while (isOpen()) {
          const dropped = history.collect({ before: revision, limit: revisionsPerCollection });
          if (!dropped) break;
          await discard(dropped);
        }
      })();
      return last;
    },
    last: () => last,
  };
}
