import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import { choice } from '../meta/choice.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable, orNull } from '../meta/value.validate.ts';
import type { PriorityClass } from './priorityclass.ts';

/** The highest value of a user-defined class. */
export const highestUserPriority = 1_000_000_000;
const systemPrefix = 'system-';
const systemClasses: { readonly [name: string]: number } = {
  'system-cluster-critical': 2 * highestUserPriority,
  'system-node-critical': 2 * highestUserPriority + 1000,
};

export function defaultPriorityClass(object: Draft<PriorityClass>): void {
  object.preemptionPolicy ??= 'PreemptLowerPriority';
}

export function* validatePriorityClass(object: PriorityClass): Generator<Cause> {
  const { metadata, value, preemptionPolicy } = object;
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  if (metadata.name?.startsWith(systemPrefix)) {
    const fault = systemFault(metadata.name, object);
    if (fault !== undefined) {
      const reserved = `priority class names with '${systemPrefix}' prefix are reserved for system use only`;
      yield forbidden('metadata.name', `${reserved}. error: ${fault}`);
    }
  } else if (value > highestUserPriority) {
    yield forbidden('value', `maximum allowed value of a user defined priority is ${highestUserPriority}`);
  }
  if (preemptionPolicy !== undefined) {
    yield* choice('preemptionPolicy', preemptionPolicy, ['PreemptLowerPriority', 'Never']);
  }
}

function systemFault(name: string, { value, globalDefault }: PriorityClass): string | undefined {
  const known = Object.hasOwn(systemClasses, name) ? systemClasses[name] : undefined;
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

export function* validatePriorityClassUpdate(object: PriorityClass, old: PriorityClass): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  if (object.value !== old.value) yield forbidden('value', 'may not be changed in an update.');
  if (object.preemptionPolicy !== old.preemptionPolicy) {
    yield invalid('preemptionPolicy', orNull(object.preemptionPolicy), isImmutable);
  }
}
