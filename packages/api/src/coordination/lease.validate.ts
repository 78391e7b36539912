import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid } from '@kruise/schema/field-error';
import { subdomainName } from '../meta/name-rules.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative } from '../meta/value.validate.ts';
import type { Lease } from './lease.ts';

/** Drops the fields of coordinated leader election, a feature that is disabled in v1.33. */
export function prepareLease({ spec }: Draft<Lease>, old?: Lease): void {
  for (const field of ['strategy', 'preferredHolder'] as const) {
    if (old?.spec?.[field] === undefined) delete spec?.[field];
  }
}

export function* validateLease({ metadata, spec }: Lease): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validateSpec(spec);
}

export function* validateLeaseUpdate({ metadata, spec }: Lease, old: Lease): Generator<Cause> {
  yield* validateObjectMetaUpdate(metadata, old.metadata);
  yield* validateSpec(spec);
}

function* validateSpec(spec: Lease['spec']): Generator<Cause> {
  const { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } = spec ?? {};
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    yield invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0');
  }
  yield* nonNegative('spec.leaseTransitions', leaseTransitions);
  if (preferredHolder && !strategy) {
    yield forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined');
  }
}
