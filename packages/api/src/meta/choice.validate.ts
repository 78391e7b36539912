import { type Cause, required } from '@kruise/schema/field-error';
import { oneOf } from './value.validate.ts';

/** Validates a field that must have one of several values. */
export function choice(field: string, value: string | undefined, known: readonly string[]): readonly Cause[] {
  return value ? oneOf(field, value, known) : [required(field)];
}
