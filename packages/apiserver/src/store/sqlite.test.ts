import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { openSqliteStore, type SqliteStoreOptions } from './sqlite.ts';
import { CompactedError, SpaceExceededError, type Store, StoreError } from './store.ts';
import { testStore } from './suite.ts';

const root = mkdtempSync(join(tmpdir(), 'kruise-store-'));
let directories = 0;
const newDirectory = () => join(root, String(directories++));
// Includes stores of failed tests, whose threads would keep the process alive.
const opened: Store[] = [];
after(async () => {
  await Promise.all(opened.map((store) => store.close()));
  rmSync(root, { recursive: true });
});
async function open(directory: string, options?: Partial<SqliteStoreOptions>): Promise<Store> {
  const store = await openSqliteStore({ clock: virtualClock(), path: join(directory, 'store.db'), ...options });
  opened.push(store);
  return store;
}

testStore({
  name: 'the SQLite store',
  async open() {
    const clock = virtualClock();
    const store = await open(newDirectory(), { clock });
    return { store, passTime: (seconds) => clock.advance(seconds * 1000) };
  },
  runs: 40,
});

async function put(store: Store, key: string, value: Uint8Array | string, expected = 0): Promise<number> {
  const result = await store.write({ key, expected, value: Buffer.from(value) });
  assert(result.ok);
  return result.revision;
}

async function textsOf(store: Store, revision?: number): Promise<string[]> {
  const { entries } = await store.range({ prefix: '/', ...(revision !== undefined && { revision }) });
  return entries.map(({ key, value }) => `${key}=${Buffer.from(value)}`);
}

