import type { ListMergeType, MergeType } from '@kruise/schema/merge-type';
import { quote } from '@kruise/values/go-syntax';
import { keyElement, type PathElement, valueElement } from '../field-set/path-element.ts';
import { isObject } from '../json-value.ts';

/** The way in which a value is merged. */
export type Shape = 'scalar' | 'list' | 'map';

/** Returns the shape of a value. A value that its type does not allow, such as null, has the shape of the type. */
export function shapeOf(type: MergeType, value: unknown): Shape {
  if (Array.isArray(value)) {
    if (type.list) return 'list';
  } else if (typeof value === 'object' && value !== null) {
    if (type.map) return 'map';
  } else if (value !== null && type.scalar) return 'scalar';
  if (type.map) return 'map';
  return type.scalar ? 'scalar' : 'list';
}

/** An item of a list has no valid key. */
export class ListItemError extends Error {
  override readonly name = 'ListItemError';
}

/** Returns the path element of a list item. */
export function itemElement(list: ListMergeType, item: unknown): PathElement {
  return list.relation === 'map' ? keyedElement(list, item) : setElement(item);
}

function keyedElement({ keys, sortedKeys }: ListMergeType, item: unknown): PathElement {
  if (item === null) throw new ListItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ListItemError('associative list with keys may not have non-map elements');
  for (const { name, default: usual } of keys) {
    if (Object.hasOwn(item, name) || usual !== undefined) continue;
    throw new ListItemError(
      `associative list with keys has an element that omits key field ${quote(name)} (and doesn't have default value)`,
    );
  }
  return keyElement(
    sortedKeys.map(({ name }) => name),
    sortedKeys.map(({ name, default: usual }) => (Object.hasOwn(item, name) ? item[name] : usual)),
  );
}

function setElement(item: unknown): PathElement {
  if (item === null) {
    throw new ListItemError("associative list without keys has an element that's an explicit null");
  }
  if (Array.isArray(item)) throw new ListItemError('not supported: associative list with lists as elements');
  if (typeof item === 'object') {
    throw new ListItemError("associative list without keys has an element that's a map type");
  }
  return valueElement(item);
}

/** Groups the items of a list by path element, in order; a duplicate key has several items. */
export function itemsByElement(list: ListMergeType, items: readonly unknown[]): Map<PathElement, unknown[]> {
  const found = new Map<PathElement, unknown[]>();
  for (const item of items) {
    const element = itemElement(list, item);
    const known = found.get(element);
    if (known) known.push(item);
    else found.set(element, [item]);
  }
  return found;
}
