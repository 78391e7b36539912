/** Run-time types of values. */
import { ListValue, MapValue } from './collections.ts';
import { Duration, Timestamp } from './time.ts';
import { Double, EvaluationError, ObjectValue, Optional, TypeValue, Uint, type Value } from './values.ts';

/** Returns the name that `type(value)` shows. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'int';
    default:
      if (value === null) return 'null_type';
      if (value instanceof ListValue) return 'list';
      if (value instanceof MapValue) return 'map';
      if (value instanceof Double) return 'double';
      if (value instanceof Uint) return 'uint';
      if (value instanceof Uint8Array) return 'bytes';
      if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
      if (value instanceof Duration) return 'google.protobuf.Duration';
      if (value instanceof Optional) return 'optional_type';
      if (value instanceof TypeValue) return 'type';
      if (value instanceof EvaluationError) return 'error';
      return value.typeName;
  }
}

/** Returns the size for costs: characters, bytes, elements or entries; 1 for other values. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePointCount(value);
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof ObjectValue) return value.size;
  return 1;
}

/** Returns the number of characters; a surrogate pair is one. */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--;
        index++;
      }
    }
  }
  return count;
}
