/** The functions and operators every CEL has. */
import { add, divide, modulo, multiply, negate, subtract } from '../arithmetic.ts';
import { ListValue, MapValue } from '../collections.ts';
import {
  addRanges,
  fixed,
  lesser,
  multiplyRanges,
  regexCost,
  regexEstimate,
  scale,
  stringFactor,
  traversal,
} from '../costs.ts';
import { compare, equal, isOrdered } from '../equality.ts';
import { formatDouble } from '../format-value.ts';
import {
  type ActualCost,
  type CallShape,
  type Cost,
  type FunctionDeclaration,
  type Implementation,
  method,
  type Overload,
  overload,
  type Range,
} from '../functions.ts';
import type { Library } from '../library.ts';
import { standardMacros } from '../macros.ts';
import { compileRegex, type RegexFunction } from '../regex.ts';
import {
  type CalendarFields,
  calendarFields,
  Duration,
  durationIn,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  Timestamp,
  timestampFromUnix,
} from '../time.ts';
import { sizeOf, typeNameOf } from '../type-names.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listType,
  mapType,
  nullType,
  stringType,
  type Type,
  timestampType,
  typeOf,
  typeParameter,
  typeType,
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
  noSuchOverload,
  ObjectValue,
  Optional,
  orNoSuchOverload,
  TypeValue,
  toInt,
  Uint,
  type Value,
} from '../values.ts';

const a = typeParameter('A');
const b = typeParameter('B');
const listOfA = listType(a);
const mapOfAB = mapType(a, b);

const receivers = (value: Value): boolean =>
  typeof value === 'string' || value instanceof Timestamp || value instanceof Duration;

/** The error of an operator used on a value it is not defined for. */
const undefinedFor = (name: string, value: Value): EvaluationError =>
  receivers(value) ? noSuchOverload : new EvaluationError(`no such overload: ${name}`);

// Costs.

/** Both sides are compared until the shorter ends. */
const shorterOperand: Cost = {
  actual: ([left, right]) => Math.ceil(Math.min(comparedSize(left!), comparedSize(right!)) * stringFactor),
  estimate: ({ args }) => {
    const max = lesser(args[0]!.size.max, args[1]!.size.max);
    return { cost: scale({ min: max > 0n ? 1n : 0n, max }, stringFactor) };
  },
};

function comparedSize(value: Value): number {
  if (value instanceof Optional) return value.value === undefined ? 1 : comparedSize(value.value);
  return sizeOf(value);
}

const joinedOperands: Cost = {
  actual: ([left, right]) => Math.ceil((comparedSize(left!) + comparedSize(right!)) * stringFactor),
  estimate: ({ args }) => {
    const resultSize = addRanges(args[0]!.size, args[1]!.size);
    return { cost: scale(resultSize, stringFactor), resultSize };
  },
};

const joinedLists: Cost = {
  estimate: ({ args }) => ({ cost: fixed(1), resultSize: addRanges(args[0]!.size, args[1]!.size) }),
};

const searchedList: Cost = {
  actual: ([, list]) => comparedSize(list!),
  estimate: ({ args }) => ({ cost: args[1]!.size }),
};

/** One pass over the argument at `index`; estimates count the last argument, as the reference does. */
const onePass = (resultSize?: (size: Range) => Range): Cost => ({
  actual: traversal(0),
  estimate: ({ args }) => {
    const size = args[0]!.size;
    return { cost: scale(size, stringFactor), ...(resultSize && { resultSize: resultSize(size) }) };
  },
});

const containment: Cost = {
  actual: ([text, part]) => Math.ceil(sizeOf(text!) * stringFactor) * Math.ceil(sizeOf(part!) * stringFactor),
  estimate: ({ target, args }) => ({
    cost: multiplyRanges(scale(target!.size, stringFactor), scale(args[0]!.size, stringFactor)),
  }),
};

const matching: Cost = {
  actual: ([text, pattern]) => regexCost(sizeOf(text!), sizeOf(pattern!)),
  estimate: ({ target, args }: CallShape) => ({ cost: regexEstimate(target!.size, args[0]!.size) }),
};

