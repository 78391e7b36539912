/** Comprehensions with two variables, and `cel.bind`. */
import { EntryMap, GrowingMap, type MapValue } from '../collections.ts';
import { formatValue } from '../format-value.ts';
import { overload } from '../functions.ts';
import type { Library } from '../library.ts';
import { bindingMacros, twoVariableMacros } from '../macros.ts';
import { mapType, typeParameter } from '../types.ts';
import { EvaluationError, type Value } from '../values.ts';

const k = typeParameter('K');
const v = typeParameter('V');
const mapKV = mapType(k, v);

function insert(map: MapValue, key: Value, value: Value): MapValue | EvaluationError {
  if (map.find(key) !== undefined) return new EvaluationError(`insert failed: key ${formatValue(key)} already exists`);
  const target = map instanceof GrowingMap ? map : copy(map);
  return target.set(key, value) ?? target;
}

function copy(map: MapValue): EntryMap {
  const copied = new EntryMap();
  for (const [key, value] of map.entries()) copied.set(key, value);
  return copied;
}

/** Comprehensions over keys and values: `all`, `exists`, `transformList`, `transformMap` and others. */
export const twoVariableLibrary: Library = {
  macros: twoVariableMacros,
  functions: [
    {
      name: 'cel.@mapInsert',
      overloads: [
        overload('@mapInsert_map_key_value', [mapKV, k, v], mapKV, (map, key, value) =>
          insert(map as MapValue, key!, value!),
        ),
        overload('@mapInsert_map_map', [mapKV, mapKV], mapKV, (map, update) => {
          let result = map as MapValue;
          for (const [key, value] of (update as MapValue).entries()) {
            const next = insert(result, key, value);
            if (next instanceof EvaluationError) return next;
            result = next;
          }
          return result;
        }),
      ],
    },
  ],
};

/** `cel.bind(name, value, expression)`. Kubernetes does not include it. */
export const bindingsLibrary: Library = { macros: bindingMacros, functions: [] };
