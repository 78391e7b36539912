/**
 * Creates strategic merge patches: two-way from two states of an object, and three-way as `kubectl apply` does (last
 * applied, newly applied and live state).
 */
import type { MergeField, MergeType } from '@kruise/schema/merge-type';
import { compareStrings, formatValue } from '@kruise/values/go-syntax';
import { isObject, isSame, type JsonObject, own, put } from './json-value.ts';
import { MergeConflictError, type Precondition, requirePreconditions } from './merge-precondition.ts';
import { positionsOf } from './strategic-list-order.ts';
import { goTypeOf, StrategicMergeError } from './strategic-merge-error.ts';
import {
  areMaps,
  combineStrategicMergePatches,
  deletions,
  directive,
  elementOrder,
  keyOf,
  lookup,
  lookupList,
  retainKeys,
} from './strategic-merge-patch.ts';

/** Preconditions of a patch; a violation throws a `PreconditionError`. */
export type DiffOptions = { readonly preconditions?: readonly Precondition[] };

/**
 * Returns the patch that turns `original` into `modified`.
 *
 * ```ts
 * const states = { original: { spec: { replicas: 1 } }, modified: { spec: { replicas: 3 } } };
 * createTwoWayMergePatch(states, mergeTypeOf(deployment.root)); // { spec: { replicas: 3 } }
 * ```
 */
export function createTwoWayMergePatch(
  { original, modified }: { readonly original: JsonObject; readonly modified: JsonObject },
  type: MergeType,
  { preconditions = [] }: DiffOptions = {},
): JsonObject {
  const patch = diffMaps(original, modified, type, twoWay, false);
  requirePreconditions(patch, preconditions);
  return patch;
}

/** Options of a three-way patch. */
export type ThreeWayOptions = DiffOptions & {
  /** Overwrites changes of others since `original`; otherwise they are a `MergeConflictError`. */
  readonly overwrite: boolean;
};

/**
 * Returns the patch that brings `current` to `modified`: all fields of `modified` are set, and fields that only
 * `original` (the last applied state) has are deleted. Fields that others added to `current` are left alone.
 */
export function createThreeWayMergePatch(
  states: { readonly original: JsonObject; readonly modified: JsonObject; readonly current: JsonObject },
  type: MergeType,
  { overwrite, preconditions = [] }: ThreeWayOptions,
): JsonObject {
  const { original, modified, current } = states;
  const additions = diffMaps(current, modified, type, additionsOnly, false);
  const removals = diffMaps(original, modified, type, removalsOnly, false);
  const patch = combineStrategicMergePatches(removals, additions, type);
  requirePreconditions(patch, preconditions);
  if (!overwrite) {
    const changes = diffMaps(original, current, type, contentOnly, false);
    if (mapsConflict(patch, changes, type)) throw new MergeConflictError(patch, changes);
  }
  return patch;
}

type What = { readonly additions: boolean; readonly removals: boolean; readonly order: boolean };
const twoWay: What = { additions: true, removals: true, order: true };
const additionsOnly: What = { additions: true, removals: false, order: true };
const removalsOnly: What = { additions: false, removals: true, order: true };
const contentOnly: What = { additions: true, removals: true, order: false };

type Patch = Record<string, unknown>;

function diffMaps(
  original: JsonObject,
  modified: JsonObject,
  type: MergeType,
  what: What,
  retainsKeys: boolean,
): JsonObject {
  const patch: Patch = {};
  for (const name of Object.keys(modified)) {
    const value = modified[name];
    if (Object.hasOwn(original, name)) diffField(patch, name, original[name], value, type, what);
    else if (what.additions) put(patch, name, value);
  }
  const removed = Object.keys(original).filter((name) => !Object.hasOwn(modified, name));
  if (what.removals) {
    for (const name of removed) put(patch, name, null);
  }
  const retained = retainsKeys ? Object.keys(modified).filter((name) => modified[name] !== null) : [];
  if (retained.length > 0 && (hasFields(patch) || removed.some((name) => original[name] !== null))) {
    patch[retainKeys] = retained.sort(compareStrings);
  }
  return patch;
}

