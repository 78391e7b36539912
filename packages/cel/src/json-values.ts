/** Converts JSON to CEL values and back. */
import { decodeBase64 } from '@kruise/values/base64';
import { attempt } from './attempt.ts';
import { JsonList, JsonMap, JsonObject, type ListIdentity, ListValue, MapValue } from './collections.ts';
import {
  Duration,
  daysSinceEpoch,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  Timestamp,
} from './time.ts';
import { isOptional, type Type } from './types.ts';
import {
  Double,
  EvaluationError,
  type Int,
  isInt,
  maxInt,
  minInt,
  none,
  ObjectValue,
  Optional,
  TypeValue,
  toInt,
  Uint,
  type Value,
} from './values.ts';

/** Converts JSON to a value of a type. CEL values are returned unchanged. */
export function read(json: unknown, type: Type): Value {
  if (isCelValue(json)) return json;
  if (isOptional(type))
    return json === null || json === undefined ? none : new Optional(read(json, type.parameters[0]!));
  if (json === null || json === undefined) return readNull(type);
  const { json: declaration } = type;
  switch (type.kind) {
    case 'string':
      return typeof json === 'string' ? json : mismatch('string', json);
    case 'int':
      return typeof json === 'number' || typeof json === 'bigint' ? readInt(json) : mismatch('int', json);
    case 'bool':
      return typeof json === 'boolean' ? json : mismatch('bool', json);
    case 'double':
      return isInt(json) ? new Double(Number(json)) : mismatch('float', json);
    case 'uint':
      return isInt(json) ? new Uint(BigInt(json)) : mismatch('uint', json);
    case 'object':
      if (!isRecord(json)) return expectedForType('map', 'object');
      return declaration?.property ? new JsonObject(json, type, read) : readDynamic(json);
    case 'map': {
      if (!isRecord(json)) return expectedForType('map', 'object');
      const value = type.parameters[1]!;
      return new JsonMap(json, (entry) => read(entry, value), { isDeclared: declaration !== undefined });
    }
    case 'list': {
      if (!Array.isArray(json)) return expectedForType('array', 'array');
      const element = type.parameters[0]!;
      return new JsonList(json, (item) => read(item, element), declaration && identityOf(type));
    }
    case 'timestamp':
      return typeof json === 'string' ? readTimestamp(json, declaration?.format) : mismatch('string', json);
    case 'duration':
      return typeof json === 'string' ? readDuration(json) : mismatch('string', json);
    case 'bytes':
      return typeof json === 'string' ? readBytes(json) : mismatch('string', json);
    default:
      return declaration?.format === 'int-or-string' ? readIntOrString(json) : readDynamic(json);
  }
}

function readNull(type: Type): Value {
  // Only a declared type can forbid null; for others null is an ordinary value.
  return type.json && !type.json.nullable
    ? new EvaluationError('invalid data, got null for schema with nullable=false')
    : null;
}

/** Converts JSON without a declared type: whole numbers are ints, others doubles. */
function readDynamic(json: unknown): Value {
  switch (typeof json) {
    case 'string':
    case 'boolean':
      return json;
    case 'number':
      return Number.isInteger(json) ? readInt(json) : new Double(json);
    case 'bigint':
      return readInt(json);
    default:
      if (json === null || json === undefined) return null;
      if (isCelValue(json)) return json;
      if (Array.isArray(json)) return new JsonList(json, readDynamic);
      return new JsonMap(json as Readonly<Record<string, unknown>>, readDynamic, { isDeclared: false });
  }
}

function readInt(json: number | bigint): Int | EvaluationError | Double {
  if (typeof json === 'number') {
    if (Number.isSafeInteger(json)) return json;
    if (!Number.isInteger(json)) return new EvaluationError('invalid data, expected int, got float64');
  }
  const value = BigInt(json);
  return value < minInt || value > maxInt ? new Double(Number(json)) : toInt(value);
}

function readIntOrString(json: unknown): Value {
  if (typeof json === 'string') return json;
  if (isInt(json)) return readInt(json);
  return new EvaluationError('invalid data, expected XIntOrString value to be either a string or integer');
}

