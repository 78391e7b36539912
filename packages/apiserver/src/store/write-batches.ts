/** Writes that are decided but not durable yet. Writes of one turn of the event loop are saved together. */
import type { History, Version } from './history.ts';

/** Write batches of a store, in order of revision. */
export type WriteBatches = {
  /** Appends a version to the history and to the open batch. */
  append(version: Parameters<History['append']>[0]): { readonly version: Version; readonly durable: Promise<void> };
  /** Settles when the version, which is not durable yet, is durable or rolled back. */
  durabilityOf(version: Version): Promise<void>;
  /** Returns the size of the versions that are not durable yet. */
  unsavedBytes(): number;
  /** Records that a version is durable. */
  recordSaved(version: Version): void;
  /** Resolves the batches up to a revision. */
  resolveUpTo(revision: number): void;
  /** Rejects all batches. */
  reject(error: Error): void;
  /** Returns the batches that are not durable yet. */
  pending(): readonly Promise<void>[];
};

type Batch = { readonly versions: Version[]; readonly durable: PromiseWithResolvers<void> };

/** Creates the write batches of a history; `save` starts to save a batch. */
export function createWriteBatches(history: History, save: (versions: readonly Version[]) => void): WriteBatches {
  const batches: Batch[] = [];
  let openBatch: Batch | undefined;
  let unsavedBytes = 0;

  function open(): Batch {
    const batch: Batch = { versions: [], durable: Promise.withResolvers() };
    batches.push(batch);
    queueMicrotask(saveOpenBatch);
    return batch;
  }

  function saveOpenBatch(): void {
    const batch = openBatch;
    openBatch = undefined;
    if (batch) save(batch.versions);
  }

  return {
    append(version) {
      openBatch ??= open();
      const appended = history.append(version);
      openBatch.versions.push(appended);
      unsavedBytes += sizeOf(appended);
      return { version: appended, durable: openBatch.durable.promise };
    },
    durabilityOf({ revision }) {
      return batches.find(({ versions }) => versions.at(-1)!.revision >= revision)!.durable.promise;
    },
    unsavedBytes: () => unsavedBytes,
    recordSaved(version) {
      unsavedBytes -= sizeOf(version);
    },
    resolveUpTo(revision) {
      while (batches[0] && batches[0].versions.at(-1)!.revision <= revision) batches.shift()!.durable.resolve();
    },
    reject(error) {
      openBatch = undefined;
      unsavedBytes = 0;
      for (const { durable } of batches.splice(0)) durable.reject(error);
    },
    pending: () => batches.map(({ durable }) => durable.promise),
  };
}

/** Estimates the size of a version. */
function sizeOf({ key, value }: Version): number {
  return key.length + (value?.length ?? 0);
}
