/** Operators of the language. */
import { add, divide, modulo, multiply, negate, subtract, undefinedFor } from '../arithmetic.ts';
import { ListValue, MapValue } from '../collections.ts';
import { addRanges, fixed, lesser, scale, stringFactor } from '../costs.ts';
import { compare, equal, isOrdered } from '../equality.ts';
import {
  type ActualCost,
  type Cost,
  type FunctionDeclaration,
  type Implementation,
  method,
  overload,
} from '../functions.ts';
import { sizeOf } from '../type-names.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  listType,
  mapType,
  stringType,
  type Type,
  timestampType,
  typeParameter,
  uintType,
} from '../types.ts';
import { EvaluationError, ObjectValue, Optional, orNoSuchOverload, type Value } from '../values.ts';

const a = typeParameter('A');
const b = typeParameter('B');
const listOfA = listType(a);
const mapOfAB = mapType(a, b);

/** Cost of comparing both sides up to the length of the shorter one. */
const shorterOperand: Cost = {
  actual: ([left, right]) => Math.ceil(Math.min(comparedSize(left!), comparedSize(right!)) * stringFactor),
  estimate: ({ args }) => {
    const max = lesser(args[0]!.size.max, args[1]!.size.max);
    return { cost: scale({ min: max > 0n ? 1n : 0n, max }, stringFactor) };
  },
};

function comparedSize(value: Value): number {
  if (value instanceof Optional) return value.value === undefined ? 1 : comparedSize(value.value);
  return sizeOf(value);
}

const joinedOperands: Cost = {
  actual: ([left, right]) => Math.ceil((comparedSize(left!) + comparedSize(right!)) * stringFactor),
  estimate: ({ args }) => {
    const resultSize = addRanges(args[0]!.size, args[1]!.size);
    return { cost: scale(resultSize, stringFactor), resultSize };
  },
};

const joinedLists: Cost = {
  estimate: ({ args }) => ({ cost: fixed(1), resultSize: addRanges(args[0]!.size, args[1]!.size) }),
};

const searchedList: Cost = {
  actual: ([, list]) => comparedSize(list!),
  estimate: ({ args }) => ({ cost: args[1]!.size }),
};

/** Comparing library objects has a fixed cost. */
const equality: ActualCost = ([left, right]) =>
  left instanceof ObjectValue ? 1 : shorterOperand.actual!([left!, right!], true, '');

function relation(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const text = { cost: shorterOperand };
  const pairs: readonly (readonly [string, Type, Type, { cost: Cost }?])[] = [
    ['bool', boolType, boolType],
    ['int64', intType, intType],
    ['int64_double', intType, doubleType],
    ['int64_uint64', intType, uintType],
    ['uint64', uintType, uintType],
    ['uint64_double', uintType, doubleType],
    ['uint64_int64', uintType, intType],
    ['double', doubleType, doubleType],
    ['double_int64', doubleType, intType],
    ['double_uint64', doubleType, uintType],
    ['string', stringType, stringType, text],
    ['bytes', bytesType, bytesType, text],
    ['timestamp', timestampType, timestampType],
    ['duration', durationType, durationType],
  ];
  return {
    name,
    overloads: pairs.map(([suffix, left, right, more]) =>
      overload(`${id}_${suffix}`, [left, right], boolType, undefined, more),
    ),
    call: (left, right) => {
      if (typeof left === 'number' && typeof right === 'number') return holds(left - right);
      if (!isOrdered(left!)) return undefinedFor(name, left!);
      const order = compare(left!, right!);
      return order instanceof EvaluationError ? order : holds(order);
    },
  };
}

