/** Calls: evaluation of arguments, propagation of errors, costs. */
import type { ListValue } from './collections.ts';
import type { Evaluate } from './frame.ts';
import { type ActualCost, accepts, type Implementation, noOverload } from './functions.ts';
import type { Type } from './types.ts';
import { Double, EvaluationError, isInt, Optional, orNoSuchOverload, Uint, type Value } from './values.ts';

/** Creates `&&` or `||`: the deciding value decides even if the other side is an error. */
export function logical(left: Evaluate, right: Evaluate, deciding: boolean): Evaluate {
  return (frame) => {
    const a = left(frame);
    if (a === deciding) return deciding;
    const b = right(frame);
    if (b === deciding) return deciding;
    if (typeof a !== 'boolean') return orNoSuchOverload(a);
    return typeof b === 'boolean' ? !deciding : orNoSuchOverload(b);
  };
}

/** Creates `or` or `orValue`: the right side is evaluated only if the left is empty. */
export function firstPresent(left: Evaluate, right: Evaluate, finish: (optional: Optional) => Value): Evaluate {
  return (frame) => {
    const optional = left(frame);
    if (!(optional instanceof Optional)) return optional;
    return optional.hasValue ? finish(optional) : right(frame);
  };
}

/** Cost of a call of a known function; undefined means 1. */
export type RunTimeCost = { readonly actual: ActualCost; readonly overload: string } | undefined;

/** Returns the cost of one call. */
export const costOf = (cost: RunTimeCost, args: readonly Value[], result: Value): number =>
  cost ? cost.actual(args, result, cost.overload) : 1;

/** Checks the types of arguments at run time, because values of type `dyn` may be anything. */
export function guard(name: string, parameters: readonly Type[], call: Implementation): Implementation {
  return (...args) => {
    for (let index = 0; index < parameters.length; index++) {
      if (!accepts(parameters[index]!, args[index]!)) return noOverload(name, args);
    }
    return call(...args);
  };
}

/** Creates a call whose cost is charged once its arguments and result are known. */
export function invocation(
  operands: readonly Evaluate[],
  call: Implementation,
  cost: RunTimeCost,
  { stopsAtErrors, takesErrors }: { stopsAtErrors: boolean; takesErrors: boolean },
): Evaluate {
  if (stopsAtErrors || operands.length === 0) return stoppingInvocation(operands, call, cost);
  const [first, second] = operands as [Evaluate, Evaluate?];
  if (!second) {
    return (frame) => {
      const a = first(frame);
      const result = a instanceof EvaluationError && !takesErrors ? a : call(a);
      frame.charge(costOf(cost, [a], result));
      return result;
    };
  }
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    const result = a instanceof EvaluationError ? a : b instanceof EvaluationError ? b : call(a, b);
    frame.charge(costOf(cost, [a, b], result));
    return result;
  };
}

/** Creates a call that costs nothing if an argument is an error, because the function is not called. */
function stoppingInvocation(operands: readonly Evaluate[], call: Implementation, cost: RunTimeCost): Evaluate {
  const last = operands.length - 1;
  return (frame) => {
    const args: Value[] = [];
    for (let index = 0; index <= last; index++) {
      const value = operands[index]!(frame);
      if (value instanceof EvaluationError) {
        // cel-go considers all arguments evaluated if the last one failed, and charges the call.
        if (index === last) frame.charge(costOf(cost, [...args, value], value));
        return value;
      }
      args.push(value);
    }
    const result = call(...args);
    frame.charge(costOf(cost, args, result));
    return result;
  };
}

/** Creates an evaluation with a fixed cost. */
export function charged(build: Evaluate, amount: number): Evaluate {
  return (frame) => {
    const value = build(frame);
    frame.charge(amount);
    return value;
  };
}

/** Creates `x in [constants]` as a set lookup without cost; undefined if the constants cannot be in a set. */
export function constantMembership(element: Evaluate, list: ListValue): Evaluate | undefined {
  const members = new Set<unknown>();
  for (const value of list) {
    const key = membershipKey(value);
    if (key === undefined) return undefined;
    members.add(key);
  }
  return (frame) => {
    const value = element(frame);
    if (value instanceof EvaluationError) return value;
    const key = membershipKey(value);
    // A JavaScript set finds NaN, which equals nothing in CEL.
    return key !== undefined && !Number.isNaN(key) && members.has(key);
  };
}

/** Returns equal keys for equal numbers, whatever their types. */
function membershipKey(value: Value): string | boolean | number | bigint | undefined {
  if (typeof value === 'string' || typeof value === 'boolean' || isInt(value)) return value;
  if (value instanceof Uint) return value.value <= Number.MAX_SAFE_INTEGER ? Number(value.value) : value.value;
  if (!(value instanceof Double)) return undefined;
  return Number.isInteger(value.value) && !Number.isSafeInteger(value.value) ? BigInt(value.value) : value.value + 0;
}
