import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import fc from 'fast-check';
import { defaultRateLimiter, exponentialBackoff, tokenBucket } from './rate-limiter.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

/** Returns the keys that are available without waiting. */
async function getAll(queue: WorkQueue): Promise<string[]> {
  const taken: string[] = [];
  while (queue.depth > 0) {
    const key = await queue.get();
    taken.push(key!);
    queue.done(key!);
  }
  return taken;
}

test('a key is queued once, in the order of its first addition', async () => {
  const queue = createWorkQueue(virtualClock());
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  assert.deepEqual(await getAll(queue), ['a', 'b', 'c']);
});

test('a key added while it is processed is queued again when it is done', async () => {
  const queue = createWorkQueue(virtualClock());
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  queue.add('a');
  queue.add('a');
  assert.equal(queue.depth, 0);
  queue.done('a');
  assert.deepEqual(await getAll(queue), ['a']);
});

test('a waiting worker receives the next key', async () => {
  const queue = createWorkQueue(virtualClock());
  const first = queue.get();
  const second = queue.get();
  queue.add('a');
  queue.add('b');
  assert.deepEqual(await Promise.all([first, second]), ['a', 'b']);
});

test('changes precede background keys, and a change promotes a key', async () => {
  const queue = createWorkQueue(virtualClock());
  queue.add('a', 'background');
  queue.add('b', 'background');
  queue.add('c');
  queue.add('b');
  assert.deepEqual(await getAll(queue), ['c', 'b', 'a']);
});

test('background keys do not starve', async () => {
  const queue = createWorkQueue(virtualClock());
  queue.add('patient', 'background');
  for (let index = 0; index < 100; index++) queue.add(`busy-${index}`);
  assert.equal((await getAll(queue)).indexOf('patient'), 8);
});

test('a delayed key is queued at its time or when it is added; the earlier of two delays wins', async () => {
  const clock = virtualClock();
  const queue = createWorkQueue(clock);
  queue.addAfter('a', 1000);
  queue.addAfter('a', 500);
  queue.addAfter('a', 2000);
  queue.addAfter('b', 800);
  queue.addAfter('c', 100);
  queue.add('c');
  assert.deepEqual(await getAll(queue), ['c']);
  clock.advance(499);
  assert.equal(queue.depth, 0);
  clock.advance(1);
  assert.deepEqual(await getAll(queue), ['a']);
  clock.advance(5000);
  assert.deepEqual(await getAll(queue), ['b']);
});

test('adjustments of the wall clock do not affect delays', async () => {
  const world = virtualClock();
  let aheadMs = 0;
  const queue = createWorkQueue({ ...world, now: () => world.now() + aheadMs });
  queue.addAfter('a', 1000);
  aheadMs = -60_000;
  world.advance(1000);
  assert.deepEqual(await getAll(queue), ['a']);
  queue.addAfter('b', 1000);
  queue.addAfter('c', 2000);
  aheadMs = 60_000;
  world.advance(1000);
  assert.deepEqual(await getAll(queue), ['b']);
});

test('each failure doubles the delay of a key until forget is called', () => {
  const limiter = exponentialBackoff();
  const waits = Array.from({ length: 20 }, () => limiter.delayMs('a'));
  assert.deepEqual(waits.slice(0, 4), [5, 10, 20, 40]);
  assert.equal(waits.at(-1), 1_000_000);
  assert.equal(limiter.failures('a'), 20);
  assert.equal(limiter.delayMs('b'), 5);
  limiter.forget('a');
  assert.equal(limiter.delayMs('a'), 5);
});

test('a token bucket allows its burst immediately and then its rate', () => {
  const clock = virtualClock();
  const bucket = tokenBucket(clock, { perSecond: 10, burst: 2 });
  assert.deepEqual([bucket.reserveMs(), bucket.reserveMs(), bucket.reserveMs(), bucket.reserveMs()], [0, 0, 100, 200]);
  assert.equal(bucket.tryTake(), false);
  clock.advance(1000);
  assert.equal(bucket.tryTake(), true);
});

