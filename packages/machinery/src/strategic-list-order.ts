/**
 * Order of a list after a strategic merge. Items of the patch are in the order of the patch, the others in the order of
 * the original, and both are interleaved by the order of the original as far as possible.
 */
import { isObject, type JsonObject } from './json-value.ts';
import { badMergeKey, StrategicMergeError, wrongType } from './strategic-merge-error.ts';

/** A list before a merge and the items of the patch. */
export type ListItems = { readonly original: readonly unknown[]; readonly patch: readonly unknown[] };

/** A merged list without its order. */
export type MergedList = ListItems & {
  readonly merged: readonly unknown[];
  /** Merge key of the items; without one, items are identified by value. */
  readonly mergeKey: string | undefined;
  readonly areMaps: boolean;
};

/** Returns the first position of each key in a list. */
export function positionsOf(list: readonly unknown[], mergeKey: string | undefined): Map<unknown, number> {
  const positions = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const key = mergeKey === undefined ? item : isObject(item) ? item[mergeKey] : undefined;
    if (key !== undefined && !positions.has(key)) positions.set(key, index);
  }
  return positions;
}

/** Returns the merged items in order; the original list itself if it has that order. */
export function orderMergedList({ original, merged, patch, mergeKey, areMaps }: MergedList): readonly unknown[] {
  const patchPositions = positionsOf(patch, mergeKey);
  if (mergeKey) {
    requireKeys(merged, mergeKey);
    requireMaps(patch, merged, patchPositions, mergeKey);
    requireKeys(patch, mergeKey);
    requireKeys(original, mergeKey);
  } else if (areMaps) {
    requireKeys([...merged, ...patch, ...original], '');
  }
  const key = areMaps ? mergeKey : undefined;
  const isInPatch = (item: unknown) => patchPositions.has(mergeKey ? (item as JsonObject)[mergeKey] : item);
  const fromPatch = sorted(merged.filter(isInPatch), key === mergeKey ? patchPositions : positionsOf(patch, key), key);
  const standing = positionsOf(original, key);
  const others = sorted(
    merged.filter((item) => !isInPatch(item)),
    standing,
    key,
  );
  const arranged = interleave(others, fromPatch, standing, key);
  return isList(arranged, original) ? original : arranged;
}

/** Throws if an item in an order directive has no merge key, as soon as the search reaches it. */
function requireMaps(
  order: readonly unknown[],
  merged: readonly unknown[],
  patchPositions: ReadonlyMap<unknown, number>,
  mergeKey: string,
): void {
  const fault = order.findIndex((item) => !isObject(item));
  const isMet = (item: unknown) => (patchPositions.get((item as JsonObject)[mergeKey]) ?? order.length) > fault;
  if (fault >= 0 && merged.some(isMet)) throw new StrategicMergeError(`value for key ${fault} is not a map`);
}

function requireKeys(list: readonly unknown[], mergeKey: string): void {
  for (const item of list) {
    if (!isObject(item)) throw wrongType({}, item);
    if (!Object.hasOwn(item, mergeKey)) throw badMergeKey(item, mergeKey);
  }
}

function isList(arranged: readonly unknown[], original: readonly unknown[]): boolean {
  return arranged.length === original.length && arranged.every((item, index) => item === original[index]);
}

// The comparison of Kubernetes returns "less" for every item without a position, which is not a valid order. The result
// is that of Go's insertion sort, which is used for short lists; such items do not occur in longer ones.
const insertionSortLimit = 20;

function sorted(list: readonly unknown[], order: ReadonlyMap<unknown, number>, key: string | undefined): unknown[] {
  const placeOf = (item: unknown) => order.get(key === undefined ? item : (item as JsonObject)[key]);
  const isDeletion = (item: unknown) => key !== undefined && (item as JsonObject)['$patch'] === 'delete';
  const kept = list.filter((item) => !isDeletion(item));
  const places = kept.map(placeOf);
  if (places.includes(undefined) && kept.length <= insertionSortLimit) insertionSort(kept, placeOf);
  else kept.sort((a, b) => (placeOf(a) ?? -1) - (placeOf(b) ?? -1));
  return kept.length === list.length ? kept : [...kept, ...list.filter(isDeletion)];
}

function insertionSort(list: unknown[], placeOf: (item: unknown) => number | undefined): void {
  for (let end = 1; end < list.length; end++) {
    for (let at = end; at > 0; at--) {
      const [before, item] = [placeOf(list[at - 1]), placeOf(list[at])];
      if (before !== undefined && item !== undefined && before <= item) break;
      [list[at - 1], list[at]] = [list[at], list[at - 1]];
    }
  }
}

function interleave(
  others: readonly unknown[],
  patchPositions: readonly unknown[],
  standing: ReadonlyMap<unknown, number>,
  key: string | undefined,
): unknown[] {
  const placeOf = (item: unknown) => standing.get(key === undefined ? item : (item as JsonObject)[key]);
  const result: unknown[] = [];
  let next = 0;
  for (const item of patchPositions) {
    const place = placeOf(item);
    while (next < others.length && place !== undefined && isBefore(placeOf(others[next]), place))
      result.push(others[next++]);
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

function isBefore(place: number | undefined, limit: number): boolean {
  return place !== undefined && place < limit;
}
