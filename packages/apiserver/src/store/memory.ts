import type { Clock } from '@kruise/values/clock';
import { createHistory } from './history.ts';
import type { DiscardedVersion } from './journal.ts';
import type { Store } from './store.ts';
import { createVersionedStore, type StoreLimits } from './versioned.ts';

export type MemoryStoreOptions = {
  readonly clock: Clock;
  /**
   * Schedules the acknowledgement of a write; the default is a microtask. Controllers that write immediately in
   * response to each write would starve the event loop, so a server defers acknowledgements to the next event loop
   * turn.
   */
  readonly acknowledge?: (notify: () => void) => void;
} & StoreLimits;

/** Creates an in-memory store: deterministic and without threads, for the simulator and for tests. */
export function createMemoryStore({ clock, acknowledge = queueMicrotask, ...quota }: MemoryStoreOptions): Store {
  return createVersionedStore({
    clock,
    history: createHistory(),
    heldBytes: Number.POSITIVE_INFINITY,
    ...quota,
    openJournal: ({ onDurable }) => {
      let sizeBytes = 0;
      const valueBytes = (versions: readonly DiscardedVersion[]) =>
        versions.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
      return {
        append(versions) {
          acknowledge(() => {
            sizeBytes += valueBytes(versions);
            onDurable(versions.at(-1)!.revision);
          });
        },
        read: () => Promise.reject(new Error('every value is held in memory')),
        compact: async () => {},
        async discard(versions) {
          sizeBytes -= valueBytes(versions);
        },
        sizeBytes: () => sizeBytes,
        close: async () => {},
      };
    },
  });
}
