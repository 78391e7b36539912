import { onePass } from '../costs.ts';
import { formatDouble } from '../format-value.ts';
import { type Cost, type FunctionDeclaration, type Implementation, overload } from '../functions.ts';
import {
  Duration,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  Timestamp,
  timestampFromUnix,
} from '../time.ts';
import { typeNameOf } from '../type-names.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  type Type,
  timestampType,
  typeOf,
  typeParameter,
  uintType,
} from '../types.ts';
import {
  Double,
  EvaluationError,
  type Int,
  isInt,
  maxInt,
  maxUint,
  minInt,
  orNoSuchOverload,
  TypeValue,
  toInt,
  Uint,
  type Value,
} from '../values.ts';

const a = typeParameter('A');
const b = typeParameter('B');
const _listOfA = listType(a);
const _mapOfAB = mapType(a, b);

const conversionError = (from: Value, to: string): EvaluationError =>
  new EvaluationError(`type conversion error from '${typeDisplayName(from)}' to '${to}'`);

function typeDisplayName(value: Value): string {
  return typeNameOf(value);
}

function toIntValue(value: Value): Value {
  if (isInt(value)) return value;
  if (value instanceof Double) return doubleToInt(value.value);
  if (value instanceof Uint) return value.value > maxInt ? new EvaluationError('integer overflow') : toInt(value.value);
  if (value instanceof Timestamp) return value.seconds;
  if (value instanceof Duration) return toInt(value.nanos);
  if (typeof value === 'string') return parseIntText(value) ?? conversionError(value, 'int');
  return orNoSuchOverload(value);
}

function doubleToInt(value: number): Int | EvaluationError {
  if (!Number.isFinite(value) || value <= Number(minInt) || value >= Number(maxInt)) {
    return new EvaluationError('integer overflow');
  }
  return toInt(BigInt(Math.trunc(value)));
}

function parseIntText(text: string): Int | undefined {
  if (!/^[+-]?[0-9]{1,40}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value < minInt || value > maxInt ? undefined : toInt(value);
}

function toUintValue(value: Value): Value {
  const overflow = new EvaluationError('unsigned integer overflow');
  if (value instanceof Uint) return value;
  if (isInt(value)) return value < 0 ? overflow : new Uint(BigInt(value));
  if (value instanceof Double) {
    const { value: double } = value;
    if (!Number.isFinite(double) || double < 0 || double >= 2 ** 64) return overflow;
    return new Uint(BigInt(Math.trunc(double)));
  }
  if (typeof value === 'string') {
    const parsed = /^[0-9]{1,40}$/.test(value) ? BigInt(value) : undefined;
    return parsed === undefined || parsed > maxUint ? conversionError(value, 'uint') : new Uint(parsed);
  }
  return orNoSuchOverload(value);
}

const floatText = /^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)$/;
const specialFloats = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
]);

/** Parses a floating point number like Go; returns undefined if it is invalid or too large. */
export function parseDouble(text: string): number | undefined {
  if (floatText.test(text)) {
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }
  const isNegative = text[0] === '-';
  const special = specialFloats.get(text.replace(/^[+-]/, '').toLowerCase());
  return special === undefined ? undefined : isNegative ? -special : special;
}

function toDoubleValue(value: Value): Value {
  if (value instanceof Double) return value;
  if (isInt(value)) return new Double(Number(value));
  if (value instanceof Uint) return new Double(Number(value.value));
  if (typeof value === 'string') {
    const parsed = parseDouble(value);
    return parsed === undefined ? conversionError(value, 'double') : new Double(parsed);
  }
  return orNoSuchOverload(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Converts a value like `string(…)`. */
export function toStringValue(value: Value): string | EvaluationError {
  if (typeof value === 'string') return value;
  if (isInt(value) || typeof value === 'boolean') return String(value);
  if (value instanceof Double) return formatDouble(value.value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (value === null) return 'null';
  if (value instanceof Uint8Array) {
    try {
      return utf8.decode(value);
    } catch {
      return new EvaluationError('invalid UTF-8 in bytes, cannot convert to string');
    }
  }
  return orNoSuchOverload(value);
}

const booleans = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

const identity: Implementation = (value) => value!;
const encoder = new TextEncoder();

const convert = (
  name: string,
  type: Type,
  implementation: Implementation,
  sources: readonly (readonly [string, Type, Cost?])[],
): FunctionDeclaration => ({
  name,
  overloads: sources.map(([id, source, cost]) =>
    overload(id, [source], type, source === type ? identity : implementation, cost && { cost }),
  ),
});

/** Conversion functions. */
export const conversions: readonly FunctionDeclaration[] = [
  {
    name: 'type',
    overloads: [overload('type', [a], typeOf(a))],
    call: (value) => new TypeValue(typeNameOf(value!)),
  },
  { name: 'dyn', overloads: [overload('to_dyn', [a], dynType)], call: identity },
  convert('bool', boolType, (text) => booleans.get(text as string) ?? conversionError(text!, 'bool'), [
    ['bool_to_bool', boolType],
    ['string_to_bool', stringType],
  ]),
  convert('bytes', bytesType, (text) => encoder.encode(text as string), [
    ['bytes_to_bytes', bytesType],
    // A character takes at most four bytes.
    ['string_to_bytes', stringType, onePass(({ min, max }) => ({ min, max: BigInt.asUintN(64, max * 4n) }))],
  ]),
  convert('double', doubleType, toDoubleValue as Implementation, [
    ['double_to_double', doubleType],
    ['int64_to_double', intType],
    ['string_to_double', stringType],
    ['uint64_to_double', uintType],
  ]),
  convert(
    'duration',
    durationType,
    (value) => {
      if (typeof value !== 'string') return conversionError(value!, 'google.protobuf.Duration');
      return parseDuration(value) ?? conversionError(value, 'google.protobuf.Duration');
    },
    [
      ['duration_to_duration', durationType],
      ['int64_to_duration', intType],
      ['string_to_duration', stringType],
    ],
  ),
  convert('int', intType, toIntValue as Implementation, [
    ['int64_to_int64', intType],
    ['double_to_int64', doubleType],
    ['duration_to_int64', durationType],
    ['string_to_int64', stringType],
    ['timestamp_to_int64', timestampType],
    ['uint64_to_int64', uintType],
  ]),
  convert('string', stringType, toStringValue as Implementation, [
    ['string_to_string', stringType],
    ['bool_to_string', boolType],
    ['bytes_to_string', bytesType, onePass(({ min, max }) => ({ min: min / 4n, max }))],
    ['double_to_string', doubleType],
    ['duration_to_string', durationType],
    ['int64_to_string', intType],
    ['timestamp_to_string', timestampType],
    ['uint64_to_string', uintType],
  ]),
  convert(
    'timestamp',
    timestampType,
    (value) => {
      if (isInt(value)) return timestampFromUnix(value);
      return parseTimestamp(value as string) ?? conversionError(value!, 'google.protobuf.Timestamp');
    },
    [
      ['timestamp_to_timestamp', timestampType],
      ['int64_to_timestamp', intType],
      ['string_to_timestamp', stringType],
    ],
  ),
  convert('uint', uintType, toUintValue as Implementation, [
    ['uint64_to_uint64', uintType],
    ['double_to_uint64', doubleType],
    ['int64_to_uint64', intType],
    ['string_to_uint64', stringType],
  ]),
];
