/** Declarations of functions: overloads for the checker, implementations for the interpreter, costs for both. */

import type { Expression } from './ast.ts';
import { ListValue, MapValue } from './collections.ts';
import { typeNameOf } from './type-names.ts';
import type { Type } from './types.ts';
import { EvaluationError, type Value } from './values.ts';

/** Minimum and maximum of an amount. */
export type Range = { readonly min: bigint; readonly max: bigint };

/** Estimated cost of a call, and the size of its result. */
export type CallEstimate = { readonly cost: Range; readonly resultSize?: Range };

/** Static knowledge of an operand. */
export type Operand = {
  readonly expression: Expression | undefined;
  readonly type: Type;
  /** Size from the expression itself or from declared limits; otherwise unknown. */
  readonly size: Range;
  /** Size if the expression itself determines it. */
  readonly computedSize: Range | undefined;
  /** Operand for the elements of a list. */
  readonly element: Operand | undefined;
};

/** A call to estimate. */
export type CallShape = {
  readonly overload: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
};

/** Returns the actual cost of a call. `overload` is empty if only the run time determines it. */
export type ActualCost = (args: readonly Value[], result: Value, overload: string) => number;

/** Cost of an overload or function; without it a call costs 1. */
export type Cost = {
  readonly actual?: ActualCost;
  readonly estimate?: (shape: CallShape) => CallEstimate | undefined;
};

/** An implementation. It is never called with errors, unless the overload declares `takesErrors`. */
export type Implementation = (...args: Value[]) => Value;

/** One signature of a function. */
export type Overload = {
  readonly id: string;
  readonly isMember: boolean;
  /** The first parameter of a method is its receiver. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly call?: Implementation;
  readonly cost?: Cost;
  /** Passes errors to the implementation instead of propagating them. */
  readonly takesErrors?: boolean;
  /** Arguments after the first error are not evaluated, as always with three or more. */
  readonly stopsAtErrors?: boolean;
};

/** A function with its overloads, in the order of resolution. */
export type FunctionDeclaration = {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, which checks its arguments itself. */
  readonly call?: Implementation;
  /** Cost of every overload; takes precedence over the cost of an overload. */
  readonly cost?: Cost;
};

/** Declares a function called as `name(…)`. */
export const overload = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  call?: Implementation,
  more: Partial<Pick<Overload, 'cost' | 'takesErrors' | 'stopsAtErrors'>> = {},
): Overload => ({ id, isMember: false, parameters, result, ...(call && { call }), ...more });

/** Declares a function called as `a.name(…)`. */
export const method = (
  id: string,
  parameters: readonly Type[],
  result: Type,
  call?: Implementation,
  more: Partial<Pick<Overload, 'cost' | 'takesErrors' | 'stopsAtErrors'>> = {},
): Overload => ({ ...overload(id, parameters, result, call, more), isMember: true });

/** Merges declarations of one function from several libraries. */
export function mergeFunctions(a: FunctionDeclaration, b: FunctionDeclaration): FunctionDeclaration {
  const overloads = new Map([...a.overloads, ...b.overloads].map((each) => [each.id, each]));
  return { ...a, ...b, overloads: [...overloads.values()] };
}

/** Returns whether a parameter accepts a value. The first element of a list or map stands for all. */
export function accepts(parameter: Type, value: Value): boolean {
  if (value instanceof EvaluationError) return false;
  switch (parameter.kind) {
    case 'dyn':
    case 'any':
    case 'parameter':
      return true;
    case 'list':
      return value instanceof ListValue && (value.size === 0 || accepts(parameter.parameters[0]!, value.at(0)));
    case 'map': {
      if (!(value instanceof MapValue)) return false;
      for (const [key, entry] of value.entries()) {
        return accepts(parameter.parameters[0]!, key) && accepts(parameter.parameters[1]!, entry);
      }
      return true;
    }
    default:
      return typeNameOf(value) === parameter.name;
  }
}

/** Returns the error of a call without a matching overload at run time. */
export function noOverload(name: string, args: readonly Value[]): EvaluationError {
  for (const arg of args) if (arg instanceof EvaluationError) return arg;
  return new EvaluationError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}
