import type { Version } from './history.ts';

/** Where versions are kept for good. The versioned store decides what is written; a journal only makes it last. */
export interface Journal {
  /**
   * Starts to save versions, which come in order of revision. `onDurable` or `onFailed` tells the outcome; more may be
   * appended meanwhile.
   */
  append(versions: readonly Version[]): void;
  /** The values of durable versions that have not been discarded. */
  read(revisions: readonly number[]): Promise<readonly Uint8Array[]>;
  /** Remembers that nothing before a revision is known any more. */
  compact(revision: number): Promise<void>;
  /** Compacts versions that no client can read any more. */
  discard(versions: readonly DiscardedVersion[]): Promise<void>;
  /** The space that durable versions take up, as far as it is known. */
  sizeBytes(): number;
  /** Finishes what was appended and lets go of the files. */
  close(): Promise<void>;
}

/** A version to delete; with its value, if it is held in memory. */
export type DiscardedVersion = Pick<Version, 'revision' | 'value'>;

export interface JournalListener {
  /** Everything up to a revision has been saved. */
  onDurable(revision: number): void;
  /**
   * Nothing after the revision last told durable has been saved, nor will be: the next version appended takes the
   * revision after that one again.
   */
  onFailed(error: Error): void;
}
