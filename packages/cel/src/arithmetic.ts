/** The arithmetic operators, with the overflow rules of 64-bit integers. */
import { concatenate, ListValue, MapValue } from './collections.ts';
import {
  addDuration,
  addDurations,
  Duration,
  negateDuration,
  subtractDurations,
  subtractTimestamps,
  Timestamp,
} from './time.ts';
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
  orNoSuchOverload,
  toInt,
  Uint,
  type Value,
} from './values.ts';

const intOverflow = new EvaluationError('integer overflow');
const uintOverflow = new EvaluationError('unsigned integer overflow');
const divisionByZero = new EvaluationError('division by zero');
const modulusByZero = new EvaluationError('modulus by zero');

const checkedInt = (value: bigint): Int | EvaluationError =>
  value < minInt || value > maxInt ? intOverflow : toInt(value);
const checkedUint = (value: bigint): Uint | EvaluationError =>
  value < 0n || value > maxUint ? uintOverflow : new Uint(value);

/** Returns the error of an operator that is not defined for a value. Strings and times have different messages. */
export function undefinedFor(name: string, value: Value): EvaluationError {
  if (value instanceof EvaluationError) return value;
  const isReceiver = typeof value === 'string' || value instanceof Timestamp || value instanceof Duration;
  return isReceiver ? noSuchOverload : new EvaluationError(`no such overload: ${name}`);
}

/** `a + b`: numbers, strings, bytes, lists, times. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    return Number.isSafeInteger(sum) ? sum : checkedInt(BigInt(a) + BigInt(b));
  }
  if (typeof a === 'string') return typeof b === 'string' ? a + b : orNoSuchOverload(b);
  if (isInt(a)) return isInt(b) ? checkedInt(BigInt(a) + BigInt(b)) : orNoSuchOverload(b);
  if (a instanceof ListValue) return concatenate(a, b);
  if (a instanceof Double) return b instanceof Double ? new Double(a.value + b.value) : orNoSuchOverload(b);
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value + b.value) : orNoSuchOverload(b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? joinBytes(a, b) : orNoSuchOverload(b);
  if (a instanceof Duration) {
    if (b instanceof Duration) return addDurations(a, b);
    return b instanceof Timestamp ? addDuration(b, a) : orNoSuchOverload(b);
  }
  if (a instanceof Timestamp) return b instanceof Duration ? addDuration(a, b) : orNoSuchOverload(b);
  return undefinedFor('_+_', a);
}

function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

/** `a - b`: numbers and times. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    return Number.isSafeInteger(difference) ? difference : checkedInt(BigInt(a) - BigInt(b));
  }
  if (isInt(a)) return isInt(b) ? checkedInt(BigInt(a) - BigInt(b)) : orNoSuchOverload(b);
  if (a instanceof Double) return b instanceof Double ? new Double(a.value - b.value) : orNoSuchOverload(b);
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value - b.value) : orNoSuchOverload(b);
  if (a instanceof Duration) return b instanceof Duration ? subtractDurations(a, b) : orNoSuchOverload(b);
  if (a instanceof Timestamp) {
    if (b instanceof Timestamp) return subtractTimestamps(a, b);
    if (!(b instanceof Duration)) return orNoSuchOverload(b);
    const back = negateDuration(b);
    return back instanceof EvaluationError ? back : addDuration(a, back);
  }
  return undefinedFor('_-_', a);
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return orNoSuchOverload(b);
    if (typeof a === 'number' && typeof b === 'number') {
      const product = a * b;
      // `-2 * 0` is the float -0, which is not a distinct integer.
      if (Number.isSafeInteger(product)) return product + 0;
    }
    return checkedInt(BigInt(a) * BigInt(b));
  }
  if (a instanceof Double) return b instanceof Double ? new Double(a.value * b.value) : orNoSuchOverload(b);
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value * b.value) : orNoSuchOverload(b);
  return undefinedFor('_*_', a);
}

/** `a / b`; of integers, rounded toward zero. */
export function divide(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return orNoSuchOverload(b);
    if (b === 0) return divisionByZero;
    if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
    return checkedInt(BigInt(a) / BigInt(b));
  }
  if (a instanceof Double) return b instanceof Double ? new Double(a.value / b.value) : orNoSuchOverload(b);
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return orNoSuchOverload(b);
    return b.value === 0n ? divisionByZero : new Uint(a.value / b.value);
  }
  return undefinedFor('_/_', a);
}

/** `a % b`, with the sign of `a`. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a)) {
    if (!isInt(b)) return orNoSuchOverload(b);
    if (b === 0) return modulusByZero;
    if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
    // Only this quotient is out of range; cel-go also reports an overflow for the remainder.
    if (a === minInt && b === -1) return intOverflow;
    return checkedInt(BigInt(a) % BigInt(b));
  }
  if (a instanceof Uint) {
    if (!(b instanceof Uint)) return orNoSuchOverload(b);
    return b.value === 0n ? modulusByZero : new Uint(a.value % b.value);
  }
  return undefinedFor('_%_', a);
}

/** `-a`. */
export function negate(value: Value): Value {
  if (typeof value === 'number') return 0 - value;
  if (typeof value === 'bigint') return checkedInt(-value);
  if (value instanceof Double) return new Double(-value.value);
  if (value instanceof Duration) return negateDuration(value);
  if (typeof value === 'boolean') return noSuchOverload;
  return undefinedFor('-_', value);
}

/** Returns whether a value is the zero value of its type: zero, empty, or false. */
export function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return value.seconds === -62135596800 && value.nanos === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  // JSON with a declared type is never a zero value.
  if (value instanceof ListValue || value instanceof MapValue) return value.size === 0 && !value.isDeclared;
  return value instanceof ObjectValue && value.isZero;
}
