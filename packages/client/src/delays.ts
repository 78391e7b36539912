/** Keys that are to come up at their time, with one timer for the earliest of them. */
import type { CancelTimer, Clock } from '@kruise/values/clock';
import type { Instant } from '@kruise/values/time';

/** How urgent a key is: something changed, or it is only looked at again (a first list, a resync). */
export type Priority = 'change' | 'background';

/** Keys, each with the time it comes up. */
export type Delays<K> = {
  /** Has a key come up at a time; where it waits already, the earlier time counts. */
  set(key: K, due: Instant, priority: Priority): void;
  cancel(key: K): void;
  clear(): void;
};

type Entry<K> = { readonly key: K; readonly due: Instant; readonly order: number; readonly priority: Priority };

/** No keys yet; `ready` is called with each as its time comes. */
export function createDelays<K>(clock: Clock, ready: (key: K, priority: Priority) => void): Delays<K> {
  const heap: Entry<K>[] = [];
  const current = new Map<K, Entry<K>>();
  let orders = 0;
  let timer: { readonly due: Instant; readonly cancel: CancelTimer } | undefined;

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
  /** The earliest that still counts: what was cancelled or brought forward is left in the heap until it comes up. */
  const first = (): Entry<K> | undefined => {
    while (heap[0] !== undefined && current.get(heap[0].key) !== heap[0]) pop();
    return heap[0];
  };
  const arm = (): void => {
    const earliest = first();
    if (timer && timer.due === earliest?.due) return;
    timer?.cancel();
    timer = earliest && { due: earliest.due, cancel: clock.setTimer(earliest.due - clock.now(), fire) };
  };
  const fire = (): void => {
    timer = undefined;
    const now = clock.now();
    for (let entry = first(); entry && entry.due <= now; entry = first()) {
      current.delete(entry.key);
      pop();
      ready(entry.key, entry.priority);
    }
    arm();
  };

  return {
    set(key, due, priority) {
      const present = current.get(key);
      if (present && present.due <= due) {
        if (present.priority === 'change' || priority === 'background') return;
        due = present.due;
      }
      const entry = { key, due, priority, order: orders++ };
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
