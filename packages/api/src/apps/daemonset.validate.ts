import { type Cause, required } from '@kruise/schema/field-error';
import { validatePodTemplateSpec } from '../core/pod-spec.validate.ts';
import {
  isZero,
  validateAtMostAll,
  validateCollisions,
  validateCounts,
  validateEndless,
  validateIntOrPercent,
  validateSameSelector,
  validateSelected,
} from '../core/workload.validate.ts';
import { invalidIntOrString, invalidStructure, unsupportedStructure } from '../meta/go-value.ts';
import { isEmptySelector, validateLabelSelector } from '../meta/label-selector.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative } from '../meta/value.validate.ts';
import type { DaemonSet, DaemonSetSpec, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from './daemonset.ts';

export function* validateDaemonSet({ metadata, spec }: DaemonSet): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec);
}

/**
 * Validates an update. Errors of the object are reported twice, as in Kubernetes: once for the creation rules and once
 * for the update rules.
 */
export function* validateDaemonSetUpdate(set: DaemonSet, old: DaemonSet): Generator<Cause> {
  yield* validateDaemonSet(set);
  yield* validateKindMetaUpdate(set.metadata, old.metadata);
  if (set.spec) yield* validateSpec(set.spec);
  yield* validateSameSelector(set.spec?.selector, old.spec?.selector);
}

function* validateSpec(spec: DaemonSetSpec): Generator<Cause> {
  const { selector, template } = spec;
  const faults = [...validateLabelSelector(selector, 'spec.selector')];
  yield* faults;
  if (faults.length === 0) yield* validateSelected(selector, template, 'spec.template');
  if (selector && isEmptySelector(selector)) {
    yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, 'empty selector is invalid for daemonset');
  }
  yield* validatePodTemplateSpec(template, 'spec.template');
  yield* validateEndless(template, 'DaemonSet', 'spec.template');
  yield* nonNegative('spec.minReadySeconds', spec.minReadySeconds);
  yield* validateUpdateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy');
  yield* nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit);
}

function* validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, path: string): Generator<Cause> {
  const { type, rollingUpdate } = strategy;
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    yield unsupportedStructure(path, 'apps.DaemonSetUpdateStrategy', strategy, ['RollingUpdate', 'OnDelete']);
  } else if (rollingUpdate) yield* validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`);
  else yield required(`${path}.rollingUpdate`);
}

/** Either maxSurge or maxUnavailable must be set, but not both. */
function* validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDaemonSet,
  path: string,
): Generator<Cause> {
  yield* validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`);
  yield* validateIntOrPercent(maxSurge, `${path}.maxSurge`);
  yield* validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`);
  yield* validateAtMostAll(maxSurge, `${path}.maxSurge`);
  if (!isZero(maxUnavailable) && !isZero(maxSurge)) {
    yield invalidIntOrString(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (isZero(maxUnavailable) && isZero(maxSurge)) {
    yield required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
  }
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
];

export function* validateDaemonSetStatusUpdate({ metadata, status }: DaemonSet, old: DaemonSet): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCounts(status ?? {}, counts);
  yield* validateCollisions(status, old.status);
}
