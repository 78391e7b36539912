import { type Cause, duplicate, invalid, required, tooLong } from '@kruise/schema/field-error';
import type { Condition } from './condition.ts';
import { validateLabelKey } from './labels.validate.ts';
import { oneOf } from './value.validate.ts';

const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reason = new RegExp(`^${reasonFormat}$`);
const reasonFault = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonFormat}')`;
const maxReasonLength = 1024;
const maxMessageLength = 32768;

/** Validates conditions of the standard form. */
export function* validateConditions(conditions: readonly Condition[] | undefined, path: string): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, condition] of (conditions ?? []).entries()) {
    const at = `${path}[${index}]`;
    if (seen.has(condition.type)) yield duplicate(`${at}.type`, condition.type);
    seen.add(condition.type);
    yield* validateLabelKey(condition.type, `${at}.type`);
    yield* oneOf(`${at}.status`, condition.status, ['False', 'True', 'Unknown']);
    const { observedGeneration = 0 } = condition;
    if (observedGeneration < 0) {
      yield invalid(`${at}.observedGeneration`, observedGeneration, 'must be greater than or equal to zero');
    }
    if (!condition.lastTransitionTime) yield required(`${at}.lastTransitionTime`, 'must be set');
    if (!condition.reason) yield required(`${at}.reason`, 'must be set');
    else if (!reason.test(condition.reason)) yield invalid(`${at}.reason`, condition.reason, reasonFault);
    if (Buffer.byteLength(condition.reason) > maxReasonLength) yield tooLong(`${at}.reason`, maxReasonLength);
    if (Buffer.byteLength(condition.message) > maxMessageLength) yield tooLong(`${at}.message`, maxMessageLength);
  }
}
