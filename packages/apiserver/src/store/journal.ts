import type { Version } from './history.ts';

/** Persistence of versions. The versioned store decides what is written; a journal makes the writes durable. */
export interface Journal {
  /**
   * Starts to save versions in order of revision. `onDurable` or `onFailed` reports the outcome; more may be appended
   * meanwhile.
   */
  append(versions: readonly Version[]): void;
  /** Reads the values of durable versions that have not been discarded. */
  read(revisions: readonly number[]): Promise<readonly Uint8Array[]>;
  /** Persists the compacted revision. */
  compact(revision: number): Promise<void>;
  /** Compacts versions that no client can read any more. */
  discard(versions: readonly DiscardedVersion[]): Promise<void>;
  /** Returns the disk space of the durable versions, as far as it is known. */
  sizeBytes(): number;
  /** Flushes appended versions and closes the files. */
  close(): Promise<void>;
}

/** Version to delete, with its value if it is held in memory. */
export type DiscardedVersion = Pick<Version, 'revision' | 'value'>;

export interface JournalListener {
  /** All versions up to a revision are durable. */
  onDurable(revision: number): void;
  /**
   * No version after the last durable revision has been or will be saved: the next appended version reuses the
   * following revision.
   */
  onFailed(error: Error): void;
}
