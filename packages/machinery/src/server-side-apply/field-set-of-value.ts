import { fieldTypeOf, type ListMergeType, type MapMergeType, type MergeType } from '@kruise/schema/merge-type';
import { type Children, noChildren } from '../field-set/children.ts';
import { emptySet, type FieldSet } from '../field-set/field-set.ts';
import { fieldElement } from '../field-set/path-element.ts';
import { isObject, type JsonObject } from '../json-value.ts';
import { itemsByElement, shapeOf } from './list-item.ts';

/** Returns the fields of an applied object, which its manager will own. */
export function fieldSetOfValue(value: JsonObject, type: MergeType): FieldSet {
  return visit(value, type, false) ?? emptySet;
}

/** Returns the node of a value; the node itself is in the set if it is a leaf or `member` is set. */
function visit(value: unknown, type: MergeType, member: boolean): FieldSet | undefined {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return emptySet;
    case 'list':
      if (type.list!.relation === 'atomic') return emptySet;
      return (Array.isArray(value) ? itemsOf(value, type.list!) : noChildren()).node(member);
    case 'map':
      if (type.map!.isAtomic) return emptySet;
      return (isObject(value) ? fieldsOf(value, type.map!) : noChildren()).node(member);
  }
}

function fieldsOf(value: JsonObject, map: MapMergeType): Children {
  let children = noChildren();
  for (const name of Object.keys(value)) {
    const member = value[name];
    const type = fieldTypeOf(map, name);
    if (!type) continue;
    // A struct field is owned through its descendants; map keys and empty values are owned themselves.
    const isOwned = member === null || (isObject(member) && isEmptyMap(member)) || !map.fields.has(name);
    const node = visit(member, type, isOwned);
    if (node) children = children.with(fieldElement(name), node);
  }
  return children;
}

function isEmptyMap(value: JsonObject): boolean {
  for (const _ in value) return false;
  return true;
}

function itemsOf(value: readonly unknown[], list: ListMergeType): Children {
  let children = noChildren();
  for (const [element, items] of itemsByElement(list, value)) {
    // Items with a duplicate key have no fields of their own, because their owners would be ambiguous.
    children = children.with(element, items.length > 1 ? emptySet : visit(items[0], list.element, true)!);
  }
  return children;
}
