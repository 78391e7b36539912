import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  CompactedError,
  type Entry,
  FutureRevisionError,
  type Store,
  StoreClosedError,
  type StoreEvent,
  type WatchBatch,
  type WatchRequest,
  type WriteResult,
} from './store.ts';

/** Store implementation under test. */
export type Driver = {
  readonly name: string;
  /** Opens a store, or a part of a shared one: the tests only use keys below their own root. */
  open(): Promise<{ readonly store: Store; passTime(seconds: number): void }>;
  /** Number of random runs per property. */
  readonly runs: number;
};

/** Conformance tests of every store. */
export function testStore(driver: Driver): void {
  describe(driver.name, () => {
    let store: Store;
    let passTime: (seconds: number) => void;
    let rootCount = 0;
    const root = () => `/suite/${rootCount++}/`;

    before(async () => {
      ({ store, passTime } = await driver.open());
    });
    after(() => store.close());

    const put = async (key: string, text: string, expected = 0) => {
      const result = await store.write({ key, expected, value: bytes(text) });
      assert(result.ok, `the write of ${key} is done`);
      return result.revision;
    };
    const remove = async (key: string, expected: number) => {
      const result = await store.write({ key, expected, delete: true });
      assert(result.ok, `the deletion of ${key} is done`);
      return result.revision;
    };
    const list = async (request: Parameters<Store['range']>[0]) =>
      (await store.range(request)).entries.map(
        ({ key, value }) => `${key.slice(request.prefix.length)}=${text(value)}`,
      );

    describe('a write', () => {
      test('creates a missing key', async () => {
        const key = `${root()}a`;
        const revision = await put(key, 'one');
        assert.deepEqual(plain((await store.get(key)).entry), {
          key,
          value: 'one',
          createRevision: revision,
          modRevision: revision,
        });
      });

      test('does not create an existing key, and returns the existing entry', async () => {
        const key = `${root()}a`;
        const revision = await put(key, 'one');
        const result = await store.write({ key, expected: 0, value: bytes('two') });
        assert(!result.ok);
        assert.deepEqual(plain(result.current), { key, value: 'one', createRevision: revision, modRevision: revision });
        assert(result.revision >= revision);
      });

      test('replaces the expected version and keeps the create revision', async () => {
        const key = `${root()}a`;
        const created = await put(key, 'one');
        const revision = await put(key, 'two', created);
        assert.deepEqual(plain((await store.get(key)).entry), {
          key,
          value: 'two',
          createRevision: created,
          modRevision: revision,
        });
      });

      test('does not replace another version', async () => {
        const key = `${root()}a`;
        const created = await put(key, 'one');
        const revision = await put(key, 'two', created);
        const result = await store.write({ key, expected: created, value: bytes('three') });
        assert(!result.ok);
        assert.equal(result.current?.modRevision, revision);
        assert.equal(text((await store.get(key)).entry!.value), 'two');
      });

      test('does not replace a missing key, and returns no entry', async () => {
        const result = await store.write({ key: `${root()}a`, expected: 7, value: bytes('one') });
        assert(!result.ok);
        assert.equal(result.current, undefined);
      });

      test('deletes the expected version', async () => {
        const key = `${root()}a`;
        await remove(key, await put(key, 'one'));
        assert.equal((await store.get(key)).entry, undefined);
      });

      test('does not delete another version', async () => {
        const key = `${root()}a`;
        const created = await put(key, 'one');
        await put(key, 'two', created);
        const result = await store.write({ key, expected: created, delete: true });
        assert(!result.ok);
        assert.equal(text(result.current!.value), 'two');
      });

      test('that deletes a missing key as expected takes no revision', async () => {
        const revision = await store.currentRevision();
        const result = await store.write({ key: `${root()}a`, expected: 0, delete: true });
        assert.deepEqual(result, { ok: true, revision });
      });

      test('recreates a deleted key', async () => {
        const key = `${root()}a`;
        await remove(key, await put(key, 'one'));
        const revision = await put(key, 'two');
        assert.equal((await store.get(key)).entry?.createRevision, revision);
      });

      test('takes one revision on success and none on conflict', async () => {
        const key = `${root()}a`;
        const created = await put(key, 'one');
        await store.write({ key, expected: 0, value: bytes('two') });
        const updated = await put(key, 'two', created);
        const removed = await remove(key, updated);
        assert.deepEqual([updated, removed], [created + 1, created + 2]);
        assert.equal(await store.currentRevision(), removed);
      });

      test('sees earlier writes that are not acknowledged yet', async () => {
        const key = `${root()}a`;
        const results = await Promise.all(
          ['one', 'two', 'three'].map((value) => store.write({ key, expected: 0, value: bytes(value) })),
        );
        const winners = results.filter(({ ok }) => ok);
        assert.equal(winners.length, 1);
        const { entry } = await store.get(key);
        assert.equal(entry?.modRevision, winners[0]?.revision);
        for (const result of results) if (!result.ok) assert.deepEqual(plain(result.current), plain(entry));
      });

      test('distinguishes an empty value from none', async () => {
        const key = `${root()}a`;
        await put(key, '');
        assert.equal((await store.get(key)).entry?.value.length, 0);
      });

      test('stores a value of a megabyte', async () => {
        const key = `${root()}a`;
        const value = Uint8Array.from({ length: 2 ** 20 }, (_, index) => (index * 31) % 251);
        const result = await store.write({ key, expected: 0, value });
        assert(result.ok);
        assert.deepEqual(Buffer.compare((await store.get(key)).entry!.value, value), 0);
      });
    });

    describe('a read', () => {
      test('at a revision returns the state at that revision', async () => {
        const prefix = root();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}b`, 'one');
        const third = await put(`${prefix}a`, 'two', first);
        const fourth = await remove(`${prefix}b`, second);
        const states = await Promise.all([first, second, third, fourth].map((revision) => list({ prefix, revision })));
        assert.deepEqual(states, [['a=one'], ['a=one', 'b=one'], ['a=two', 'b=one'], ['a=two']]);
        assert.equal(text((await store.get(`${prefix}a`, { revision: second })).entry!.value), 'one');
        assert.equal((await store.get(`${prefix}b`, { revision: first })).entry, undefined);
        assert.equal((await store.get(`${prefix}b`, { revision: fourth })).entry, undefined);
      });

      test('returns its revision', async () => {
        const prefix = root();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}b`, 'one');
        assert.equal((await store.range({ prefix })).revision, second);
        assert.equal((await store.get(`${prefix}a`)).revision, second);
        assert.equal((await store.get(`${prefix}absent`)).revision, second);
        assert.equal((await store.range({ prefix, revision: first })).revision, first);
      });

      test('of a future revision is rejected', async () => {
        const prefix = root();
        const revision = (await store.currentRevision()) + 1;
        await assert.rejects(store.range({ prefix, revision }), FutureRevisionError);
        await assert.rejects(store.get(`${prefix}a`, { revision }), FutureRevisionError);
      });

      test('of a prefix returns only keys with the whole prefix', async () => {
        const prefix = root();
        for (const name of ['pod', 'pods', 'pods/', 'pods/a', 'pods0', 'poda']) await put(prefix + name, '');
        assert.deepEqual(await list({ prefix: `${prefix}pods/` }), ['=', 'a=']);
      });

      test('without matches is empty', async () => {
        const revision = await store.currentRevision();
        assert.deepEqual(await store.range({ prefix: root() }), { entries: [], count: 0, more: false, revision });
      });

      test('returns keys in byte order', async () => {
        const prefix = root();
        const names = [
          'a',
          'A',
          '~',
          ' ',
          '\u0000',
          'a\u0000',
          'a/b',
          'a-b',
          'a.b',
          'é',
          '\u007f',
          '\u0080',
          '日本',
          '\ue000',
          '\uffff',
          '😀',
          'é😀',
          'z',
        ];
        for (const name of names) await put(prefix + name, '');
        const inOrder = names.toSorted((one, other) => Buffer.compare(bytes(one), bytes(other)));
        assert.deepEqual(
          (await store.range({ prefix })).entries.map(({ key }) => key.slice(prefix.length)),
          inOrder,
        );
        const from = await store.range({ prefix, start: `${prefix}日本` });
        assert.deepEqual(
          from.entries.map(({ key }) => key.slice(prefix.length)),
          ['日本', '\ue000', '\uffff', '😀'],
        );
      });

      test('paginates one state during changes', async () => {
        const prefix = root();
        const names = Array.from({ length: 25 }, (_, index) => `key-${String(index).padStart(2, '0')}`);
        for (const name of names) await put(prefix + name, 'old');
        const { revision } = await store.range({ prefix, limit: 1 });
        const seen: string[] = [];
        const remaining: number[] = [];
        for (let start: string | undefined = prefix; start; ) {
          const page = await store.range({ prefix, start, limit: 10, revision });
          seen.push(...page.entries.map(({ key, value }) => `${key.slice(prefix.length)}=${text(value)}`));
          remaining.push(page.count - page.entries.length);
          assert.equal(page.revision, revision);
          assert.equal(page.more, page.count > page.entries.length);
          start = page.more ? `${page.entries.at(-1)!.key}\u0000` : undefined;
          const { entry } = await store.get(`${prefix}key-12`);
          await put(`${prefix}key-12`, 'new', entry!.modRevision);
          await put(`${prefix}key-12-${seen.length}`, 'new');
        }
        assert.deepEqual(
          seen,
          names.map((name) => `${name}=old`),
        );
        assert.deepEqual(remaining, [15, 5, 0]);
      });

      test('starts at the prefix if the start key is smaller', async () => {
        const prefix = root();
        await put(`${prefix}a`, 'one');
        assert.deepEqual(await list({ prefix, start: '/' }), ['a=one']);
      });

      test('returns thousands of keys, each with its value', async () => {
        const prefix = root();
        const names = Array.from({ length: 3000 }, (_, index) => String(index).padStart(4, '0'));
        const value = (name: string) => bytes(name.repeat(256));
        await Promise.all(names.map((name) => store.write({ key: prefix + name, expected: 0, value: value(name) })));
        const { entries, count, more } = await store.range({ prefix });
        assert.deepEqual([entries.length, count, more], [3000, 3000, false]);
        entries.forEach((entry, index) => {
          const name = names[index]!;
          assert.equal(entry.key, prefix + name);
          assert.equal(Buffer.compare(entry.value, value(name)), 0);
        });
      });
    });

    describe('a watch', () => {
      test('yields every change since a revision, in order', async () => {
        const prefix = root();
        const start = await store.currentRevision();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}a`, 'two', first);
        const third = await remove(`${prefix}a`, second);
        const fourth = await put(`${prefix}a`, 'three');
        assert.deepEqual(await take(store, { prefix, afterRevision: start }, 4), [
          `put a=one at ${first} since ${first}`,
          `put a=two at ${second} since ${first}`,
          `delete a at ${third}`,
          `put a=three at ${fourth} since ${fourth}`,
        ]);
        assert.deepEqual(await take(store, { prefix, afterRevision: second }, 2), [
          `delete a at ${third}`,
          `put a=three at ${fourth} since ${fourth}`,
        ]);
      });

      test('yields new changes', async () => {
        const prefix = root();
        const watch = follow(store, { prefix, afterRevision: await store.currentRevision() });
        for (const value of ['one', 'two', 'three']) {
          const revision = await put(prefix + value, value);
          assert.deepEqual(await watch.nextEvents(), [`put ${value}=${value} at ${revision} since ${revision}`]);
        }
        await watch.stop();
      });

      test('yields only keys with its prefix', async () => {
        const prefix = root();
        const start = await store.currentRevision();
        await put(`${prefix}pods/a`, 'one');
        await put(`${prefix}nodes/a`, 'one');
        const revision = await put(`${prefix}pods/b`, 'two');
        const events = await take(store, { prefix: `${prefix}pods/`, afterRevision: start }, 2);
        assert.equal(events[1], `put b=two at ${revision} since ${revision}`);
      });

      test('waits for a future revision', async () => {
        const prefix = root();
        const start = await store.currentRevision();
        const watch = follow(store, { prefix, afterRevision: start + 2 });
        const next = watch.nextEvents();
        for (const value of ['one', 'two', 'three']) await put(prefix + value, value);
        assert.deepEqual(await next, [`put three=three at ${start + 3} since ${start + 3}`]);
        await watch.stop();
      });

      test('returns the replaced entries on request', async () => {
        const prefix = root();
        const key = `${prefix}a`;
        const start = await store.currentRevision();
        const first = await put(key, 'one');
        const second = await put(key, 'two', first);
        await remove(key, second);
        await put(key, 'three');
        const watch = follow(store, { prefix, afterRevision: start, withPrevious: true });
        assert.deepEqual(
          (await watch.events(4)).map(({ previous }) => previous && plain(previous)),
          [
            undefined,
            { key, value: 'one', createRevision: first, modRevision: first },
            { key, value: 'two', createRevision: first, modRevision: second },
            undefined,
          ],
        );
        await watch.stop();
      });

      test('reaches the current revision once it was requested, even without changes of its keys', async () => {
        const prefix = root();
        const watch = follow(store, { prefix: `${prefix}pods/`, afterRevision: await store.currentRevision() });
        const reached = watch.reaches(await put(`${prefix}nodes/a`, 'one'));
        await store.currentRevision();
        assert.deepEqual(await reached, []);
        const again = watch.reaches(await put(`${prefix}nodes/b`, 'one'));
        await store.currentRevision();
        assert.deepEqual(await again, []);
        await watch.stop();
      });

      test('yields all missed changes to a slow consumer', async () => {
        const prefix = root();
        const watch = follow(store, { prefix, afterRevision: await store.currentRevision() });
        await put(`${prefix}first`, '');
        await watch.nextEvents();
        await Promise.all(Array.from({ length: 2500 }, (_, index) => put(`${prefix}${index}`, String(index))));
        const events = await watch.events(2500);
        events.forEach((event, index) => {
          if (index > 0) assert.equal(event.revision, events[index - 1]!.revision + 1);
        });
        await watch.stop();
      });

      test('ends when its signal is aborted, before or during a wait', async () => {
        const prefix = root();
        const request = { prefix, afterRevision: await store.currentRevision() };
        const aborted = store.watch({ ...request, signal: AbortSignal.abort() })[Symbol.asyncIterator]();
        assert.deepEqual(await aborted.next(), { done: true, value: undefined });
        const controller = new AbortController();
        const iterator = store.watch({ ...request, signal: controller.signal })[Symbol.asyncIterator]();
        const next = iterator.next();
        controller.abort();
        assert.deepEqual(await next, { done: true, value: undefined });
        assert.deepEqual(await iterator.next(), { done: true, value: undefined });
      });

      test('ends when its consumer leaves the loop', async () => {
        const prefix = root();
        const afterRevision = await store.currentRevision();
        await put(`${prefix}a`, 'one');
        const { signal } = new AbortController();
        const batches: WatchBatch[] = [];
        for await (const batch of store.watch({ prefix, afterRevision, signal })) {
          batches.push(batch);
          if (batch.events.length > 0) break;
        }
        assert.equal(batches.at(-1)!.events.length, 1);
      });
    });

    describe('compaction', () => {
      test('removes older states and keeps the compacted revision and later ones', async () => {
        const prefix = root();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}b`, 'one');
        const third = await put(`${prefix}a`, 'two', first);
        const fourth = await put(`${prefix}a`, 'three', third);
        await store.compact(third);
        await assert.rejects(store.range({ prefix, revision: second }), CompactedError);
        await assert.rejects(store.get(`${prefix}a`, { revision: first }), CompactedError);
        assert.deepEqual(await list({ prefix, revision: third }), ['a=two', 'b=one']);
        assert.deepEqual(await list({ prefix, revision: fourth }), ['a=three', 'b=one']);
        assert.deepEqual(await list({ prefix }), ['a=three', 'b=one']);
      });

      test('keeps deleted keys deleted', async () => {
        const prefix = root();
        await remove(`${prefix}a`, await put(`${prefix}a`, 'one'));
        const last = await put(`${prefix}b`, 'one');
        await store.compact(last);
        assert.deepEqual(await list({ prefix }), ['b=one']);
        await put(`${prefix}a`, 'two');
        assert.deepEqual(await list({ prefix }), ['a=two', 'b=one']);
        assert.deepEqual(await list({ prefix, revision: last }), ['b=one']);
      });

      test('rejects a watch of compacted changes and serves one of later changes', async () => {
        const prefix = root();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}a`, 'two', first);
        const third = await put(`${prefix}a`, 'three', second);
        await store.compact(third);
        const watch = follow(store, { prefix, afterRevision: first });
        await assert.rejects(watch.nextEvents(), (error) => {
          assert(error instanceof CompactedError);
          assert.equal(error.compactRevision, third);
          return true;
        });
        const fourth = await put(`${prefix}a`, 'four', third);
        assert.deepEqual(await take(store, { prefix, afterRevision: third }, 1), [
          `put a=four at ${fourth} since ${first}`,
        ]);
      });

      test('does not end a watch that has seen all compacted changes', async () => {
        const prefix = root();
        const watch = follow(store, { prefix: `${prefix}pods/`, afterRevision: await store.currentRevision() });
        const first = watch.nextEvents();
        const created = await put(`${prefix}pods/a`, 'one');
        await first;
        const next = watch.nextEvents();
        let last = await put(`${prefix}nodes/a`, '0');
        for (let count = 1; count < 20; count++) last = await put(`${prefix}nodes/a`, String(count), last);
        await store.compact(last);
        const updated = await put(`${prefix}pods/a`, 'two', created);
        assert.deepEqual(await next, [`put a=two at ${updated} since ${created}`]);
        await watch.stop();
      });

      test('of a compacted revision does nothing', async () => {
        const prefix = root();
        const first = await put(`${prefix}a`, 'one');
        const second = await put(`${prefix}a`, 'two', first);
        await store.compact(second);
        await store.compact(second);
        await store.compact(first);
        assert.deepEqual(await list({ prefix, revision: second }), ['a=two']);
      });

      test('of a future revision is rejected', async () => {
        await assert.rejects(store.compact((await store.currentRevision()) + 1), FutureRevisionError);
      });

      test('does not break a read in progress', async () => {
        const prefix = root();
        const names = Array.from({ length: 600 }, (_, index) => String(index).padStart(4, '0'));
        // More than any driver reads at once or holds in memory.
        const old = (name: string) => name.repeat(5000);
        await Promise.all(names.map((name) => put(prefix + name, old(name))));
        const { entries } = await store.range({ prefix });
        const reading = store.range({ prefix });
        const revisions = await Promise.all(entries.map(({ key, modRevision }) => put(key, 'new', modRevision)));
        const compacting = store.compact(Math.max(...revisions));
        const read = await reading;
        await compacting;
        // All entries have one state: changed keys at its revision are new, and the others unchanged.
        const wrong = read.entries.filter(({ value }, index) => {
          const expected = revisions[index]! <= read.revision ? 'new' : old(names[index]!);
          return text(value) !== expected;
        });
        assert.deepEqual(
          wrong.map(({ key }) => key),
          [],
        );
        assert.equal(read.entries.length, names.length);
      });
    });

    describe('a key with a TTL', () => {
      test('is deleted after its TTL, as by an ordinary write', async () => {
        const prefix = root();
        const result = await store.write({ key: `${prefix}a`, expected: 0, value: bytes('one'), ttlSeconds: 1 });
        assert(result.ok);
        const watch = follow(store, { prefix, afterRevision: result.revision });
        assert.deepEqual(await list({ prefix }), ['a=one']);
        passTime(2);
        const [event] = await watch.events(1);
        assert.deepEqual(event, { type: 'delete', key: `${prefix}a`, revision: result.revision + 1 });
        assert.deepEqual(await list({ prefix }), []);
        await watch.stop();
      });

      test('stays if it is written again without a TTL', async () => {
        const prefix = root();
        const kept = await store.write({ key: `${prefix}kept`, expected: 0, value: bytes('one'), ttlSeconds: 1 });
        assert(kept.ok);
        await put(`${prefix}kept`, 'two', kept.revision);
        const other = await store.write({ key: `${prefix}other`, expected: 0, value: bytes('one'), ttlSeconds: 1 });
        assert(other.ok);
        const watch = follow(store, { prefix, afterRevision: other.revision });
        passTime(2);
        const [event] = await watch.events(1);
        assert.equal(event?.key, `${prefix}other`);
        assert.deepEqual(await list({ prefix }), ['kept=two']);
        await watch.stop();
      });
    });

    describe('a store with concurrent writers', () => {
      test('is linearizable, and its watch yields exactly the acknowledged writes', async () => {
        await fc.assert(
          fc.asyncProperty(anyClients, async (clients) => {
            const prefix = root();
            const start = await store.currentRevision();
            const watch = follow(store, { prefix, afterRevision: start });
            const outcomes = await playAll(store, prefix, clients);
            const log = await watch.events(outcomes.filter(({ result }) => result.ok).length);
            await watch.stop();
            checkLinearizable(outcomes, log);
          }),
          { numRuns: driver.runs },
        );
      });

      test('equals a plain map at every revision', async () => {
        await fc.assert(
          fc.asyncProperty(anyHistory, async (steps) => {
            const prefix = root();
            const states = new Map<number, ReadonlyMap<string, string>>();
            let state: ReadonlyMap<string, string> = new Map();
            let compacted = await store.currentRevision();
            for (const step of steps) {
              if (step.type === 'compact') {
                const revisions = [...states.keys()].filter((revision) => revision > compacted);
                const revision = revisions[Math.floor(step.where * revisions.length)];
                if (revision) await store.compact((compacted = revision));
                continue;
              }
              const key = prefix + step.key;
              const expected = (await store.get(key)).entry?.modRevision ?? 0;
              assert.equal(expected !== 0, state.has(step.key));
              if (step.type === 'put') {
                states.set(await put(key, step.text, expected), (state = new Map([...state, [step.key, step.text]])));
              } else if (expected !== 0) {
                const remaining = [...state].filter(([name]) => name !== step.key);
                states.set(await remove(key, expected), (state = new Map(remaining)));
              }
            }
            for (const [revision, expectedState] of states) {
              if (revision < compacted) {
                await assert.rejects(store.range({ prefix, revision }), CompactedError);
              } else {
                assert.deepEqual(await list({ prefix, revision }), inByteOrder(expectedState));
              }
            }
          }),
          { numRuns: driver.runs },
        );
      });
    });

    describe('a closed store', () => {
      test('has completed its writes, ended its watches, and rejects further calls', async () => {
        const { store: closing } = await driver.open();
        const prefix = root();
        const watch = closing.watch({
          prefix,
          afterRevision: await closing.currentRevision(),
          signal: new AbortController().signal,
        });
        const waiting = collect(watch);
        const writes = Array.from({ length: 200 }, (_, index) =>
          closing.write({ key: `${prefix}${index}`, expected: 0, value: bytes('one') }),
        );
        const range = closing.range({ prefix });
        const settled = Promise.allSettled([...writes, range]);
        await closing.close();
        for (const outcome of await settled) {
          assert(outcome.status === 'fulfilled' || outcome.reason instanceof StoreClosedError);
        }
        await waiting;
        await assert.rejects(closing.get(`${prefix}0`), StoreClosedError);
        await assert.rejects(closing.range({ prefix }), StoreClosedError);
        await assert.rejects(closing.write({ key: `${prefix}0`, expected: 0, value: bytes('') }), StoreClosedError);
        await assert.rejects(closing.currentRevision(), StoreClosedError);
        await assert.rejects(closing.compact(1), StoreClosedError);
        assert.deepEqual(
          await collect(closing.watch({ prefix, afterRevision: 1, signal: new AbortController().signal })),
          [],
        );
        await closing.close();
      });
    });
  });
}

type Step = { readonly key: string; readonly text: string | undefined; readonly expects: 'what is there' | 'nothing' };

const anyKey = fc.constantFrom('a', 'b', '😀', '\uffff');
const anyText = fc.string({ maxLength: 5 });
const anyClients = fc.array(
  fc.array(
    fc.record({
      key: anyKey,
      text: fc.option(anyText, { nil: undefined }),
      expects: fc.constantFrom<Step['expects'][]>('what is there', 'nothing'),
    }),
    { maxLength: 12, size: 'max' },
  ),
  { minLength: 1, maxLength: 8, size: 'max' },
);
const anyHistory = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ type: fc.constant('put'), key: anyKey, text: anyText }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('delete'), key: anyKey }) },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('compact'), where: fc.double({ min: 0, max: 0.99, noNaN: true }) }),
    },
  ),
  { maxLength: 40, size: 'max' },
);

type Outcome = {
  readonly key: string;
  readonly expected: number;
  /** Written value; undefined for a deletion. */
  readonly text: string | undefined;
  /** Newest revision known to any client when the write was sent. */
  readonly known: number;
  readonly result: WriteResult;
};

/** Runs the steps of every client in sequence, all clients concurrently. */
async function playAll(
  store: Store,
  prefix: string,
  clients: readonly (readonly Step[])[],
): Promise<readonly Outcome[]> {
  let known = 0;
  const observeRevision = <Result extends { readonly revision: number }>(result: Result): Result => {
    known = Math.max(known, result.revision);
    return result;
  };
  const play = async (steps: readonly Step[]) => {
    const outcomes: Outcome[] = [];
    for (const step of steps) {
      const key = prefix + step.key;
      const { entry } = step.expects === 'nothing' ? {} : observeRevision(await store.get(key));
      const expected = entry?.modRevision ?? 0;
      // Deleting a missing key would leave no trace.
      const value = expected === 0 ? (step.text ?? '') : step.text;
      const knownBefore = known;
      const request = value === undefined ? { delete: true as const } : { value: bytes(value) };
      const result = observeRevision(await store.write({ key, expected, ...request }));
      outcomes.push({ key, expected, text: value, known: knownBefore, result });
    }
    return outcomes;
  };
  return (await Promise.all(clients.map(play))).flat();
}

/**
 * Checks linearizability. The revisions order the successful writes; the history is linearizable if each write,
 * successful or not, is correct at some point of that order between its request and its response.
 */
function checkLinearizable(outcomes: readonly Outcome[], log: readonly StoreEvent[]): void {
  const done = outcomes
    .filter(({ result }) => result.ok)
    .toSorted((one, other) => one.result.revision - other.result.revision);
  assert.deepEqual(
    log.map((event) => [event.revision, event.key, event.type === 'put' ? text(event.value) : undefined]),
    done.map(({ result, key, text: value }) => [result.revision, key, value]),
  );

  const states: { readonly revision: number; readonly modRevisions: ReadonlyMap<string, number> }[] = [];
  let modRevisions: ReadonlyMap<string, number> = new Map();
  for (const { key, expected, text: value, known, result } of done) {
    assert.equal(modRevisions.get(key) ?? 0, expected, `the write at ${result.revision} found what it expected`);
    assert(result.revision > known, `the write at ${result.revision} comes after what was known when it was sent`);
    modRevisions = new Map([...modRevisions, [key, value === undefined ? 0 : result.revision]]);
    states.push({ revision: result.revision, modRevisions });
  }

  for (const { key, expected, known, result } of outcomes) {
    if (result.ok) continue;
    const conflicting = result.current?.modRevision ?? 0;
    assert.notEqual(conflicting, expected);
    const last = states.findLastIndex(({ revision }) => revision <= result.revision);
    const first = Math.max(
      0,
      states.findLastIndex(({ revision }) => revision <= known),
    );
    const seen = states.slice(first, last + 1).map((state) => state.modRevisions.get(key) ?? 0);
    if (first === 0) seen.push(0);
    assert(seen.includes(conflicting), `${key} was at ${conflicting} between ${known} and ${result.revision}`);
  }
}

const bytes = (string: string) => Buffer.from(string);
const text = (value: Uint8Array) => Buffer.from(value).toString();

function plain(entry: Entry | undefined) {
  return entry && { ...entry, value: text(entry.value) };
}

function inByteOrder(state: ReadonlyMap<string, string>): string[] {
  return [...state]
    .toSorted(([one], [other]) => Buffer.compare(bytes(one), bytes(other)))
    .map((pair) => pair.join('='));
}

async function collect(watch: AsyncIterable<WatchBatch>): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = [];
  for await (const batch of watch) batches.push(batch);
  return batches;
}

/** Watch whose events are read on demand and checked for order. */
function follow(store: Store, request: Omit<WatchRequest, 'signal'>) {
  const controller = new AbortController();
  const iterator = store.watch({ ...request, signal: controller.signal })[Symbol.asyncIterator]();
  let reached = request.afterRevision;

  async function nextBatch(): Promise<WatchBatch> {
    const { done, value } = await iterator.next();
    assert(!done, 'the watch continues');
    for (const { key, revision } of value.events) {
      assert(key.startsWith(request.prefix), `${key} has the prefix`);
      assert(revision > reached, `${revision} comes after ${reached}`);
      reached = revision;
    }
    assert(value.revision >= reached, 'a batch covers its events');
    reached = value.revision;
    return value;
  }

  async function events(count: number): Promise<readonly StoreEvent[]> {
    const seen: StoreEvent[] = [];
    while (seen.length < count) seen.push(...(await nextBatch()).events);
    assert.equal(seen.length, count);
    return seen;
  }

  return {
    events,
    /** Returns the events of the next non-empty batch. */
    async nextEvents(): Promise<readonly string[]> {
      for (;;) {
        const batch = await nextBatch();
        if (batch.events.length > 0) return batch.events.map((event) => formatEvents(event, request.prefix));
      }
    },
    /** Returns the events until a revision is reached. */
    async reaches(revision: number): Promise<readonly StoreEvent[]> {
      const seen: StoreEvent[] = [];
      while (reached < revision) seen.push(...(await nextBatch()).events);
      return seen;
    },
    async stop(): Promise<void> {
      controller.abort();
      assert.equal((await iterator.next()).done, true);
    },
  };
}

async function take(store: Store, request: Omit<WatchRequest, 'signal'>, count: number): Promise<readonly string[]> {
  const watch = follow(store, request);
  const events = await watch.events(count);
  await watch.stop();
  return events.map((event) => formatEvents(event, request.prefix));
}

function formatEvents(event: StoreEvent, prefix: string): string {
  const name = event.key.slice(prefix.length);
  return event.type === 'put'
    ? `put ${name}=${text(event.value)} at ${event.revision} since ${event.createRevision}`
    : `delete ${name} at ${event.revision}`;
}
