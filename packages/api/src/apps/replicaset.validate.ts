import type { Cause } from '@kruise/schema/field-error';
import { validatePodTemplateSpec } from '../core/pod-spec.validate.ts';
import {
  validateCounts,
  validateEndless,
  validateOwnSelector,
  validateParts,
  validateSameSelector,
  validateSelected,
} from '../core/workload.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative } from '../meta/value.validate.ts';
import type { ReplicaSet, ReplicaSetSpec } from './replicaset.ts';

export function* validateReplicaSet({ metadata, spec }: ReplicaSet): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec);
}

/**
 * Validates an update. Errors of the object are reported twice, as in Kubernetes: once for the creation rules and once
 * for the update rules.
 */
export function* validateReplicaSetUpdate(set: ReplicaSet, old: ReplicaSet): Generator<Cause> {
  yield* validateReplicaSet(set);
  yield* validateKindMetaUpdate(set.metadata, old.metadata);
  if (set.spec) yield* validateSpec(set.spec);
  yield* validateSameSelector(set.spec?.selector, old.spec?.selector);
}

function* validateSpec({ replicas, minReadySeconds, selector, template = {} }: ReplicaSetSpec): Generator<Cause> {
  yield* nonNegative('spec.replicas', replicas);
  yield* nonNegative('spec.minReadySeconds', minReadySeconds);
  const rules = { kind: 'deployment', ifInvalid: 'invalid label selector' };
  const isSelectorValid = yield* validateOwnSelector(selector, rules, 'spec.selector');
  if (!isSelectorValid) return;
  yield* validateSelected(selector, template, 'spec.template');
  yield* validatePodTemplateSpec(template, 'spec.template');
  yield* validateEndless(template, 'ReplicaSet', 'spec.template');
}

const counts = [
  'replicas',
  'fullyLabeledReplicas',
  'readyReplicas',
  'availableReplicas',
  'observedGeneration',
  'terminatingReplicas',
];

export function* validateReplicaSetStatusUpdate(
  { metadata, status = { replicas: 0 } }: ReplicaSet,
  old: ReplicaSet,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCounts(status, counts);
  yield* validateParts(status, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);
}
