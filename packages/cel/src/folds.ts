/** Loops of comprehensions. */
import { ArrayList, GrowingList, GrowingMap, ListValue, MapValue } from './collections.ts';
import type { Evaluate, Frame } from './frame.ts';
import { typeNameOf } from './type-names.ts';
import { EvaluationError, type Value } from './values.ts';

/** Returns a growing collection for an empty one: copying at every step would take quadratic time. */
export function growable(value: Value): Value {
  if (value instanceof ListValue && value.size === 0) return new GrowingList([]);
  return value instanceof MapValue && value.size === 0 ? new GrowingMap() : value;
}

/** Returns the final collection after the loop. */
export const settled = (value: Value): Value => (value instanceof GrowingList ? new ArrayList(value.values) : value);

/** Slots of the accumulator and variables of a loop. */
export type Slots = { readonly accumulator: number; readonly first: number; readonly second: number };
/** Evaluations of every iteration. */
export type Iteration = { readonly condition: Evaluate; readonly step: Evaluate };

/** Iterates over the elements of a list or the keys of a map. */
export function foldOne(frame: Frame, range: Value, slots: Slots, iteration: Iteration): EvaluationError | undefined {
  const { locals } = frame;
  if (range instanceof ListValue) {
    for (let index = 0; index < range.size; index++) {
      locals[slots.first] = range.at(index);
      if (!runIteration(frame, slots, iteration)) return undefined;
    }
    return undefined;
  }
  if (!(range instanceof MapValue)) {
    return new EvaluationError(`got '${goTypeName(range)}', expected iterable type`);
  }
  for (const key of range.keys()) {
    locals[slots.first] = key;
    if (!runIteration(frame, slots, iteration)) return undefined;
  }
  return undefined;
}

/** Iterates over indexes and elements of a list, or keys and values of a map. */
export function foldTwo(frame: Frame, range: Value, slots: Slots, iteration: Iteration): EvaluationError | undefined {
  const { locals } = frame;
  if (!(range instanceof ListValue) && !(range instanceof MapValue)) {
    return new EvaluationError(`unsupported comprehension range type: ${goTypeName(range)}`);
  }
  let index = 0;
  for (const entry of range instanceof MapValue ? range.entries() : range) {
    const [key, value] = range instanceof MapValue ? (entry as [Value, Value]) : [index++, entry as Value];
    locals[slots.first] = key;
    locals[slots.second] = value;
    if (!runIteration(frame, slots, iteration)) return undefined;
  }
  return undefined;
}

/** Runs one iteration; returns false if the condition ends the loop. An error does not end it. */
function runIteration(frame: Frame, { accumulator }: Slots, { condition, step }: Iteration): boolean {
  if (condition(frame) === false) return false;
  frame.locals[accumulator] = step(frame);
  return true;
}

const goTypeNames: Readonly<Record<string, string>> = {
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  bool: 'types.Bool',
  string: 'types.String',
  bytes: 'types.Bytes',
  null_type: 'types.Null',
  type: '*types.Type',
  optional_type: '*types.Optional',
  'google.protobuf.Timestamp': 'types.Timestamp',
  'google.protobuf.Duration': 'types.Duration',
};

function goTypeName(value: Value): string {
  const name = typeNameOf(value);
  return goTypeNames[name] ?? name;
}
