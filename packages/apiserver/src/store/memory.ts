import type { Clock } from '@kruise/values/clock';
import { createHistory } from './history.ts';
import type { Store } from './store.ts';
import { createVersionedStore } from './versioned.ts';

/** A store that lasts as long as the process: deterministic, without threads, for the simulator and for tests. */
export function createMemoryStore({ clock }: { readonly clock: Clock }): Store {
  return createVersionedStore({
    clock,
    history: createHistory(),
    heldBytes: Number.POSITIVE_INFINITY,
    openJournal: ({ onDurable }) => ({
      append: (versions) => queueMicrotask(() => onDurable(versions.at(-1)!.revision)),
      read: () => Promise.reject(new Error('every value is held in memory')),
      compact: async () => {},
      discard: async () => {},
      close: async () => {},
    }),
  });
}
