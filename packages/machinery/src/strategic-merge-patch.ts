/**
 * Strategic merge patch: a schema-aware merge patch, in which lists such as containers are merged by name instead of
 * replaced. Directives in the patch express everything else:
 *
 * | directive | where | effect |
 * | --- | --- | --- |
 * | `$patch: replace`, `delete`, `merge` | in a map, or in an item of a merging list | replaces or empties the map; an item replaces the list or is deleted |
 * | `$deleteFromPrimitiveList/<field>` | beside a merging list of scalars | deletes these values |
 * | `$setElementOrder/<field>` | beside a merging list | orders the named items |
 * | `$retainKeys` | in a map | removes all other keys of the map |
 *
 * ```ts
 * applyStrategicMergePatch(live, { spec: { replicas: 3 } }, mergeTypeOf(deployment.root));
 * ```
 */
import type { MergeField, MergeType } from '@kruise/schema/merge-type';
import { formatValue, quote } from '@kruise/values/go-syntax';
import { CopyOnWrite } from './copy-on-write.ts';
import { isObject, isSame, type JsonObject, own } from './json-value.ts';
import { type ListItems, orderMergedList, positionsOf } from './strategic-list-order.ts';
import { badMergeKey, formatString, goTypeOf, StrategicMergeError, wrongType } from './strategic-merge-error.ts';

/** Directive in a map: replace, delete or merge it. */
export const directive = '$patch';
/** Directive in a map: the keys to keep. */
export const retainKeys = '$retainKeys';
/** Prefix of the directive that deletes values of a list of scalars. */
export const deletions = '$deleteFromPrimitiveList';
/** Prefix of the directive that orders the items of a list. */
export const elementOrder = '$setElementOrder';

/**
 * Applies a strategic merge patch. The result shares unchanged parts with the original, and is the original itself if
 * nothing changes. Throws `StrategicMergeError`.
 */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, type: MergeType): JsonObject {
  return mergeMaps(original, patch, type, 'apply');
}

/** Combines two patches into one that has the effect of both in sequence; directives and nulls are kept. */
export function combineStrategicMergePatches(first: JsonObject, second: JsonObject, type: MergeType): JsonObject {
  return mergeMaps(first, second, type, 'combine');
}

/** Directives are executed on an object, or kept in a combined patch. */
type Mode = 'apply' | 'combine';

function mergeMaps(original: JsonObject, patch: JsonObject, type: MergeType, mode: Mode): JsonObject {
  if (Object.hasOwn(patch, directive)) return mapByDirective(patch);
  const draft = new CopyOnWrite(original);
  const processed = new Set<string>();
  if (Object.hasOwn(patch, retainKeys)) {
    processed.add(retainKeys);
    applyRetainKeys(draft, patch, mode);
  }
  for (const name of Object.keys(patch)) {
    if (name.startsWith(elementOrder)) applyElementOrder({ draft, patch, type, mode, processed }, name);
  }
  for (const name of Object.keys(patch)) {
    if (!processed.has(name)) mergeField(draft, name, patch[name], type, mode);
  }
  return draft.done();
}

function mapByDirective(patch: JsonObject): JsonObject {
  const { [directive]: wanted, ...rest } = patch;
  if (wanted === 'replace') return rest;
  if (wanted === 'delete') return {};
  throw unknownDirective(wanted, patch);
}

function unknownDirective(wanted: unknown, patch: JsonObject): StrategicMergeError {
  return new StrategicMergeError(`unknown patch type: ${formatString(wanted)} in map: ${formatValue(patch)}`);
}

function applyRetainKeys(draft: CopyOnWrite, patch: JsonObject, mode: Mode): void {
  const wanted = patch[retainKeys];
  if (mode === 'combine') {
    if (!draft.has(retainKeys)) draft.set(retainKeys, wanted);
    else if (!isSame(draft.get(retainKeys), wanted)) {
      const [first, second] = [formatValue(draft.get(retainKeys)), formatValue(wanted)];
      throw new StrategicMergeError(
        `${first} and ${second} are not deep equal: this may happen when calculating the 3-way diff patch`,
      );
    }
    return;
  }
  if (!Array.isArray(wanted)) throw badRetainKeys();
  const retained = new Set<unknown>(wanted);
  for (const name of Object.keys(patch)) {
    const isData = name !== retainKeys && !name.startsWith(deletions) && !name.startsWith(elementOrder);
    if (isData && patch[name] !== null && !retained.has(name)) throw badRetainKeys();
  }
  for (const name of draft.names()) {
    if (!retained.has(name)) draft.delete(name);
  }
}

function badRetainKeys(): StrategicMergeError {
  return new StrategicMergeError('invalid patch format of retainKeys', 'BadRequest');
}

type Ordering = {
  readonly draft: CopyOnWrite;
  readonly patch: JsonObject;
  readonly type: MergeType;
  readonly mode: Mode;
  /** Fields of the patch that are processed already. */
  readonly processed: Set<string>;
};

