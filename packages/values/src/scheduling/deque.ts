/** First-in, first-out queue in a ring buffer: `shift` takes constant time. */
export type Deque<T> = {
  push(item: T): void;
  shift(): T | undefined;
  readonly size: number;
};

/**
 * Creates an empty queue.
 *
 * ```ts
 * const deque = createDeque<string>();
 * deque.push('a');
 * deque.shift(); // 'a'
 * ```
 */
export function createDeque<T>(): Deque<T> {
  let ring: (T | undefined)[] = new Array(16);
  let head = 0;
  let size = 0;
  return {
    push(item) {
      if (size === ring.length) {
        const larger = new Array<T | undefined>(2 * size);
        for (let index = 0; index < size; index++) larger[index] = ring[(head + index) & (size - 1)];
        ring = larger;
        head = 0;
      }
      // The capacity is a power of two.
      ring[(head + size++) & (ring.length - 1)] = item;
    },
    shift() {
      if (size === 0) return undefined;
      const item = ring[head];
      ring[head] = undefined;
      head = (head + 1) & (ring.length - 1);
      size--;
      return item;
    },
    get size() {
      return size;
    },
  };
}
