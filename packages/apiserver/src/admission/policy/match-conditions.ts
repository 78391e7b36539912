import type { MatchCondition } from '@kruise/api/admissionregistration/rule';
import { matchConditionsCostBudget } from '@kruise/cel/environments';
import { boolType } from '@kruise/cel/types';
import {
  type Bindings,
  type Compiled,
  compileExpression,
  type Declarations,
  evaluate,
  OutOfBudget,
  Variables,
} from '../expressions.ts';

export function compileMatchConditions(
  conditions: readonly MatchCondition[] | undefined,
  declarations: Declarations,
): readonly Compiled[] {
  return (conditions ?? []).map(({ expression }) => compileExpression(expression, declarations, [boolType]));
}

/** Reports whether all match conditions are true. One false condition decides, even if other conditions have errors. */
export function meetsConditions(
  conditions: readonly Compiled[],
  bindings: Bindings,
  variables?: ReadonlyMap<string, Compiled>,
): boolean | { readonly error: string } {
  if (conditions.length === 0) return true;
  const budget = { remaining: matchConditionsCostBudget };
  const all = variables ? { ...bindings, variables: new Variables(variables, bindings, budget) } : bindings;
  const errors: string[] = [];
  try {
    for (const condition of conditions) {
      const { value, error } = evaluate(condition, all, budget);
      if (value === false) return false;
      if (error !== undefined) errors.push(error);
    }
  } catch (error) {
    if (error instanceof OutOfBudget) return { error: error.message };
    throw error;
  }
  if (errors.length === 0) return true;
  return { error: errors.length === 1 ? errors[0]! : `[${[...new Set(errors)].join(', ')}]` };
}
