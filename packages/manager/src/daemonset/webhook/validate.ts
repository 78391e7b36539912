/** Validation of DaemonSets. */
import { validatePodTemplateSpec } from '@kruise/api/core/pod-spec.validate';
import {
  isZero,
  validateAtMostAll,
  validateEndless,
  validateIntOrPercent,
  validateSelected,
} from '@kruise/api/core/workload.validate';
import type { DaemonSet, DaemonSetV1alpha1 } from '@kruise/api/kruise/daemonset';
import { invalidIntOrString, invalidStructure, unsupportedStructure } from '@kruise/api/meta/go-value';
import { isEmptySelector, validateLabelSelector } from '@kruise/api/meta/label-selector.validate';
import { subdomainName } from '@kruise/api/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { type Cause, forbidden, notSupported, required } from '@kruise/schema/field-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';

type AnySet = DaemonSet | DaemonSetV1alpha1;
type Spec = AnySet['spec'];
type Rolling = NonNullable<NonNullable<DaemonSetV1alpha1['spec']['updateStrategy']>['rollingUpdate']>;

/** Rules that differ between the versions. */
export type VersionRules = {
  readonly version: 'v1alpha1' | 'v1beta1';
  readonly gates: FeatureGates;
};

export function* validateDaemonSet({ metadata, spec }: AnySet, rules: VersionRules): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: subdomainName });
  yield* validateSpec(spec, rules);
}

export function* validateDaemonSetUpdate(set: AnySet, old: AnySet, rules: VersionRules): Generator<Cause> {
  yield* validateObjectMetaUpdate(set.metadata, old.metadata);
  if (!isSame(set.spec.selector, old.spec.selector)) {
    const scaling = rules.version === 'v1beta1' ? "'scaleStrategy'," : '';
    yield forbidden(
      'spec',
      `updates to daemonset spec for fields other than 'BurstReplicas', 'template', 'lifecycle', ${scaling} 'updateStrategy', 'minReadySeconds', and 'revisionHistoryLimit' are forbidden`,
    );
  }
  yield* validateSpec(set.spec, rules);
}

function* validateSpec(spec: Spec, rules: VersionRules): Generator<Cause> {
  // The template is validated with the defaults that its Pods would get, so that omitted fields are not reported.
  const template = withTemplateDefaults(spec.template, rules.gates);
  const faults = [...validateLabelSelector(spec.selector, 'spec.selector')];
  yield* faults;
  if (faults.length === 0) yield* validateSelected(spec.selector, template, 'spec.template');
  if (spec.selector && isEmptySelector(spec.selector)) {
    const detail = 'empty selector is invalid for daemonset';
    yield invalidStructure('spec.selector', 'v1.LabelSelector', spec.selector, detail);
  }
  yield* validatePodTemplateSpec(template, 'spec.template');
  yield* validateEndless(template, 'DaemonSet', 'spec.template');
  yield* nonNegative('spec.minReadySeconds', spec.minReadySeconds);
  yield* validateUpdateStrategy(spec, rules);
  yield* nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit);
  if (spec.lifecycle?.inPlaceUpdate) {
    yield forbidden('spec.lifecycle.inPlaceUpdate', 'inPlaceUpdate hook has not supported yet');
  }
}

function* validateUpdateStrategy({ updateStrategy = {} }: Spec, rules: VersionRules): Generator<Cause> {
  const path = 'spec.updateStrategy';
  const { type, rollingUpdate } = updateStrategy;
  if (type === 'OnDelete') return;
  if (type !== 'RollingUpdate') {
    const structure = `${rules.version}.DaemonSetUpdateStrategy`;
    yield unsupportedStructure(path, structure, updateStrategy, ['RollingUpdate', 'OnDelete']);
  } else if (!rollingUpdate) yield required(`${path}.rollingUpdate`);
  else yield* validateRollingUpdate(rollingUpdate, rules, `${path}.rollingUpdate`);
}

function* validateRollingUpdate(rolling: Rolling, rules: VersionRules, path: string): Generator<Cause> {
  const { maxSurge = 0, maxUnavailable = 0, partition } = rolling;
  const hasUnavailable = !isZero(maxUnavailable);
  const hasSurge = !isZero(maxSurge);
  if (hasUnavailable) yield* validateLimit(maxUnavailable, `${path}.maxUnavailable`);
  if (hasSurge) yield* validateLimit(maxSurge, `${path}.maxSurge`);
  if (hasUnavailable && hasSurge) {
    yield invalidIntOrString(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero');
  } else if (!hasUnavailable && !hasSurge) {
    yield required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0');
  }
  const { rollingUpdateType: type = '' } = rolling as { readonly rollingUpdateType?: string };
  const known = rules.version === 'v1beta1' ? standardTypes : [...standardTypes.toSpliced(1, 0, 'Surging')];
  if (type === 'InPlaceIfPossible' && hasSurge) {
    yield required(`${path}.maxSurge`, 'must be 0 for InPlaceIfPossible type');
  } else if (type === 'Surging' && hasUnavailable && known.includes(type)) {
    yield required(`${path}.maxUnavailable`, 'must be 0 for Surging type');
  } else if (type !== '' && !known.includes(type)) {
    yield notSupported(`${path}.rollingUpdate.type`, type, known);
  }
  if (partition !== undefined) yield* validateLimit(partition, `${path}.rollingUpdate.partition`);
}

const standardTypes: readonly string[] = ['Standard', 'InPlaceIfPossible'];

function* validateLimit(value: number | string, path: string): Generator<Cause> {
  yield* validateIntOrPercent(value, path);
  yield* validateAtMostAll(value, path);
}
