/**
 * What the API server asks of its store: what etcd offers and no more. There is one counter, the revision; every write
 * that succeeds takes the next one, and the state at any revision not yet compacted can still be read.
 */
export interface Store {
  /**
   * The revision of the newest acknowledged write, of anyone. Every running watch soon yields a batch that reaches it,
   * if need be an empty one: a cache that has waited for that batch is as fresh as the store was at the call.
   */
  currentRevision(): Promise<number>;

  /** One key, now or as it was at a revision; `revision` in the answer is the one the state was read at. */
  get(key: string, at?: { readonly revision: number }): Promise<{ readonly entry?: Entry; readonly revision: number }>;

  /** The keys with a prefix, in byte order. */
  range(request: RangeRequest): Promise<RangeResult>;

  /**
   * One conditional write: it is done only if the key's `modRevision` equals `expected`, where 0 means that the key
   * does not exist. Once acknowledged it survives a crash. If it is refused, `current` is what stands in its way
   * (nothing, if the key is absent). If it throws, it may or may not have been done.
   *
   * The value is kept by reference: the caller does not change it afterwards.
   */
  write(request: WriteRequest): Promise<WriteResult>;

  /**
   * Every change after a revision, in order, without gap or duplicate, each batch made of whole revisions. A revision
   * yet to come is waited for. A consumer that lags is given larger batches; one that falls behind compaction gets a
   * CompactedError. Ends when the signal is aborted or the store is closed.
   *
   * An acknowledged write and its event come in no promised order.
   */
  watch(request: WatchRequest): AsyncIterable<WatchBatch>;

  /**
   * Forgets what was superseded before a revision: states and changes from that revision on stay readable. Compacting
   * to an older revision than before does nothing.
   */
  compact(revision: number): Promise<void>;

  /** Ends every watch, lets the writes under way come to their end and refuses everything after. */
  close(): Promise<void>;
}

/** A key's state: who wrote it into being, who wrote it last. */
export type Entry = {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: number;
  readonly modRevision: number;
};

export type RangeRequest = {
  readonly prefix: string;
  /** The first key wanted, if not the prefix itself; a page's last key followed by NUL begins the next page. */
  readonly start?: string;
  readonly limit?: number;
  /** The state to read; the newest acknowledged if absent. */
  readonly revision?: number;
};

export type RangeResult = {
  readonly entries: readonly Entry[];
  /** How many keys there are from `start` on, beyond `limit` too. */
  readonly count: number;
  /** Whether `limit` left some out. */
  readonly more: boolean;
  /** The revision the state was read at. */
  readonly revision: number;
};

export type WriteRequest =
  | {
      readonly key: string;
      readonly expected: number;
      readonly value: Uint8Array;
      /** The key is deleted, as by an ordinary delete, some time after this many seconds unless written again. */
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
  /** Give each event the entry it replaced. A consumer that follows from a full range already has it, so need not ask. */
  readonly withPrevious?: boolean;
};

/** `revision` says how far the watch has got: every matching change up to it has been yielded. */
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

/** The state or the changes asked for have been compacted away. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
  readonly requestedRevision: number;
  /** The oldest revision still readable, if known. */
  readonly compactRevision: number | undefined;

  constructor(requestedRevision: number, compactRevision?: number) {
    super(`revision ${requestedRevision} has been compacted`);
    this.requestedRevision = requestedRevision;
    this.compactRevision = compactRevision;
  }
}

/** The state asked for does not exist yet. */
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

/** The store cannot do what was asked, now or ever again: the disk is full, the file damaged, etcd out of reach. */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
}

/** The store has reached its quota: it deletes, compacts and reads, and puts nothing until there is space again. */
export class SpaceExceededError extends StoreError {
  override readonly name = 'SpaceExceededError';

  constructor() {
    // The words of etcd, which administrators search for.
    super('etcdserver: mvcc: database space exceeded');
  }
}

/** The store has been closed. */
export class StoreClosedError extends StoreError {
  override readonly name = 'StoreClosedError';

  constructor() {
    super('the store is closed');
  }
}
