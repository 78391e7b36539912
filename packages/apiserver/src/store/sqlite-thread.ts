/**
 * The thread that owns the database. It decides nothing: it appends what it is given, tells when that is on disk, and
 * reads values back. Whatever has arrived when a commit ends goes into the next one, so that batches grow with the load
 * and a lone write waits for nobody.
 */
import { randomInt } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type MessagePort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import type { Failure, FromThread, Record, Request, ThreadOptions, ToThread } from './sqlite-messages.ts';
import { decodeRecords, encodeRecords, encodeValues } from './sqlite-messages.ts';

const formatVersion = 1;
/** "Krui": tells our files from other SQLite databases. */
const applicationId = 0x4b727569;
const savedPerMessage = 4096;
/**
 * How much is written to the write-ahead log before it is moved into the database, which makes the writes of that
 * moment wait: some 3 ms for a megabyte, 10 ms for four, at no gain in throughput.
 */
const checkpointBytes = 2 ** 20;
/** What the deletion of one row adds to the write-ahead log, about, whatever the size of its value. */
const discardBytes = 1024;
/** Twice SQLite's own: an object of a few kilobytes then wastes less of its page, and a lone write still writes few. */
const pageBytes = 8192;

const { path, maxSizeBytes, port } = workerData as ThreadOptions & { readonly port: MessagePort };

const busy = 5;
const maxAttempts = 8;
/** SQLite's primary result codes that deserve better words than its own. */
const explanations = new Map([
  [busy, `${path} is in use by another process`],
  [8, `${path} cannot be written to`],
  [11, `${path} is damaged`],
  [13, `no space is left for ${path}`],
  [14, `${path} cannot be opened`],
  [26, `${path} is not a database, or is damaged`],
]);

try {
  run(openAlone());
} catch (error) {
  post({ type: 'failed', failure: describe(error) });
}

/**
 * Opens the database, for this process only. Two that open it at the same moment keep each other out, so each lets go
 * and tries again after a while of its own; whoever meets one that is there to stay gives up.
 */
function openAlone(): DatabaseSync {
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
  // Nobody else may even read: that keeps a second process away and spares the shared-memory index.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // On macOS a plain fsync leaves the data in the disk's own cache.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA wal_autocheckpoint = 0');
  if (pragma(database, 'user_version') === 0 && pragma(database, 'page_count') <= 1) {
    // The value comes last, so that reading the other columns does not touch the pages it overflows to.
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
  // Whoever was killed has left a log behind, which would grow without end if killing went on and it did not count.
  let uncheckpointedBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

  port.on('message', (first: ToThread) => {
    const messages = [first];
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) messages.push(next.message);
    const calls = messages.filter((message) => message.type === 'call');
    // Reads ask for what is durable already, so need not wait for the commit.
    for (const { call, request } of calls) {
      if (request.type === 'read') answer(call, () => ({ values: read(request.revisions), sizeBytes: undefined }));
    }
    append(messages.filter((message) => message.type === 'append').map(({ records }) => records));
    for (const { call, request } of calls) if (request.type !== 'read') answer(call, () => carryOut(request));
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
            // Sent before the sender knew that what comes before it had failed.
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
      // Everything is safe in the log, and after the next write this is tried again. If the disk is full or broken, that
      // write will tell.
    }
  }

  function read(revisions: Float64Array): ArrayBuffer {
    return encodeValues(
      Array.from(revisions, (revision) => {
        const [value, checksum] = (select.get(revision) ?? []) as unknown as [Uint8Array?, number?];
        // SQLite checks the shape of its pages, not what is in them.
        if (!value || crc32(value) !== checksum)
          throw new Error(`${path} is damaged: the value at ${revision} is lost`);
        return value;
      }),
    );
  }

  function carryOut(request: Exclude<Request, { type: 'read' }>): Answer {
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

/** Gives memory back now: a thread that makes little garbage of its own would leave it lying about for long. */
function free(buffer: ArrayBuffer): void {
  buffer.transfer(0);
}

/** Gives out what is saved, and returns the newest revision of it. */
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
  return { message: explanation ? `${explanation} (${message})` : message, isPassing: code === 13 };
}

/** The primary code of a failure; the high bits of an extended one only refine it. */
function codeOf(error: unknown): number {
  return ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff;
}
