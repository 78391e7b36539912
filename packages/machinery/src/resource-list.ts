/** Lists of resources (`{ cpu: '500m', memory: '1Gi' }`) made fit for reckoning. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '@kruise/values/quantity';

/** How much of each resource, by its name. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** A list of resources as objects have it. */
export type ResourceList = { readonly [name: string]: string };

/** The amounts of a list; of none, none. */
export function amountsOf(list: ResourceList | null | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const name in list) amounts.set(name, parseQuantity(list[name]!));
  return amounts;
}

/** The list of amounts. */
export function resourceListOf(amounts: Amounts): { [name: string]: string } {
  const list: { [name: string]: string } = {};
  for (const [name, amount] of amounts) list[name] = formatQuantity(amount);
  return list;
}

/** The sum of two: a resource that only one of them names is in it too. */
export function addAmounts(first: Amounts, second: Amounts): Map<string, Quantity> {
  const sum = new Map(first);
  for (const [name, amount] of second) {
    const already = sum.get(name);
    sum.set(name, already === undefined ? amount : addQuantities(already, amount));
  }
  return sum;
}

/** The larger of two, resource by resource. */
export function maxAmounts(first: Amounts, second: Amounts): Map<string, Quantity> {
  const larger = new Map(first);
  for (const [name, amount] of second) {
    const already = larger.get(name);
    if (already === undefined || compareQuantities(amount, already) > 0) larger.set(name, amount);
  }
  return larger;
}