describe('a reopened SQLite store', () => {
  test('has every state, and continues with the next revision', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const first = await put(store, '/a', 'one');
    const second = await put(store, '/a', 'two', first);
    const deleted = await store.write({ key: '/a', expected: second, delete: true });
    const last = await put(store, '/b', 'one');
    await store.close();

    const again = await open(directory);
    assert.equal(await again.currentRevision(), last);
    assert.deepEqual(await textsOf(again, first), ['/a=one']);
    assert.deepEqual(await textsOf(again, second), ['/a=two']);
    assert.deepEqual(await textsOf(again, deleted.revision), []);
    assert.deepEqual(await textsOf(again), ['/b=one']);
    assert.equal((await again.get('/a', { revision: second })).entry?.createRevision, first);
    assert.equal(await put(again, '/c', 'one'), last + 1);
    await again.close();
  });

  test('keeps the compacted revision, and does not reuse revisions', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const first = await put(store, '/a', 'one');
    const { revision: last } = await store.write({ key: '/a', expected: first, delete: true });
    await store.compact(last);
    await store.close();

    const again = await open(directory);
    assert.equal(await again.currentRevision(), last);
    await assert.rejects(again.range({ prefix: '/', revision: first }), CompactedError);
    assert.deepEqual(await textsOf(again), []);
    assert.equal(await put(again, '/b', 'one'), last + 1);
    await again.close();
  });

  test('completes an interrupted compaction', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    let last = await put(store, '/a', '0');
    for (let count = 1; count < 10; count++) last = await put(store, '/a', String(count), last);
    const { revision: deleted } = await store.write({ key: '/a', expected: last, delete: true });
    last = await put(store, '/b', 'one');
    await store.close();
    const file = join(directory, 'store.db');
    withDatabase(file, (database) => database.exec(`UPDATE compaction SET revision = ${last}`));

    const again = await open(directory);
    assert.deepEqual(await textsOf(again), ['/b=one']);
    await assert.rejects(again.range({ prefix: '/', revision: deleted }), CompactedError);
    await again.close();
    const rows = withDatabase(file, (database) => database.prepare('SELECT revision FROM log').all());
    assert.deepEqual(
      rows.map(({ revision }) => revision),
      [last],
    );
  });

  test('deletes keys that expired meanwhile', async () => {
    const directory = newDirectory();
    const clock = virtualClock(-0.5);
    const store = await open(directory, { clock });
    const { revision } = await store.write({ key: '/a', expected: 0, value: Buffer.from('one'), ttlSeconds: 60 });
    await put(store, '/b', 'one');
    await store.close();

    const later = virtualClock(59_000);
    const again = await open(directory, { clock: later });
    assert.deepEqual(await textsOf(again), ['/a=one', '/b=one']);
    const watch = again.watch({ prefix: '/', afterRevision: revision + 1, signal: new AbortController().signal });
    later.advance(1000);
    for await (const { events } of watch) {
      assert.deepEqual(events, [{ type: 'delete', key: '/a', revision: revision + 2 }]);
      break;
    }
    await again.close();
  });

  test('reads values that are not in memory', async () => {
    const store = await open(newDirectory());
    const value = (index: number) => Buffer.alloc(100_000, `value ${index}`);
    const indexes = Array.from({ length: 100 }, (_, index) => index);
    await Promise.all(indexes.map((index) => put(store, `/${index}`, value(index))));
    const { entries } = await store.range({ prefix: '/' });
    assert.equal(entries.length, 100);
    for (const entry of entries) assert(Buffer.compare(entry.value, value(Number(entry.key.slice(1)))) === 0);
    const refused = await store.write({ key: '/0', expected: 0, value: value(0) });
    assert(!refused.ok && Buffer.compare(refused.current!.value, value(0)) === 0);
    await store.close();
  });

  test('completes a read of a state that is compacted meanwhile', async () => {
    const store = await open(newDirectory());
    const names = Array.from({ length: 600 }, (_, index) => String(index).padStart(4, '0'));
    // More than is held in memory or read at once.
    const old = (name: string) => name.repeat(5000);
    // The oldest versions, which compaction discards first, are read last.
    const inReverse = names.toReversed();
    const revisions = await Promise.all(inReverse.map((name) => put(store, `/${name}`, old(name))));
    const updated = await Promise.all(inReverse.map((name, index) => put(store, `/${name}`, 'new', revisions[index]!)));
    const reading = store.range({ prefix: '/', revision: Math.max(...revisions) });
    await store.compact(Math.max(...updated));
    const { entries } = await reading;
    assert.deepEqual(
      entries.map(({ value }) => Buffer.from(value).toString()),
      names.map(old),
    );
    await store.close();
  });

  test('frees space by compaction', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    let last = await put(store, '/a', Buffer.alloc(50_000));
    const churn = async () => {
      for (let count = 0; count < 100; count++) last = await put(store, '/a', Buffer.alloc(50_000), last);
      await store.compact(last);
    };
    await churn();
    await store.close();
    const sizeBytes = statSync(join(directory, 'store.db')).size;
    for (let round = 0; round < 3; round++) {
      const again = await open(directory);
      for (let count = 0; count < 100; count++) last = await put(again, '/a', Buffer.alloc(50_000), last);
      await again.compact(last);
      await again.close();
    }
    assert(statSync(join(directory, 'store.db')).size < 1.2 * sizeBytes);
  });
});

describe('a SQLite store out of space', () => {
  test('rejects writes, keeps its data, and continues when space is available', async () => {
    const store = await open(newDirectory(), { maxSizeBytes: 400_000 });
    let last = await put(store, '/a', 'begin');
    const overwrite = async () => {
      for (;;) last = await put(store, '/a', Buffer.alloc(10_000, 'a'), last);
    };
    await assert.rejects(overwrite, (error) => error instanceof StoreError && /no space is left/.test(error.message));
    assert.equal(await store.currentRevision(), last);
    assert.equal((await store.get('/a')).entry?.modRevision, last);
    const refused = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => put(store, `/many/${index}`, Buffer.alloc(50_000))),
    );
    assert(refused.every(({ status }) => status === 'rejected'));
    assert.equal((await store.range({ prefix: '/many/' })).count, 0);
    await store.compact(last);
    assert.equal(await put(store, '/a', Buffer.alloc(10_000, 'b'), last), last + 1);
    await store.close();
  });

  test('leaves no gap if a write behind a failed one would have fitted', async () => {
    const directory = newDirectory();
    const store = await open(directory, { maxSizeBytes: 400_000 });
    await put(store, '/a', 'begin');
    for (let round = 0; round < 40; round++) {
      const tooLarge = assert.rejects(put(store, '/large', Buffer.alloc(500_000)), StoreError);
      // The thread is now between receiving the first write and failing.
      for (let turn = 0; turn < round % 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      const small = put(store, `/small/${round}`, '').catch((error) => assert(error instanceof StoreError));
      await Promise.all([tooLarge, small]);
    }
    const revision = await put(store, '/a/end', 'end');
    await store.close();
    const again = await open(directory);
    assert.equal(await again.currentRevision(), revision);
    await again.close();
  });
});

