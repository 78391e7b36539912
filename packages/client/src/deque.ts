/** A queue with two ends, as a ring in an array: taking the first of many costs no more than of few. */
export type Deque<T> = {
  push(item: T): void;
  shift(): T | undefined;
  readonly size: number;
};

/** An empty one. */
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
      // The length is a power of two.
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
