import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateLabelValue } from '@kruise/values/names';
import type { LabelSelector, LabelSelectorRequirement } from './label-selector.ts';
import { validateLabelKey, validateLabels } from './labels.validate.ts';
import { refusals } from './value.validate.ts';

export function* validateLabelSelector(selector: LabelSelector | null | undefined, path: string): Generator<Cause> {
  if (!selector) return;
  yield* validateLabels(selector.matchLabels, `${path}.matchLabels`);
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    yield* validateRequirement(requirement, `${path}.matchExpressions[${index}]`);
  }
}

function* validateRequirement(
  { key, operator, values = [] }: LabelSelectorRequirement,
  path: string,
): Generator<Cause> {
  yield* validateSelectorValues(operator, values, path);
  yield* validateLabelKey(key, `${path}.key`);
  for (const [index, value] of values.entries()) {
    yield* refusals(`${path}.values[${index}]`, value, validateLabelValue(value));
  }
}

/** Validates the number of values of an operator. */
function* validateSelectorValues(operator: string, values: readonly string[], path: string): Generator<Cause> {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        yield required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
      return;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        yield forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      return;
    default:
      yield invalid(`${path}.operator`, operator, 'not a valid selector operator');
  }
}

/** Reports whether a selector is empty, and so selects everything. */
export function isEmptySelector({ matchLabels, matchExpressions }: LabelSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0;
}

type StringMap = { readonly [key: string]: string };

/** Reports whether labels match a selector. An invalid selector matches nothing. */
export function selects({ matchLabels, matchExpressions }: LabelSelector, labels: StringMap = {}): boolean {
  for (const key in matchLabels) if (labels[key] !== matchLabels[key]) return false;
  return (matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}