const quotaBytes = 400_000;

/** Writes until the store rejects a write; returns the revision of each key. */
async function fill(store: Store): Promise<Map<string, number>> {
  const revisions = new Map<string, number>();
  await assert.rejects(async () => {
    for (let index = 0; ; index++) {
      const key = `/fill/${index}`;
      revisions.set(key, await put(store, key, Buffer.alloc(20_000)));
    }
  }, SpaceExceededError);
  return revisions;
}

describe('a SQLite store at its quota', () => {
  test('rejects every put, reads and deletes, and puts again once space is freed', async () => {
    const alarms: boolean[] = [];
    const directory = newDirectory();
    const store = await open(directory, { quotaBytes, onAlarm: ({ isRaised }) => alarms.push(isRaised) });
    const revisions = await fill(store);
    assert.deepEqual(alarms, [true]);
    await assert.rejects(put(store, '/small', 'a'), { message: 'etcdserver: mvcc: database space exceeded' });
    assert.equal((await store.range({ prefix: '/fill/' })).count, revisions.size);
    assert.ok(statSync(join(directory, 'store.db')).size <= quotaBytes * 1.1);

    for (const [key, expected] of revisions) assert.ok((await store.write({ key, expected, delete: true })).ok);
    while (alarms.length < 2) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(alarms, [true, false]);
    await put(store, '/small', 'a');
    await store.close();
  });

  test('compacts overwritten versions automatically', async () => {
    const store = await open(newDirectory(), { quotaBytes });
    let last = await put(store, '/a', 'begin');
    for (let count = 0, refused = 0; count < 200; ) {
      try {
        last = await put(store, '/a', Buffer.alloc(10_000), last);
        count++;
      } catch (error) {
        assert.ok(error instanceof SpaceExceededError);
        // The automatic compaction takes a moment.
        assert.ok(refused++ < 1_000_000, 'space is freed');
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    assert.equal((await store.get('/a')).entry?.modRevision, last);
    await store.close();
  });

  test('counts writes in progress, so that concurrent puts do not exceed it', async () => {
    const directory = newDirectory();
    const store = await open(directory, { quotaBytes });
    const written = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => put(store, `/many/${index}`, Buffer.alloc(20_000))),
    );
    const done = written.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(done > 5 && done <= 20, `${done} were written`);
    await store.close();
    assert.ok(statSync(join(directory, 'store.db')).size <= quotaBytes * 1.1);
  });

  test('is at its quota after a restart', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    for (let index = 0; index < 30; index++) await put(store, `/fill/${index}`, Buffer.alloc(20_000));
    await store.close();
    const again = await open(directory, { quotaBytes });
    await assert.rejects(put(again, '/small', 'a'), SpaceExceededError);
    await again.close();
  });
});

