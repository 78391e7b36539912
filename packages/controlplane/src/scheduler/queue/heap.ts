/** A heap that supports the removal of any item. Each item is in one heap at a time. */
export type Heap<T extends Heaped> = {
  readonly size: number;
  first(): T | undefined;
  push(item: T): void;
  pop(): T | undefined;
  remove(item: T): void;
};

/** An item that stores its heap index. */
export type Heaped = { heapIndex: number };

export function createHeap<T extends Heaped>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];

  const place = (item: T, index: number) => {
    items[index] = item;
    item.heapIndex = index;
  };
  const rise = (item: T, from: number) => {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!isBefore(item, items[above]!)) break;
      place(items[above]!, index);
      index = above;
    }
    place(item, index);
  };
  const sink = (item: T, from: number) => {
    let index = from;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child++;
      if (!isBefore(items[child]!, item)) break;
      place(items[child]!, index);
      index = child;
    }
    place(item, index);
  };
  const remove = (item: T) => {
    const index = item.heapIndex;
    const last = items.pop()!;
    if (last === item) return;
    if (index > 0 && isBefore(last, items[(index - 1) >> 1]!)) rise(last, index);
    else sink(last, index);
  };

  return {
    get size() {
      return items.length;
    },
    first: () => items[0],
    push(item) {
      items.push(item);
      rise(item, items.length - 1);
    },
    pop() {
      const first = items[0];
      if (first) remove(first);
      return first;
    },
    remove,
  };
}
