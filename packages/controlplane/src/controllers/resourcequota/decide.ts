import type { ResourceQuota } from '@kruise/api/core/resourcequota';
import type { Change } from '@kruise/client/informer';
import type { KubernetesObject } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isInScopes, type QuotaEvaluator } from '@kruise/machinery/quota';
import { type Amounts, type ResourceList, resourceListOf } from '@kruise/machinery/resource-list';
import { addQuantities, type Quantity, quantityOf } from '@kruise/values/quantity';
import type { Instant } from '@kruise/values/time';

/** All objects of a resource in the namespace of a quota. */
export type Counted = { readonly evaluator: QuotaEvaluator; readonly objects: readonly unknown[] };

type QuotaStatus = NonNullable<ResourceQuota['status']>;

/** The names under which a quota limits something. */
export function namesOf(quota: ResourceQuota | undefined): readonly string[] {
  return Object.keys(quota?.spec?.hard ?? {});
}

/** The status a quota is to have by what there is; undefined if it has it. */
export function decide(quota: ResourceQuota, counted: readonly Counted[], now: Instant): QuotaStatus | undefined {
  const hard = (quota.spec?.hard ?? {}) as ResourceList;
  const before = (quota.status?.used ?? {}) as ResourceList;
  const found = resourceListOf(usageOf(quota, counted, now));
  const used: { [name: string]: string } = {};
  for (const name of Object.keys(hard)) {
    // What cannot be counted now is as it was.
    const amount = found[name] ?? before[name];
    if (amount !== undefined) used[name] = amount;
  }
  const isSettled = isSame(quota.status?.hard ?? {}, hard) && isSame(before, used);
  return isSettled ? undefined : { hard, used };
}

/** How much is used under each name that someone counts, if only nothing. */
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

/** Whether a change of an object may change what is used. That one was made was counted when it was admitted. */
export function changesUsage(evaluator: QuotaEvaluator, change: Change<unknown>, now: Instant): boolean {
  const { type, object, previous } = change;
  if (type !== 'updated') return type === 'deleted';
  const isTerminating = (each: unknown) => evaluator.inScope?.({ scopeName: 'Terminating', operator: 'Exists' }, each);
  if (isTerminating(previous) !== isTerminating(object)) return true;
  const used = (each: unknown) => resourceListOf(evaluator.usage(each, now));
  return !isSame(used(previous), used(object));
}

/** An evaluator that works out once how much an object uses. What is on its way out uses less as time passes. */
export function remembering(evaluator: QuotaEvaluator): QuotaEvaluator {
  const known = new WeakMap<object, Amounts>();
  return {
    ...evaluator,
    usage(object, now) {
      // What is counted are objects of the API.
      const counted = object as KubernetesObject;
      if (counted.metadata.deletionTimestamp) return evaluator.usage(object, now);
      const usage = known.get(counted) ?? evaluator.usage(object, now);
      known.set(counted, usage);
      return usage;
    },
  };
}
