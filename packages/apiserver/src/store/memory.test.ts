import assert from 'node:assert/strict';
import { test } from 'node:test';
import { virtualClock } from '@kruise/values/virtual-clock';
import { createMemoryStore } from './memory.ts';
import { testStore } from './suite.ts';

testStore({
  name: 'the memory store',
  async open() {
    const clock = virtualClock();
    return { store: createMemoryStore({ clock }), passTime: (seconds) => clock.advance(seconds * 1000) };
  },
  runs: 200,
});

test('a memory store with deferred acknowledgements lets timers fire under continuous writes', async () => {
  const store = createMemoryStore({ clock: virtualClock(), acknowledge: setImmediate });
  let isOver = false;
  setTimeout(() => (isOver = true), 1);
  for (let count = 0; !isOver; count++) await store.write({ key: `/${count}`, expected: 0, value: new Uint8Array() });
  await store.close();
  assert.ok(isOver);
});
