import { manualClock } from '@kruise/client/clock';
import { openMemoryStore } from './memory.ts';
import { testStore } from './suite.ts';

testStore({
  name: 'the memory store',
  async open() {
    const clock = manualClock();
    return { store: openMemoryStore(clock), passTime: (seconds) => clock.advance(seconds * 1000) };
  },
  runs: 200,
});
