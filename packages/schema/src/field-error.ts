import { formatGoSyntax, goStringList, goStringMap } from '@kruise/values/go-syntax';

/**
 * One field error of an object, as a Status lists it in `details.causes`: Kubernetes' message and the field. Validation
 * yields every error; the server combines them in one Status.
 */
export type Cause = { readonly reason: CauseReason; readonly message: string; readonly field: string };

/** Reason of a field error, as in the API. */
export type CauseReason =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

/** Returns a rejected value as Kubernetes prints it: in Go syntax, lists and maps of strings with their types. */
function goSyntax(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value == null ? '"null"' : formatGoSyntax(value);
  const members = Object.values(value);
  if (members.length > 0 && members.every((member) => typeof member === 'string')) {
    return Array.isArray(value) ? goStringList(value) : goStringMap(value as Record<string, string>);
  }
  return formatGoSyntax(value);
}

function withDetail(head: string, detail: string): string {
  return detail === '' ? head : `${head}: ${detail}`;
}

/**
 * Returns an error for an invalid value: `Invalid value: "x": must be …`.
 *
 * ```ts
 * invalid('spec.replicas', -1, 'must be greater than or equal to 0').message;
 * // Invalid value: -1: must be greater than or equal to 0
 * ```
 */
export function invalid(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueInvalid', message: withDetail(`Invalid value: ${goSyntax(value)}`, detail), field };
}

/** Returns an error for a missing value: `Required value`. */
export function required(field: string, detail = ''): Cause {
  return { reason: 'FieldValueRequired', message: withDetail('Required value', detail), field };
}

/** Returns an error for a value that is not in an enumeration: `Unsupported value: "x": supported values: "a", "b"`. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): Cause {
  const known = supported.map((each) => JSON.stringify(each)).join(', ');
  const detail = supported.length === 0 ? '' : `supported values: ${known}`;
  return {
    reason: 'FieldValueNotSupported',
    message: withDetail(`Unsupported value: ${goSyntax(value)}`, detail),
    field,
  };
}

/** Returns an error for a value that must not be set or changed: `Forbidden: …`. */
export function forbidden(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail), field };
}

/** Returns an error for a value that must be unique: `Duplicate value: "x"`. */
export function duplicate(field: string, value: unknown): Cause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${goSyntax(value)}`, field };
}

/** Returns an error for a reference to a missing object: `Not found: "x"`. */
export function notFoundValue(field: string, value: unknown): Cause {
  return { reason: 'FieldValueNotFound', message: `Not found: ${goSyntax(value)}`, field };
}

/** Returns an error for a text that is too long: `Too long: may not be more than N bytes`. */
export function tooLong(field: string, limitBytes: number): Cause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limitBytes} bytes`, field };
}

/** Returns an error for a list that is too long: `Too many: 9: must have at most 8 items`. */
export function tooMany(field: string, count: number, limit: number): Cause {
  return { reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${limit} items`, field };
}

/** Returns an error for a failure of validation itself. */
export function internal(field: string, detail: string): Cause {
  return { reason: 'InternalError', message: `Internal error: ${detail}`, field };
}

/** Joins errors in one text: a single error stands alone, several are in brackets, duplicates are dropped. */
export function summary(causes: readonly Cause[]): string {
  const texts = [...new Set(causes.map(({ field, message }) => `${field === '' ? '<nil>' : field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