function hasFields(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

function diffField(patch: Patch, name: string, before: unknown, after: unknown, type: MergeType, what: What): void {
  if (name === directive) {
    if (typeof before !== 'string' || typeof after !== 'string') {
      throw new StrategicMergeError(`invalid value for special key: ${directive}`);
    }
    if (before !== after) patch[directive] = after;
  } else if (isObject(before) && isObject(after)) {
    diffMapField(patch, name, before, after, type, what);
  } else if (Array.isArray(before) && Array.isArray(after)) {
    diffListField(patch, name, before, after, type, what);
  } else if (what.additions && !isSame(before, after)) {
    put(patch, name, after);
  }
}

function diffMapField(
  patch: Patch,
  name: string,
  before: JsonObject,
  after: JsonObject,
  type: MergeType,
  what: What,
): void {
  const field = lookupUnlessSame(lookup, type, name, before, after);
  if (!field) return;
  if (field.patchStrategy === 'replace') {
    // A map that is replaced as a whole is written even without a change, as in Kubernetes.
    if (what.additions) put(patch, name, after);
    return;
  }
  const inner = diffMaps(before, after, field.type, what, field.retainsKeys);
  if (hasFields(inner)) put(patch, name, inner);
}

/** Unknown fields are ignored as long as they are equal. */
function lookupUnlessSame(
  find: (type: MergeType, name: string) => MergeField,
  type: MergeType,
  name: string,
  before: unknown,
  after: unknown,
): MergeField | undefined {
  try {
    return find(type, name);
  } catch (error) {
    if (isSame(before, after)) return undefined;
    throw error;
  }
}

function diffListField(
  patch: Patch,
  name: string,
  before: readonly unknown[],
  after: readonly unknown[],
  type: MergeType,
  what: What,
): void {
  const field = lookupUnlessSame(lookupList, type, name, before, after);
  if (!field) return;
  if (field.patchStrategy !== 'merge') {
    if (what.additions && !isSame(before, after)) put(patch, name, after);
    return;
  }
  const { items, deleted, order } = diffLists(before, after, field, what);
  if (items.length > 0) put(patch, name, items);
  if (deleted.length > 0) patch[`${deletions}/${name}`] = deleted;
  if (order.length > 0) patch[`${elementOrder}/${name}`] = order;
}

type ListDiff = {
  readonly items: readonly unknown[];
  readonly deleted: readonly unknown[];
  readonly order: readonly unknown[];
};

function diffLists(before: readonly unknown[], after: readonly unknown[], field: MergeField, what: What): ListDiff {
  if (before.length === 0) return { items: what.additions ? after : [], deleted: [], order: [] };
  return areMaps(before, after) ? diffMapLists(before, after, field, what) : diffScalarLists(before, after, what);
}

function diffMapLists(before: readonly unknown[], after: readonly unknown[], field: MergeField, what: What): ListDiff {
  const mergeKey = field.patchMergeKey ?? '';
  const element = field.type.list?.element ?? field.type;
  const changed: JsonObject[] = [];
  const deleted: JsonObject[] = [];
  const isOrdered = isSameOrder(before, after, mergeKey);
  const pairs = isOrdered ? pairInOrder(before, after, mergeKey) : undefined;
  for (const [left, right] of pairs ?? pairByKey(before, after, (item) => keyOf(item, mergeKey))) {
    if (left && right) {
      const inner = diffMaps(left as JsonObject, right as JsonObject, element, what, field.retainsKeys);
      if (hasFields(inner)) changed.push({ ...inner, [mergeKey]: keyOf(right, mergeKey) });
    } else if (right) {
      if (what.additions) changed.push(right as JsonObject);
    } else if (what.removals) {
      deleted.push({ [directive]: 'delete', [mergeKey]: keyOf(left, mergeKey) });
    }
  }
  if (!pairs && changed.length > 1) {
    const places = positionsOf(after, mergeKey);
    changed.sort((a, b) => places.get(a[mergeKey])! - places.get(b[mergeKey])!);
  }
  const items = [...changed, ...deleted];
  const writesOrder = what.order && (items.length > 0 || (what.additions && !isOrdered));
  return { items, deleted: [], order: writesOrder ? after.map((item) => ({ [mergeKey]: keyOf(item, mergeKey) })) : [] };
}

function isSameOrder(before: readonly unknown[], after: readonly unknown[], mergeKey: string): boolean {
  if (before.length !== after.length) return false;
  return after.every((item, index) => keyOf(before[index], mergeKey) === keyOf(item, mergeKey));
}

function diffScalarLists(before: readonly unknown[], after: readonly unknown[], what: What): ListDiff {
  const added: unknown[] = [];
  const deleted = new Set<unknown>();
  for (const [left, right] of pairByKey(before, after, (item) => item)) {
    if (left === undefined && what.additions) added.push(right);
    else if (right === undefined && what.removals) deleted.add(left);
  }
  const places = positionsOf(after, undefined);
  added.sort((a, b) => places.get(a)! - places.get(b)!);
  // Kubernetes compares with the sorted original, so it writes an order for every list that is not sorted. It misses a
  // list that becomes sorted; this code does not.
  const isChanged = !isSame(byText(before), after) || !isSame(before, after);
  const writesOrder = what.order && (deleted.size > 0 || (what.additions && isChanged));
  return { items: added, deleted: [...deleted], order: writesOrder ? after : [] };
}

type Pair = readonly [left: unknown, right: unknown];

/** Pairs the items of two lists that have the same keys in the same order; undefined if a key is duplicated. */
function pairInOrder(
  before: readonly unknown[],
  after: readonly unknown[],
  mergeKey: string,
): readonly Pair[] | undefined {
  const keys = new Set(after.map((item) => formatValue(keyOf(item, mergeKey))));
  return keys.size < after.length ? undefined : after.map((right, index) => [before[index], right]);
}

/** Pairs the items of two lists by the text of their key. */
function pairByKey(
  before: readonly unknown[],
  after: readonly unknown[],
  key: (item: unknown) => unknown,
): readonly Pair[] {
  const text = (item: unknown) => formatValue(key(item));
  const [left, right] = [sortedByText(before, text), sortedByText(after, text)];
  const pairs: Pair[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const order = l === left.length ? 1 : r === right.length ? -1 : compareStrings(left[l]!.text, right[r]!.text);
    pairs.push([order <= 0 ? left[l]!.item : undefined, order >= 0 ? right[r]!.item : undefined]);
    if (order <= 0) l++;
    if (order >= 0) r++;
  }
  return pairs;
}

/** Items with the same text are in reverse order: Kubernetes pairs duplicate keys, which are an error, in this way. */
function sortedByText(list: readonly unknown[], text: (item: unknown) => string) {
  return list
    .map((item, index) => ({ item, index, text: text(item) }))
    .sort((a, b) => compareStrings(a.text, b.text) || b.index - a.index);
}

function byText(list: readonly unknown[]): readonly unknown[] {
  return sortedByText(list, formatValue).map(({ item }) => item);
}

/** Reports whether two patches set the same field to different values. */
function mapsConflict(left: JsonObject, right: JsonObject, type: MergeType | undefined): boolean {
  for (const name of Object.keys(left)) {
    if (name === directive || name === retainKeys || !Object.hasOwn(right, name)) continue;
    const [ours, theirs] = [left[name], right[name]];
    const field = fieldFor(ours, name, type);
    if (valuesConflict(ours, theirs, field?.type, field)) return true;
  }
  return false;
}

function fieldFor(value: unknown, name: string, type: MergeType | undefined): MergeField | undefined {
  if (type === undefined) return undefined;
  if (Array.isArray(value)) return lookupList(type, name);
  return isObject(value) ? lookup(type, name) : undefined;
}

function valuesConflict(
  left: unknown,
  right: unknown,
  type: MergeType | undefined,
  field: MergeField | undefined,
): boolean {
  if (isObject(left)) {
    if (!isObject(right) || own(left, directive) !== own(right, directive)) return true;
    return field?.patchStrategy !== 'replace' && mapsConflict(left, right, type);
  }
  if (Array.isArray(left)) {
    return !Array.isArray(right) || listsConflict(left, right, type?.list?.element ?? type, field);
  }
  return goTypeOf(left) !== goTypeOf(right) || left !== right;
}

function listsConflict(
  left: readonly unknown[],
  right: readonly unknown[],
  element: MergeType | undefined,
  field: MergeField | undefined,
): boolean {
  const holdMaps = areMaps(left, right);
  if (field?.patchStrategy === 'merge') {
    if (!holdMaps) return false;
    const mergeKey = field.patchMergeKey ?? '';
    const theirs = new Map(right.map((item) => [formatValue(keyOf(item, mergeKey)), item]));
    return left.some((item) => {
      const other = theirs.get(formatValue(keyOf(item, mergeKey)));
      return other !== undefined && valuesConflict(item, other, element, undefined);
    });
  }
  if (left.length !== right.length) return true;
  // Scalars are compared as sets, but only up to the length of the first list.
  const [ours, others] = holdMaps ? [left, right] : [byText([...new Set(left)]), byText([...new Set(right)])];
  return ours.some((item, index) => valuesConflict(item, others[index], element, undefined));
}
