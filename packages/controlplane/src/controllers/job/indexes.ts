/**
 * Sets of completion indexes, stored as intervals: a Job may have a hundred thousand indexes, most of them consecutive.
 */

/** Intervals in ascending order that neither overlap nor touch. */
export type IndexSet = readonly { readonly first: number; readonly last: number }[];

/**
 * Parses a set in the format of a Job's status, `0-2,5`. Invalid parts and indexes at or above the limit are skipped.
 */
export function parseIndexes(text: string | undefined, completions: number): IndexSet {
  if (!text) return [];
  const intervals = text.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part
      .split('-')
      .map((limit) => (limit === '' ? Number.NaN : Number(limit)));
    const isReadable = Number.isInteger(first) && Number.isInteger(last) && first < completions;
    return isReadable ? [{ first, last: Math.min(last, completions - 1) }] : [];
  });
  return normalize(intervals);
}

/** Formats a set: `0-2,5`. Two consecutive indexes are not abbreviated. */
export function formatIndexes(indexes: IndexSet): string {
  return indexes
    .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
    .join(',');
}

/** Returns the set of single indexes. */
export function indexesOf(indexes: Iterable<number>): IndexSet {
  return normalize([...indexes].sort((a, b) => a - b).map((index) => ({ first: index, last: index })));
}

/** Returns the union of sets. */
export function union(...sets: readonly IndexSet[]): IndexSet {
  return normalize(sets.flat().sort((a, b) => a.first - b.first));
}

/** Returns the number of indexes in a set. */
export function countIndexes(indexes: IndexSet): number {
  return indexes.reduce((count, { first, last }) => count + last - first + 1, 0);
}

/** Returns the number of indexes in both sets. */
export function countCommon(a: IndexSet, b: IndexSet): number {
  return countIndexes(a) + countIndexes(b) - countIndexes(union(a, b));
}

/** Reports whether an index is in a set. */
export function hasIndex(indexes: IndexSet, index: number): boolean {
  let [low, high] = [0, indexes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indexes[middle]!.last < index) low = middle + 1;
    else high = middle;
  }
  const interval = indexes[low];
  return interval !== undefined && interval.first <= index;
}

/** Returns the lowest indexes below the number of completions that are not in a set, up to a count. */
export function firstMissing(indexes: IndexSet, completions: number, count: number): readonly number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; candidate < Math.min(first, completions) && missing.length < count; candidate++) missing.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}

/** Merges overlapping and adjacent intervals that are sorted by their first index. */
function normalize(sorted: IndexSet): IndexSet {
  const joined: { first: number; last: number }[] = [];
  for (const { first, last } of sorted) {
    const previous = joined.at(-1);
    if (previous && first <= previous.last + 1) previous.last = Math.max(previous.last, last);
    else joined.push({ first, last });
  }
  return joined;
}
