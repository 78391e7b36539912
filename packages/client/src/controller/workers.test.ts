import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createWorkQueue } from './work-queue.ts';
import { runWorkers } from './workers.ts';

test('failed keys are retried, keys are requeued on request, and a stop waits for work in progress', async () => {
  const clock = virtualClock();
  const queue = createWorkQueue(clock);
  const stop = new AbortController();
  const worked: string[] = [];
  const failures: string[] = [];
  const done = runWorkers(
    queue,
    {
      workers: 2,
      async work(key) {
        worked.push(`${key} at ${clock.now()}`);
        if (key === 'broken' && failures.length < 2) throw new Error('not yet');
        return key === 'patient' && clock.now() < 60_000 ? 60 : undefined;
      },
      onError: (key, error) => failures.push(`${key}: ${(error as Error).message}`),
    },
    stop.signal,
  );

  for (const key of ['once', 'broken', 'patient']) queue.add(key);
  await clock.advanceAsync(100_000);

  assert.deepEqual(worked, [
    'once at 0',
    'broken at 0',
    'patient at 0',
    'broken at 5',
    'broken at 15',
    'patient at 60000',
  ]);
  assert.deepEqual(failures, ['broken: not yet', 'broken: not yet']);
  assert.equal(queue.failures('broken'), 0);
  stop.abort();
  await done;
});

test('a key has one worker at a time, and no more keys are in progress than there are workers', async () => {
  const clock = virtualClock();
  const queue = createWorkQueue(clock);
  const stop = new AbortController();
  const keys = Array.from({ length: 10 }, (_, index) => `key-${index}`);
  const active = new Set<string>();
  const passes = new Map<string, number>();
  let most = 0;
  const done = runWorkers(
    queue,
    {
      workers: 3,
      async work(key) {
        assert.ok(!active.has(key));
        active.add(key);
        most = Math.max(most, active.size);
        const pass = (passes.get(key) ?? 0) + 1;
        passes.set(key, pass);
        // A key that is added while it is processed is queued again.
        if (pass === 1) queue.add(key);
        await new Promise((resolve) => setImmediate(resolve));
        active.delete(key);
        return undefined;
      },
      onError: (_, error) => assert.fail(String(error)),
    },
    stop.signal,
  );
  for (const key of keys) queue.add(key);
  while (keys.some((key) => passes.get(key) !== 2) || active.size > 0) await clock.advanceAsync(1);
  stop.abort();
  await done;
  assert.deepEqual([most, keys.map((key) => passes.get(key))], [3, keys.map(() => 2)]);
});
