/** Validation of PodUnavailableBudgets. */
import { validateAtMostAll, validateIntOrPercent } from '@kruise/api/core/workload.validate';
import type { PodUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { protectTotalReplicasAnnotation } from '@kruise/api/kruise/well-known';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { isEmptySelector, validateLabelSelector } from '@kruise/api/meta/label-selector.validate';
import { isSame } from '@kruise/api/meta/same';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { parseIntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import { isSameWorkload } from '../association.ts';
import { looselyOverlap } from './overlap.ts';

type Budget = PodUnavailableBudget;

/** Validates a budget. `others` are the budgets of the same namespace, including the stored one of the same name. */
export function* validateBudget(budget: Budget, old: Budget | undefined, others: readonly Budget[]): Generator<Cause> {
  yield* validateTotalAnnotation(budget);
  yield* validateChoice(budget);
  yield* validateLimit(budget);
  yield* validateOperations(budget);
  yield* validateIgnored(budget);
  if (old) yield* validateChange(budget, old);
  yield* validateConflicts(budget, others);
}

function* validateTotalAnnotation({ metadata, spec }: Budget): Generator<Cause> {
  const text = metadata.annotations?.[protectTotalReplicasAnnotation];
  if (text === undefined) return;
  const path = `metadata.annotations[${protectTotalReplicasAnnotation}]`;
  if (typeof parseIntOrString(text) !== 'number') {
    yield invalid(path, text, 'must be a valid int32');
  } else if (spec.protectTotalReplicas !== undefined && text !== String(spec.protectTotalReplicas)) {
    yield invalid(path, text, 'must match spec.protectTotalReplicas when both are set');
  }
}

const choicePath = 'spec.selector, targetRef';

function* validateChoice({ spec: { selector, targetRef } }: Budget): Generator<Cause> {
  if (targetRef && selector) {
    yield required(choicePath, 'selector and targetRef are mutually exclusive');
  } else if (targetRef) {
    yield* validateTarget(targetRef);
  } else if (selector) {
    yield* validateLabelSelector(selector, 'spec.selector');
    if (isEmptySelector(selector)) {
      const why = 'empty selector is not valid for PodUnavailableBudget.';
      yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, why);
    }
    if (!isReadable(selector)) yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, '');
  } else {
    yield required(choicePath, 'no selector or targetRef defined in PodUnavailableBudget');
  }
}

function isReadable(selector: LabelSelector): boolean {
  try {
    selectorOf(selector);
    return true;
  } catch (error) {
    if (error instanceof ParseError) return false;
    throw error;
  }
}

type Target = NonNullable<Budget['spec']['targetRef']>;

function* validateTarget(target: Target): Generator<Cause> {
  const { apiVersion, kind, name } = target;
  const refused = (why: string) => invalidStructure('spec.targetRef', 'v1beta1.TargetReference', target, why);
  if (!apiVersion || !kind || !name) yield refused('empty targetRef is not valid for PodUnavailableBudget');
  if ((apiVersion?.split('/').length ?? 0) > 2) yield refused(`unexpected GroupVersion string: ${apiVersion}`);
}

const limitPath = 'spec.maxUnavailable, minAvailable';

function* validateLimit({ spec: { maxUnavailable, minAvailable } }: Budget): Generator<Cause> {
  if (maxUnavailable !== undefined && minAvailable !== undefined) {
    yield required(limitPath, 'maxUnavailable and minAvailable are mutually exclusive');
  } else if (maxUnavailable !== undefined) {
    yield* validateShare(maxUnavailable, 'spec.maxUnavailable');
  } else if (minAvailable !== undefined) {
    yield* validateShare(minAvailable, 'spec.minAvailable');
  } else {
    yield required(limitPath, 'no maxUnavailable or minAvailable defined in PodUnavailableBudget');
  }
}

function* validateShare(value: number | string, path: string): Generator<Cause> {
  yield* validateIntOrPercent(value, path);
  yield* validateAtMostAll(value, path);
}

const operations: readonly string[] = ['DELETE', 'UPDATE', 'EVICT', 'RESIZE'];

function* validateOperations({ spec: { protectOperations = [] } }: Budget): Generator<Cause> {
  for (const [index, operation] of protectOperations.entries()) {
    if (!operations.includes(operation)) {
      yield notSupported(`spec.protectOperations[${index}]`, operation, operations);
    }
  }
}

function* validateIgnored({ spec: { ignoredPodSelector: selector } }: Budget): Generator<Cause> {
  if (!selector) return;
  const path = 'spec.ignoredPodSelector';
  yield* validateLabelSelector(selector, path);
  if (isEmptySelector(selector)) {
    const why = 'empty ignoredPodSelector is not valid for PodUnavailableBudget';
    yield invalidStructure(path, 'v1.LabelSelector', selector, why);
  }
}

function* validateChange({ spec }: Budget, { spec: old }: Budget): Generator<Cause> {
  if (!isSame(spec.selector, old.selector) || !isSame(spec.targetRef, old.targetRef)) {
    yield required(choicePath, 'selector and targetRef cannot be modified');
  }
}

/** A Pod belongs to one budget. Reports the first conflicting budget. */
function* validateConflicts(budget: Budget, all: readonly Budget[]): Generator<Cause> {
  const { targetRef, selector } = budget.spec;
  for (const { metadata, spec: other } of all) {
    if (metadata.name === budget.metadata.name) continue;
    const isInTheWay = (field: string) =>
      `pub.spec.${field} is in conflict with other PodUnavailableBudget ${metadata.name}`;
    if (targetRef && other.targetRef) {
      if (!isSameWorkload(targetRef, other.targetRef)) continue;
      const why = isInTheWay('targetReference');
      return yield invalidStructure('spec.targetReference', 'v1beta1.TargetReference', targetRef, why);
    }
    if (selector && other.selector && looselyOverlap(selector, other.selector)) {
      return yield invalidStructure('spec.selector', 'v1.LabelSelector', selector, isInTheWay('selector'));
    }
  }
}
