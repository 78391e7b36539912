/** Proposed replicas, status and error messages of each metric of an autoscaler. */
import type { MetricSpec, MetricStatus, MetricTarget } from '@kruise/api/autoscaling/horizontalpodautoscaler';
import { formatQuantity, MILLI, milliValue, parseQuantity, quantityOf } from '@kruise/values/quantity';
import { goSelectorText } from '../go-selector-text.ts';
import {
  type Failure,
  isFailure,
  type PodMetrics,
  replicasForAverage,
  replicasForShare,
  replicasForUtilization,
  replicasForValue,
  type State,
} from './replicas.ts';

/** Result of a metric query: values by Pod name, one value in milli-units, or the reason for a failure. */
export type MetricResult = { readonly pods: PodMetrics } | { readonly value: number } | Failure;

export type MetricProposal = { readonly replicas: number; readonly name: string; readonly status: MetricStatus };

/** Failure of a metric: the reason of the event, the event message, and the text in the summary of all failures. */
export type MetricFailure = { readonly reason: string; readonly failure: string; readonly error: string };

export type MetricState = State & { readonly statusReplicas: number; readonly namespace: string };

export function proposeFor(spec: MetricSpec, answer: MetricResult, state: MetricState): MetricProposal | MetricFailure {
  switch (spec.type) {
    case 'Resource':
      return forResource(spec, answer, state);
    case 'ContainerResource':
      return forContainer(spec, answer, state);
    case 'Pods':
      return forPods(spec, answer, state);
    case 'Object':
      return forObject(spec, answer, state);
    case 'External':
      return forExternal(spec, answer, state);
    default: {
      const failure = `unknown metric source type "${spec.type}"`;
      return { reason: 'InvalidMetricSourceType', failure, error: failure };
    }
  }
}

type Current = { readonly averageUtilization?: number; readonly averageValue?: string };
type ResourceProposal = { readonly replicas: number; readonly name: string; readonly current: Current };

function forResource({ resource }: MetricSpec, answer: MetricResult, state: MetricState) {
  const { name = '', target } = resource ?? {};
  const found = byResource({ name, target, container: '', kind: 'resource' }, answer, state);
  if (isFailure(found)) {
    const error = `failed to get ${name} resource metric value: ${found.failure}`;
    return { reason: 'FailedGetResourceMetric', ...found, error };
  }
  const { current, ...rest } = found;
  return { ...rest, status: { type: 'Resource', resource: { name, current } } };
}

function forContainer({ containerResource }: MetricSpec, answer: MetricResult, state: MetricState) {
  const { name = '', container = '', target } = containerResource ?? {};
  const found = byResource({ name, target, container, kind: 'container resource' }, answer, state);
  if (isFailure(found)) {
    const error = `failed to get ${container} container metric value: ${found.failure}`;
    return { reason: 'FailedGetContainerResourceMetric', ...found, error };
  }
  const { current, ...rest } = found;
  return { ...rest, status: { type: 'ContainerResource', containerResource: { name, container, current } } };
}

type ResourceQuestion = {
  readonly name: string;
  readonly target: MetricTarget | undefined;
  readonly container: string;
  readonly kind: string;
};

function byResource(
  { name, target, container, kind }: ResourceQuestion,
  answer: MetricResult,
  state: MetricState,
): ResourceProposal | Failure {
  const unavailable = 'failure' in answer ? `unable to get metrics for resource ${name}: ${answer.failure}` : undefined;
  const pods = 'pods' in answer ? answer.pods : new Map();
  if (target?.averageValue != null) {
    const wanted = { resource: name, target: milliOf(target.averageValue) };
    const found = unavailable ? { failure: unavailable } : replicasForAverage(state, pods, wanted);
    if (isFailure(found)) return { failure: `failed to get ${name} usage: ${found.failure}` };
    return { replicas: found.replicas, name: `${name} resource`, current: { averageValue: milliText(found.usage) } };
  }
  if (target?.averageUtilization == null) {
    const missing = 'neither an average utilization target nor an average value (usage) target was set';
    return { failure: `invalid resource metric source: ${missing}` };
  }
  const wanted = { resource: name, container, targetPercent: target.averageUtilization };
  const found = unavailable ? { failure: unavailable } : replicasForUtilization(state, pods, wanted);
  if (isFailure(found)) return { failure: `failed to get ${name} utilization: ${found.failure}` };
  const { replicas, usage, utilization = 0 } = found;
  return {
    replicas,
    name: `${name} ${kind} utilization (percentage of request)`,
    current: { averageUtilization: utilization, averageValue: milliText(usage) },
  };
}

