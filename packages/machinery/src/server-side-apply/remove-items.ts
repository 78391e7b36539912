import { fieldTypeOf, type MergeType } from '@kruise/schema/merge-type';
import { type FieldSet, isMember } from '../field-set/field-set.ts';
import { fieldElement } from '../field-set/path-element.ts';
import { isObject, type JsonObject, put } from '../json-value.ts';
import { itemElement, shapeOf } from './list-item.ts';

/** Returns a value without the fields and items of a set. A value with nothing left becomes null. */
export function removeItems(value: JsonObject, set: FieldSet, type: MergeType): JsonObject {
  return (removeBelow(value, set, type) ?? {}) as JsonObject;
}

function removeBelow(value: unknown, set: FieldSet, type: MergeType): unknown {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return value;
    case 'list':
      return Array.isArray(value) && type.list!.relation !== 'atomic' ? keptItems(value, set, type) : null;
    case 'map':
      return isObject(value) && !type.map!.isAtomic ? keptFields(value, set, type) : null;
  }
}

function keptItems(value: readonly unknown[], set: FieldSet, { list }: MergeType): readonly unknown[] | null {
  const kept: unknown[] = [];
  for (const item of value) {
    const node = set[itemElement(list!, item)];
    if (!node) kept.push(item);
    else if (!isMember(node)) kept.push(removeBelow(item, node, list!.element));
  }
  if (kept.length === value.length && kept.every((item, index) => item === value[index]))
    return value.length ? value : null;
  return kept.length > 0 ? kept : null;
}

function keptFields(value: JsonObject, set: FieldSet, { map }: MergeType): JsonObject | null {
  const kept: Record<string, unknown> = {};
  let [count, isChanged] = [0, false];
  for (const name of Object.keys(value)) {
    const node = set[fieldElement(name)];
    const member = value[name];
    if (node && isMember(node)) {
      isChanged = true;
      continue;
    }
    const type = node && fieldTypeOf(map!, name);
    const rest = type ? removeBelow(member, node, type) : member;
    if (rest !== member) isChanged = true;
    put(kept, name, rest);
    count++;
  }
  if (count === 0) return null;
  return isChanged ? kept : value;
}
