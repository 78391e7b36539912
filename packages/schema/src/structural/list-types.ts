/** Validation of `x-kubernetes-list-type`: items of a set are unique, items of a map-like list have unique keys. */
import type { Cause } from '../field-error.ts';
import { additionalOf, isObject, itemsOf, type JsonObject, type JsonSchema } from './json-schema.ts';
import { fault, shown } from './report.ts';

/** Returns the duplicate items of an object's lists. */
export type FindDuplicates = (object: JsonObject) => Cause[];

/** Returns the search for duplicate items; a schema without sets and map-like lists is skipped. */
export function duplicateFinder(schema: JsonSchema): FindDuplicates {
  const search = searchOf(schema);
  return (object) => {
    const causes: Cause[] = [];
    search?.(object, '', causes);
    return causes;
  };
}

type Search = (value: unknown, path: string, causes: Cause[]) => void;

function searchOf(schema: JsonSchema): Search | undefined {
  const searchItems = listSearch(schema);
  const searchProperties = propertySearch(schema);
  if (!searchItems) return searchProperties;
  if (!searchProperties) return searchItems;
  return (value, path, causes) => {
    searchItems(value, path, causes);
    searchProperties(value, path, causes);
  };
}

function propertySearch(schema: JsonSchema): Search | undefined {
  const properties = new Map<string, Search>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const search = searchOf(property);
    if (search) properties.set(name, search);
  }
  const additionalSchema = additionalOf(schema);
  const additional = additionalSchema && searchOf(additionalSchema);
  if (properties.size === 0 && !additional) return undefined;
  return (value, path, causes) => {
    if (!isObject(value)) return;
    for (const [name, search] of properties) {
      if (Object.hasOwn(value, name)) search(value[name], path === '' ? name : `${path}.${name}`, causes);
    }
    if (!additional) return;
    for (const name in value) additional(value[name], `${path}[${name}]`, causes);
  };
}

function listSearch(schema: JsonSchema): Search | undefined {
  const itemSchema = itemsOf(schema);
  const searchItem = itemSchema && searchOf(itemSchema);
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (!searchItem && listType !== 'set' && listType !== 'map') return undefined;
  return (value, path, causes) => {
    if (!Array.isArray(value)) return;
    if (listType === 'set') reportDuplicates(value, path, causes);
    if (listType === 'map') {
      const stray = value.findIndex((item) => item !== null && !isObject(item));
      const detail = 'must be an object for an array of list-type map';
      if (stray >= 0) causes.push(fault('FieldValueInvalid', `${path}[${stray}]`, value[stray], detail));
      else
        reportDuplicates(
          value.map((item) => keysOf(item, keys)),
          path,
          causes,
        );
    }
    if (!searchItem) return;
    for (const [index, item] of value.entries()) searchItem(item, `${path}[${index}]`, causes);
  };
}

function keysOf(item: JsonObject | null, keys: readonly string[]): JsonObject {
  if (item === null) return {};
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

/** Reports a value at its second occurrence, and not again after that. */
function reportDuplicates(values: readonly unknown[], path: string, causes: Cause[]): void {
  if (values.length < 2) return;
  const counts = new Map<unknown, number>();
  values.forEach((value, index) => {
    // Objects are printed with sorted fields, so that equal objects have equal texts.
    const identity = typeof value === 'object' && value !== null ? `${typeof value} ${shown(value)}` : value;
    const count = (counts.get(identity) ?? 0) + 1;
    counts.set(identity, count);
    if (count !== 2) return;
    causes.push({
      reason: 'FieldValueDuplicate',
      field: `${path}[${index}]`,
      message: `Duplicate value: ${shown(value)}`,
    });
  });
}
