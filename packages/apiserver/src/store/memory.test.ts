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
