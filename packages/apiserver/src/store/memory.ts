import type { Clock } from '@kruise/values/clock';
import { createHistory } from './history.ts';
import type { Store } from './store.ts';
import { createVersionedStore } from './versioned.ts';

export type MemoryStoreOptions = {
  readonly clock: Clock;
  /**
   * When a write counts as made: at once, unless told otherwise. Controllers that write at once, and again for what they
   * then see, leave a process no time for anything else, so a server has them wait for its next turn.
   */
  readonly acknowledge?: (tell: () => void) => void;
};

/** A store that lasts as long as the process: deterministic, without threads, for the simulator and for tests. */
export function createMemoryStore({ clock, acknowledge = queueMicrotask }: MemoryStoreOptions): Store {
  return createVersionedStore({
    clock,
    history: createHistory(),
    heldBytes: Number.POSITIVE_INFINITY,
    openJournal: ({ onDurable }) => ({
      append: (versions) => acknowledge(() => onDurable(versions.at(-1)!.revision)),
      read: () => Promise.reject(new Error('every value is held in memory')),
      compact: async () => {},
      discard: async () => {},
      close: async () => {},
    }),
  });
}
