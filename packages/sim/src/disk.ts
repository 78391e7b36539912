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
  /** What is on it from the beginning, in order of revision. */
  readonly kept?: readonly KeptVersion[];
  /** How long the next write takes to be safe. */
  readonly syncMs: () => number;
  /** Told of every write that is. */
  readonly onSafe: (version: KeptVersion) => void;
  /** Done to what is there before a process opens it: no sound disk does anything. */
  readonly onOpen?: (saved: Map<number, KeptVersion>) => void;
  /** Says that writes are safe before they are, as no sound disk does. */
  readonly isHasty?: boolean;
};

/** A version as it is on the disk. */
export type KeptVersion = SavedVersion & { readonly value: Uint8Array | undefined };

/** A disk, empty unless it is told otherwise. */
export function createDisk({ kept = [], syncMs, onSafe, onOpen, isHasty = false }: DiskOptions): Disk {
  const saved = new Map(kept.map((version) => [version.revision, version]));
  let compacted = 0;

  return {
    open(life) {
      onOpen?.(saved);
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
            if (isHasty) queueMicrotask(() => onDurable(batch.at(-1)!.revision));
            // One sync after the other, as a disk does it: a later write is never safe before an earlier one.
            syncing = syncing.then(
              () =>
                new Promise((resolve) => {
                  clock.setTimer(syncMs(), () => {
                    for (const version of batch) {
                      saved.set(version.revision, version);
                      onSafe(version);
                    }
                    if (!isHasty) onDurable(batch.at(-1)!.revision);
                    resolve();
                  });
                }),
            );
          },
          read: async (revisions) => revisions.map((revision) => saved.get(revision)!.value!),
          async compact(revision) {
            compacted = revision;
          },
          async discard(versions) {
            for (const { revision } of versions) saved.delete(revision);
          },
          // Simulated disks have no quota.
          sizeBytes: () => 0,
          close: async () => {},
        }),
      });
    },
  };
}
