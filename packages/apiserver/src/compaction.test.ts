import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { compactRegularly } from './compaction.ts';
import { createMemoryStore } from './store/memory.ts';
import { CompactedError } from './store/store.ts';

test('old revisions are readable for one interval and compacted after two', async () => {
  const clock = virtualClock(0);
  const store = createMemoryStore({ clock });
  const stop = new AbortController();
  const failures: unknown[] = [];
  compactRegularly(store, clock, { signal: stop.signal, onError: (error) => failures.push(error) });

  const write = (expected: number) => store.write({ key: '/a', expected, value: Buffer.from(String(expected)) });
  const first = await write(0);
  assert.ok(first.ok);
  const second = await write(first.revision);
  assert.ok(second.ok);

  await clock.advance(6 * 60_000);
  assert.ok((await store.get('/a', { revision: first.revision })).entry, 'revision is readable after one interval');
  await clock.advance(5 * 60_000);
  await assert.rejects(store.get('/a', { revision: first.revision }), CompactedError);
  assert.ok((await store.get('/a', { revision: second.revision })).entry, 'the newest state is readable');
  assert.deepEqual(failures, []);
  stop.abort();
  await store.close();
});
