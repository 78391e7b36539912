import { restoreHistory, type SavedVersion } from '@kruise/apiserver/store/history';
import type { Store } from '@kruise/apiserver/store/store';
import { createVersionedStore } from '@kruise/apiserver/store/versioned';
import type { Lifetime } from './process-lifetime.ts';

/** A disk that survives the processes that write to it. Writes that are not synced when a process ends are lost. */
export type Disk = {
  /** Opens the store on this disk for a process. */
  open(life: Lifetime): Store;
};

export type DiskOptions = {
  /** Initial content, in order of revision. */
  readonly initialVersions?: readonly StoredVersion[];
  /** Returns how long the next sync takes. */
  readonly syncMs: () => number;
  /** Called for every durable write. */
  readonly onSynced: (version: StoredVersion) => void;
  /** Corrupts the content before a process opens the disk; only for mutants. */
  readonly onOpen?: (saved: Map<number, StoredVersion>) => void;
  /** Acknowledges writes before they are durable; only for mutants. */
  readonly acknowledgesEarly?: boolean;
};

/** A version as stored on the disk. */
export type StoredVersion = SavedVersion & { readonly value: Uint8Array | undefined };

/** Creates a disk, empty by default. */
export function createDisk({
  initialVersions = [],
  syncMs,
  onSynced,
  onOpen,
  acknowledgesEarly = false,
}: DiskOptions): Disk {
  const saved = new Map(initialVersions.map((version) => [version.revision, version]));
  let compacted = 0;

  return {
    open(life) {
      onOpen?.(saved);
      const { history, superseded } = restoreHistory(saved.values(), compacted);
      const { clock } = life;
      let syncing = Promise.resolve();
      return createVersionedStore({
        clock,
        history,
        superseded,
        heldBytes: Number.POSITIVE_INFINITY,
        openJournal: ({ onDurable }) => ({
          append(versions) {
            const batch = versions.map(({ previous: _, ...version }) => version);
            if (acknowledgesEarly) queueMicrotask(() => onDurable(batch.at(-1)!.revision));
            // Syncs run one after the other, as on a real disk: a later write is never durable before an earlier one.
            syncing = syncing.then(
              () =>
                new Promise((resolve) => {
                  clock.setTimer(syncMs(), () => {
                    for (const version of batch) {
                      saved.set(version.revision, version);
                      onSynced(version);
                    }
                    if (!acknowledgesEarly) onDurable(batch.at(-1)!.revision);
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
