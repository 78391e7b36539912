import type { ResourceQuota } from '@kruise/api/core/resourcequota';
import type { Change } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isInScopes, type QuotaEvaluator } from '@kruise/machinery/quota';
import { type Amounts, type ResourceList, resourceListOf } from '@kruise/machinery/resource-list';
import { addQuantities, type Quantity, quantityOf } from '@kruise/values/quantity';
import type { Instant } from '@kruise/values/time';

/** All objects of a resource in the quota's namespace. */
export type Counted = { readonly evaluator: QuotaEvaluator; readonly objects: readonly unknown[] };

type QuotaStatus = NonNullable<ResourceQuota['status']>;

/** Returns the resource names that a quota limits. */
export function namesOf(quota: ResourceQuota | undefined): readonly string[] {
  return Object.keys(quota?.spec?.hard ?? {});
}

/** Returns the new status of a quota; undefined if it does not change. */
export function decide(quota: ResourceQuota, counted: readonly Counted[], now: Instant): QuotaStatus | undefined {
  const hard = (quota.spec?.hard ?? {}) as ResourceList;
  const before = (quota.status?.used ?? {}) as ResourceList;
  const found = resourceListOf(usageOf(quota, counted, now));
  const used: { [name: string]: string } = {};
  for (const name of Object.keys(hard)) {
    // Resources that cannot be counted at the moment keep their usage.
    const amount = found[name] ?? before[name];
    if (amount !== undefined) used[name] = amount;
  }
  const isSettled = isSame(quota.status?.hard ?? {}, hard) && isSame(before, used);
  return isSettled ? undefined : { hard, used };
}

/** Returns the usage of each resource name that an evaluator counts, including zero. */
function usageOf(quota: ResourceQuota, counted: readonly Counted[], now: Instant): ReadonlyMap<string, Quantity> {
  const { spec } = quota;
  const names = namesOf(quota);
  const total = new Map<string, Quantity>();
  for (const { evaluator, objects } of counted) {
    const own = names.filter((name) => evaluator.counts(name));
    if (own.length === 0) continue;
    for (const name of own) total.set(name, quantityOf(0));
    for (const object of objects) {
      if (!isInScopes(evaluator, spec, object)) continue;
      const usage = evaluator.usage(object, now);
      for (const name of own) {
        const amount = usage.get(name);
        if (amount) total.set(name, addQuantities(total.get(name)!, amount));
      }
    }
  }
  return total;
}

/** Reports whether an object change may change the usage. Creations were charged by admission. */
export function changesUsage(evaluator: QuotaEvaluator, change: Change<unknown>, now: Instant): boolean {
  const { type, object, previous } = change;
  if (type !== 'updated') return type === 'deleted';
  const isTerminating = (each: unknown) => evaluator.inScope?.({ scopeName: 'Terminating', operator: 'Exists' }, each);
  if (isTerminating(previous) !== isTerminating(object)) return true;
  const used = (each: unknown) => resourceListOf(evaluator.usage(each, now));
  return !isSame(used(previous), used(object));
}

/**
 * Returns an evaluator that memoizes the usage of objects. Terminating objects are excluded, because their usage
 * shrinks over time.
 */
export function memoizeUsage(evaluator: QuotaEvaluator): QuotaEvaluator {
  const known = new WeakMap<object, Amounts>();
  return {
    ...evaluator,
    usage(object, now) {
      // Counted objects are API objects.
      const counted = object as KubernetesObject;
      if (counted.metadata.deletionTimestamp) return evaluator.usage(object, now);
      const usage = known.get(counted) ?? evaluator.usage(object, now);
      known.set(counted, usage);
      return usage;
    },
  };
}
