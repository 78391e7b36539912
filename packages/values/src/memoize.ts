/**
 * Memoization: the objects of a cluster contain the same few texts again and again, and every reconcile reads the same
 * immutable objects.
 */

/** Limits of a memo. */
export type MemoizeOptions = {
  /** Longer texts are not cached. */
  readonly maxLength: number;
};

/** The memo is cleared when it has this many entries, so that unbounded input from clients does not fill the memory. */
const maxEntries = 4096;

/**
 * Memoizes a pure function of a text.
 *
 * ```ts
 * const parse = memoize(parseSchedule, { maxLength: 100 });
 * ```
 */
export function memoize<T>(compute: (text: string) => T, { maxLength }: MemoizeOptions): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const result = compute(text);
    if (text.length <= maxLength) {
      if (known.size === maxEntries) known.clear();
      known.set(text, result);
    }
    return result;
  };
}

/** Memoizes a pure function of an immutable object; the result lives as long as the object. */
export function memoizeByObject<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  const known = new WeakMap<O, { readonly value: T }>();
  return (object) => {
    let found = known.get(object);
    if (!found) known.set(object, (found = { value: compute(object) }));
    return found.value;
  };
}

/**
 * Memoizes a pure function of the objects of one reconcile, for example a predicate on Pods. Faster than
 * `memoizeByObject`; the results live as long as the returned function.
 */
export function memoizeInReconcile<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  const known = new Map<O, T>();
  return (object) => {
    let found = known.get(object);
    if (found === undefined) known.set(object, (found = compute(object)));
    return found;
  };
}
