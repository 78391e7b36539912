/** Validation rules that all workloads with a Pod template share. */
import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { intValue } from '@kruise/values/int-or-string';
import { validatePercent } from '@kruise/values/names';
import { invalidIntOrString, invalidStringMap, invalidStructure } from '../meta/go-value.ts';
import type { LabelSelector } from '../meta/label-selector.ts';
import { isEmptySelector, selects, validateLabelSelector } from '../meta/label-selector.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, nonNegative, oneOf } from '../meta/value.validate.ts';
import type { PodTemplateSpec } from './pod-template.ts';

const selectorType = 'v1.LabelSelector';

type SelectorRules = {
  /** The name of the kind in messages: `deployment`. */
  readonly kind: string;
  /** The message for an invalid selector, beside its errors. */
  readonly ifInvalid: string;
};

/** Validates a selector, which is required and must not be empty. Returns whether it can be matched against labels. */
export function* validateOwnSelector(
  selector: LabelSelector | null | undefined,
  { kind, ifInvalid }: SelectorRules,
  path: string,
): Generator<Cause, boolean> {
  if (!selector) {
    yield required(path);
    return true;
  }
  let isValid = true;
  for (const cause of validateLabelSelector(selector, path)) {
    isValid = false;
    yield cause;
  }
  if (isEmptySelector(selector)) {
    yield invalidStructure(path, selectorType, selector, `empty selector is invalid for ${kind}`);
  }
  if (!isValid) yield invalidStructure(path, selectorType, selector, ifInvalid);
  return isValid;
}

/**
 * The template's labels must match the selector. A missing selector matches nothing; an empty one is not reported here.
 */
export function* validateSelected(
  selector: LabelSelector | null | undefined,
  template: PodTemplateSpec,
  path: string,
): Generator<Cause> {
  const labels = template.metadata?.labels;
  if (selector && (isEmptySelector(selector) || selects(selector, labels))) return;
  yield invalidStringMap(`${path}.metadata.labels`, labels, '`selector` does not match template `labels`');
}

/** The Pods of a workload must have the restart policy Always, and no deadline. */
export function* validateEndless({ spec }: PodTemplateSpec, kind: string, path: string): Generator<Cause> {
  yield* oneOf(`${path}.spec.restartPolicy`, spec?.restartPolicy ?? '', ['Always']);
  if (spec?.activeDeadlineSeconds !== undefined) {
    yield forbidden(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** Validates that the selector is immutable. */
export function* validateSameSelector(
  selector: LabelSelector | null | undefined,
  old: LabelSelector | null | undefined,
): Generator<Cause> {
  if (!isSame(selector, old)) yield invalidStructure('spec.selector', selectorType, selector, isImmutable);
}

export function* validateIntOrPercent(value: number | string, path: string): Generator<Cause> {
  if (typeof value === 'number') yield* nonNegative(path, value);
  else for (const fault of validatePercent(value)) yield invalidIntOrString(path, value, fault);
}

export function* validateAtMostAll(value: number | string, path: string): Generator<Cause> {
  if (typeof value === 'string' && percentOf(value)! > 100) {
    yield invalidIntOrString(path, value, 'must not be greater than 100%');
  }
}

/** Reports whether a count or percentage is 0. Any other text counts as 0. */
export function isZero(value: number | string): boolean {
  return (typeof value === 'string' ? (percentOf(value) ?? intValue(value)) : value) === 0;
}

function percentOf(text: string): number | undefined {
  return validatePercent(text).length === 0 ? Number(text.slice(0, -1)) : undefined;
}

type Counts = { readonly [name: string]: unknown };

/** Validates that the counters of a status are not negative. */
export function* validateCounts(status: Counts, names: readonly string[]): Generator<Cause> {
  for (const name of names) yield* nonNegative(`status.${name}`, status[name] as number | undefined);
}

/** No counter may exceed the replicas. */
export function* validateParts(status: Counts, names: readonly string[], path = 'readyReplicas'): Generator<Cause> {
  const count = (name: string) => (status[name] as number | undefined) ?? 0;
  for (const name of names) {
    if (count(name) <= count('replicas')) continue;
    yield invalid(`status.${name}`, count(name), 'cannot be greater than status.replicas');
  }
  if (count('availableReplicas') > count('readyReplicas')) {
    yield invalid('status.availableReplicas', count('availableReplicas'), `cannot be greater than ${path}`);
  }
}

/** The collision count must not decrease. */
export function* validateCollisions(
  { collisionCount: now }: { readonly collisionCount?: number } = {},
  { collisionCount: was }: { readonly collisionCount?: number } = {},
): Generator<Cause> {
  if (was !== undefined && (now ?? -1) < was) yield invalid('status.collisionCount', now ?? 0, 'cannot be decremented');
}
