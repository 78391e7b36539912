/**
 * Database thread. It makes no decisions: it appends versions, reports when they are durable, and reads values.
 * Everything that arrives during a commit goes into the next one, so that batches grow with the load and a single write
 * is not delayed.
 */
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import type { Failure, FromThread, Record, Request, ThreadOptions, ToThread } from './sqlite-messages.ts';
import { decodeRecords, encodeRecords, encodeValues } from './sqlite-messages.ts';

const formatVersion = 1;
/** "Krui": identifies our files among SQLite databases. */
const applicationId = 0x4b727569;
const savedPerMessage = 4096;
/**
 * Size of the write-ahead log that triggers a checkpoint. A checkpoint delays concurrent writes: about 3 ms for a
 * megabyte and 10 ms for four, without a gain in throughput.
 */
const checkpointBytes = 2 ** 20;
/** Approximate growth of the write-ahead log per deleted row, independent of the value size. */
const discardBytes = 1024;
/**
 * Page size, twice SQLite's default: objects of a few kilobytes waste less space, and a single write still touches few
 * pages.
 */
const pageBytes = 8192;

const { path, maxSizeBytes, port } = workerData as ThreadOptions & { readonly port: MessagePort };

const busy = 5;
const maxAttempts = 8;
/** Explanations of SQLite's primary result codes, where its own messages are unclear. */
const explanations = new Map([
  [busy, `${path} is in use by another process`],
  [8, `${path} cannot be written to`],
  [11, `${path} is damaged`],
  [13, `no space is left for ${path}`],
  [14, `${path} cannot be opened`],
  [26, `${path} is not a database, or is damaged`],
]);

try {
  run(openExclusively());
} catch (error) {
  post({ type: 'failed', failure: describe(error) });
}

/**
 * Opens the database exclusively. Two processes that open it at the same time block each other, so each closes it and
 * retries after a random delay; a process that finds a permanent lock fails.
 */
function openExclusively(): DatabaseSync {
  for (let attempt = 1; ; attempt++) {
    const database = new DatabaseSync(path);
    try {
      prepare(database);
      return database;
    } catch (error) {
      database.close();
      if (codeOf(error) !== busy || attempt === maxAttempts) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, randomInt(10, 100));
    }
  }
}