/** Merges the list of an order directive and sorts it. */
function applyElementOrder({ draft, patch, type, mode, processed }: Ordering, directiveName: string): void {
  const order = patch[directiveName];
  processed.add(directiveName);
  if (mode === 'combine') {
    if (!draft.has(directiveName)) draft.set(directiveName, order);
    else if (!isSame(draft.get(directiveName), order)) throw badElementOrder();
  }
  if (!Array.isArray(order)) throw wrongType([], order);
  const name = fieldOfDirective(directiveName, elementOrder);
  if (name === undefined) throw badElementOrder();

  const live = listAt(draft.get(name));
  const patched = listAt(own(patch, name));
  const field = lookupList(type, name);
  const mergeKey = field.patchMergeKey;
  if (patched) checkElementOrder(patched, order, mergeKey);
  if (!live && !patched) return;

  const merged = mergedForOrder(live, patched, field, mode);
  const items = { original: live ?? [], merged, patch: order, mergeKey };
  draft.set(name, orderMergedList({ ...items, areMaps: areMaps(live ?? [], patched ?? []) }));
  processed.add(name);
}

function mergedForOrder(
  live: readonly unknown[] | undefined,
  patched: readonly unknown[] | undefined,
  field: MergeField,
  mode: Mode,
): readonly unknown[] {
  if (!patched) return live ?? [];
  if (!live) return withoutDirectives(patched, false) as readonly unknown[];
  return field.patchStrategy === 'merge' ? mergeLists(live, patched, field, mode) : patched;
}

function badElementOrder(): StrategicMergeError {
  return new StrategicMergeError('invalid patch format of setElementOrder list', 'BadRequest');
}

function listAt(value: unknown): readonly unknown[] | undefined {
  if (value === undefined || Array.isArray(value)) return value;
  throw wrongType([], value);
}

/** Requires that the items of a patch are in the order of its directive. */
function checkElementOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  if (order.length === 0 || patch.length === 0) return;
  let at = 0;
  for (const item of patch) {
    if (mergeKey && !isObject(item)) throw wrongType({}, item);
    if (isObject(item) && Object.hasOwn(item, directive) && (at < order.length || item[directive] === 'delete'))
      continue;
    while (at < order.length && !hasSameKey(item, order[at], mergeKey)) at++;
    if (at++ < order.length) continue;
    const [given, wanted] = [formatValue(patch), formatValue(order)];
    throw new StrategicMergeError(
      `The order in patch list:\n${given}\n doesn't match ${elementOrder} list:\n${wanted}\n`,
    );
  }
}

function hasSameKey(left: unknown, right: unknown, mergeKey: string | undefined): boolean {
  return mergeKey ? keyOf(left, mergeKey) === keyOf(right, mergeKey) : left === right;
}

/** Returns the merge key of an item of a merging list. */
export function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isObject(item)) throw wrongType({}, item);
  if (!Object.hasOwn(item, mergeKey)) throw badMergeKey(item, mergeKey);
  return item[mergeKey];
}

/** Returns `finalizers` for `$setElementOrder/finalizers`. */
function fieldOfDirective(name: string, prefix: string): string | undefined {
  return name.startsWith(`${prefix}/`) ? name.slice(prefix.length + 1) : undefined;
}

function mergeField(draft: CopyOnWrite, given: string, value: unknown, type: MergeType, mode: Mode): void {
  let name = given;
  const deletes = given.startsWith(deletions);
  if (deletes) {
    if (mode === 'combine') {
      draft.set(given, value);
      return;
    }
    const field = fieldOfDirective(given, deletions);
    if (field === undefined) {
      throw new StrategicMergeError('invalid patch format of primitive list', 'BadRequest');
    }
    name = field === '' ? given : field;
  }
  if (value === null) {
    draft.delete(name);
    if (mode === 'combine') draft.set(name, null);
    return;
  }
  const current = draft.get(name);
  if (isObject(current) && isObject(value)) {
    const field = lookup(type, name);
    const replaces = field.patchStrategy === 'replace';
    draft.set(name, replaces ? shared(current, value) : mergeMaps(current, value, field.type, mode));
  } else if (Array.isArray(current) && Array.isArray(value)) {
    const field = lookupList(type, name);
    const merges = deletes || field.patchStrategy === 'merge';
    draft.set(name, merges ? mergeLists(current, value, field, mode, deletes) : shared(current, value));
  } else if (!deletes) {
    const cleaned = withoutDirectives(value, mode === 'apply');
    if (cleaned === undefined) draft.delete(name);
    else draft.set(name, cleaned);
  } else if (current !== undefined && goTypeOf(current) === goTypeOf(value)) {
    // A deletion directive that is not a list, beside a field of the same type, is treated as the field.
    draft.set(name, value);
  }
}

/** Returns the current value if the new one is equal, so that nothing seems to have changed. */
function shared(current: unknown, value: unknown): unknown {
  return isSame(current, value) ? current : value;
}

