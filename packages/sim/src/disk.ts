import { restoreHistory, type SavedVersion } from '@kruise/apiserver/store/history';
import type { Store } from '@kruise/apiserver/store/store';
import { createVersionedStore } from '@kruise/apiserver/store/versioned';
import type { Life } from './life.ts';

/** A disk that outlives the processes that write to it. What was not synced when one ends is lost. */
export type Disk = {
  /** The store on this disk, for a process. */
  open(life: Life): Store;
};

export type DiskOptions = {
  /** How long the next write takes to be safe. */
  readonly syncMs: () => number;
  /** Told of every write that is. */
  readonly onSafe: (version: SavedVersion) => void;
};

/** An empty disk. */
export function createDisk({ syncMs, onSafe }: DiskOptions): Disk {
  const saved = new Map<number, SavedVersion & { readonly value: Uint8Array | undefined }>();
  let compacted = 0;

  return {
    open(life) {
      const { history, superfluous } = restoreHistory(saved.values(), compacted);
      const { clock } = life;
      let syncing = Promise.resolve();
      return createVersionedStore({
        clock,
        history,
        superfluous,
        heldBytes: Number.POSITIVE_INFINITY,
        openJournal: ({ onDurable }) => ({
          append(versions) {
            const batch = versions.map(({ previous: _, ...version }) => version);
            // One sync after the other, as a disk does it: a later write is never safe before an earlier one.
            syncing = syncing.then(
              () =>
                new Promise((resolve) => {
                  clock.setTimer(syncMs(), () => {
                    for (const version of batch) {
                      saved.set(version.revision, { ...version, value: version.value });
                      onSafe(version);
                    }
                    onDurable(batch.at(-1)!.revision);
                    resolve();
                  });
                }),
            );
          },
          read: async (revisions) => revisions.map((revision) => saved.get(revision)!.value!),
          async compact(revision) {
            compacted = revision;
          },
          async discard(revisions) {
            for (const revision of revisions) saved.delete(revision);
          },
          close: async () => {},
        }),
      });
    },
  };
}
