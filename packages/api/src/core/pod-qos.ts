import { compareQuantities, parseQuantity } from '@kruise/values/quantity';
import type { Container } from './container.ts';
import type { PodStatus } from './pod.ts';
import type { PodSpec } from './pod-spec.ts';
import { isNegative } from './resources.validate.ts';

export type QosClass = NonNullable<PodStatus['qosClass']>;

const computeResources = ['cpu', 'memory'] as const;

/**
 * Returns the QoS class, which orders Pods under node pressure: BestEffort Pods are evicted first, Guaranteed Pods
 * last.
 */
export function computeQosClass({ initContainers = [], containers }: PodSpec): QosClass {
  const all = [...(containers ?? []), ...initContainers];
  if (!all.some(asksForAnything)) return 'BestEffort';
  return all.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

function asksForAnything({ resources }: Container): boolean {
  return computeResources.some((name) => isMore(resources?.requests?.[name]) || isMore(resources?.limits?.[name]));
}

function isGuaranteed({ resources }: Container): boolean {
  return computeResources.every((name) => {
    const [request, limit] = [resources?.requests?.[name], resources?.limits?.[name]];
    return isMore(limit) && isMore(request) && isEqual(request, limit);
  });
}

function isMore(quantity: string | undefined): quantity is string {
  return quantity !== undefined && quantity !== '0' && !isNegative(quantity);
}

function isEqual(first: string, second: string): boolean {
  return first === second || compareQuantities(parseQuantity(first), parseQuantity(second)) === 0;
}
