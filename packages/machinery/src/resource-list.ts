/** Arithmetic on resource lists (`{ cpu: '500m', memory: '1Gi' }`). */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '@kruise/values/quantity';

/** Amounts by resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** ResourceList of the API. */
export type ResourceList = { readonly [name: string]: string };

/** Parses a resource list; a missing list is empty. */
export function amountsOf(list: ResourceList | null | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  for (const name in list) amounts.set(name, parseQuantity(list[name]!));
  return amounts;
}

/** Formats amounts as a resource list. */
export function resourceListOf(amounts: Amounts): { [name: string]: string } {
  const list: { [name: string]: string } = {};
  for (const [name, amount] of amounts) list[name] = formatQuantity(amount);
  return list;
}

/**
 * Returns the sum of two amounts; a resource in only one of them is included.
 *
 * ```ts
 * resourceListOf(addAmounts(amountsOf({ cpu: '500m' }), amountsOf({ cpu: '1' }))); // { cpu: '1500m' }
 * ```
 */
export function addAmounts(first: Amounts, second: Amounts): Map<string, Quantity> {
  const sum = new Map(first);
  for (const [name, amount] of second) {
    const already = sum.get(name);
    sum.set(name, already === undefined ? amount : addQuantities(already, amount));
  }
  return sum;
}

/** Returns the maximum of two amounts by resource. */
export function maxAmounts(first: Amounts, second: Amounts): Map<string, Quantity> {
  const larger = new Map(first);
  for (const [name, amount] of second) {
    const already = larger.get(name);
    if (already === undefined || compareQuantities(amount, already) > 0) larger.set(name, amount);
  }
  return larger;
}