/** Objects of libraries are compared at a fixed price. */
const equality: ActualCost = ([left, right]) =>
  left instanceof ObjectValue ? 1 : shorterOperand.actual!([left!, right!], true, '');

// Operators.

function relation(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const text = { cost: shorterOperand };
  const pairs: readonly (readonly [string, Type, Type, { cost: Cost }?])[] = [
    ['bool', boolType, boolType],
    ['int64', intType, intType],
    ['int64_double', intType, doubleType],
    ['int64_uint64', intType, uintType],
    ['uint64', uintType, uintType],
    ['uint64_double', uintType, doubleType],
    ['uint64_int64', uintType, intType],
    ['double', doubleType, doubleType],
    ['double_int64', doubleType, intType],
    ['double_uint64', doubleType, uintType],
    ['string', stringType, stringType, text],
    ['bytes', bytesType, bytesType, text],
    ['timestamp', timestampType, timestampType],
    ['duration', durationType, durationType],
  ];
  return {
    name,
    overloads: pairs.map(([suffix, left, right, more]) =>
      overload(`${id}_${suffix}`, [left, right], boolType, undefined, more),
    ),
    call: (left, right) => {
      if (typeof left === 'number' && typeof right === 'number') return holds(left - right);
      if (!isOrdered(left!)) return undefinedFor(name, left!);
      const order = compare(left!, right!);
      return order instanceof EvaluationError ? order : holds(order);
    },
  };
}

const operators: readonly FunctionDeclaration[] = [
  { name: '_?_:_', overloads: [overload('conditional', [boolType, a, a], a)] },
  { name: '_&&_', overloads: [overload('logical_and', [boolType, boolType], boolType)] },
  { name: '_||_', overloads: [overload('logical_or', [boolType, boolType], boolType)] },
  {
    name: '!_',
    overloads: [overload('logical_not', [boolType], boolType)],
    call: (value) => (typeof value === 'boolean' ? !value : orNoSuchOverload(value!)),
  },
  {
    name: '@not_strictly_false',
    overloads: [
      overload('not_strictly_false', [boolType], boolType, (value) => (typeof value === 'boolean' ? value : true), {
        takesErrors: true,
      }),
    ],
  },
  {
    name: '_==_',
    overloads: [overload('equals', [a, a], boolType, undefined, { cost: { ...shorterOperand, actual: equality } })],
  },
  { name: '_!=_', overloads: [overload('not_equals', [a, a], boolType, undefined, { cost: shorterOperand })] },
  {
    name: '_+_',
    overloads: [
      overload('add_bytes', [bytesType, bytesType], bytesType, undefined, { cost: joinedOperands }),
      overload('add_double', [doubleType, doubleType], doubleType),
      overload('add_duration_duration', [durationType, durationType], durationType),
      overload('add_duration_timestamp', [durationType, timestampType], timestampType),
      overload('add_timestamp_duration', [timestampType, durationType], timestampType),
      overload('add_int64', [intType, intType], intType),
      overload('add_list', [listOfA, listOfA], listOfA, undefined, { cost: joinedLists }),
      overload('add_string', [stringType, stringType], stringType, undefined, { cost: joinedOperands }),
      overload('add_uint64', [uintType, uintType], uintType),
    ],
    call: add as Implementation,
  },
  {
    name: '_/_',
    overloads: [
      overload('divide_double', [doubleType, doubleType], doubleType),
      overload('divide_int64', [intType, intType], intType),
      overload('divide_uint64', [uintType, uintType], uintType),
    ],
    call: divide as Implementation,
  },
  {
    name: '_%_',
    overloads: [
      overload('modulo_int64', [intType, intType], intType),
      overload('modulo_uint64', [uintType, uintType], uintType),
    ],
    call: modulo as Implementation,
  },
  {
    name: '_*_',
    overloads: [
      overload('multiply_double', [doubleType, doubleType], doubleType),
      overload('multiply_int64', [intType, intType], intType),
      overload('multiply_uint64', [uintType, uintType], uintType),
    ],
    call: multiply as Implementation,
  },
  {
    name: '-_',
    overloads: [overload('negate_double', [doubleType], doubleType), overload('negate_int64', [intType], intType)],
    call: negate as Implementation,
  },
  {
    name: '_-_',
    overloads: [
      overload('subtract_double', [doubleType, doubleType], doubleType),
      overload('subtract_duration_duration', [durationType, durationType], durationType),
      overload('subtract_int64', [intType, intType], intType),
      overload('subtract_timestamp_duration', [timestampType, durationType], timestampType),
      overload('subtract_timestamp_timestamp', [timestampType, timestampType], durationType),
      overload('subtract_uint64', [uintType, uintType], uintType),
    ],
    call: subtract as Implementation,
  },
  relation('_<_', 'less', (order) => order < 0),
  relation('_<=_', 'less_equals', (order) => order <= 0),
  relation('_>_', 'greater', (order) => order > 0),
  relation('_>=_', 'greater_equals', (order) => order >= 0),
  {
    name: '_[_]',
    overloads: [overload('index_list', [listOfA, intType], a), overload('index_map', [mapOfAB, a], b)],
  },
  {
    name: '@in',
    overloads: [
      overload('in_list', [a, listOfA], boolType, undefined, { cost: searchedList }),
      overload('in_map', [a, mapOfAB], boolType),
    ],
    call: (element, collection) => contains(collection!, element!),
  },
  {
    name: 'size',
    overloads: [
      overload('size_bytes', [bytesType], intType),
      method('bytes_size', [bytesType], intType),
      overload('size_list', [listOfA], intType),
      method('list_size', [listOfA], intType),
      overload('size_map', [mapOfAB], intType),
      method('map_size', [mapOfAB], intType),
      overload('size_string', [stringType], intType),
      method('string_size', [stringType], intType),
    ],
    call: (value) => {
      const isSized =
        typeof value === 'string' ||
        value instanceof Uint8Array ||
        value instanceof ListValue ||
        value instanceof MapValue;
      return isSized ? sizeOf(value) : undefinedFor('size', value!);
    },
  },
];

