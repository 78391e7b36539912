import { fieldTypeOf, type ListMergeType, type MapMergeType, type MergeType } from '@kruise/schema/merge-type';
import { formatGoSyntax, formatValue } from '@kruise/values/go-syntax';
import { fieldElement, printPathElement } from '../field-set/path-element.ts';
import type { JsonObject } from '../json-value.ts';
import { goTypeOf } from '../strategic-merge-error.ts';
import { itemElement, ListItemError, shapeOf } from './list-item.ts';

/** A value does not match its schema. The message lists every error with its path. */
export class TypedValueError extends Error {
  override readonly name = 'TypedValueError';

  constructor(faults: readonly string[]) {
    super(faults.length === 1 ? faults[0] : ['errors:', ...faults.map((fault) => `  ${fault}`)].join('\n'));
  }
}

/**
 * Throws `TypedValueError` unless a value has only known fields of the correct types and no duplicate keys.
 *
 * ```ts
 * validate({ spec: { replicas: 3 } }, mergeTypeOf(deployment.root)); // throws a TypedValueError if a list key is missing
 * ```
 */
export function validate(value: unknown, type: MergeType): void {
  const faults: string[] = [];
  visit(value, type, '', faults);
  if (faults.length > 0) throw new TypedValueError(faults);
}

function visit(value: unknown, type: MergeType, path: string, faults: string[]): void {
  if (value === null) return;
  switch (shapeOf(type, value)) {
    case 'map':
      if (typeof value === 'object' && !Array.isArray(value)) visitMap(value as JsonObject, type.map!, path, faults);
      else faults.push(fault(path, `expected map, got &{${formatValue(value)}}`));
      return;
    case 'list':
      if (Array.isArray(value)) visitList(value, type.list!, path, faults);
      else faults.push(fault(path, `expected list, got &{${formatValue(value)}}`));
      return;
    case 'scalar':
      visitScalar(value, type, path, faults);
  }
}

function visitMap(value: JsonObject, map: MapMergeType, path: string, faults: string[]): void {
  for (const name of Object.keys(value)) {
    const type = fieldTypeOf(map, name);
    const inner = path + printPathElement(fieldElement(name));
    if (!type) {
      // The rest of the map is not validated, as in Kubernetes: an unknown field often means a wrong level.
      faults.push(fault(inner, 'field not declared in schema'));
      return;
    }
    visit(value[name], type, inner, faults);
  }
}

function visitList(value: readonly unknown[], list: ListMergeType, path: string, faults: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    let step = `[${index}]`;
    if (list.relation !== 'atomic') {
      const element = elementOrFault(list, item);
      if (element instanceof ListItemError) {
        faults.push(fault(path, `element ${index}: ${element.message}`));
        return;
      }
      step = printPathElement(element);
      if (seen.has(element)) faults.push(fault(path, `duplicate entries for key ${step}`));
      seen.add(element);
    }
    visit(item, list.element, path + step, faults);
  }
}

function elementOrFault(list: ListMergeType, item: unknown): string | ListItemError {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (error instanceof ListItemError) return error;
    throw error;
  }
}

function visitScalar(value: unknown, type: MergeType, path: string, faults: string[]): void {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  switch (type.scalar) {
    case 'numeric':
      if (!isNumber) faults.push(fault(path, `expected numeric (int or float), got ${goTypeOf(value)}`));
      return;
    case 'string':
      if (typeof value === 'string') return;
      faults.push(fault(path, `expected string, got &value.valueUnstructured{Value:${formatGoSyntax(value)}}`));
      return;
    case 'boolean':
      if (typeof value !== 'boolean') faults.push(fault(path, `expected boolean, got &{${formatValue(value)}}`));
      return;
    default:
      if (typeof value === 'object') faults.push(fault(path, `expected any scalar, got &{${formatValue(value)}}`));
  }
}

function fault(path: string, message: string): string {
  return path === '' ? message : `${path}: ${message}`;
}
