import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateDns1123Label } from '@kruise/values/names';
import { validatePodAnnotations } from '../core/pod-spec.validate.ts';
import type { PodTemplateSpec } from '../core/pod-template.ts';
import {
  isZero,
  validateAtMostAll,
  validateCollisions,
  validateCounts,
  validateEndless,
  validateIntOrPercent,
  validateOwnSelector,
  validateParts,
  validateSelected,
} from '../core/workload.validate.ts';
import { invalidIntOrString, invalidStructure } from '../meta/go-value.ts';
import { validateAnnotations, validateLabels } from '../meta/labels.validate.ts';
import { labelName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { nonNegative, oneOf, refusals } from '../meta/value.validate.ts';
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from './statefulset.ts';

export function* validateStatefulSet({ metadata, spec }: StatefulSet): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: labelName });
  if (!spec) return;
  yield* validateSpec(spec, { serviceName: true });
}

export function* validateStatefulSetUpdate({ metadata, spec }: StatefulSet, old: StatefulSet): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (!spec) return;
  // serviceName is immutable, so a value that was stored before the rule existed is tolerated.
  yield* validateSpec(spec, { serviceName: false });
  if (!isSame(immutablePart(spec), old.spec && immutablePart(old.spec))) {
    const detail =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    yield forbidden('spec', detail);
  }
}

function immutablePart(spec: StatefulSetSpec): unknown {
  const { selector, volumeClaimTemplates, serviceName, podManagementPolicy } = spec;
  return { selector, volumeClaimTemplates, serviceName, podManagementPolicy };
}

function* validateSpec(spec: StatefulSetSpec, check: { readonly serviceName: boolean }): Generator<Cause> {
  const { selector, template, serviceName } = spec;
  yield* validateManagementPolicy(spec.podManagementPolicy);
  yield* validateUpdateStrategy(spec.updateStrategy ?? {}, 'spec.updateStrategy');
  yield* validateClaimRetention(spec.persistentVolumeClaimRetentionPolicy);
  yield* nonNegative('spec.replicas', spec.replicas);
  yield* nonNegative('spec.minReadySeconds', spec.minReadySeconds);
  yield* nonNegative('spec.ordinals.start', spec.ordinals?.start);
  if (check.serviceName && serviceName) {
    yield* refusals('spec.serviceName', serviceName, validateDns1123Label(serviceName));
  }
  const rules = { kind: 'statefulset', ifInvalid: '' };
  const isSelectorValid = yield* validateOwnSelector(selector, rules, 'spec.selector');
  if (isSelectorValid) yield* validateNumberedTemplate(selector, template);
  yield* validateEndless(template, 'StatefulSet', 'spec.template');
}

/** Validates the Pod management policy: ordered or parallel. */
export function* validateManagementPolicy(policy: string | undefined): Generator<Cause> {
  if (!policy) yield required('spec.podManagementPolicy');
  else if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    yield invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'");
  }
}

/** Validates the PVC retention policy. If one of its fields is set, both must be. */
export function* validateClaimRetention(
  policy: { readonly whenDeleted?: string; readonly whenScaled?: string } | undefined,
): Generator<Cause> {
  if (!policy) return;
  const { whenDeleted = '', whenScaled = '' } = policy;
  yield* oneOf('spec.persistentVolumeClaimRetentionPolicy.whenDeleted', whenDeleted, ['Retain', 'Delete']);
  yield* oneOf('spec.persistentVolumeClaimRetentionPolicy.whenScaled', whenScaled, ['Retain', 'Delete']);
}

/**
 * Validates the template. Unlike in other kinds the Pod spec is not validated: Kubernetes never did, and the creation
 * of Pods validates it.
 */
export function* validateNumberedTemplate(
  selector: StatefulSetSpec['selector'],
  template: PodTemplateSpec,
): Generator<Cause> {
  const { metadata = {}, spec = { containers: [] } } = template;
  yield* validateSelected(selector, template, 'spec.template');
  yield* validateLabels(metadata.labels, 'spec.template.labels');
  yield* validateAnnotations(metadata.annotations, 'spec.template.annotations');
  yield* validatePodAnnotations(metadata.annotations, spec, 'spec.template.annotations');
}

function* validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, path: string): Generator<Cause> {
  const { type, rollingUpdate } = strategy;
  if (!type) yield required(path);
  else if (type === 'OnDelete') {
    if (!rollingUpdate) return;
    const detail = "only allowed for updateStrategy 'RollingUpdate'";
    yield invalidStructure(`${path}.rollingUpdate`, 'apps.RollingUpdateStatefulSetStrategy', rollingUpdate, detail);
  } else if (type === 'RollingUpdate') {
    if (rollingUpdate) yield* validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`);
  } else {
    yield invalidStructure(path, 'apps.StatefulSetUpdateStrategy', strategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
}

function* validateRollingUpdate(
  { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy,
  path: string,
): Generator<Cause> {
  yield* nonNegative(`${path}.partition`, partition);
  if (maxUnavailable === undefined) return;
  yield* validateIntOrPercent(maxUnavailable, `${path}.maxUnavailable`);
  if (isZero(maxUnavailable)) yield invalidIntOrString(`${path}.maxUnavailable`, maxUnavailable, 'cannot be 0');
  yield* validateAtMostAll(maxUnavailable, `${path}.maxUnavailable`);
}

const counts = [
  'replicas',
  'readyReplicas',
  'currentReplicas',
  'updatedReplicas',
  'availableReplicas',
  'observedGeneration',
  'collisionCount',
];

export function* validateStatefulSetStatusUpdate(
  { metadata, status = { replicas: 0 } }: StatefulSet,
  old: StatefulSet,
): Generator<Cause> {
  yield* validateCounts(status, counts);
  const parts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];
  yield* validateParts(status, parts, 'status.readyReplicas');
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCollisions(status, old.status);
}
