import type { UpdatePriorityStrategy, UpdateScatterStrategy } from '@kruise/api/kruise/update-order';
import { isEmptySelector, validateLabelSelector } from '@kruise/api/meta/label-selector.validate';

/** Returns the first error of a priority strategy. */
export function priorityFault(strategy: UpdatePriorityStrategy | undefined): string | undefined {
  const { weightPriority = [], orderPriority = [] } = strategy ?? {};
  if (weightPriority.length > 0 && orderPriority.length > 0) {
    return 'only one of weightPriority and orderPriority can be used';
  }
  for (const { weight, matchSelector } of weightPriority) {
    if (weight < 0 || weight > 100) return 'weight must be valid number in the range 1-100';
    if (isEmptySelector(matchSelector)) return 'selector can not be empty';
    const [fault] = validateLabelSelector(matchSelector, '');
    if (fault) return `invalid selector ${fault.message}`;
  }
  return orderPriority.some(({ orderedKey }) => orderedKey === '') ? 'order key can not be empty' : undefined;
}

/** Returns the first error of a scatter strategy. */
export function scatterFault(strategy: UpdateScatterStrategy = []): string | undefined {
  const seen = new Set<string>();
  for (const { key, value } of strategy) {
    if (key === '') return 'key should not be empty';
    const term = `${key}:${value}`;
    if (seen.has(term)) return `duplicated key=${key} value=${value}`;
    seen.add(term);
  }
  return undefined;
}
