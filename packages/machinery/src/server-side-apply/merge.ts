import { fieldTypeOf, type ListMergeType, type MapMergeType, type MergeType } from '@kruise/schema/merge-type';
import { CopyOnWrite } from '../copy-on-write.ts';
import type { PathElement } from '../field-set/path-element.ts';
import { isObject, isSame, type JsonObject } from '../json-value.ts';
import { itemElement, itemsByElement, shapeOf } from './list-item.ts';

/** Merges an applied object into a live one: fields of the applied object are set, all others are kept and shared. */
export function merge(live: JsonObject, applied: JsonObject, type: MergeType): JsonObject {
  return mergeValues(live, applied, type) as JsonObject;
}

function mergeValues(live: unknown, applied: unknown, type: MergeType): unknown {
  if (live === undefined || live === applied) return applied;
  const shape = shapeOf(type, applied);
  if (shape === 'map' && !type.map!.isAtomic) {
    const [ours, theirs] = [asMap(live), asMap(applied)];
    if (hasFields(ours) || hasFields(theirs)) return isObject(live) ? mergeMaps(ours, theirs, type.map!) : theirs;
  } else if (shape === 'list' && type.list!.relation !== 'atomic') {
    const [ours, theirs] = [asList(live), asList(applied)];
    if (ours.length > 0 || theirs.length > 0) return mergeLists(ours, theirs, type.list!);
  }
  return isSame(live, applied) ? live : applied;
}

const noFields: JsonObject = {};

function asMap(value: unknown): JsonObject {
  return isObject(value) ? value : noFields;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function hasFields(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

function mergeMaps(live: JsonObject, applied: JsonObject, map: MapMergeType): JsonObject {
  const draft = new CopyOnWrite(live);
  for (const name of Object.keys(applied)) {
    const type = fieldTypeOf(map, name);
    if (type) draft.set(name, mergeValues(draft.get(name), applied[name], type));
  }
  return draft.done();
}

/**
 * Items in both lists have the order of the applied list; items only in the live list keep their place between them,
 * and new items are inserted where the applied list has them.
 */
function mergeLists(live: readonly unknown[], applied: readonly unknown[], list: ListMergeType): readonly unknown[] {
  const ours = live.map((item) => itemElement(list, item));
  const theirs = applied.map((item) => itemElement(list, item));
  const liveItems = itemsByElement(list, live);
  const appliedItems = itemsByElement(list, applied);
  const shared = theirs.filter((element) => liveItems.has(element));
  const done = new Set<PathElement>();
  const merged: unknown[] = [];
  let [l, a, next] = [0, 0, 0];

  const takeApplied = () => {
    const element = theirs[a++]!;
    const items = liveItems.get(element);
    // With a duplicate key in the live list, the item is ambiguous and none is merged.
    merged.push(
      mergeValues(items && (items.length > 1 ? null : items[0]), appliedItems.get(element)![0], list.element),
    );
    done.add(element);
    if (shared[next] === element) next++;
  };

  while (l < ours.length || a < theirs.length) {
    const element = ours[l];
    if (element === undefined) takeApplied();
    else if (element === theirs[a]) {
      takeApplied();
      l++;
    } else if (!appliedItems.has(element)) merged.push(live[l++]);
    else if (a < theirs.length && next < shared.length && shared[next] !== element) l++;
    else {
      if (done.has(element)) l++;
      if (a < theirs.length) takeApplied();
    }
  }
  return merged.length === live.length && merged.every((item, index) => item === live[index]) ? live : merged;
}
