import type { Cause } from '@kruise/schema/field-error';
import { validateAtMostAll, validateCounts, validateIntOrPercent } from '../core/workload.validate.ts';
import { validateConditions } from '../meta/condition.validate.ts';
import { invalidStructure } from '../meta/go-value.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { oneOf } from '../meta/value.validate.ts';
import type { PodDisruptionBudget } from './poddisruptionbudget.ts';

export function* validatePodDisruptionBudget({ spec = {} }: PodDisruptionBudget): Generator<Cause> {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy } = spec;
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const detail = 'minAvailable and maxUnavailable cannot be both set';
    yield invalidStructure('spec', 'policy.PodDisruptionBudgetSpec', spec, detail);
  }
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    const value = spec[field];
    if (value === undefined) continue;
    yield* validateIntOrPercent(value, `spec.${field}`);
    yield* validateAtMostAll(value, `spec.${field}`);
  }
  yield* validateLabelSelector(selector, 'spec.selector');
  if (unhealthyPodEvictionPolicy !== undefined) {
    const policies = ['AlwaysAllow', 'IfHealthyBudget'];
    yield* oneOf('spec.unhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy, policies);
  }
}

export function* validatePodDisruptionBudgetStatusUpdate({ status }: PodDisruptionBudget): Generator<Cause> {
  yield* validateConditions(status?.conditions, 'status.conditions');
  yield* validateCounts(status ?? {}, ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']);
}
