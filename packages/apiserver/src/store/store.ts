/**
 * Store of the API server, with the semantics of etcd. There is one counter, the revision: every successful write takes
 * the next one, and the state at any revision that is not compacted can be read.
 */
export interface Store {
  /**
   * Returns the revision of the newest acknowledged write of any client. Every running watch soon yields a batch at
   * this revision, possibly empty: a cache that has received that batch is as fresh as the store at the time of the
   * call.
   */
  currentRevision(): Promise<number>;

  /** Reads one key, at the newest or a given revision; `revision` in the result is the revision that was read. */
  get(key: string, at?: { readonly revision: number }): Promise<{ readonly entry?: Entry; readonly revision: number }>;

  /** Reads the keys with a prefix, in byte order. */
  range(request: RangeRequest): Promise<RangeResult>;

  /**
   * Writes conditionally: the write succeeds only if the key's `modRevision` equals `expected`, where 0 means that the
   * key does not exist. An acknowledged write survives a crash. On conflict, `current` is the existing entry (undefined
   * if the key does not exist). If the call throws, the write may or may not have been done.
   *
   * The value is kept by reference: the caller must not change it afterwards.
   */
  write(request: WriteRequest): Promise<WriteResult>;

  /**
   * Watches all changes after a revision, in order, without gaps or duplicates; each batch contains whole revisions. A
   * future revision is awaited. A slow consumer receives larger batches; one that falls behind compaction gets a
   * CompactedError. Ends when the signal is aborted or the store is closed.
   *
   * The order of a write's acknowledgement and its event is undefined.
   */
  watch(request: WatchRequest): AsyncIterable<WatchBatch>;

  /**
   * Removes versions that were superseded before a revision: states and changes from that revision on stay readable.
   * Compacting to an earlier revision than before does nothing.
   */
  compact(revision: number): Promise<void>;

  /** Ends every watch, completes the writes in progress, and rejects later calls. */
  close(): Promise<void>;
}

/** State of a key, with the revisions of its creation and its last write. */
export type Entry = {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
};

export type RangeRequest = {
  readonly prefix: string;
  /** First key to read, if not the prefix itself; the last key of a page followed by NUL starts the next page. */
  readonly start?: string;
  readonly limit?: number;
  /** Revision to read; the newest acknowledged if absent. */
  readonly revision?: number;
};

export type RangeResult = {
  readonly entries: readonly Entry[];
  /** Number of keys from `start` on, including those beyond `limit`. */
  readonly count: number;
  /** Reports whether `limit` excluded keys. */
  readonly more: boolean;
  /** Revision that was read. */
  readonly revision: number;
};

export type WriteRequest =
  | {
      readonly key: string;
      readonly expected: number;
      readonly value: Uint8Array;
      /** Deletes the key, as an ordinary delete does, some time after this many seconds unless it is written again. */
      readonly ttlSeconds?: number;
    }
  | { readonly key: string; readonly expected: number; readonly delete: true };

export type WriteResult =
  | { readonly ok: true; readonly revision: number }
  | { readonly ok: false; readonly current?: Entry; readonly revision: number };

export type WatchRequest = {
  readonly prefix: string;
  readonly afterRevision: number;
  readonly signal: AbortSignal;
  /** Adds the replaced entry to each event. A consumer that starts with a full range already has it. */
  readonly withPrevious?: boolean;
};

/** Batch of events. All matching changes up to `revision` have been yielded. */
export type WatchBatch = { readonly events: readonly StoreEvent[]; readonly revision: number };

export type StoreEvent =
  | {
      readonly type: 'put';
      readonly key: string;
      readonly revision: number;
      /** Equals `revision` if the key did not exist before. */
      readonly createRevision: number;
      readonly value: Uint8Array;
      readonly previous?: Entry;
    }
  | { readonly type: 'delete'; readonly key: string; readonly revision: number; readonly previous?: Entry };

/** Error: the requested state or changes have been compacted. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  readonly requestedRevision: number;
  /** Oldest readable revision, if known. */
  readonly compactRevision: number | undefined;

  constructor(requestedRevision: number, compactRevision?: number) {
    super(`revision ${requestedRevision} has been compacted`);
    this.requestedRevision = requestedRevision;
    this.compactRevision = compactRevision;
  }
}

/** Error: the requested revision does not exist yet. */
export class FutureRevisionError extends Error {
  override readonly name = 'FutureRevisionError';
  readonly requestedRevision: number;
  readonly currentRevision: number | undefined;

  constructor(requestedRevision: number, currentRevision?: number) {
    super(`revision ${requestedRevision} is in the future`);
    this.requestedRevision = requestedRevision;
    this.currentRevision = currentRevision;
  }
}

/**
 * Error: the store cannot execute the operation, now or permanently: the disk is full, the file is damaged, or etcd is
 * unreachable.
 */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}

/**
 * Error: the store has reached its quota. It serves reads, deletions and compactions, but no puts until space is freed.
 */
export class SpaceExceededError extends StoreError {
  override readonly name = 'SpaceExceededError';

  constructor() {
    // Error text of etcd, which administrators search for.
    super('etcdserver: mvcc: database space exceeded');
  }
}

/** Error: the store has been closed. */
export class StoreClosedError extends StoreError {
  override readonly name = 'StoreClosedError';

  constructor() {
    super('the store is closed');
  }
}
