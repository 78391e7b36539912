import { formatNumber, formatValue } from '@kruise/values/go-syntax';
import type { JsonObject } from './json-value.ts';

/** A strategic merge patch cannot be applied. The message is that of Kubernetes. */
export class StrategicMergeError extends Error {
  override readonly name = 'StrategicMergeError';
  /** Reason of the response of the API server: 400, 422 or 500. */
  readonly reason: 'BadRequest' | 'Invalid' | 'InternalError';

  constructor(message: string, reason: StrategicMergeError['reason'] = 'InternalError') {
    super(message);
    this.reason = reason;
  }
}

/** Error: an item of a merging list has no merge key. */
export function badMergeKey(item: JsonObject, mergeKey: string): StrategicMergeError {
  return new StrategicMergeError(`map: ${formatValue(item)} does not contain declared merge key: ${mergeKey}`);
}

/**
 * Error: a value has another type than its position in the patch requires.
 *
 * ```ts
 * throw wrongType({}, []);
 * ```
 */
export function wrongType(expected: unknown, actual: unknown): StrategicMergeError {
  return new StrategicMergeError(`expected a ${goTypeOf(expected)}, but received a ${goTypeOf(actual)}`);
}

/** Returns the Go type of a decoded JSON value, as in messages. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}

/** Formats a value as Go's `%s`, where text was expected. */
export function formatString(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return `[${value.map(formatString).join(' ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `map[${members.map(([name, member]) => `${name}:${formatString(member)}`).join(' ')}]`;
  }
  const printed = typeof value === 'number' ? formatNumber(value) : String(value);
  return `%!s(${goTypeOf(value)}=${printed})`;
}