function forPods({ pods }: MetricSpec, answer: MetricResult, state: MetricState): MetricProposal | MetricFailure {
  const { metric, target } = pods ?? {};
  const found =
    'pods' in answer
      ? replicasForAverage(state, answer.pods, { target: milliOf(target?.averageValue) })
      : { failure: `unable to get metric ${metric?.name}: ${failureOf(answer)}` };
  if (isFailure(found)) {
    return { reason: 'FailedGetPodsMetric', ...found, error: `failed to get pods metric value: ${found.failure}` };
  }
  const current = { averageValue: milliText(found.usage) };
  const status = { type: 'Pods', pods: { metric: metric ?? { name: '' }, current } };
  return { replicas: found.replicas, name: `pods metric ${metric?.name}`, status };
}

function forObject({ object }: MetricSpec, answer: MetricResult, state: MetricState): MetricProposal | MetricFailure {
  const { metric = { name: '' }, target, describedObject = { kind: '', name: '' } } = object ?? {};
  const fail = (failure: string, context = ''): MetricFailure => ({
    reason: 'FailedGetObjectMetric',
    failure,
    error: `failed to get object metric value: ${context}${failure}`,
  });
  const { kind, name } = describedObject;
  const unavailable = `unable to get metric ${metric.name}: ${kind} on ${state.namespace} ${name}/${failureOf(answer)}`;
  const show = (current: object) => ({ type: 'Object', object: { describedObject, metric, current } });
  if (target?.type === 'Value' && target.value != null) {
    if (!('value' in answer)) return fail(unavailable);
    const found = replicasForValue(state, answer.value, milliOf(target.value));
    if (isFailure(found)) return fail(found.failure);
    const status = show({ value: milliText(found.usage) });
    return { replicas: found.replicas, name: `${kind} metric ${metric.name}`, status };
  }
  if (target?.type === 'AverageValue' && target.averageValue != null) {
    if (!('value' in answer)) return fail(unavailable, `failed to get ${metric.name} object metric: `);
    const { statusReplicas, settings } = state;
    const found = replicasForShare(statusReplicas, answer.value, milliOf(target.averageValue), settings);
    const status = show({ averageValue: milliText(found.usage) });
    return {
      replicas: found.replicas,
      name: `external metric ${metric.name}(${goSelectorText(metric.selector)})`,
      status,
    };
  }
  return fail('invalid object metric source: neither a value target nor an average value target was set');
}

function forExternal(
  { external }: MetricSpec,
  answer: MetricResult,
  state: MetricState,
): MetricProposal | MetricFailure {
  const { metric = { name: '' }, target } = external ?? {};
  const fail = (failure: string, context = ''): MetricFailure => ({
    reason: 'FailedGetExternalMetric',
    failure,
    error: `failed to get ${metric.name} external metric value: ${context}${failure}`,
  });
  const selector = goSelectorText(metric.selector);
  const question = `${state.namespace}/${metric.name}/${selector}`;
  const unavailable = `unable to get external metric ${question}: ${failureOf(answer)}`;
  const show = (current: object) => ({ type: 'External', external: { metric, current } });
  const name = `external metric ${metric.name}(${selector})`;
  if (target?.averageValue != null) {
    if (!('value' in answer)) return fail(unavailable, `failed to get ${metric.name} external metric: `);
    const { statusReplicas, settings } = state;
    const found = replicasForShare(statusReplicas, answer.value, milliOf(target.averageValue), settings);
    return { replicas: found.replicas, name, status: show({ averageValue: milliText(found.usage) }) };
  }
  if (target?.value != null) {
    const context = `failed to get external metric ${metric.name}: `;
    if (!('value' in answer)) return fail(unavailable, context);
    const found = replicasForValue(state, answer.value, milliOf(target.value));
    if (isFailure(found)) return fail(found.failure, context);
    return { replicas: found.replicas, name, status: show({ value: milliText(found.usage) }) };
  }
  return fail('invalid external metric source: neither a value target nor an average value target was set');
}

function failureOf(answer: MetricResult): string {
  return isFailure(answer) ? answer.failure : 'no answer of the kind that was asked for';
}

function milliOf(quantity: string | null | undefined): number {
  return milliValue(parseQuantity(quantity ?? '0'));
}

function milliText(milli: number): string {
  return formatQuantity(quantityOf(milli, 'DecimalSI', MILLI));
}
