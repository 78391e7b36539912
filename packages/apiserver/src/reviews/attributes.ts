import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '@kruise/api/authorization/attributes';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { validateLabelKey } from '@kruise/api/meta/labels.validate';
import { refusals } from '@kruise/api/meta/value.validate';
import { escapeValue, parseFieldSelector } from '@kruise/machinery/field-selector';
import { parseSelector } from '@kruise/machinery/label-selector';
import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateLabelValue } from '@kruise/values/names';
import { ParseError } from '@kruise/values/parse-error';
import type { Attributes } from '../authorization/authorizer.ts';
import type { User } from '../user.ts';

/** Attributes of the reviewed access. */
export type ReviewedAccess = {
  readonly resourceAttributes?: ResourceAttributes | null;
  readonly nonResourceAttributes?: NonResourceAttributes | null;
};

/** Validates the attributes of a review. */
export function* accessFaults({ resourceAttributes, nonResourceAttributes }: ReviewedAccess): Generator<Cause> {
  if (resourceAttributes && nonResourceAttributes) {
    yield nonResourceFault(nonResourceAttributes, 'cannot be specified in combination with resourceAttributes');
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    yield {
      ...invalid('spec.resourceAttributes', 'null', ''),
      message: 'Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified',
    };
  }
}

/** Creates the error for non-resource attributes. */
export function nonResourceFault(access: NonResourceAttributes, detail: string): Cause {
  return invalidStructure('spec.nonResourceAttributes', 'authorization.NonResourceAttributes', access, detail);
}

export function* subjectFaults({ user, groups }: SubjectAccessReviewSpec): Generator<Cause> {
  if (!user && !groups?.length) {
    yield invalid('spec.user', '', 'at least one of user or group must be specified');
  }
}

export function* selectorFaults({ resourceAttributes }: ReviewedAccess): Generator<Cause> {
  for (const name of ['fieldSelector', 'labelSelector'] as const) {
    const selector = resourceAttributes?.[name];
    if (!selector) continue;
    const path = `spec.resourceAttributes.${name}`;
    const { rawSelector = '', requirements = [] } = selector;
    if (rawSelector !== '' && requirements.length > 0) {
      yield invalid(`${path}.rawSelector`, rawSelector, 'may not specified at the same time as requirements');
    }
    if (rawSelector === '' && requirements.length === 0) {
      yield required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`);
    }
    for (const [index, requirement] of requirements.entries()) {
      yield* requirementFaults(requirement, `${path}.requirements[${index}]`, name === 'labelSelector');
    }
  }
}

type Requirement = { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null };

/** Unknown operators are accepted: a newer client may know them, and they can only restrict access. */
function* requirementFaults(requirement: Requirement, path: string, isLabel: boolean): Generator<Cause> {
  const { key, operator, values } = requirement;
  const count = values?.length ?? 0;
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    yield required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && count > 0) {
    yield forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
  if (isLabel) {
    yield* validateLabelKey(key, `${path}.key`);
    for (const [index, value] of (values ?? []).entries()) {
      yield* refusals(`${path}.values[${index}]`, value, validateLabelValue(value));
    }
  } else if (key === '') yield required(`${path}.key`, 'must be specified');
}

/** Returns the authorization attributes of a review, and the selectors that could not be parsed. */
export function reviewedAttributes(
  user: User,
  access: ReviewedAccess,
): { readonly attributes: Attributes; readonly error: string } {
  const { resourceAttributes: wanted, nonResourceAttributes } = access;
  if (!wanted) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { attributes: { user, verb, resource: false, path }, error: '' };
  }
  const errors: string[] = [];
  const read = (name: 'fieldSelector' | 'labelSelector', parse: (text: string) => unknown) => {
    const selector = wanted[name];
    if (!selector) return {};
    const text = selector.rawSelector || textOf(selector.requirements ?? [], name === 'labelSelector');
    try {
      parse(text);
      return { [name]: text };
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      errors.push(`spec.resourceAttributes.${name} ignored due to parse error`);
      return {};
    }
  };
  const { verb = '', group = '', version = '', resource = '', subresource = '', namespace = '', name = '' } = wanted;
  const attributes: Attributes = {
    user,
    verb,
    resource: true,
    group,
    version,
    plural: resource,
    subresource,
    namespace,
    name,
    ...read('fieldSelector', parseFieldSelector),
    ...read('labelSelector', parseSelector),
  };
  return { attributes, error: errors.join('; ') };
}

/** Formats requirements as a selector. Unsupported requirements are omitted, which only widens the reviewed access. */
function textOf(requirements: readonly Requirement[], isLabel: boolean): string {
  const terms = requirements.flatMap(({ key, operator, values }) => {
    const list = values ?? [];
    if (isLabel) {
      if (operator === 'In' || operator === 'NotIn') return [`${key} ${operator.toLowerCase()} (${list.join(',')})`];
      if (operator === 'Exists') return [key];
      return operator === 'DoesNotExist' ? [`!${key}`] : [];
    }
    const [value] = list;
    if (value === undefined || list.length > 1) return [];
    if (operator === 'In') return [`${key}=${escapeValue(value)}`];
    return operator === 'NotIn' ? [`${key}!=${escapeValue(value)}`] : [];
  });
  return terms.join(',');
}
