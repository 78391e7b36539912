import { formatGoSyntax, goStringList, goStringMap } from '@kruise/values/go-syntax';

/**
 * One fault of an object, as a Status lists it in `details.causes`: what is wrong, in Kubernetes' words,
 * and where. Validation yields every fault it finds; the server makes one Status of them.
 */
export type Cause = { readonly reason: CauseReason; readonly message: string; readonly field: string };

/** What sort of fault it is, in the words of the API. */
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

/** A rejected value as Kubernetes prints it in its messages: by Go's syntax, lists and maps of text by their types. */
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

/** The value cannot be right: `Invalid value: "x": must be …`. */
export function invalid(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueInvalid', message: withDetail(`Invalid value: ${goSyntax(value)}`, detail), field };
}

/** A value must be given: `Required value`. */
export function required(field: string, detail = ''): Cause {
  return { reason: 'FieldValueRequired', message: withDetail('Required value', detail), field };
}

/** The value is not one of the few that are known: `Unsupported value: "x": supported values: "a", "b"`. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): Cause {
  const known = supported.map((each) => JSON.stringify(each)).join(', ');
  const detail = supported.length === 0 ? '' : `supported values: ${known}`;
  return {
    reason: 'FieldValueNotSupported',
    message: withDetail(`Unsupported value: ${goSyntax(value)}`, detail),
    field,
  };
}

/** The value may not be given or changed here: `Forbidden: …`. */
export function forbidden(field: string, detail: string): Cause {
  return { reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail), field };
}

/** A value that must be unique comes twice: `Duplicate value: "x"`. */
export function duplicate(field: string, value: unknown): Cause {
  return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${goSyntax(value)}`, field };
}

/** What is named does not exist: `Not found: "x"`. */
export function notFoundValue(field: string, value: unknown): Cause {
  return { reason: 'FieldValueNotFound', message: `Not found: ${goSyntax(value)}`, field };
}

/** The text is too long: `Too long: may not be more than N bytes`. */
export function tooLong(field: string, limitBytes: number): Cause {
  return { reason: 'FieldValueTooLong', message: `Too long: may not be more than ${limitBytes} bytes`, field };
}

/** The list is too long: `Too many: 9: must have at most 8 items`. */
export function tooMany(field: string, count: number, limit: number): Cause {
  return { reason: 'FieldValueTooMany', message: `Too many: ${count}: must have at most ${limit} items`, field };
}

/** Validation itself failed. */
export function internal(field: string, detail: string): Cause {
  return { reason: 'InternalError', message: `Internal error: ${detail}`, field };
}

/** All faults in one text: one stands alone, several in brackets, repetitions dropped. */
export function summary(causes: readonly Cause[]): string {
  const texts = [...new Set(causes.map(({ field, message }) => `${field === '' ? '<nil>' : field}: ${message}`))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
