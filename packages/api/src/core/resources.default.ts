import type { Draft } from '@kruise/schema/draft';
import { formatQuantity, MILLI, parseQuantity, roundUpQuantity } from '@kruise/values/quantity';
import type { ResourceRequirements } from './resources.ts';

type ResourceList = { [name: string]: string };

// Integers and milli-values that fit into 64 bits. Only values finer than a thousandth are rounded.
const isCoarse = /^[0-9]{1,12}(?:m|[kMGT]i?|Ki)?$/;

/** Rounds quantities up to thousandths. */
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

/** Requests default to limits. */
export function requestLimits(resources: Draft<ResourceRequirements> | undefined): void {
  if (resources?.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
}
