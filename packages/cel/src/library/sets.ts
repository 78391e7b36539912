/** Set functions on lists. */
import type { ListValue } from '../collections.ts';
import { addRanges, fixed, multiplyRanges, scale } from '../costs.ts';
import { type Cost, type Implementation, overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { sizeOf } from '../type-names.ts';
import { boolType, listType, typeParameter } from '../types.ts';
import { contains } from './operators.ts';

const list = listType(typeParameter('T'));

/** Cost of searching every element of one list in the other. */
const crossProduct = (factor: number): Cost => ({
  actual: ([a, b]) => 1 + Math.trunc(sizeOf(a!) * sizeOf(b!) * factor),
  estimate: ({ args }) => ({
    cost: addRanges(scale(multiplyRanges(args[0]!.size, args[1]!.size), factor), fixed(1)),
  }),
});

const containsAll: Implementation = (all, some) => {
  for (const element of some as ListValue) {
    const found = contains(all!, element);
    if (found !== true) return found;
  }
  return true;
};

const equivalent: Implementation = (a, b) => {
  const result = containsAll(a!, b!);
  return result === true ? containsAll(b!, a!) : result;
};

const intersects: Implementation = (a, b) => {
  for (const element of a as ListValue) if (contains(b!, element) === true) return true;
  return false;
};

/** The sets library: `sets.contains`, `sets.equivalent`, `sets.intersects`. */
export const setsLibrary: Library = {
  functions: [
    {
      name: 'sets.contains',
      overloads: [overload('list_sets_contains_list', [list, list], boolType, containsAll, { cost: crossProduct(1) })],
    },
    {
      name: 'sets.equivalent',
      overloads: [overload('list_sets_equivalent_list', [list, list], boolType, equivalent, { cost: crossProduct(2) })],
    },
    {
      name: 'sets.intersects',
      overloads: [overload('list_sets_intersects_list', [list, list], boolType, intersects, { cost: crossProduct(1) })],
    },
  ],
};
