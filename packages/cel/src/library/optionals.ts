/** Optional values: `optional.of(x)`, `a.?b`, `a[?b]`, `.orValue(x)`, `.optMap(v, …)`. */
import { isZero } from '../arithmetic.ts';
import { ArrayList, type ListValue } from '../collections.ts';
import { formatValue } from '../format-value.ts';
import { type Implementation, method, overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { optionalMacros } from '../macros.ts';
import { boolType, dynType, intType, listType, mapType, optionalType, stringType, typeParameter } from '../types.ts';
import { EvaluationError, none, Optional, type Value } from '../values.ts';

const k = typeParameter('K');
const v = typeParameter('V');
const optionalV = optionalType(v);
const listV = listType(v);
const mapKV = mapType(k, v);

const unwrapAll: Implementation = (list) => {
  const held: Value[] = [];
  for (const each of list as ListValue) {
    if (!(each instanceof Optional)) return new EvaluationError(`value ${formatValue(each)} is not optional`);
    if (each.value !== undefined) held.push(each.value);
  }
  return new ArrayList(held);
};

/**
 * The optional library. The interpreter implements `or`, `orValue`, `.?` and `[?]`, because they do not evaluate all
 * operands.
 */
export const optionalLibrary: Library = {
  macros: optionalMacros,
  types: [optionalType(v)],
  functions: [
    { name: 'optional.of', overloads: [overload('optional_of', [v], optionalV, (value) => new Optional(value))] },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        overload('optional_ofNonZeroValue', [v], optionalV, (value) => (isZero(value!) ? none : new Optional(value))),
      ],
    },
    { name: 'optional.none', overloads: [overload('optional_none', [], optionalV, () => none)] },
    {
      name: 'value',
      overloads: [
        method('optional_value', [optionalV], v, (optional) => {
          const { value } = optional as Optional;
          return value === undefined ? new EvaluationError('optional.none() dereference') : value;
        }),
      ],
    },
    {
      name: 'hasValue',
      overloads: [method('optional_hasValue', [optionalV], boolType, (optional) => (optional as Optional).hasValue)],
    },
    { name: 'or', overloads: [method('optional_or_optional', [optionalV, optionalV], optionalV)] },
    { name: 'orValue', overloads: [method('optional_orValue_value', [optionalV, v], v)] },
    { name: '_?._', overloads: [overload('select_optional_field', [dynType, stringType], optionalV)] },
    {
      name: '_[?_]',
      overloads: [
        overload('list_optindex_optional_int', [listV, intType], optionalV),
        overload('optional_list_optindex_optional_int', [optionalType(listV), intType], optionalV),
        overload('map_optindex_optional_value', [mapKV, k], optionalV),
        overload('optional_map_optindex_optional_value', [optionalType(mapKV), k], optionalV),
      ],
    },
    {
      name: '_[_]',
      overloads: [
        overload('optional_list_index_int', [optionalType(listV), intType], optionalV),
        overload('optional_map_index_value', [optionalType(mapKV), k], optionalV),
      ],
    },
    {
      name: 'last',
      overloads: [
        method('list_last', [listV], optionalV, (list) => {
          const { size } = list as ListValue;
          return size === 0 ? none : new Optional((list as ListValue).at(size - 1));
        }),
      ],
    },
    {
      name: 'first',
      overloads: [
        method('list_first', [listV], optionalV, (list) =>
          (list as ListValue).size === 0 ? none : new Optional((list as ListValue).at(0)),
        ),
      ],
    },
    { name: 'optional.unwrap', overloads: [overload('optional_unwrap', [listType(optionalV)], listV, unwrapAll)] },
    { name: 'unwrapOpt', overloads: [method('optional_unwrapOpt', [listType(optionalV)], listV, unwrapAll)] },
  ],
};
