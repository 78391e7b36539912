/**
 * Compares two versions of an object as field sets. This runs on every write, where nearly everything is shared:
 * identical parts are not visited.
 */
import { fieldTypeOf, type ListMergeType, type MapMergeType, type MergeType } from '@kruise/schema/merge-type';
import { type Children, noChildren } from '../field-set/children.ts';
import { emptySet, type FieldSet, isEmpty, recursiveDifference } from '../field-set/field-set.ts';
import { fieldElement, type PathElement } from '../field-set/path-element.ts';
import { isObject, isSame, type JsonObject } from '../json-value.ts';
import { itemsByElement, shapeOf } from './list-item.ts';

/** Added, modified and removed fields. */
export type Comparison = { readonly added: FieldSet; readonly modified: FieldSet; readonly removed: FieldSet };

/** Compares two objects of one type. */
export function compare(before: JsonObject, after: JsonObject, type: MergeType): Comparison {
  const changes = new Changes();
  compareBoth(before, after, type, changes, '');
  const { added, modified, removed } = changes;
  const setOf = (children: Children | undefined) => children?.get('') ?? emptySet;
  return { added: setOf(added), modified: setOf(modified), removed: setOf(removed) };
}

/** Reports whether nothing changed. */
export function isUnchanged({ added, modified, removed }: Comparison): boolean {
  return isEmpty(added) && isEmpty(modified) && isEmpty(removed);
}

/** Removes fields and their descendants from a comparison. */
export function withoutFields(comparison: Comparison, fields: FieldSet | undefined): Comparison {
  if (!fields) return comparison;
  return {
    added: recursiveDifference(comparison.added, fields),
    modified: recursiveDifference(comparison.modified, fields),
    removed: recursiveDifference(comparison.removed, fields),
  };
}

/** Changes among the children of a node. */
class Changes {
  added: Children | undefined;
  modified: Children | undefined;
  removed: Children | undefined;

  add(element: PathElement, node: FieldSet): void {
    this.added = (this.added ?? noChildren()).with(element, node);
  }

  modify(element: PathElement, node: FieldSet): void {
    this.modified = (this.modified ?? noChildren()).with(element, node);
  }

  remove(element: PathElement, node: FieldSet): void {
    this.removed = (this.removed ?? noChildren()).with(element, node);
  }

  /** Adds the changes of a child. */
  take(element: PathElement, { added, modified, removed }: Changes): void {
    if (added) this.add(element, added.node(false)!);
    if (modified) this.modify(element, modified.node(false)!);
    if (removed) this.remove(element, removed.node(false)!);
  }
}

function compareBoth(before: unknown, after: unknown, type: MergeType, changes: Changes, element: PathElement): void {
  if (before === after) return;
  const [old, now] = [shapeOf(type, before), shapeOf(type, after)];
  // If the type of a value changes, the fields of the old type are removed and those of the new type added.
  if (old !== now) compareAs(old, before, after, type, changes, element);
  compareAs(now, before, after, type, changes, element);
}

function compareAs(
  shape: 'scalar' | 'list' | 'map',
  before: unknown,
  after: unknown,
  type: MergeType,
  changes: Changes,
  element: PathElement,
): void {
  if (shape === 'map' && !type.map!.isAtomic) {
    const [old, now] = [isObject(before) ? before : noFields, isObject(after) ? after : noFields];
    if (hasFields(old) || hasFields(now)) {
      const inner = new Changes();
      compareMaps(old, now, type.map!, inner);
      changes.take(element, inner);
      return;
    }
  } else if (shape === 'list' && type.list!.relation !== 'atomic') {
    const [old, now] = [Array.isArray(before) ? before : noItems, Array.isArray(after) ? after : noItems];
    if (old.length > 0 || now.length > 0) {
      const inner = new Changes();
      compareLists(old, now, type.list!, inner);
      changes.take(element, inner);
      return;
    }
  }
  if (!isSame(before, after)) changes.modify(element, emptySet);
}

const noFields: JsonObject = {};
const noItems: readonly unknown[] = [];

function hasFields(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}

function compareMaps(before: JsonObject, after: JsonObject, map: MapMergeType, changes: Changes): void {
  for (const name in after) {
    const now = after[name];
    const isNew = !Object.hasOwn(before, name);
    if (!isNew && before[name] === now) continue;
    const type = fieldTypeOf(map, name);
    if (!type) continue;
    if (isNew) changes.add(fieldElement(name), nodeOfWholeValue(now, type));
    else compareBoth(before[name], now, type, changes, fieldElement(name));
  }
  for (const name in before) {
    if (Object.hasOwn(after, name)) continue;
    const type = fieldTypeOf(map, name);
    if (type) changes.remove(fieldElement(name), nodeOfWholeValue(before[name], type));
  }
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  list: ListMergeType,
  changes: Changes,
): void {
  const [old, now] = [itemsByElement(list, before), itemsByElement(list, after)];
  for (const [element, items] of now) compareItems(old.get(element) ?? noItems, items, list, changes, element);
  for (const [element, items] of old) {
    if (!now.has(element)) compareItems(items, noItems, list, changes, element);
  }
}

/** Compares items with the same key, of which there should be at most one. Duplicates are compared as one value. */
function compareItems(
  before: readonly unknown[],
  after: readonly unknown[],
  { element: type }: ListMergeType,
  changes: Changes,
  element: PathElement,
): void {
  const [wasRepeated, isRepeated] = [before.length > 1, after.length > 1];
  if (wasRepeated && isRepeated) {
    if (!isSame(before, after)) changes.modify(element, emptySet);
  } else if (wasRepeated) {
    if (after.length > 0) changes.add(element, nodeOfWholeValue(after[0], type));
    changes.remove(element, emptySet);
  } else if (isRepeated) {
    if (before.length > 0) changes.remove(element, nodeOfWholeValue(before[0], type));
    changes.add(element, emptySet);
  } else if (before.length === 0) {
    changes.add(element, nodeOfWholeValue(after[0], type));
  } else if (after.length === 0) {
    changes.remove(element, nodeOfWholeValue(before[0], type));
  } else {
    compareBoth(before[0], after[0], type, changes, element);
  }
}

/** Returns the node of a value that was added or removed as a whole, with all of its fields. */
function nodeOfWholeValue(value: unknown, type: MergeType): FieldSet {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return emptySet;
    case 'map':
      if (type.map!.isAtomic || !isObject(value)) return emptySet;
      return wholeFields(value, type.map!).node(true)!;
    case 'list':
      if (type.list!.relation === 'atomic' || !Array.isArray(value)) return emptySet;
      return wholeItems(value, type.list!).node(true)!;
  }
}

function wholeFields(value: JsonObject, map: MapMergeType): Children {
  let nodes = noChildren();
  for (const name in value) {
    const type = fieldTypeOf(map, name);
    if (type) nodes = nodes.with(fieldElement(name), nodeOfWholeValue(value[name], type));
  }
  return nodes;
}

function wholeItems(value: readonly unknown[], list: ListMergeType): Children {
  let nodes = noChildren();
  for (const [element, items] of itemsByElement(list, value)) {
    nodes = nodes.with(element, items.length > 1 ? emptySet : nodeOfWholeValue(items[0], list.element));
  }
  return nodes;
}
