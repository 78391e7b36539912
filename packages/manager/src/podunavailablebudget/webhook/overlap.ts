/** Approximate check whether two selectors match the same Pods, by the keys that they name. */
import type { LabelSelector, LabelSelectorRequirement } from '@kruise/api/meta/label-selector';

type Requirement = Pick<LabelSelectorRequirement, 'operator' | 'values'>;

/** Selectors with different keys are taken to match different Pods, although a Pod may match both. */
export function looselyOverlap(a: LabelSelector, b: LabelSelector): boolean {
  const [first, second] = [requirementsOf(a), requirementsOf(b)];
  return first.size === second.size && [...first].every(([key, one]) => areCompatible(one, second.get(key)));
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): ReadonlyMap<string, Requirement> {
  return new Map<string, Requirement>([
    ...matchExpressions.map((each) => [each.key, each] as const),
    ...Object.entries(matchLabels).map(([key, value]) => [key, { operator: 'In', values: [value] }] as const),
  ]);
}

/** Reports whether a label can meet both requirements. */
function areCompatible(one: Requirement, other: Requirement | undefined): boolean {
  if (!other) return false;
  const isOneOf = (...operators: readonly string[]) => operators.includes(other.operator);
  const { values = [] } = one;
  const { values: others = [] } = other;
  switch (one.operator) {
    case 'In':
      if (isOneOf('In')) return values.some((value) => others.includes(value));
      return isOneOf('Exists') || (isOneOf('NotIn') && !values.every((value) => others.includes(value)));
    case 'Exists':
      return isOneOf('In', 'NotIn', 'Exists');
    case 'NotIn':
      if (isOneOf('In')) return !others.every((value) => values.includes(value));
      return isOneOf('Exists', 'DoesNotExist', 'NotIn');
    case 'DoesNotExist':
      return isOneOf('DoesNotExist', 'NotIn');
    default:
      return false;
  }
}
