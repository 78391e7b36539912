import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { systemClock } from '@kruise/values/system';
import { findEtcd, startEtcd } from './etcd/server.ts';
import { openEtcdStore, ordersProgress } from './etcd.ts';
import { CompactedError, type Store, StoreError, type WatchBatch } from './store.ts';
import { testStore } from './suite.ts';

const command = findEtcd();

if (command) {
  const server = await startEtcd(command);
  const opened: Store[] = [];
  after(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await server.dispose();
  });
  const open = (endpoints = [server.endpoint]) => {
    const store = openEtcdStore({ clock: systemClock, endpoints });
    opened.push(store);
    return store;
  };

  testStore({
    name: 'the etcd store',
    open: async () => ({ store: open(), passTime: () => {} }),
    runs: 15,
  });

  describe('several API servers on one etcd', () => {
    test('share one history', async () => {
      const [one, other] = [open(), open()];
      const prefix = '/several/';
      const start = await one.currentRevision();
      const first = await put(one, `${prefix}a`, 'one');
      assert.equal((await other.get(`${prefix}a`)).entry?.modRevision, first);
      const second = await put(other, `${prefix}a`, 'two', first);
      const refused = await one.write({ key: `${prefix}a`, expected: first, value: Buffer.from('three') });
      assert(!refused.ok && refused.current?.modRevision === second);
      for (const store of [one, other]) {
        const { signal } = new AbortController();
        const revisions = await eventRevisions(store.watch({ prefix, afterRevision: start, signal }), 2);
        assert.deepEqual(revisions, [first, second]);
      }
    });

    test('get progress notifications after a write of another server', async () => {
      const [one, other] = [open(), open()];
      const afterRevision = await one.currentRevision();
      const { signal } = new AbortController();
      const watch = one.watch({ prefix: '/quiet/', afterRevision, signal })[Symbol.asyncIterator]();
      const next = watch.next();
      const written = await put(other, '/elsewhere/a', 'one');
      assert((await one.currentRevision()) >= written);
      const { value } = (await next) as IteratorYieldResult<WatchBatch>;
      assert.deepEqual(value.events, []);
      assert(value.revision >= written);
      await watch.return?.();
    });
  });

  describe('a restarted etcd', () => {
    test('causes no gap or duplicate in a watch, and loses no acknowledged write', async () => {
      const mortal = await startEtcd(command);
      const store = open([mortal.endpoint]);
      after(() => mortal.dispose());
      const prefix = '/killed/';
      const { signal } = new AbortController();
      const acknowledged: number[] = [];
      const seen: number[] = [];
      const start = await store.currentRevision();
      const watching = (async () => {
        for await (const { events } of store.watch({ prefix, afterRevision: start, signal })) {
          seen.push(...events.map(({ revision }) => revision));
          if (events.some(({ key }) => key === `${prefix}end`)) return;
        }
      })();
      const writeSome = async (name: string, count: number) => {
        for (let index = 0; index < count; index++)
          acknowledged.push(await put(store, `${prefix}${name}-${index}`, ''));
      };
      await writeSome('before', 20);
      for (const round of ['first', 'second']) {
        const struck = writeSome(`during-${round}`, 1000).catch((error) => assert(error instanceof StoreError));
        await put(store, `${prefix}strike-${round}`, '').then((revision) => acknowledged.push(revision));
        await mortal.kill();
        await struck;
        await assert.rejects(store.get(`${prefix}before-0`), StoreError);
        await mortal.start();
        await retried(() => store.currentRevision());
        await writeSome(`after-${round}`, 20);
      }
      acknowledged.push(await put(store, `${prefix}end`, ''));
      await watching;
      assert.deepEqual(
        seen,
        seen.toSorted((one, other) => one - other),
      );
      assert.equal(new Set(seen).size, seen.length);
      for (const revision of acknowledged) assert(seen.includes(revision), `${revision} was seen`);
      const { entries } = await store.range({ prefix });
      assert.deepEqual(
        entries.map(({ modRevision }) => modRevision).toSorted((one, other) => one - other),
        seen,
      );
    });
  });

  test('a range of many pages has one revision, even if it is compacted meanwhile', async () => {
    const store = open();
    const prefix = '/pages/';
    const value = Buffer.alloc(20_000, 'a');
    const names = Array.from({ length: 600 }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
    await Promise.all(names.map((key) => store.write({ key, expected: 0, value })));
    const reading = store.range({ prefix });
    const last = await put(store, `${prefix}zzz`, '');
    await store.compact(last);
    const { entries, count, revision } = await reading;
    assert.equal(entries.length, count);
    assert.equal(entries.length, revision >= last ? 601 : 600);
    await assert.rejects(store.range({ prefix, revision: last - 1 }), CompactedError);
  });

  test('an unreachable etcd yields a descriptive error', async () => {
    const store = open(['http://127.0.0.1:1']);
    await assert.rejects(
      store.currentRevision(),
      (error) => error instanceof StoreError && /ECONNREFUSED/.test(error.message),
    );
    await assert.rejects(store.write({ key: '/a', expected: 0, value: Buffer.of() }), StoreError);
  });
} else {
  test('etcd must be installed to test its store', (context) => {
    assert(!process.env['CI'], 'etcd is not installed');
    context.diagnostic('LEFT OUT: etcd is not installed, so nothing of its store was tested');
  });
}

test('progress is requested only if the notification cannot precede events', () => {
  const versions = [
    '3.3.27',
    '3.4.23',
    '3.4.30',
    '3.4.31',
    '3.5.12',
    '3.5.13',
    '3.5.21',
    '3.6.0',
    '3.6.0-rc.1',
    '4.0.0',
  ];
  assert.deepEqual(versions.filter(ordersProgress), ['3.4.31', '3.5.13', '3.5.21', '3.6.0', '3.6.0-rc.1', '4.0.0']);
});

async function put(store: Store, key: string, text: string, expected = 0): Promise<number> {
  const result = await store.write({ key, expected, value: Buffer.from(text) });
  assert(result.ok);
  return result.revision;
}

async function eventRevisions(watch: AsyncIterable<WatchBatch>, count: number): Promise<number[]> {
  const revisions: number[] = [];
  for await (const { events } of watch) {
    revisions.push(...events.map(({ revision }) => revision));
    if (revisions.length >= count) break;
  }
  return revisions;
}

async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      assert(error instanceof StoreError);
    }
  }
}
