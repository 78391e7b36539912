/**
 * Strategic merge patch: a merge patch that knows the schema, so that lists of containers merge by name instead of
 * replacing each other. What a merge cannot say is said by directives beside the data:
 *
 * | directive | where | effect |
 * | --- | --- | --- |
 * | `$patch: replace`, `delete`, `merge` | in a map, or in an item of a merging list | replaces or empties the map; an item replaces the list or is deleted |
 * | `$deleteFromPrimitiveList/<field>` | beside a merging list of scalars | these values are deleted |
 * | `$setElementOrder/<field>` | beside a merging list | the items named stand in this order |
 * | `$retainKeys` | in a map | of the map's keys only these stay |
 */
import type { MergeField, MergeType } from '@kruise/schema/merge-type';
import { formatValue, quote } from '@kruise/values/go-syntax';
import { CopyOnWrite } from './copy-on-write.ts';
import { isObject, isSame, type JsonObject, own } from './json-value.ts';
import { arrange, type ListItems, positionsOf } from './strategic-list-order.ts';
import { badMergeKey, formatString, goTypeOf, StrategicMergeError, wrongType } from './strategic-merge-error.ts';

/** Beside the fields of a map: what is to be done with it. */
export const directive = '$patch';
/** Beside the fields of a map: which of its keys stay. */
export const retainKeys = '$retainKeys';
/** Before the name of a list of scalars: which of its values go. */
export const deletions = '$deleteFromPrimitiveList';
/** Before the name of a list: in which order its items stand. */
export const elementOrder = '$setElementOrder';

/**
 * An object with a strategic merge patch applied. What the patch leaves alone is shared with the original, which is
 * itself returned if nothing changes. A patch that cannot be applied throws a `StrategicMergeError`.
 */
export function applyStrategicMergePatch(original: JsonObject, patch: JsonObject, type: MergeType): JsonObject {
  return mergeMaps(original, patch, type, 'apply');
}

/** Two patches in one, which does what applying the first and then the second would; directives and nulls stay. */
export function combineStrategicMergePatches(first: JsonObject, second: JsonObject, type: MergeType): JsonObject {
  return mergeMaps(first, second, type, 'combine');
}

/** Whether directives are carried out, on an object, or kept, in a patch. */
type Mode = 'apply' | 'combine';

function mergeMaps(original: JsonObject, patch: JsonObject, type: MergeType, mode: Mode): JsonObject {
  if (Object.hasOwn(patch, directive)) return mapByDirective(patch);
  const draft = new CopyOnWrite(original);
  const settled = new Set<string>();
  if (Object.hasOwn(patch, retainKeys)) {
    settled.add(retainKeys);
    applyRetainKeys(draft, patch, mode);
  }
  for (const name of Object.keys(patch)) {
    if (name.startsWith(elementOrder)) applyElementOrder({ draft, patch, type, mode, settled }, name);
  }
  for (const name of Object.keys(patch)) {
    if (!settled.has(name)) mergeField(draft, name, patch[name], type, mode);
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
  /** Fields of the patch that need no further look. */
  readonly settled: Set<string>;
};

/** Merges the list an order is given for, and puts it in that order. */
function applyElementOrder({ draft, patch, type, mode, settled }: Ordering, directiveName: string): void {
  const order = patch[directiveName];
  settled.add(directiveName);
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
  draft.set(name, arrange({ ...items, areMaps: areMaps(live ?? [], patched ?? []) }));
  settled.add(name);
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

/** The items a patch has must come in the order it asks for, all of them. */
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

/** The value that tells an item of a merging list from the others. */
export function keyOf(item: unknown, mergeKey: string): unknown {
  if (!isObject(item)) throw wrongType({}, item);
  if (!Object.hasOwn(item, mergeKey)) throw badMergeKey(item, mergeKey);
  return item[mergeKey];
}

/** `finalizers` of `$setElementOrder/finalizers`. */
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
    // A list of deletions that is no list, beside a field of the same type, is taken for the field.
    draft.set(name, value);
  }
}

/** The old value where the new one is equal, so that nothing seems to have changed. */
function shared(current: unknown, value: unknown): unknown {
  return isSame(current, value) ? current : value;
}

/**
 * A part of a patch as it enters an object that had nothing there: without the maps that are directives, and, since
 * they would delete what is not there, without nulls. `undefined` where nothing is left.
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

/** What the schema says of a field. Fields it does not know cannot be merged. */
export function lookup(type: MergeType, name: string): MergeField {
  if (type.goKind !== 'struct') {
    throw new StrategicMergeError(`merging an object in json but data type is not struct, instead is: ${type.goKind}`);
  }
  const field = type.map?.fields.get(name);
  if (field) return field;
  throw new StrategicMergeError(`unable to find api field in struct ${type.goName} for the json field ${quote(name)}`);
}

/** The same, of a field that is to be a list. */
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
    return arrange({ original, merged, patch, mergeKey, areMaps: false });
  }
  const element = field.type.list?.element ?? field.type;
  if (!mergeKey) throw new StrategicMergeError(`cannot merge lists without merge key for ${element.goKind}`);
  const special = takeSpecialItems(original, patch as readonly JsonObject[], mergeKey);
  const merged = mergeItems(special, mergeKey, element, mode);
  return arrange({ original: special.original, merged, patch: special.patch, mergeKey, areMaps: true });
}

/** Carries out the items of a patch that are directives; what is left is plain data. */
function takeSpecialItems(original: readonly unknown[], patch: readonly JsonObject[], mergeKey: string): ListItems {
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

/** Whether lists hold maps. All items must be of one type, and not lists themselves. */
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