function readTimestamp(text: string, format: string | undefined): Value {
  if (format === 'date') {
    const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
    const days = match ? daysSinceEpoch(Number(match[1]), Number(match[2]), Number(match[3])) : undefined;
    return days === undefined
      ? new EvaluationError(`Invalid date formatted string ${text}`)
      : new Timestamp(days * 86400, 0);
  }
  if (text === '') return new Timestamp(0, 0);
  return parseTimestamp(text) ?? new EvaluationError(`Invalid date-time formatted string ${text}`);
}

const looseUnits: readonly (readonly [readonly string[], bigint])[] = [
  [['ns', 'nano'], 1n],
  [['us', 'µs', 'micro'], 1_000n],
  [['ms', 'milli'], 1_000_000n],
  [['s', 'sec'], 1_000_000_000n],
  [['m', 'min'], 60_000_000_000n],
  [['h', 'hr', 'hour'], 3_600_000_000_000n],
  [['d', 'day'], 86_400_000_000_000n],
  [['w', 'wk', 'week'], 604_800_000_000_000n],
];

/** Parses a field of format `duration`, which may also be `3 days` or `1 week`. */
function readDuration(text: string): Value {
  const strict = parseDuration(text);
  if (strict) return strict;
  let total: bigint | undefined;
  for (const [, count, word] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    const unit = word!.toLowerCase();
    for (const [names, nanos] of looseUnits) {
      for (const name of names) {
        const isLast = name === names.at(-1);
        if (name === unit || (isLast && unit.startsWith(name))) total = (total ?? 0n) + BigInt(count!) * nanos;
      }
    }
  }
  if (total === undefined) return new EvaluationError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(BigInt.asIntN(64, total));
}

function readBytes(text: string): Value {
  const bytes = attempt(() => decodeBase64(text));
  return bytes instanceof EvaluationError
    ? new EvaluationError(`Invalid byte formatted string ${text}: ${bytes.message}`)
    : bytes;
}

function identityOf({ json }: Type): ListIdentity {
  if (json?.listType === 'set') return 'set';
  return json?.listType === 'map' ? (json.mapKeys ?? []) : 'position';
}

const isRecord = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function isCelValue(json: unknown): json is Value {
  return (
    typeof json === 'object' &&
    json !== null &&
    (json instanceof Double ||
      json instanceof Uint ||
      json instanceof Uint8Array ||
      json instanceof Timestamp ||
      json instanceof Duration ||
      json instanceof TypeValue ||
      json instanceof Optional ||
      json instanceof ListValue ||
      json instanceof MapValue ||
      json instanceof ObjectValue ||
      json instanceof EvaluationError)
  );
}

const goTypes: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  object: 'map[string]interface {}',
};

function mismatch(expected: string, json: unknown): EvaluationError {
  const kind = Array.isArray(json)
    ? '[]interface {}'
    : isInt(json)
      ? Number.isInteger(json)
        ? 'int64'
        : 'float64'
      : goTypes[typeof json];
  return new EvaluationError(`invalid data, expected ${expected}, got ${kind}`);
}

const expectedForType = (expected: string, type: string): EvaluationError =>
  new EvaluationError(
    `invalid data, expected ${expected === 'array' ? 'an' : 'a'} ${expected} for the provided schema with type=${type}`,
  );

/** Converts a value to JSON; returns an error message if a part of it has no JSON form. */
export function toJson(value: Value): unknown {
  if (value === null || typeof value !== 'object') return typeof value === 'bigint' ? Number(value) : value;
  if (value instanceof JsonList) return value.items;
  if (value instanceof JsonMap || value instanceof JsonObject) return value.record;
  if (value instanceof ListValue) return [...value].map(toJson);
  if (value instanceof MapValue) {
    return Object.fromEntries([...value.entries()].map(([key, entry]) => [String(toJson(key)), toJson(entry)]));
  }
  if (value instanceof Double) return value.value;
  if (value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof ObjectValue) return value.toJson();
  return { error: value.message };
}
