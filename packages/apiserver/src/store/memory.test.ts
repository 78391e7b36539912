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

test('one whose writes wait for the next turn lets timers fire while it is written to without end', async () => {
  const store = createMemoryStore({ clock: virtualClock(), acknowledge: setImmediate });
  let isOver = false;
  setTimeout(() => (isOver = true), 1);
  for (let count = 0; !isOver; count++) await store.write({ key: `/${count}`, expected: 0, value: new Uint8Array() });
  await store.close();
  assert.ok(isOver);
});
