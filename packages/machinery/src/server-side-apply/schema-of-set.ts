import { deduced, fieldTypeOf, type MergeType } from '@kruise/schema/merge-type';
import { emptySet, type FieldSet, isEmpty, isMember } from '../field-set/field-set.ts';
import type { PathElement } from '../field-set/path-element.ts';

/** Returns the type below a path element, if the element is valid for the type. */
function typeBelow(type: MergeType, element: PathElement): MergeType | undefined {
  if (element[0] === 'f') return type.map && fieldTypeOf(type.map, element.slice(2));
  return type.list?.element;
}

/**
 * Adds the struct fields on the way to the paths of a set. Such fields are owned through their descendants; for
 * pruning, they are removed together with all of them.
 */
export function withNamedFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  const named: Record<PathElement, FieldSet> = {};
  for (const element in set) {
    if (element === '.') named[element] = emptySet;
    else named[element] = namedNode(set[element]!, type, element);
  }
  return named;
}

function namedNode(node: FieldSet, type: MergeType | undefined, element: PathElement): FieldSet {
  if (isEmpty(node)) return node;
  const inner = withNamedFields(node, type && typeBelow(type, element));
  const isStructField = element[0] === 'f' && type?.map?.fields.has(element.slice(2));
  return isStructField && !isMember(inner) ? { '.': emptySet, ...inner } : inner;
}

// Cache per set: a schema rarely changes, and versions of an object share their sets.
const reconciled = new WeakMap<FieldSet, MergeType>();

/**
 * Adapts a set to the current schema: lists and maps that have become atomic since the set was written are owned as a
 * whole.
 */
export function reconcile(set: FieldSet, type: MergeType): FieldSet {
  if (reconciled.get(set) === type) return set;
  const result = reconcileNode(set, type, false);
  reconciled.set(result, type);
  return result;
}

function reconcileNode(node: FieldSet, type: MergeType, isOwnedWhole: boolean): FieldSet {
  if (type.map) {
    if (type.map.element === deduced && type.map.fields.size === 0) return node;
    if (!isOwnedWhole && type.map.isAtomic) return isEmpty(node) ? node : emptySet;
  } else if (type.scalar) {
    return node;
  } else if (!isOwnedWhole && type.list?.relation === 'atomic') {
    return emptySet;
  }
  let copy: Record<PathElement, FieldSet> | undefined;
  for (const element in node) {
    if (element === '.') continue;
    const child = node[element]!;
    const below = typeInContainer(type, element);
    const inner = below ? reconcileNode(child, below, isEmpty(child)) : child;
    if (inner === child) continue;
    copy ??= { ...node };
    copy[element] = inner;
  }
  return copy ?? node;
}

function typeInContainer(type: MergeType, element: PathElement): MergeType | undefined {
  if (!type.map) return type.list?.element;
  return element[0] === 'f' ? fieldTypeOf(type.map, element.slice(2)) : type.map.element;
}