/** The operators, including `size` and `in`. */
export const operators: readonly FunctionDeclaration[] = [
  { name: '_?_:_', overloads: [overload('conditional', [boolType, a, a], a)] },
  { name: '_&&_', overloads: [overload('logical_and', [boolType, boolType], boolType)] },
  { name: '_||_', overloads: [overload('logical_or', [boolType, boolType], boolType)] },
  {
    name: '!_',
    overloads: [overload('logical_not', [boolType], boolType)],
    call: (value) => (typeof value === 'boolean' ? !value : orNoSuchOverload(value!)),
  },
  {
    name: '@not_strictly_false',
    overloads: [
      overload('not_strictly_false', [boolType], boolType, (value) => (typeof value === 'boolean' ? value : true), {
        takesErrors: true,
      }),
    ],
  },
  {
    name: '_==_',
    overloads: [overload('equals', [a, a], boolType, undefined, { cost: { ...shorterOperand, actual: equality } })],
  },
  { name: '_!=_', overloads: [overload('not_equals', [a, a], boolType, undefined, { cost: shorterOperand })] },
  {
    name: '_+_',
    overloads: [
      overload('add_bytes', [bytesType, bytesType], bytesType, undefined, { cost: joinedOperands }),
      overload('add_double', [doubleType, doubleType], doubleType),
      overload('add_duration_duration', [durationType, durationType], durationType),
      overload('add_duration_timestamp', [durationType, timestampType], timestampType),
      overload('add_timestamp_duration', [timestampType, durationType], timestampType),
      overload('add_int64', [intType, intType], intType),
      overload('add_list', [listOfA, listOfA], listOfA, undefined, { cost: joinedLists }),
      overload('add_string', [stringType, stringType], stringType, undefined, { cost: joinedOperands }),
      overload('add_uint64', [uintType, uintType], uintType),
    ],
    call: add as Implementation,
  },
  {
    name: '_/_',
    overloads: [
      overload('divide_double', [doubleType, doubleType], doubleType),
      overload('divide_int64', [intType, intType], intType),
      overload('divide_uint64', [uintType, uintType], uintType),
    ],
    call: divide as Implementation,
  },
  {
    name: '_%_',
    overloads: [
      overload('modulo_int64', [intType, intType], intType),
      overload('modulo_uint64', [uintType, uintType], uintType),
    ],
    call: modulo as Implementation,
  },
  {
    name: '_*_',
    overloads: [
      overload('multiply_double', [doubleType, doubleType], doubleType),
      overload('multiply_int64', [intType, intType], intType),
      overload('multiply_uint64', [uintType, uintType], uintType),
    ],
    call: multiply as Implementation,
  },
  {
    name: '-_',
    overloads: [overload('negate_double', [doubleType], doubleType), overload('negate_int64', [intType], intType)],
    call: negate as Implementation,
  },
  {
    name: '_-_',
    overloads: [
      overload('subtract_double', [doubleType, doubleType], doubleType),
      overload('subtract_duration_duration', [durationType, durationType], durationType),
      overload('subtract_int64', [intType, intType], intType),
      overload('subtract_timestamp_duration', [timestampType, durationType], timestampType),
      overload('subtract_timestamp_timestamp', [timestampType, timestampType], durationType),
      overload('subtract_uint64', [uintType, uintType], uintType),
    ],
    call: subtract as Implementation,
  },
  relation('_<_', 'less', (order) => order < 0),
  relation('_<=_', 'less_equals', (order) => order <= 0),
  relation('_>_', 'greater', (order) => order > 0),
  relation('_>=_', 'greater_equals', (order) => order >= 0),
  {
    name: '_[_]',
    overloads: [overload('index_list', [listOfA, intType], a), overload('index_map', [mapOfAB, a], b)],
  },
  {
    name: '@in',
    overloads: [
      overload('in_list', [a, listOfA], boolType, undefined, { cost: searchedList }),
      overload('in_map', [a, mapOfAB], boolType),
    ],
    call: (element, collection) => contains(collection!, element!),
  },
  {
    name: 'size',
    overloads: [
      overload('size_bytes', [bytesType], intType),
      method('bytes_size', [bytesType], intType),
      overload('size_list', [listOfA], intType),
      method('list_size', [listOfA], intType),
      overload('size_map', [mapOfAB], intType),
      method('map_size', [mapOfAB], intType),
      overload('size_string', [stringType], intType),
      method('string_size', [stringType], intType),
    ],
    call: (value) => {
      const isSized =
        typeof value === 'string' ||
        value instanceof Uint8Array ||
        value instanceof ListValue ||
        value instanceof MapValue;
      return isSized ? sizeOf(value) : undefinedFor('size', value!);
    },
  },
];

/** Returns whether a list contains an element, or a map a key. */
export function contains(collection: Value, element: Value): Value {
  if (collection instanceof MapValue) {
    const found = collection.find(element);
    return found instanceof EvaluationError ? found : found !== undefined;
  }
  if (!(collection instanceof ListValue)) return orNoSuchOverload(collection);
  let error: EvaluationError | undefined;
  for (let index = 0; index < collection.size; index++) {
    const result = equal(collection.at(index), element);
    if (result === true) return true;
    if (result !== false && collection.isDeclared) error ??= result;
  }
  return error ?? false;
}