function prepare(database: DatabaseSync): void {
  database.exec(`PRAGMA page_size = ${pageBytes}`);
  // Exclusive locking keeps other processes out, even readers, and avoids the shared-memory index.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // On macOS a plain fsync leaves the data in the disk's own cache.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA wal_autocheckpoint = 0');
  if (pragma(database, 'user_version') === 0 && pragma(database, 'page_count') <= 1) {
    // The value is the last column, so that reading the other columns does not touch its overflow pages.
    database.exec(`
      BEGIN EXCLUSIVE;
      CREATE TABLE log (
        revision INTEGER PRIMARY KEY, created INTEGER NOT NULL, expires INTEGER NOT NULL, key BLOB NOT NULL,
        checksum INTEGER NOT NULL, value BLOB
      ) STRICT;
      CREATE TABLE compaction (revision INTEGER NOT NULL) STRICT;
      INSERT INTO compaction VALUES (0);
      PRAGMA application_id = ${applicationId};
      PRAGMA user_version = ${formatVersion};
      COMMIT`);
  }
  if (pragma(database, 'application_id') !== applicationId) throw new Error(`${path} is not a store of ours`);
  if (pragma(database, 'user_version') !== formatVersion)
    throw new Error(`${path} is of a format unknown to this version`);
  if (maxSizeBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.ceil(maxSizeBytes / pragma(database, 'page_size'))}`);
  }
}

function pragma(database: DatabaseSync, name: string): number {
  return firstOf(database.prepare(`PRAGMA ${name}`));
}

function firstOf(statement: StatementSync): number {
  return Number(Object.values(statement.get() ?? {})[0]);
}

function run(database: DatabaseSync): void {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const insert = database.prepare(
    'INSERT INTO log (revision, created, expires, key, checksum, value) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const select = database.prepare('SELECT value, checksum FROM log WHERE revision = ?');
  select.setReturnArrays(true);
  const remove = database.prepare('DELETE FROM log WHERE revision = ?');
  const setCompaction = database.prepare('UPDATE compaction SET revision = ?');
  const pages = database.prepare('PRAGMA page_count');
  const freePages = database.prepare('PRAGMA freelist_count');
  const pageSize = pragma(database, 'page_size');
  const used = () => (firstOf(pages) - firstOf(freePages)) * pageSize;
  let durable = sendSaved(database, used());
  // A killed process leaves a log behind. Unless its size counts, repeated kills would let it grow without limit.
  let uncheckpointedBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  port.on('message', (first: ToThread) => {
    const messages = [first];
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) messages.push(next.message);
    const calls = messages.filter((message) => message.type === 'call');
    // Reads only request durable values, so they need not wait for the commit.
    for (const { call, request } of calls) {
      if (request.type === 'read') answer(call, () => ({ values: read(request.revisions), sizeBytes: undefined }));
    }
    append(messages.filter((message) => message.type === 'append').map(({ records }) => records));
    for (const { call, request } of calls) if (request.type !== 'read') answer(call, () => execute(request));
    if (messages.some(({ type }) => type === 'close')) {
      database.close();
      port.close();
    }
  });

  function append(batches: readonly ArrayBuffer[]): void {
    if (batches.length === 0) return;
    let revision = durable;
    let sizeBytes = 0;
    try {
      transaction(() => {
        for (const records of batches) {
          for (const record of decodeRecords(records)) {
            // Sent before the sender learned that an earlier append failed.
            if (record.revision !== revision + 1) continue;
            const { key, createRevision, expiresAtMs, value } = record;
            insert.run(record.revision, createRevision, expiresAtMs, key, crc32(value ?? ''), value ?? null);
            revision++;
          }
          sizeBytes += records.byteLength;
        }
      });
    } catch (error) {
      post({ type: 'failed', failure: describe(error) });
      return;
    }
    if (revision > durable) post({ type: 'durable', revision, sizeBytes: used() });
    for (const records of batches) free(records);
    durable = revision;
    checkpoint(sizeBytes);
  }

  function checkpoint(writtenBytes: number): void {
    uncheckpointedBytes += writtenBytes;
    if (uncheckpointedBytes < checkpointBytes) return;
    try {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      uncheckpointedBytes = 0;
    } catch {
      // All data is safe in the log, and the checkpoint is retried after the next write. If the disk is full or broken,
      // that write reports it.
    }
  }

  function read(revisions: Float64Array): ArrayBuffer {
    return encodeValues(
      Array.from(revisions, (revision) => {
        const [value, checksum] = (select.get(revision) ?? []) as unknown as [Uint8Array?, number?];
        // SQLite verifies the structure of its pages, not their content.
        if (!value || crc32(value) !== checksum)
          throw new Error(`${path} is damaged: the value at ${revision} is lost`);
        return value;
      }),
    );
  }

  function execute(request: Exclude<Request, { type: 'read' }>): Answer {
    switch (request.type) {
      case 'compact':
        setCompaction.run(request.revision);
        break;
      case 'discard':
        transaction(() => {
          for (const revision of request.revisions) remove.run(revision);
        });
        checkpoint(request.revisions.length * discardBytes);
        break;
    }
    return { values: undefined, sizeBytes: used() };
  }

  function transaction(body: () => void): void {
    begin.run();
    try {
      body();
      commit.run();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Frees a buffer at once: a thread with little garbage would keep it for a long time. */
function free(buffer: ArrayBuffer): void {
  buffer.transfer(0);
}

/** Sends all saved versions, and returns the newest revision. */
function sendSaved(database: DatabaseSync, sizeBytes: number): number {
  const rows = database.prepare('SELECT revision, created, expires, key, value IS NULL FROM log ORDER BY revision');
  rows.setReturnArrays(true);
  let records: Record<Uint8Array>[] = [];
  let newest = 1;
  const send = () => {
    const encoded = encodeRecords(records);
    port.postMessage({ type: 'saved', records: encoded } satisfies FromThread, [encoded]);
    records = [];
  };
  for (const row of rows.iterate()) {
    const [revision, createRevision, expiresAtMs, key, isDeletion] = row as unknown as [
      number,
      number,
      number,
      Uint8Array,
      number,
    ];
    records.push({ key, revision, createRevision, expiresAtMs, deleted: isDeletion === 1, value: undefined });
    newest = revision;
    if (records.length === savedPerMessage) send();
  }
  send();
  post({
    type: 'opened',
    compactRevision: Number(database.prepare('SELECT revision FROM compaction').get()?.['revision']),
    sizeBytes,
  });
  return newest;
}

type Answer = Pick<FromThread & { type: 'answer' }, 'values' | 'sizeBytes'>;

function answer(call: number, work: () => Answer): void {
  try {
    const { values, sizeBytes } = work();
    port.postMessage({ type: 'answer', call, values, sizeBytes } satisfies FromThread, values ? [values] : []);
  } catch (error) {
    post({ type: 'refusal', call, failure: describe(error) });
  }
}

function post(message: FromThread): void {
  port.postMessage(message);
}

function describe(error: unknown): Failure {
  const { message } = error as Error;
  const code = codeOf(error);
  const explanation = explanations.get(code);
  return { message: explanation ? `${explanation} (${message})` : message, isTransient: code === 13 };
}

/** Returns the primary code of an error; the high bits of an extended code only refine it. */
function codeOf(error: unknown): number {
  return ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff;
}
