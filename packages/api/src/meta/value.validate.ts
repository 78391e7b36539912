/** Basic checks that fields of many kinds share. */
import { type Cause, invalid, notSupported } from '@kruise/schema/field-error';
import type { Faults } from '@kruise/values/names';

const none: readonly Cause[] = [];

export const mustNotBeNegative = 'must be greater than or equal to 0';
export const mustBePositive = 'must be greater than zero';
export const isImmutable = 'field is immutable';

/** Returns a cause for each reason why the value is refused. */
export function refusals(field: string, value: unknown, faults: Faults): readonly Cause[] {
  return faults.length === 0 ? none : faults.map((fault) => invalid(field, value, fault));
}

/** Returns null for an absent value, as messages show it. */
export function orNull(value: unknown): unknown {
  return value ?? 'null';
}

export function nonNegative(field: string, value: number | undefined): readonly Cause[] {
  return value === undefined || value >= 0 ? none : [invalid(field, value, mustNotBeNegative)];
}

export function positive(field: string, value: number): readonly Cause[] {
  return value > 0 ? none : [invalid(field, value, mustBePositive)];
}

export function oneOf(field: string, value: string, known: readonly string[]): readonly Cause[] {
  return known.includes(value) ? none : [notSupported(field, value, known)];
}