/** Whether a list has an element, or a map a key. */
export function contains(collection: Value, element: Value): Value {
  if (collection instanceof MapValue) {
    const found = collection.find(element);
    return found instanceof EvaluationError ? found : found !== undefined;
  }
  if (!(collection instanceof ListValue)) return orNoSuchOverload(collection);
  let error: EvaluationError | undefined;
  for (let index = 0; index < collection.size; index++) {
    const result = equal(collection.at(index), element);
    if (result === true) return true;
    if (result !== false && collection.isDeclared) error ??= result;
  }
  return error ?? false;
}

// Conversions.

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

/** Reads a floating point number as Go does; undefined when it is none or too large. */
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

/** A value as `string(…)` shows it. */
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

const conversions: readonly FunctionDeclaration[] = [
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

// Strings.

/** A test of one string against another. Both are checked by the caller only if their types were known. */
const stringTest =
  (test: (text: string, other: string) => boolean): Implementation =>
  (text, other) => {
    if (typeof text !== 'string') return orNoSuchOverload(text!);
    return typeof other === 'string' ? test(text, other) : orNoSuchOverload(other!);
  };

const matches: Implementation = (text, pattern) => {
  if (typeof text !== 'string') return undefinedFor('matches', text!);
  if (typeof pattern !== 'string') return orNoSuchOverload(pattern!);
  const regex = compileRegex(pattern);
  return regex instanceof EvaluationError ? regex : regex.test(text);
};

const strings: readonly FunctionDeclaration[] = [
  {
    name: 'contains',
    overloads: [method('contains_string', [stringType, stringType], boolType, undefined, { cost: containment })],
    call: stringTest((text, part) => text.includes(part)),
  },
  {
    name: 'endsWith',
    overloads: [method('ends_with_string', [stringType, stringType], boolType, undefined, { cost: onePass() })],
    call: stringTest((text, suffix) => text.endsWith(suffix)),
  },
  {
    name: 'startsWith',
    overloads: [method('starts_with_string', [stringType, stringType], boolType, undefined, { cost: onePass() })],
    call: stringTest((text, prefix) => text.startsWith(prefix)),
  },
  {
    name: 'matches',
    overloads: [
      overload('matches', [stringType, stringType], boolType),
      method('matches_string', [stringType, stringType], boolType, undefined, { cost: matching }),
    ],
    call: matches,
  },
];

const regexFunctions: ReadonlyMap<string, RegexFunction> = new Map([
  [
    'matches',
    (pattern: string): Implementation | EvaluationError => {
      const regex = compileRegex(pattern);
      if (regex instanceof EvaluationError) return regex;
      return (text) => (typeof text === 'string' ? regex.test(text) : orNoSuchOverload(text!));
    },
  ],
]);

// Times.

function calendar(
  name: string,
  id: string,
  part: (fields: CalendarFields, timestamp: Timestamp) => number,
): FunctionDeclaration {
  const at = (timestamp: Value, zone: Value): Value => {
    const fields = calendarFields(timestamp as Timestamp, zone as string);
    return fields instanceof EvaluationError ? fields : part(fields, timestamp as Timestamp);
  };
  return {
    name,
    overloads: [
      method(id, [timestampType], intType, (timestamp) => at(timestamp!, 'UTC')),
      method(`${id}_with_tz`, [timestampType, stringType], intType, (timestamp, zone) => at(timestamp!, zone!)),
    ],
  };
}

function clock(
  name: string,
  id: { timestamp: string; duration: string },
  part: (fields: CalendarFields, timestamp: Timestamp) => number,
  whole: (duration: Duration) => Int,
): FunctionDeclaration {
  const declaration = calendar(name, id.timestamp, part);
  const ofDuration: Overload = method(id.duration, [durationType], intType, (value) => whole(value as Duration));
  return { ...declaration, overloads: [...declaration.overloads, ofDuration] };
}

const times: readonly FunctionDeclaration[] = [
  calendar('getFullYear', 'timestamp_to_year', ({ year }) => year),
  calendar('getMonth', 'timestamp_to_month', ({ month }) => month),
  calendar('getDayOfYear', 'timestamp_to_day_of_year', ({ dayOfYear }) => dayOfYear),
  calendar('getDayOfMonth', 'timestamp_to_day_of_month', ({ day }) => day - 1),
  calendar('getDate', 'timestamp_to_day_of_month_1_based', ({ day }) => day),
  calendar('getDayOfWeek', 'timestamp_to_day_of_week', ({ dayOfWeek }) => dayOfWeek),
  clock(
    'getHours',
    { timestamp: 'timestamp_to_hours', duration: 'duration_to_hours' },
    ({ hours }) => hours,
    (duration) => durationIn(duration, 'h'),
  ),
  clock(
    'getMinutes',
    { timestamp: 'timestamp_to_minutes', duration: 'duration_to_minutes' },
    ({ minutes }) => minutes,
    (duration) => durationIn(duration, 'm'),
  ),
  clock(
    'getSeconds',
    { timestamp: 'timestamp_to_seconds', duration: 'duration_to_seconds' },
    ({ seconds }) => seconds,
    (duration) => durationIn(duration, 's'),
  ),
  clock(
    'getMilliseconds',
    { timestamp: 'timestamp_to_milliseconds', duration: 'duration_to_milliseconds' },
    (_fields, { nanos }) => Math.trunc(nanos / 1_000_000),
    (duration) => durationIn(duration, 'ms'),
  ),
];

/** The standard library. */
export const standardLibrary: Library = {
  functions: [...operators, ...conversions, ...strings, ...times],
  macros: standardMacros,
  types: [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    listOfA,
    mapOfAB,
    nullType,
    stringType,
    timestampType,
    typeType,
    uintType,
  ],
  regexFunctions,
};