/**
 * Returns a part of a patch for insertion into an object: without directives, and without nulls, which would delete
 * missing fields. `undefined` if nothing is left.
 */
function withoutDirectives(value: unknown, dropsNulls: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const cleaned = value.map((item) => withoutDirectives(item, dropsNulls)).filter((item) => item !== undefined);
    return cleaned.length === value.length && cleaned.every((item, index) => item === value[index]) ? value : cleaned;
  }
  const map = value as JsonObject;
  const marker = own(map, directive);
  if (marker !== undefined && !(marker === null && dropsNulls)) return undefined;
  const draft = new CopyOnWrite(map);
  for (const name of Object.keys(map)) {
    const member = map[name];
    const cleaned = member === null && dropsNulls ? undefined : withoutDirectives(member, dropsNulls);
    if (cleaned === undefined) draft.delete(name);
    else draft.set(name, cleaned);
  }
  return draft.done();
}

/** Returns the schema of a field. Unknown fields cannot be merged. */
export function lookup(type: MergeType, name: string): MergeField {
  if (type.goKind !== 'struct') {
    throw new StrategicMergeError(`merging an object in json but data type is not struct, instead is: ${type.goKind}`);
  }
  const field = type.map?.fields.get(name);
  if (field) return field;
  throw new StrategicMergeError(`unable to find api field in struct ${type.goName} for the json field ${quote(name)}`);
}

/** Returns the schema of a field that must be a list. */
export function lookupList(type: MergeType, name: string): MergeField {
  const field = lookup(type, name);
  if (field.isPointer || field.type.goKind === 'slice') return field;
  throw new StrategicMergeError(`expected slice or array type, but got: ${type.goKind}`);
}

function mergeLists(
  original: readonly unknown[],
  patch: readonly unknown[],
  field: MergeField,
  mode: Mode,
  deletes = false,
): readonly unknown[] {
  if (original.length === 0 && patch.length === 0) return original;
  const mergeKey = field.patchMergeKey;
  if (!areMaps(original, patch)) {
    if (deletes) {
      const deleted = new Set(patch);
      return original.some((item) => deleted.has(item)) ? original.filter((item) => !deleted.has(item)) : original;
    }
    const merged = [...new Set([...original, ...patch])];
    return orderMergedList({ original, merged, patch, mergeKey, areMaps: false });
  }
  const element = field.type.list?.element ?? field.type;
  if (!mergeKey) throw new StrategicMergeError(`cannot merge lists without merge key for ${element.goKind}`);
  const special = applyItemDirectives(original, patch as readonly JsonObject[], mergeKey);
  const merged = mergeItems(special, mergeKey, element, mode);
  return orderMergedList({ original: special.original, merged, patch: special.patch, mergeKey, areMaps: true });
}

/** Executes the items of a patch that are directives; returns the remaining data. */
function applyItemDirectives(original: readonly unknown[], patch: readonly JsonObject[], mergeKey: string): ListItems {
  const plain = patch.filter((item) => !Object.hasOwn(item, directive));
  if (plain.length === patch.length) return { original, patch };
  const deleted = new Set<unknown>();
  let replaces = false;
  for (const item of patch) {
    if (!Object.hasOwn(item, directive)) continue;
    const wanted = item[directive];
    if (wanted === 'delete') deleted.add(keyOf(item, mergeKey));
    else if (wanted === 'replace') replaces = true;
    else if (wanted === 'merge') throw new StrategicMergeError('merging lists cannot yet be specified in the patch');
    else throw unknownDirective(wanted, item);
  }
  if (replaces) return { original: plain, patch: [] };
  const isDeleted = (item: unknown) => isObject(item) && Object.hasOwn(item, mergeKey) && deleted.has(item[mergeKey]);
  return { original: deleted.size === 0 ? original : original.filter((item) => !isDeleted(item)), patch: plain };
}

function mergeItems({ original, patch }: ListItems, mergeKey: string, element: MergeType, mode: Mode): unknown[] {
  const merged = [...original];
  if (patch.length === 0) return merged;
  const positions = positionsOf(merged, mergeKey);
  for (const item of patch) {
    const key = keyOf(item, mergeKey);
    const at = positions.get(key);
    if (at === undefined) positions.set(key, merged.push(item) - 1);
    else merged[at] = mergeMaps(merged[at] as JsonObject, item as JsonObject, element, mode);
  }
  return merged;
}

/** Reports whether lists contain maps. All items must have one type and must not be lists. */
export function areMaps(...lists: readonly (readonly unknown[])[]): boolean {
  let type: string | undefined;
  for (const list of lists) {
    for (const item of list) {
      const next = goTypeOf(item);
      type ??= next;
      if (Array.isArray(item)) throw new StrategicMergeError('lists of lists are not supported', 'Invalid');
      if (next !== type || item === null) {
        throw new StrategicMergeError(`list element types are not identical: ${formatValue(lists)}`);
      }
    }
  }
  if (type === undefined) throw new StrategicMergeError('no elements in any of the given slices');
  return type === goTypeOf({});
}
