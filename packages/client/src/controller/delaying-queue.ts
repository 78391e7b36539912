/** Delaying queue: keys become ready after a delay, with one timer for the earliest of them. */
import type { CancelTimer, Clock } from '@kruise/values/clock';

/** Priority of a key: `change` for events, `background` for the initial list and resyncs. */
export type Priority = 'change' | 'background';

/** Keys that become ready after a delay. */
export type DelayingQueue<K> = {
  /** Adds a key after a delay. If the key already waits, the earlier time wins. */
  set(key: K, delayMs: number, priority: Priority): void;
  cancel(key: K): void;
  clear(): void;
};

type Entry<K> = { readonly key: K; readonly due: number; readonly order: number; readonly priority: Priority };

/**
 * Creates an empty queue. `ready` is called with each key when its delay is over.
 *
 * ```ts
 * const delayed = createDelayingQueue<string>(clock, (key, priority) => queue.add(key, priority));
 * delayed.set('default/web', 1000, 'change');
 * ```
 */
export function createDelayingQueue<K>(clock: Clock, ready: (key: K, priority: Priority) => void): DelayingQueue<K> {
  const heap: Entry<K>[] = [];
  const current = new Map<K, Entry<K>>();
  let nextOrder = 0;
  let timer: { readonly due: number; readonly cancel: CancelTimer } | undefined;

  const isBefore = (a: Entry<K>, b: Entry<K>) => a.due < b.due || (a.due === b.due && a.order < b.order);
  const push = (entry: Entry<K>): void => {
    let index = heap.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  };
  const pop = (): void => {
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  };
  /**
   * Returns the earliest valid entry. Entries that were cancelled or moved forward stay in the heap until they reach
   * its top.
   */
  const first = (): Entry<K> | undefined => {
    while (heap[0] !== undefined && current.get(heap[0].key) !== heap[0]) pop();
    return heap[0];
  };
  const arm = (): void => {
    const earliest = first();
    if (timer && timer.due === earliest?.due) return;
    timer?.cancel();
    timer = earliest && { due: earliest.due, cancel: clock.setTimer(earliest.due - clock.elapsedMs(), fire) };
  };
  const fire = (): void => {
    timer = undefined;
    const elapsedMs = clock.elapsedMs();
    for (let entry = first(); entry && entry.due <= elapsedMs; entry = first()) {
      current.delete(entry.key);
      pop();
      ready(entry.key, entry.priority);
    }
    arm();
  };

  return {
    set(key, delayMs, priority) {
      let due = clock.elapsedMs() + delayMs;
      const present = current.get(key);
      if (present && present.due <= due) {
        if (present.priority === 'change' || priority === 'background') return;
        due = present.due;
      }
      const entry = { key, due, priority, order: nextOrder++ };
      current.set(key, entry);
      push(entry);
      if (!timer || due < timer.due) arm();
    },
    cancel(key) {
      current.delete(key);
    },
    clear() {
      current.clear();
      arm();
    },
  };
}
