/** How functions are declared: overloads for the checker, implementations for the interpreter, costs for both. */

import type { Expression } from './ast.ts';
import { ListValue, MapValue } from './collections.ts';
import { typeNameOf } from './type-names.ts';
import type { Type } from './types.ts';
import { EvaluationError, type Value } from './values.ts';

/** The least and the most something may be. */
export type Range = { readonly min: bigint; readonly max: bigint };

/** What a call is expected to cost, and how large its result may be. */
export type CallEstimate = { readonly cost: Range; readonly resultSize?: Range };

/** What is known, before evaluation, of an operand. */
export type Operand = {
  readonly expression: Expression | undefined;
  readonly type: Type;
  /** The size, known from the expression itself, from declared limits, or not at all. */
  readonly size: Range;
  /** The size if the expression itself tells it. */
  readonly computedSize: Range | undefined;
  /** The elements of a list. */
  readonly element: Operand | undefined;
};

/** A call about to be estimated. */
export type CallShape = {
  readonly overload: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
};

/** What one call did cost. `overload` is empty when only run time could tell which it was. */
export type ActualCost = (args: readonly Value[], result: Value, overload: string) => number;

/** How an overload or function is charged for; without it a call costs 1. */
export type Cost = {
  readonly actual?: ActualCost;
  readonly estimate?: (shape: CallShape) => CallEstimate | undefined;
};

/** An implementation. It is never called with errors, unless the overload says it wants them. */
export type Implementation = (...args: Value[]) => Value;

/** One signature of a function. */
export type Overload = {
  readonly id: string;
  readonly isMember: boolean;
  /** For a method, the first is what it is called on. */
  readonly parameters: readonly Type[];
  readonly result: Type;
  readonly call?: Implementation;
  readonly cost?: Cost;
  /** Whether errors are handed to the implementation rather than passed over it. */
  readonly takesErrors?: boolean;
  /** Arguments after the first error are not evaluated, as always with three or more. */
  readonly stopsAtErrors?: boolean;
};

/** A function: its overloads, in the order they are tried. */
export type FunctionDeclaration = {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads, which checks its arguments itself. */
  readonly call?: Implementation;
  /** Charged whatever the overload; comes before the cost of an overload. */
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

/** Joins declarations of one function from several libraries. */
export function mergeFunctions(a: FunctionDeclaration, b: FunctionDeclaration): FunctionDeclaration {
  const overloads = new Map([...a.overloads, ...b.overloads].map((each) => [each.id, each]));
  return { ...a, ...b, overloads: [...overloads.values()] };
}

/** Whether a value may be handed to a parameter. Of lists and maps the first element speaks for all. */
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

/** The error of a call no overload fits at run time. */
export function noOverload(name: string, args: readonly Value[]): EvaluationError {
  for (const arg of args) if (arg instanceof EvaluationError) return arg;
  return new EvaluationError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}
