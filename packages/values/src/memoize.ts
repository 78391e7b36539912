/** Memoization of parsers: the objects of a cluster contain the same few texts again and again. */

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