test('many keys that fail together are spread over time', () => {
  const limiter = defaultRateLimiter(virtualClock());
  const waits = Array.from({ length: 120 }, (_, index) => limiter.delayMs(`key-${index}`));
  assert.equal(waits[99], 5);
  assert.equal(waits[119], 2000);
});

test('a queue that is shut down accepts no keys, and ends when it is empty', async () => {
  const clock = virtualClock();
  const queue = createWorkQueue(clock);
  queue.add('a');
  queue.addAfter('b', 10);
  queue.shutDown();
  queue.add('c');
  clock.advance(100);
  assert.deepEqual(await getAll(queue), ['a']);
  assert.equal(await queue.get(), undefined);
});

test('draining waits for queued keys and keys in progress', async () => {
  const clock = virtualClock();
  const queue = createWorkQueue(clock);
  queue.add('a');
  queue.add('b');
  const working = await queue.get();
  const idle = createWorkQueue(clock);
  let isDrained = false;
  const drained = queue.shutDownWithDrain().then(() => (isDrained = true));
  await idle.shutDownWithDrain();
  queue.done(working!);
  await clock.advanceAsync(0);
  assert.equal(isDrained, false);
  queue.done((await queue.get())!);
  await drained;
});

test('an observer receives depth, waits, work and retries', async () => {
  const clock = virtualClock();
  const seen: string[] = [];
  let startTimes: () => Iterable<number> = () => [];
  const queue = createWorkQueue(clock, {
    observer: {
      added: (depth) => seen.push(`added, ${depth}`),
      taken: (depth, waitedMs) => seen.push(`taken after ${waitedMs}, ${depth}`),
      done: (workedMs) => seen.push(`done in ${workedMs}`),
      retried: () => seen.push('retried'),
      attach: (given) => {
        startTimes = given;
      },
    },
  });
  queue.add('a');
  queue.add('a');
  clock.advance(7);
  const key = await queue.get();
  clock.advance(3);
  queue.addRateLimited(key!);
  assert.deepEqual([...startTimes()], [7]);
  queue.done(key!);
  assert.deepEqual(seen, ['added, 1', 'taken after 7, 0', 'retried', 'done in 3']);
});

test('every added key is returned once when it is due, and none is lost', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add'), key: fc.nat(9), priority: fc.constantFrom('change', 'background') }),
    fc.record({ do: fc.constant('later'), key: fc.nat(9), priority: fc.constantFrom('change', 'background') }),
    fc.record({ do: fc.constantFrom('take', 'done', 'pass'), key: fc.nat(9), priority: fc.constant('change') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200 }), async (steps) => {
      const clock = virtualClock();
      const queue = createWorkQueue<number>(clock);
      const owed = new Set<number>();
      const owedLater = new Map<number, number>();
      const working = new Set<number>();
      const owe = (key: number) => {
        owed.add(key);
        owedLater.delete(key);
      };
      const pass = (durationMs: number) => {
        clock.advance(durationMs);
        for (const [key, due] of owedLater) if (due <= clock.now()) owe(key);
      };
      const take = async () => {
        const key = (await queue.get())!;
        assert.ok(!working.has(key));
        assert.ok(owed.delete(key), 'nobody asked for it');
        working.add(key);
      };
      const finish = (key: number) => {
        working.delete(key);
        queue.done(key);
      };
      for (const { do: what, key, priority } of steps) {
        if (what === 'add') {
          owe(key);
          queue.add(key, priority as 'change');
        }
        if (what === 'later') {
          if (key === 0) owe(key);
          else owedLater.set(key, Math.min(owedLater.get(key) ?? Number.POSITIVE_INFINITY, clock.now() + 10 * key));
          queue.addAfter(key, 10 * key, priority as 'change');
        }
        if (what === 'take' && queue.depth > 0) await take();
        if (what === 'done' && working.has(key)) finish(key);
        if (what === 'pass') pass(15);
      }
      pass(1000);
      for (const key of [...working]) finish(key);
      while (queue.depth > 0) await take();
      for (const key of [...working]) finish(key);
      while (queue.depth > 0) await take();
      assert.deepEqual([...owed], []);
    }),
    { numRuns: 300 },
  );
});
