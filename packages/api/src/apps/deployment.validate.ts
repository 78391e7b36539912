import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validatePodTemplateSpec } from '../core/pod-spec.validate.ts';
import {
  isZero,
  validateAtMostAll,
  validateCollisions,
  validateCounts,
  validateEndless,
  validateIntOrPercent,
  validateOwnSelector,
  validateParts,
  validateSameSelector,
  validateSelected,
} from '../core/workload.validate.ts';
import { invalidIntOrString, unsupportedStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { nonNegative } from '../meta/value.validate.ts';
import type { Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdateDeployment } from './deployment.ts';

export function* validateDeployment({ metadata, spec }: Deployment): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec);
}

export function* validateDeploymentUpdate({ metadata, spec }: Deployment, old: Deployment): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (spec) yield* validateSpec(spec);
  yield* validateSameSelector(spec?.selector, old.spec?.selector);
}

function* validateSpec(spec: DeploymentSpec): Generator<Cause> {
  const { replicas, selector, template, strategy = {}, minReadySeconds = 0, progressDeadlineSeconds } = spec;
  yield* nonNegative('spec.replicas', replicas);
  const rules = { kind: 'deployment', ifInvalid: 'invalid label selector' };
  const isSelectorValid = yield* validateOwnSelector(selector, rules, 'spec.selector');
  if (isSelectorValid) {
    yield* validateSelected(selector, template, 'spec.template');
    yield* validatePodTemplateSpec(template, 'spec.template');
    yield* validateEndless(template, 'ReplicaSet', 'spec.template');
  }
  yield* validateStrategy(strategy, 'spec.strategy');
  yield* nonNegative('spec.minReadySeconds', minReadySeconds);
  yield* nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit);
  if (progressDeadlineSeconds === undefined) return;
  yield* nonNegative('spec.progressDeadlineSeconds', progressDeadlineSeconds);
  if (progressDeadlineSeconds <= minReadySeconds) {
    yield invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, 'must be greater than minReadySeconds');
  }
}

function* validateStrategy(strategy: DeploymentStrategy, path: string): Generator<Cause> {
  const { type, rollingUpdate } = strategy;
  if (type === 'Recreate') {
    if (rollingUpdate) {
      yield forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type === 'RollingUpdate') {
    if (rollingUpdate) yield* validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`);
    else yield required(`${path}.rollingUpdate`, 'this should be defaulted and never be nil');
  } else yield unsupportedStructure(path, 'apps.DeploymentStrategy', strategy, ['Recreate', 'RollingUpdate']);
}

function* validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: RollingUpdateDeployment,
  path: string,
): Generator<Cause> {
  yield* validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`);
  yield* validateIntOrPercent(maxSurge, `${path}.maxSurge`);
  if (isZero(maxUnavailable) && isZero(maxSurge)) {
    yield invalidIntOrString(`${path}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0');
  }
  yield* validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`);
}

const counts = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
  'unavailableReplicas',
  'terminatingReplicas',
  'collisionCount',
];

export function* validateDeploymentStatusUpdate(
  { metadata, status = {} }: Deployment,
  old: Deployment,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCounts(status, counts);
  yield* validateParts(status, ['updatedReplicas', 'readyReplicas', 'availableReplicas']);
  yield* validateCollisions(status, old.status);
}
