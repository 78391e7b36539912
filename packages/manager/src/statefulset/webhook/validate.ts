/** Validation of StatefulSets. */
import {
  validateClaimRetention,
  validateManagementPolicy,
  validateNumberedTemplate,
} from '@kruise/api/apps/statefulset.validate';
import { validateIntOrPercent, validateOwnSelector } from '@kruise/api/core/workload.validate';
import type { RollingUpdateStatefulSetStrategy, StatefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateReadyCondition } from '@kruise/api/kruise/well-known';
import { invalidIntOrString, invalidIntOrStrings, invalidStructure } from '@kruise/api/meta/go-value';
import { labelName } from '@kruise/api/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { createJsonPatch } from '@kruise/client/json-patch-diff';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { tryParseInteger } from '@kruise/values/go-integer';
import { quote } from '@kruise/values/go-syntax';
import { ParseError } from '@kruise/values/parse-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { withTemplateDefaults } from '../../webhooks/pod-template.default.ts';
import { priorityFault } from '../../webhooks/update-order.validate.ts';
import { wholePercentValue } from '../../workload/percent.ts';
import { parseOrdinalRange } from '../ordinals.ts';

export function* validateStatefulSet({ metadata, spec }: StatefulSet, gates: FeatureGates): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: labelName });
  yield* validateManagementPolicy(spec.podManagementPolicy);
  yield* validateReserved(spec);
  const scaleLimit = spec.scaleStrategy?.maxUnavailable;
  if (scaleLimit !== undefined) yield* validateMaxUnavailable(scaleLimit, spec, 'spec.scaleStrategy.maxUnavailable');
  yield* validateUpdateStrategy(spec);
  yield* validateClaimRetention(spec.persistentVolumeClaimRetentionPolicy);
  yield* nonNegative('spec.replicas', spec.replicas);
  const rules = { kind: 'statefulset', ifInvalid: '' };
  const isSelectorValid = yield* validateOwnSelector(spec.selector, rules, 'spec.selector');
  // The template is validated with the defaults that its Pods would get, so that omitted fields are not reported.
  const template = withTemplateDefaults(spec.template, gates);
  if (isSelectorValid) yield* validateNumberedTemplate(spec.selector, template);
  const { restartPolicy, activeDeadlineSeconds } = spec.template.spec ?? {};
  if (restartPolicy && restartPolicy !== 'Always') {
    yield notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']);
  }
  if (activeDeadlineSeconds !== undefined) {
    yield forbidden(
      'spec.template.spec.activeDeadlineSeconds',
      'activeDeadlineSeconds in StatefulSet is not Supported',
    );
  }
}

type Spec = StatefulSet['spec'];

function* validateReserved({ reserveOrdinals = [] }: Spec): Generator<Cause> {
  const refused = (index: number, detail: string) =>
    invalidIntOrStrings('spec', reserveOrdinals, `${index} th reserve ordinal is ${detail}`);
  for (const [index, ordinal] of reserveOrdinals.entries()) {
    if (typeof ordinal === 'number') {
      if (ordinal < 0) yield refused(index, `negative: ${ordinal}`);
      continue;
    }
    if (!/^\d+-\d+$/.test(ordinal)) yield refused(index, `not a valid range: ${ordinal}`);
    try {
      parseOrdinalRange(ordinal);
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      yield refused(index, `invalid: ${ordinal}, err = ${error.message}`);
    }
  }
}

function* validateMaxUnavailable(
  value: number | string,
  { podManagementPolicy }: Spec,
  path: string,
): Generator<Cause> {
  yield* validateIntOrPercent(value, path);
  const least = wholePercentValue(value, 1, Math.ceil);
  const digits = typeof value === 'string' ? value.replaceAll('%', '') : '0';
  if (tryParseInteger(digits) === undefined) {
    const why = `invalid value ${quote(String(value))}: strconv.Atoi: parsing ${quote(digits)}: invalid syntax`;
    yield invalid(path, 0, `getValueFromIntOrPercent error: invalid value for IntOrString: ${why}`);
  } else if (least < 1) yield invalid(path, least, 'should not be less than 1');
  if (podManagementPolicy !== 'Parallel' && value !== 1) {
    yield invalidIntOrString(path, value, 'can only work with Parallel PodManagementPolicyType');
  }
}

