import assert from 'node:assert/strict';
import type { Clock } from '@kruise/values/clock';
import { restoreHistory, type SavedVersion, type Version } from './history.ts';
import type { Journal, JournalListener } from './journal.ts';
import type { Failure, FromThread, Request, ToThread } from './sqlite-messages.ts';
import { decodeRecords, decodeValues, encodeRecords } from './sqlite-messages.ts';
import { type SqliteThread, startSqliteThread } from './sqlite-worker.ts';
import { type Store, StoreError } from './store.ts';
import { createVersionedStore, type StoreLimits } from './versioned.ts';

export type SqliteStoreOptions = {
  readonly clock: Clock;
  /**
   * Path of the database file; the file and its directory are created if needed. Only one process can use it at a time.
   */
  readonly path: string;
  /** Maximum size of the database, which simulates a full disk. */
  readonly maxSizeBytes?: number;
  /** Thread that has already opened this file, if any. */
  readonly thread?: SqliteThread | undefined;
} & StoreLimits;

/** Bytes of values held in memory for watches that lag a little. */
const heldBytes = 4 * 2 ** 20;
/** Bytes of values held for conflicts, which mostly concern recent writes. */
const seenBytes = 2 ** 19;

/**
 * Maximum number of messages in flight to the thread: one being written and one queued. Later writes are batched,
 * because one message per write would cost the main thread as much as processing the write.
 */
const maxMessages = 2;

/** Opens a store in a file. Writes are durable before they are acknowledged. A separate thread runs the database. */
export async function openSqliteStore({ clock, path, maxSizeBytes, ...given }: SqliteStoreOptions): Promise<Store> {
  const { thread: running, ...limits } = given;
  const thread = listenTo(running ?? startSqliteThread({ path, maxSizeBytes }));
  try {
    const { saved, compactRevision } = await thread.opened;
    const { history, superseded } = restoreHistory(saved, compactRevision);
    return createVersionedStore({
      clock,
      history,
      superseded,
      heldBytes,
      seenBytes,
      ...limits,
      openJournal: thread.openJournal,
    });
  } catch (error) {
    await thread.terminate();
    throw error instanceof StoreError ? error : new StoreError(`${path} is damaged: ${(error as Error).message}`);
  }
}

type Saved = { readonly saved: readonly SavedVersion[]; readonly compactRevision: number };

function listenTo({ worker, port }: SqliteThread) {
  const saved: SavedVersion[] = [];
  const opened = Promise.withResolvers<Saved>();
  const calls = new Map<number, PromiseWithResolvers<ArrayBuffer | undefined>>();
  let lastCall = 0;
  let listener: JournalListener | undefined;
  let unsent: Version[] = [];
  /** Last revision of each message in flight. */
  let sent: number[] = [];
  let sizeBytes = 0;
  let permanentError: StoreError | undefined;
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));

  port.on('message', (message: FromThread) => {
    switch (message.type) {
      case 'saved':
        for (const { key, revision, createRevision, deleted, expiresAtMs } of decodeRecords(message.records)) {
          saved.push({ key: key.toString(), revision, createRevision, deleted, expiresAtMs });
        }
        return;
      case 'opened':
        sizeBytes = message.sizeBytes;
        return opened.resolve({ saved, compactRevision: message.compactRevision });
      case 'durable':
        sizeBytes = message.sizeBytes;
        return acknowledge(message.revision);
      case 'failed':
        return fail(errorOf(message.failure));
      case 'answer':
        sizeBytes = message.sizeBytes ?? sizeBytes;
        return endCall(message.call).resolve(message.values);
      case 'refusal':
        return endCall(message.call).reject(errorOf(message.failure));
    }
  });
  worker.on('error', (error) => {
    permanentError = new StoreError('the store broke down', { cause: error });
    for (const call of [...calls.keys()]) endCall(call).reject(permanentError);
    fail(permanentError);
  });

  function errorOf({ message, isTransient }: Failure): StoreError {
    const error = new StoreError(message);
    // After an error other than lack of space, the state of the disk is unknown until a restart.
    if (!isTransient) permanentError ??= error;
    return error;
  }

  function fail(error: StoreError): void {
    opened.reject(error);
    unsent = [];
    sent = [];
    listener?.onFailed(error);
  }

  function endCall(call: number): PromiseWithResolvers<ArrayBuffer | undefined> {
    const pending = calls.get(call);
    assert(pending, 'the thread answers each call once');
    calls.delete(call);
    return pending;
  }

  async function call(request: Request): Promise<ArrayBuffer | undefined> {
    if (permanentError) throw permanentError;
    const pending = Promise.withResolvers<ArrayBuffer | undefined>();
    calls.set(++lastCall, pending);
    port.postMessage({ type: 'call', call: lastCall, request } satisfies ToThread);
    return pending.promise;
  }

  function send(): void {
    if (unsent.length === 0) return;
    const records = encodeRecords(unsent);
    sent.push(unsent.at(-1)!.revision);
    unsent = [];
    port.postMessage({ type: 'append', records } satisfies ToThread, [records]);
  }

  function acknowledge(revision: number): void {
    while (sent[0] !== undefined && sent[0] <= revision) sent.shift();
    // The next batch is sent to the thread first: the thread can write it while these writes are acknowledged.
    send();
    listener?.onDurable(revision);
  }

  function openJournal(journalListener: JournalListener): Journal {
    listener = journalListener;
    return {
      append(versions) {
        const error = permanentError;
        if (error) return queueMicrotask(() => journalListener.onFailed(error));
        for (const version of versions) unsent.push(version);
        if (sent.length < maxMessages) send();
      },
      async read(revisions) {
        const values = await call({ type: 'read', revisions: Float64Array.from(revisions) });
        assert(values, 'a read is answered with values');
        return decodeValues(values);
      },
      async compact(revision) {
        await call({ type: 'compact', revision });
      },
      async discard(versions) {
        await call({ type: 'discard', revisions: Float64Array.from(versions, ({ revision }) => revision) });
      },
      sizeBytes: () => sizeBytes,
      async close() {
        port.postMessage({ type: 'close' } satisfies ToThread);
        await exited;
      },
    };
  }

  return { opened: opened.promise, openJournal, terminate: () => worker.terminate() };
}
