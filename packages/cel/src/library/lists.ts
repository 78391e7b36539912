/** List functions of Kubernetes: isSorted, sum, min, max, indexOf, lastIndexOf. */
import { add } from '../arithmetic.ts';
import type { ListValue } from '../collections.ts';
import { eachElement } from '../costs.ts';
import { compare, equal, isOrdered } from '../equality.ts';
import { type Implementation, method } from '../functions.ts';
import type { Library } from '../library.ts';
import { Duration } from '../time.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  stringType,
  type Type,
  timestampType,
  typeParameter,
  uintType,
} from '../types.ts';
import { Double, EvaluationError, orNoSuchOverload, Uint, type Value } from '../values.ts';

const a = typeParameter('A');

const summable: readonly (readonly [string, Type, Value])[] = [
  ['int', intType, 0],
  ['uint', uintType, new Uint(0n)],
  ['double', doubleType, new Double(0)],
  ['duration', durationType, new Duration(0n)],
];

const ordered: readonly (readonly [string, Type])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
];

const isSorted: Implementation = (list) => {
  let previous: Value | undefined;
  for (const value of list as ListValue) {
    if (!isOrdered(value)) return orNoSuchOverload(value);
    if (previous !== undefined && compare(previous, value) === 1) return false;
    previous = value;
  }
  return true;
};

const sum =
  (zero: Value): Implementation =>
  (list) => {
    let total = zero;
    for (const value of list as ListValue) {
      total = add(total, value);
      if (total instanceof EvaluationError) return total;
    }
    return total;
  };

/** Returns the minimum or maximum; the first of equal elements. */
const extreme =
  (name: string, worse: number): Implementation =>
  (list) => {
    let best: Value | undefined;
    for (const value of list as ListValue) {
      if (!isOrdered(value)) return orNoSuchOverload(value);
      if (best === undefined || compare(best, value) === worse) best = value;
    }
    return best === undefined ? new EvaluationError(`${name} called on empty list`) : best;
  };

const indexOf: Implementation = (list, element) => {
  const { size } = list as ListValue;
  for (let index = 0; index < size; index++) {
    if (equal((list as ListValue).at(index), element!) === true) return index;
  }
  return -1;
};

const lastIndexOf: Implementation = (list, element) => {
  for (let index = (list as ListValue).size - 1; index >= 0; index--) {
    if (equal((list as ListValue).at(index), element!) === true) return index;
  }
  return -1;
};

/** The lists library. */
export const listsLibrary: Library = {
  functions: [
    {
      name: 'isSorted',
      overloads: ordered.map(([name, type]) =>
        method(`list_${name}_is_sorted_bool`, [listType(type)], boolType, isSorted),
      ),
      cost: eachElement,
    },
    {
      name: 'sum',
      overloads: summable.map(([name, type, zero]) =>
        method(`list_${name}_sum_${name}`, [listType(type)], type, sum(zero)),
      ),
      cost: eachElement,
    },
    {
      name: 'max',
      overloads: ordered.map(([name, type]) =>
        method(`list_${name}_max_${name}`, [listType(type)], type, extreme('max', -1)),
      ),
      cost: eachElement,
    },
    {
      name: 'min',
      overloads: ordered.map(([name, type]) =>
        method(`list_${name}_min_${name}`, [listType(type)], type, extreme('min', 1)),
      ),
      cost: eachElement,
    },
    {
      name: 'indexOf',
      overloads: [method('list_a_index_of_int', [listType(a), a], intType, indexOf)],
      cost: eachElement,
    },
    {
      name: 'lastIndexOf',
      overloads: [method('list_a_last_index_of_int', [listType(a), a], intType, lastIndexOf)],
      cost: eachElement,
    },
  ],
};
