import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validatePathSegment, validateQualifiedName } from '@kruise/values/names';
import { parseQuantity, quantitySign } from '@kruise/values/quantity';
import { isNegative, validateContainerResourceName } from '../core/resources.validate.ts';
import { validateCounts } from '../core/workload.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { mustBePositive, mustNotBeNegative, oneOf, refusals } from '../meta/value.validate.ts';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from './horizontalpodautoscaler.ts';

const maxStabilizationSeconds = 3600;
const maxPeriodSeconds = 1800;

/** Drops the tolerance of metrics, a feature that is disabled in v1.33. */
export function prepareHorizontalPodAutoscaler(
  { spec }: Draft<HorizontalPodAutoscaler>,
  old?: HorizontalPodAutoscaler,
): void {
  const before = old?.spec?.behavior;
  if (before?.scaleUp?.tolerance !== undefined || before?.scaleDown?.tolerance !== undefined) return;
  delete spec?.behavior?.scaleUp?.tolerance;
  delete spec?.behavior?.scaleDown?.tolerance;
}

export function* validateHorizontalPodAutoscaler({ metadata, spec }: HorizontalPodAutoscaler): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  if (spec) yield* validateSpec(spec, 1);
}

export function* validateHorizontalPodAutoscalerUpdate(
  { metadata, spec }: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (spec) yield* validateSpec(spec, old.spec?.minReplicas === 0 ? 0 : 1);
}

export function* validateHorizontalPodAutoscalerStatusUpdate(
  { metadata, status }: HorizontalPodAutoscaler,
  old: HorizontalPodAutoscaler,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateCounts(status ?? {}, ['currentReplicas', 'desiredReplicas']);
}

function* validateSpec(spec: HorizontalPodAutoscalerSpec, fewest: number): Generator<Cause> {
  const { minReplicas, maxReplicas, scaleTargetRef, metrics = [], behavior } = spec;
  if (minReplicas !== undefined && minReplicas < fewest) {
    yield invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${fewest}`);
  }
  if (maxReplicas < 1) yield invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0');
  if (minReplicas !== undefined && maxReplicas < minReplicas) {
    yield invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`');
  }
  yield* validateReference(scaleTargetRef, 'spec.scaleTargetRef');
  for (const [index, metric] of metrics.entries()) yield* validateMetric(metric, `spec.metrics[${index}]`);
  const fromNothing = metrics.some(({ type }) => type === 'Object' || type === 'External');
  if (minReplicas === 0 && !fromNothing) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    yield forbidden('spec.metrics', detail);
  }
  if (behavior?.scaleUp) yield* validateRules(behavior.scaleUp, 'spec.behavior.scaleUp');
  if (behavior?.scaleDown) yield* validateRules(behavior.scaleDown, 'spec.behavior.scaleDown');
}

function* validateReference({ kind, name }: CrossVersionObjectReference, path: string): Generator<Cause> {
  if (kind) yield* refusals(`${path}.kind`, kind, validatePathSegment(kind));
  else yield required(`${path}.kind`);
  if (name) yield* refusals(`${path}.name`, name, validatePathSegment(name));
  else yield required(`${path}.name`);
}

function* validateRules(rules: HPAScalingRules, path: string): Generator<Cause> {
  const { stabilizationWindowSeconds: window, selectPolicy, policies = [], tolerance } = rules;
  if (window !== undefined && window < 0) {
    yield invalid(`${path}.stabilizationWindowSeconds`, window, 'must be greater than or equal to zero');
  }
  if (window !== undefined && window > maxStabilizationSeconds) {
    const detail = `must be less than or equal to ${maxStabilizationSeconds}`;
    yield invalid(`${path}.stabilizationWindowSeconds`, window, detail);
  }
  if (selectPolicy !== undefined) yield* oneOf(`${path}.selectPolicy`, selectPolicy, ['Disabled', 'Max', 'Min']);
  if (policies.length === 0) yield required(`${path}.policies`, 'must specify at least one Policy');
  for (const [index, policy] of policies.entries()) yield* validatePolicy(policy, `${path}.policies[${index}]`);
  if (tolerance !== undefined && isNegative(tolerance)) {
    yield invalid(`${path}.tolerance`, tolerance, mustNotBeNegative);
  }
}

function* validatePolicy({ type, value, periodSeconds }: HPAScalingPolicy, path: string): Generator<Cause> {
  yield* oneOf(`${path}.type`, type, ['Percent', 'Pods']);
  if (value <= 0) yield invalid(`${path}.value`, value, mustBePositive);
  if (periodSeconds <= 0) yield invalid(`${path}.periodSeconds`, periodSeconds, mustBePositive);
  if (periodSeconds > maxPeriodSeconds) {
    yield invalid(`${path}.periodSeconds`, periodSeconds, `must be less than or equal to ${maxPeriodSeconds}`);
  }
}

