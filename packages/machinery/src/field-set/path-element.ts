/**
 * Path elements of field sets, in the text format of the keys of `fieldsV1`:
 *
 * | text | selects |
 * | --- | --- |
 * | `f:name` | a field of a map |
 * | `k:{"port":80,"protocol":"TCP"}` | the item of a list with these key fields |
 * | `v:"value"` | the item of a set with this value |
 * | `i:0` | the item of a list at this index |
 *
 * Each element has exactly one text, so elements are equal if their texts are equal.
 */
import { stringify, stringifySorted } from '@kruise/values/go-json';
import { compareStrings, formatNumber, quote } from '@kruise/values/go-syntax';
import { isObject, type JsonObject } from '../json-value.ts';

/** A path element in the text format of `fieldsV1`. */
export type PathElement = string;

/** Cache of recent elements: comparing identical strings takes constant time. */
const fieldElements = new Map<string, PathElement>();
const maxFieldElements = 4096;
/** Longer names are not cached: field names are short, but map keys of clients may be long. */
const maxFieldLength = 256;

/** Returns the element of a field of a map. */
export function fieldElement(name: string): PathElement {
  if (name.length > maxFieldLength) return `f:${name}`;
  let element = fieldElements.get(name);
  if (element === undefined) {
    element = `f:${name}`;
    if (fieldElements.size >= maxFieldElements) fieldElements.clear();
    fieldElements.set(name, element);
  }
  return element;
}

const plainText = /^[\w.\-/:]*$/;

/** Returns the element of a list item with these key fields. */
export function keyElement(names: readonly string[], values: readonly unknown[]): PathElement {
  let text = 'k:{';
  for (let index = 0; index < names.length; index++) {
    if (index > 0) text += ',';
    text += `${scalarText(names[index])}:${scalarText(values[index])}`;
  }
  return `${text}}`;
}

/** Returns the element of a set item with this value. */
export function valueElement(value: unknown): PathElement {
  return `v:${scalarText(value)}`;
}

function scalarText(value: unknown): string {
  return typeof value === 'string' && plainText.test(value) ? `"${value}"` : stringifySorted(value);
}

/** A key of `fieldsV1` is invalid. */
export class PathElementError extends Error {
  override readonly name = 'PathElementError';
}

/** Returns the canonical text of an element from a client; `undefined` for unknown element types, which are ignored. */
export function readPathElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new PathElementError('key must be 2 characters long:');
  if (text[1] !== ':') throw new PathElementError(`missing colon: ${text}`);
  switch (text[0]) {
    case 'f':
      return text;
    case 'v':
      return valueElement(parse(text));
    case 'k': {
      const key = parse(text);
      if (!isObject(key)) throw new PathElementError(`expected an object: ${text}`);
      const names = Object.keys(key).sort(compareStrings);
      return keyElement(
        names,
        names.map((name) => key[name]),
      );
    }
    case 'i':
      if (!/^i:[+-]?\d{1,18}$/.test(text))
        throw new PathElementError(`parsing ${stringify(text.slice(2))}: invalid syntax`);
      return `i:${BigInt(text.slice(text[2] === '+' ? 3 : 2))}`;
    default:
      return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.slice(2));
  } catch (error) {
    throw new PathElementError(`invalid JSON: ${text}`, { cause: error });
  }
}

/** Formats an element for messages: `.spec`, `[name="nginx"]`, `[="value"]`, `[0]`. */
export function printPathElement(element: PathElement): string {
  const rest = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${rest}`;
    case 'k':
      return `[${Object.entries(JSON.parse(rest) as JsonObject)
        .map(([name, value]) => `${name}=${printValue(value)}`)
        .join(',')}]`;
    case 'v':
      return `[=${printValue(JSON.parse(rest))}]`;
    default:
      return `[${rest}]`;
  }
}

function printValue(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return formatNumber(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`;
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${printValue(member)}`)
    .join('');
}

const ranks: { readonly [kind: string]: number } = { f: 0, k: 1, v: 2, i: 3 };

/** Sorts elements as Go does: fields by name, then items by key, by value, by index. */
export function sortPathElements(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements;
  if (elements.every((element) => element[0] === 'f')) return elements.sort(compareStrings);
  return elements
    .map((element) => ({ element, key: sortKey(element) }))
    .sort((a, b) => comparePathKeys(a.element, a.key, b.element, b.key))
    .map(({ element }) => element);
}

/** Compares two elements. */
export function comparePathElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  if (a[0] === 'f' && b[0] === 'f') return compareStrings(a, b);
  return comparePathKeys(a, sortKey(a), b, sortKey(b));
}

/** Reports whether an element is in canonical form. */
export function isCanonicalElement(element: PathElement): boolean {
  if (element[1] !== ':') return false;
  if (element[0] === 'f') return true;
  if (element[0] === 'k') {
    const plain = plainKey.exec(element);
    if (plain) return plain[3] === undefined || plain[1]! < plain[3];
  } else if (element[0] === 'v' && plainValue.test(element)) {
    return true;
  }
  try {
    return readPathElement(element) === element;
  } catch {
    return false;
  }
}

// Fast path: nearly all items have one or two key fields with plain text or integers, and need no parser.
const plainScalar = /"[\w.\-/:]*"|0|[1-9]\d{0,14}/.source;
const plainKey = new RegExp(`^k:\\{"(\\w+)":(${plainScalar})(?:,"(\\w+)":(${plainScalar}))?\\}$`);
const plainValue = new RegExp(`^v:(?:${plainScalar})$`);

/** Returns the sort key of an element: a name, a value, or the names and values of key fields in turn. */
function sortKey(element: PathElement): unknown {
  if (element[0] === 'f') return element;
  const plain = element[0] === 'k' ? plainKey.exec(element) : null;
  if (!plain) {
    const parsed: unknown = JSON.parse(element.slice(2));
    return element[0] === 'k' ? Object.entries(parsed as JsonObject).flat() : parsed;
  }
  const [, name, value, secondName, secondValue] = plain;
  if (secondName === undefined) return [name, plainScalarOf(value!)];
  return [name, plainScalarOf(value!), secondName, plainScalarOf(secondValue!)];
}

function plainScalarOf(text: string): string | number {
  return text[0] === '"' ? text.slice(1, -1) : Number(text);
}

function comparePathKeys(a: PathElement, left: unknown, b: PathElement, right: unknown): number {
  const order = ranks[a[0]!]! - ranks[b[0]!]!;
  if (order !== 0) return order;
  return a[0] === 'k'
    ? compareLists(left as readonly unknown[], right as readonly unknown[])
    : compareValues(left, right);
}

/** Order of types: numbers, strings, booleans, lists, maps, null. */
function compareValues(a: unknown, b: unknown): number {
  const order = typeRank(a) - typeRank(b);
  if (order !== 0) return order;
  if (typeof a === 'number' || typeof a === 'boolean') return Number(a) - Number(b);
  if (typeof a === 'string') return compareStrings(a, b as string);
  if (Array.isArray(a)) return compareLists(a, b as readonly unknown[]);
  return a === null ? 0 : compareLists(byName(a as JsonObject), byName(b as JsonObject));
}

function compareLists(a: readonly unknown[], b: readonly unknown[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareValues(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function byName(object: JsonObject): readonly unknown[] {
  return Object.entries(object)
    .sort(([a], [b]) => compareStrings(a, b))
    .flat();
}

function typeRank(value: unknown): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}
