import type { ResourceQuota } from '@kruise/api/core/resourcequota';
import type { Change } from '@kruise/client/informer';
import { isSame } from '@kruise/machinery/json-value';
import { isInScopes, type QuotaEvaluator } from '@kruise/machinery/quota';
import { addAmounts, type ResourceList, resourceListOf } from '@kruise/machinery/resource-list';
import { type Quantity, quantityOf } from '@kruise/values/quantity';
import type { Instant } from '@kruise/values/time';

/** All objects of a resource in the namespace of a quota. */
export type Counted = { readonly evaluator: QuotaEvaluator; readonly objects: readonly unknown[] };

type QuotaStatus = NonNullable<ResourceQuota['status']>;

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
  const isSettled = isSame(quota.status?.hard, hard) && isSame(quota.status?.used, used);
  return isSettled ? undefined : { hard, used };
}

/** How much is used under each name that someone counts, if only nothing. */
function usageOf({ spec }: ResourceQuota, counted: readonly Counted[], now: Instant): ReadonlyMap<string, Quantity> {
  const names = Object.keys(spec?.hard ?? {});
  const total = new Map<string, Quantity>();
  for (const { evaluator, objects } of counted) {
    const own = names.filter((name) => evaluator.counts(name));
    if (own.length === 0) continue;
    let sum: ReadonlyMap<string, Quantity> = new Map();
    for (const object of objects) {
      if (isInScopes(evaluator, spec, object)) sum = addAmounts(sum, evaluator.usage(object, now));
    }
    for (const name of own) total.set(name, sum.get(name) ?? quantityOf(0));
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
