import type { Draft } from '@kruise/schema/draft';
import { formatQuantity, MILLI, parseQuantity, roundUpQuantity } from '@kruise/values/quantity';
import type { ResourceRequirements } from './resources.ts';

type ResourceList = { [name: string]: string };

// Whole numbers and thousandths short enough for 64 bits; only what is finer than a thousandth is rounded.
const isCoarse = /^[0-9]{1,12}(?:m|[kMGT]i?|Ki)?$/;

/** No resource is counted finer than by the thousandth. */
export function defaultResourceList(list: ResourceList | undefined): void {
  if (list === undefined) return;
  for (const name in list) {
    const text = list[name]!;
    if (!isCoarse.test(text)) list[name] = formatQuantity(roundUpQuantity(parseQuantity(text), MILLI));
  }
}

export function defaultResources(
  resources: Draft<Pick<ResourceRequirements, 'limits' | 'requests'>> | undefined,
): void {
  if (resources === undefined) return;
  defaultResourceList(resources.limits);
  defaultResourceList(resources.requests);
}

/** What is limited is requested, unless a request says otherwise. */
export function requestLimits(resources: Draft<ResourceRequirements> | undefined): void {
  if (resources?.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
}
