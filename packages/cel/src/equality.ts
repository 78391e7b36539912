/** Equality and order of values. */
import { isDeepStrictEqual } from 'node:util';
import { compareStrings } from '@kruise/values/go-syntax';
import { elementKey, JsonObject, ListValue, MapValue } from './collections.ts';
import { compareTimestamps, Duration, Timestamp } from './time.ts';
import {
  Double,
  EvaluationError,
  type Int,
  isInt,
  maxInt,
  maxUint,
  minInt,
  noSuchOverload,
  ObjectValue,
  Optional,
  orNoSuchOverload,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

/** Returns whether two values are equal. Numbers of different types are compared by value; null equals only null. */
export function equal(a: Value, b: Value): boolean | EvaluationError {
  if (a === null || b === null) return a === b;
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return a === b;
    case 'number':
    case 'bigint':
      return isInt(b) ? a === b : isNumber(b) && compareNumbers(a, b) === 0;
    default:
      return equalObjects(a, b);
  }
}

type Structured = Exclude<Value, null | boolean | string | Int>;

function equalObjects(a: Structured, b: Value): boolean | EvaluationError {
  if (a instanceof ListValue) return equalLists(a, b);
  if (a instanceof MapValue) return equalMaps(a, b);
  if (a instanceof Double || a instanceof Uint) return isNumber(b) && compareNumbers(a, b) === 0;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && compareTimestamps(a, b) === 0;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b);
  if (a instanceof ObjectValue) return a.equals(b);
  return a;
}

function equalOptionals(a: Optional, b: Optional): boolean | EvaluationError {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

function equalLists(a: ListValue, b: Value): boolean | EvaluationError {
  if (!(b instanceof ListValue)) return a.isDeclared && orNoSuchOverload(b);
  if (a.size !== b.size) return false;
  const { identity } = a;
  if (identity !== 'position') return equalByKey(a, b, identity);
  for (let index = 0; index < a.size; index++) {
    const result = equal(a.at(index), b.at(index));
    if (result !== true) return result;
  }
  return true;
}

function equalByKey(a: ListValue, b: ListValue, identity: 'set' | readonly string[]): boolean | EvaluationError {
  const elements = new Map<string, Value>();
  for (const element of a) elements.set(elementKey(element, identity), element);
  for (const element of b) {
    const own = elements.get(elementKey(element, identity));
    if (own === undefined) return false;
    const result = identity === 'set' ? true : equal(own, element);
    if (result !== true) return result;
  }
  return true;
}

function equalMaps(a: MapValue, b: Value): boolean | EvaluationError {
  if (!(b instanceof MapValue)) return a.isDeclared && orNoSuchOverload(b);
  if (a.size !== b.size) return false;
  if (a instanceof JsonObject) return equalObject(a, b);
  for (const [key, value] of a.entries()) {
    const other = b.find(key);
    if (other === undefined) return false;
    const result = equal(value, other);
    if (result !== true) return result;
  }
  return true;
}

function equalObject(a: JsonObject, b: MapValue): boolean | EvaluationError {
  for (const name of Object.keys(a.record)) {
    if (a.type.json?.property?.(name)) {
      const [own, other] = [a.property(name), b instanceof JsonObject ? b.property(name) : b.find(name)];
      if (own === undefined || other === undefined) return false;
      const result = equal(own, other);
      if (result !== true) return result;
    } else {
      // Undeclared properties are compared as JSON, and only if both objects have them.
      if (!(b instanceof JsonObject)) return noSuchOverload;
      if (Object.hasOwn(b.record, name) && !isDeepStrictEqual(a.record[name], b.record[name])) return false;
    }
  }
  return true;
}

/** A number of any of the three types. */
export type CelNumber = Int | Uint | Double;

/** Returns whether a value is a number. */
export const isNumber = (value: Value): value is CelNumber =>
  isInt(value) || value instanceof Uint || value instanceof Double;

/**
 * Returns -1, 0 or 1; NaN if one of the numbers is NaN. Integers are compared with doubles as doubles, inexactly beyond
 * 2^53.
 */
function compareNumbers(a: CelNumber, b: CelNumber): number {
  if (a instanceof Double) return -compareToDouble(b, a.value);
  if (b instanceof Double) return compareToDouble(a, b.value);
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  return left < right ? -1 : left > right ? 1 : 0;
}

function compareToDouble(a: CelNumber, double: number): number {
  if (Number.isNaN(double)) return Number.NaN;
  if (a instanceof Double) return compareFloats(a.value, double);
  if (a instanceof Uint) {
    if (double < 0) return 1;
    return double > Number(maxUint) ? -1 : compareFloats(Number(a.value), double);
  }
  if (double < Number(minInt)) return 1;
  return double > Number(maxInt) ? -1 : compareFloats(Number(a), double);
}

const compareFloats = (a: number, b: number): number => (a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN);

/** Compares two values: returns -1, 0 or 1, or an error if they have no order. */
export function compare(a: Value, b: Value): number | EvaluationError {
  if (isNumber(a)) {
    if (!isNumber(b)) return orNoSuchOverload(b);
    const order = compareNumbers(a, b);
    return Number.isNaN(order) ? new EvaluationError('NaN values cannot be ordered') : order;
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : orNoSuchOverload(b);
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : orNoSuchOverload(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? Buffer.compare(a, b) : orNoSuchOverload(b);
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareTimestamps(a, b) : orNoSuchOverload(b);
  if (a instanceof Duration) {
    if (!(b instanceof Duration)) return orNoSuchOverload(b);
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  return noSuchOverload;
}

/** Returns whether a value has an ordered type. */
export const isOrdered = (value: Value): boolean =>
  isNumber(value) ||
  typeof value === 'string' ||
  typeof value === 'boolean' ||
  value instanceof Uint8Array ||
  value instanceof Timestamp ||
  value instanceof Duration;