type SourceName = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';
type Source<N extends SourceName> = NonNullable<MetricSpec[N]>;

const sourceTypes: { readonly [type: string]: SourceName } = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};

const checks: { readonly [N in SourceName]: (source: Source<N>, path: string) => Iterable<Cause> } = {
  *object({ describedObject, metric, target }, path) {
    yield* validateReference(describedObject, `${path}.describedObject`);
    yield* validateIdentifier(metric, `${path}.metric`);
    yield* validateTarget(target, `${path}.target`);
    if (target.value === undefined && target.averageValue === undefined) {
      yield required(`${path}.target.averageValue`, 'must set either a target value or averageValue');
    }
  },
  *external({ metric, target }, path) {
    yield* validateIdentifier(metric, `${path}.metric`);
    yield* validateTarget(target, `${path}.target`);
    if (target.value === undefined && target.averageValue === undefined) {
      const detail = 'must set either a target value for metric or a per-pod target';
      yield required(`${path}.target.averageValue`, detail);
    }
    if (target.value !== undefined && target.averageValue !== undefined) {
      yield forbidden(`${path}.target.value`, 'may not set both a target value for metric and a per-pod target');
    }
  },
  *pods({ metric, target }, path) {
    yield* validateIdentifier(metric, `${path}.metric`);
    yield* validateTarget(target, `${path}.target`);
    if (target.averageValue === undefined) {
      yield required(`${path}.target.averageValue`, 'must specify a positive target averageValue');
    }
  },
  *resource({ name, target }, path) {
    if (!name) yield required(`${path}.name`, 'must specify a resource name');
    yield* validateUse(target, path);
  },
  *containerResource({ name, container, target }, path) {
    if (!name) yield required(`${path}.name`, 'must specify a resource name');
    else yield* validateResource(name, `${path}.name`);
    if (!container) yield required(`${path}.container`, 'must specify a container');
    else yield* refusals(`${path}.container`, container, validateDns1123Label(container));
    yield* validateUse(target, path);
  },
};

/** An invalid resource name is reported here as a plain string. */
function* validateResource(name: string, path: string): Generator<Cause> {
  const faults = validateQualifiedName(name);
  yield* refusals(path, name, faults);
  const others = [...validateContainerResourceName(name, path)];
  yield* others.slice(faults.length);
}

/** Exactly one of average utilization and average value must be set. */
function* validateUse(target: MetricTarget, path: string): Generator<Cause> {
  yield* validateTarget(target, `${path}.target`);
  const { averageUtilization, averageValue } = target;
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    yield required(`${path}.target.averageUtilization`, detail);
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    yield forbidden(`${path}.target.averageValue`, 'may not set both a target raw value and a target utilization');
  }
}

function* validateMetric(metric: MetricSpec, path: string): Generator<Cause> {
  const type: string = metric.type;
  const types = Object.keys(sourceTypes);
  if (!type) yield required(`${path}.type`, 'must specify a metric source type');
  if (!types.includes(type)) yield notSupported(`${path}.type`, type, types);
  const present = (Object.keys(checks) as SourceName[]).filter((name) => metric[name] !== undefined);
  const [first] = present;
  if (first !== undefined) yield* check(metric, first, path);
  const expected = Object.hasOwn(sourceTypes, type) ? sourceTypes[type] : undefined;
  if (expected === undefined) yield notSupported(`${path}.type`, type, types);
  else if (!metric[expected]) {
    yield required(`${path}.${expected}`, 'must populate information for the given metric source');
  }
  if (present.length === 1) return;
  for (const name of present) {
    if (name !== expected) yield forbidden(`${path}.${name}`, 'must populate the given metric source only');
  }
}

function check<N extends SourceName>(metric: MetricSpec, name: N, path: string): Iterable<Cause> {
  // Only the sources that are set are validated.
  return checks[name](metric[name] as Source<N>, `${path}.${name}`);
}

function* validateTarget(target: MetricTarget, path: string): Generator<Cause> {
  const type: string = target.type;
  if (!type) yield required(`${path}.type`, 'must specify a metric target type');
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    yield invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue');
  }
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field];
    if (amount !== undefined && quantitySign(parseQuantity(amount)) !== 1) {
      yield invalid(`${path}.${field}`, amount, 'must be positive');
    }
  }
  const { averageUtilization } = target;
  if (averageUtilization !== undefined && averageUtilization < 1) {
    yield invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0');
  }
}

function* validateIdentifier({ name }: MetricIdentifier, path: string): Generator<Cause> {
  if (name) yield* refusals(`${path}.name`, name, validatePathSegment(name));
  else yield required(`${path}.name`, 'must specify a metric name');
}
