/** What all kinds ask that keep Pods made from a template. */
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
  /** As messages call it: `deployment`. */
  readonly kind: string;
  /** What is said beside its faults of a selector that has any. */
  readonly ifInvalid: string;
};

/** A selector that must be given, and not be empty. Returns whether it can be matched with labels at all. */
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

/** The Pods made must be those the selector finds. No selector finds none; an empty one is not held against them. */
export function* validateSelected(
  selector: LabelSelector | null | undefined,
  template: PodTemplateSpec,
  path: string,
): Generator<Cause> {
  const labels = template.metadata?.labels;
  if (selector && (isEmptySelector(selector) || selects(selector, labels))) return;
  yield invalidStringMap(`${path}.metadata.labels`, labels, '`selector` does not match template `labels`');
}

/** Pods that are kept running are restarted, and have no end of their own. */
export function* validateEndless({ spec }: PodTemplateSpec, kind: string, path: string): Generator<Cause> {
  yield* oneOf(`${path}.spec.restartPolicy`, spec?.restartPolicy ?? '', ['Always']);
  if (spec?.activeDeadlineSeconds !== undefined) {
    yield forbidden(`${path}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${kind} is not Supported`);
  }
}

/** A selector stays what it was. */
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

/** Whether a count or percentage is nothing; a text that is neither counts as nothing. */
export function isZero(value: number | string): boolean {
  return (typeof value === 'string' ? (percentOf(value) ?? intValue(value)) : value) === 0;
}

function percentOf(text: string): number | undefined {
  return validatePercent(text).length === 0 ? Number(text.slice(0, -1)) : undefined;
}

type Counts = { readonly [name: string]: unknown };

/** Numbers of a status: none negative. */
export function* validateCounts(status: Counts, names: readonly string[]): Generator<Cause> {
  for (const name of names) yield* nonNegative(`status.${name}`, status[name] as number | undefined);
}

/** No part of the replicas is more than all of them. */
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

/** How often a name was taken only ever grows. */
export function* validateCollisions(
  { collisionCount: now }: { readonly collisionCount?: number } = {},
  { collisionCount: was }: { readonly collisionCount?: number } = {},
): Generator<Cause> {
  if (was !== undefined && (now ?? -1) < was) yield invalid('status.collisionCount', now ?? 0, 'cannot be decremented');
}
