/** Resources as plain numbers, because every node is evaluated for each Pod. */
import { isExtendedResource, isHugePages } from '@kruise/api/core/resource-name';
import type { Amounts } from '@kruise/machinery/resource-list';
import { milliValue, quantityValue } from '@kruise/values/quantity';

/** Amounts by resource: standard resources in their own fields, others by name as integers. */
export type Resources = {
  milliCpu: number;
  memoryBytes: number;
  ephemeralStorageBytes: number;
  readonly others: Map<string, number>;
};

export function noResources(): Resources {
  return { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0, others: new Map() };
}

export function resourcesOf(amounts: Amounts): Resources {
  const resources = noResources();
  for (const [name, amount] of amounts) {
    if (name === 'cpu') resources.milliCpu = milliValue(amount);
    else if (name === 'memory') resources.memoryBytes = quantityValue(amount);
    else if (name === 'ephemeral-storage') resources.ephemeralStorageBytes = quantityValue(amount);
    else if (isOther(name)) resources.others.set(name, quantityValue(amount));
  }
  return resources;
}

/** Returns the amount of a resource by name. */
export function amountOf(resources: Resources, name: string): number {
  switch (name) {
    case 'cpu':
      return resources.milliCpu;
    case 'memory':
      return resources.memoryBytes;
    case 'ephemeral-storage':
      return resources.ephemeralStorageBytes;
    default:
      return resources.others.get(name) ?? 0;
  }
}

/** Adds to or subtracts from a sum. */
export function accumulate(sum: Resources, by: Resources, sign: 1 | -1): void {
  sum.milliCpu += sign * by.milliCpu;
  sum.memoryBytes += sign * by.memoryBytes;
  sum.ephemeralStorageBytes += sign * by.ephemeralStorageBytes;
  for (const [name, amount] of by.others) sum.others.set(name, (sum.others.get(name) ?? 0) + sign * amount);
}

export function copyResources(resources: Resources): Resources {
  return { ...resources, others: new Map(resources.others) };
}

/** Reports whether a non-standard resource is schedulable: extended resources, huge pages, attachable volumes. */
export function isOther(name: string): boolean {
  return (
    isExtendedResource(name) ||
    isHugePages(name) ||
    name.includes('kubernetes.io/') ||
    name.startsWith('attachable-volumes-')
  );
}