describe('a database file', () => {
  test('is used by one store at a time', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    await assert.rejects(open(directory), /store\.db is in use by another process/);
    await put(store, '/a', 'one');
    await store.close();
    const again = await open(directory);
    assert.deepEqual(await textsOf(again), ['/a=one']);
    await again.close();
  });

  const faults: { name: string; damage: (file: string) => void; message: RegExp }[] = [
    {
      name: 'with other content is rejected',
      damage: (file) => writeFileSync(file, 'anything but a database'.repeat(500)),
      message: /store\.db is not a database/,
    },
    {
      name: 'of another program is rejected',
      damage: (file) => withDatabase(file, (database) => database.exec('PRAGMA application_id = 7')),
      message: /store\.db is not a store of ours/,
    },
    {
      name: 'of a later version is rejected',
      damage: (file) => withDatabase(file, (database) => database.exec('PRAGMA user_version = 99')),
      message: /store\.db is of a format unknown/,
    },
    {
      name: 'with a damaged page is rejected',
      damage: (file) => {
        const bytes = readFileSync(file);
        bytes.fill(0xff, 8192, 2 * 8192);
        writeFileSync(file, bytes);
      },
      message: /store\.db is damaged/,
    },
    {
      name: 'with a lost revision is rejected',
      damage: (file) => withDatabase(file, (database) => database.exec('DELETE FROM log WHERE revision = 3')),
      message: /store\.db is damaged: revision 3 is missing/,
    },
  ];
  for (const { name, damage, message } of faults) {
    test(name, async () => {
      const directory = newDirectory();
      const store = await open(directory);
      for (const key of ['/a', '/b', '/c']) await put(store, key, key);
      await store.close();
      damage(join(directory, 'store.db'));
      await assert.rejects(open(directory), (error) => error instanceof StoreError && message.test(error.message));
    });
  }

  test('with a damaged value is rejected when the value is read, also by writes', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const revision = await put(store, '/a', Buffer.alloc(100_000, 'a'));
    await store.close();
    const file = join(directory, 'store.db');
    const bytes = readFileSync(file);
    bytes[bytes.indexOf('aaaaaaaa', 50_000)] = 0;
    writeFileSync(file, bytes);
    const again = await open(directory);
    await assert.rejects(again.get('/a'), /damaged: the value at 2 is lost/);
    await assert.rejects(put(again, '/a', 'two', revision), /damaged/);
    await again.close();
  });

  test('is readable only by its owner', async () => {
    const directory = newDirectory();
    mkdirSync(directory);
    const store = await open(directory);
    await put(store, '/a', 'secret');
    for (const name of readdirSync(directory)) {
      assert.equal(statSync(join(directory, name)).mode & 0o077, 0, `${name} is private`);
    }
    await store.close();
  });

  test('that cannot be created is rejected', async () => {
    const file = join(root, 'a-file');
    writeFileSync(file, '');
    await assert.rejects(open(join(file, 'directory')), StoreError);
  });
});

describe('a power cut', () => {
  // After a power cut the disk has the database and a prefix of the write-ahead log with a torn end.
  test('leaves a prefix of the history with all acknowledged writes', async () => {
    const directory = newDirectory();
    const store = await open(directory);
    const log = join(directory, 'store.db-wal');
    const acknowledged: { readonly revision: number; readonly logBytes: number }[] = [];
    const writer = async (name: string) => {
      for (let count = 0, last = 0; count < 40; count++) {
        last = await put(store, `/${name}`, `${count} `.repeat(count * 20), last);
        acknowledged.push({ revision: last, logBytes: statSync(log).size });
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(writer));
    const disk = newDirectory();
    mkdirSync(disk);
    const { entries: _, revision: newest } = await store.range({ prefix: '/', limit: 0 });
    const states = new Map<number, string[]>([[1, []]]);
    for (let revision = 2; revision <= newest; revision++) states.set(revision, await textsOf(store, revision));
    copyFileSync(join(directory, 'store.db'), join(disk, 'store.db'));
    const whole = readFileSync(log);
    await store.close();

    const cut = fc.record({ at: fc.nat(whole.length), torn: fc.uint8Array({ maxLength: 5000 }) });
    await fc.assert(
      fc.asyncProperty(cut, async ({ at, torn }) => {
        const copy = newDirectory();
        mkdirSync(copy);
        copyFileSync(join(disk, 'store.db'), join(copy, 'store.db'));
        writeFileSync(join(copy, 'store.db-wal'), Buffer.concat([whole.subarray(0, at), torn]));
        const again = await open(copy);
        const revision = await again.currentRevision();
        const safe = acknowledged.filter(({ logBytes }) => logBytes <= at).map((write) => write.revision);
        assert(revision >= Math.max(1, ...safe), `${Math.max(...safe)} had been acknowledged, ${revision} is left`);
        assert.deepEqual(await textsOf(again), states.get(revision));
        await again.close();
      }),
      { numRuns: 30, examples: [[{ at: 0, torn: new Uint8Array() }], [{ at: whole.length, torn: new Uint8Array() }]] },
    );
  });
});

function withDatabase<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