function* validateUpdateStrategy(spec: Spec): Generator<Cause> {
  const path = 'spec.updateStrategy';
  const { type = '', rollingUpdate } = (spec.updateStrategy ?? {}) as {
    // The value is not validated yet.
    readonly type?: string;
    readonly rollingUpdate?: RollingUpdateStatefulSetStrategy;
  };
  switch (type) {
    case '':
      yield required(path);
      break;
    case 'OnDelete':
      if (rollingUpdate) {
        const detail = "only allowed for updateStrategy 'RollingUpdate'";
        yield invalidStructure(
          `${path}.rollingUpdate`,
          'v1beta1.RollingUpdateStatefulSetStrategy',
          rollingUpdate,
          detail,
        );
      }
      break;
    case 'RollingUpdate':
      if (rollingUpdate) yield* validateRollingUpdate(rollingUpdate, spec, `${path}.rollingUpdate`);
      break;
    default:
      yield invalidStructure(
        path,
        'v1beta1.StatefulSetUpdateStrategy',
        spec.updateStrategy,
        "must be 'RollingUpdate' or 'OnDelete'",
      );
  }
}

/** Upper limit of minReadySeconds. With a longer time, an update might never finish. */
const maxMinReadySeconds = 300;

function* validateRollingUpdate(rolling: RollingUpdateStatefulSetStrategy, spec: Spec, path: string): Generator<Cause> {
  const { partition, minReadySeconds = 0, maxUnavailable, unorderedUpdate } = rolling;
  yield* nonNegative(`${path}.partition`, partition);
  yield* nonNegative(`${path}.minReadySeconds`, minReadySeconds);
  if (minReadySeconds > maxMinReadySeconds) {
    const detail = `must be no more than ${maxMinReadySeconds} seconds`;
    yield invalid(`${path}.minReadySeconds`, minReadySeconds, detail);
  }
  if (maxUnavailable === undefined) yield required(`${path}.maxUnavailable`);
  else yield* validateMaxUnavailable(maxUnavailable, spec, `${path}.maxUnavailable`);
  yield* validatePodUpdatePolicy(rolling.podUpdatePolicy ?? '', spec, `${path}.podUpdatePolicy`);
  if (!unorderedUpdate) return;
  if (spec.podManagementPolicy !== 'Parallel') {
    yield required(`${path}.unorderedUpdate`, 'unorderedUpdate can only work with Parallel PodManagementPolicyType');
  }
  const fault = priorityFault(unorderedUpdate.priorityStrategy);
  if (fault) yield required(`${path}.unorderedUpdate.priorityStrategy`, fault);
}

function* validatePodUpdatePolicy(policy: string, { template }: Spec, path: string): Generator<Cause> {
  switch (policy) {
    case '':
      yield required(path);
      break;
    case 'ReCreate':
      break;
    case 'InPlaceIfPossible':
    case 'InPlaceOnly': {
      const gates = template.spec?.readinessGates ?? [];
      if (gates.some(({ conditionType }) => conditionType === inPlaceUpdateReadyCondition)) break;
      const detail = `must contains ${inPlaceUpdateReadyCondition} when podUpdatePolicy is ${policy}`;
      yield invalidStructure('spec.template.spec.readinessGates', 'v1.PodReadinessGate', gates, detail);
      break;
    }
    default:
      yield invalid(path, policy, "must be 'ReCreate', InPlaceIfPossible or 'InPlaceOnly'");
  }
}

export function* validateStatefulSetUpdate(set: StatefulSet, old: StatefulSet): Generator<Cause> {
  yield* validateObjectMetaUpdate(set.metadata, old.metadata);
  if (!isSame(immutablePart(set.spec), immutablePart(old.spec))) {
    yield forbidden(
      'spec',
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'reserveOrdinals', 'lifecycle', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy', `volumeClaimTemplates`, `VolumeClaimUpdateStrategy` and 'updateStrategy' are forbidden",
    );
  }
  yield* nonNegative('spec.replicas', set.spec.replicas);
  yield* validateClaimRetention(set.spec.persistentVolumeClaimRetentionPolicy);
}

function immutablePart({ selector, serviceName = '', podManagementPolicy }: Spec): unknown {
  return { selector, serviceName, podManagementPolicy };
}

/** Returns the reason why the template may not change with the type InPlaceOnly; undefined if it may. */
export function inPlaceOnlyFault(set: StatefulSet, old: StatefulSet): string | undefined {
  if (set.spec.updateStrategy?.rollingUpdate?.podUpdatePolicy !== 'InPlaceOnly') return undefined;
  const changes = createJsonPatch(old.spec.template.spec ?? {}, set.spec.template.spec ?? {});
  const found = changes.find(({ op, path }) => op !== 'replace' || !/\/containers\/\d+\/image/.test(path));
  if (!found) return undefined;
  return `invalid template modified with InPlaceOnly strategy: ${found.op} ${found.path}, currently only image update is allowed for InPlaceOnly`;
}
