/** Compiles and evaluates expressions. */

import { children, type Expression } from './ast.ts';
import { check } from './checker.ts';
import type { Environment } from './environment.ts';
import { estimateCost } from './estimate.ts';
import { CostExceeded, type Evaluate, Frame } from './frame.ts';
import type { Range } from './functions.ts';
import { InstantiationError, interpret } from './interpreter.ts';
import { parse } from './parser.ts';
import { type Issue, Issues } from './source.ts';
import type { Type } from './types.ts';
import { EvaluationError, type Value } from './values.ts';

/** Outcome of an evaluation, and its cost. */
export type Outcome =
  | { readonly value: Exclude<Value, EvaluationError>; readonly cost: number }
  | { readonly error: string; readonly cost: number; readonly isCostExceeded: boolean };

/** Options of an evaluation. */
export type EvaluateOptions = {
  /** Cost at which the evaluation ends with an error. */
  readonly costLimit?: number;
};

/** A compiled expression. */
export type Program = {
  readonly ok: true;
  /** Type of the results. */
  readonly type: Type;
  /** Minimum and maximum cost for the declared sizes of variables. Computed on first use. */
  readonly estimatedCost: Range;
  /** Returns whether the expression refers to a variable. */
  uses(variable: string): boolean;
  /** Evaluates the expression with variables set to JSON or CEL values. */
  evaluate(bindings: Readonly<Record<string, unknown>>, options?: EvaluateOptions): Outcome;
};

/** Errors of a compilation. */
export type CompileFailure = {
  readonly ok: false;
  /** Distinguishes errors in the text from constants that cannot be computed (`int('x')`). */
  readonly stage: 'text' | 'constant';
  readonly issues: readonly Issue[];
  /** All errors with their positions in the text, as shown to users. */
  readonly message: string;
};

/**
 * Compiles an expression.
 *
 * ```ts
 * const program = compile(kubernetesEnvironment({ variables: { self: selfType } }), 'self.replicas <= 10');
 * if (program.ok) program.evaluate({ self: { replicas: 3 } }); // { value: true, cost: 3 }
 * ```
 */
export function compile(environment: Environment, text: string): Program | CompileFailure {
  const issues = new Issues(text);
  const expression = parse(text, environment.syntax, issues);
  if (!expression) return failure(issues);
  const type = check(expression, environment, issues);
  if (issues.isEmpty) for (const validate of environment.validators) validate(expression, issues);
  if (!issues.isEmpty) return failure(issues);
  try {
    return program(environment, expression, type, interpret(expression, environment));
  } catch (error) {
    if (!(error instanceof InstantiationError)) throw error;
    return { ok: false, stage: 'constant', issues: [{ offset: -1, message: error.message }], message: error.message };
  }
}

const failure = (issues: Issues): CompileFailure => ({
  ok: false,
  stage: 'text',
  issues: issues.list,
  message: issues.toString(),
});

function program(environment: Environment, expression: Expression, type: Type, evaluate: Evaluate): Program {
  let estimate: Range | undefined;
  let names: Set<string> | undefined;
  return {
    ok: true,
    type,
    get estimatedCost() {
      return (estimate ??= estimateCost(expression, environment));
    },
    uses: (variable) => (names ??= new Set(variableNames(expression))).has(variable),
    evaluate: (bindings, options) => run(evaluate, new Frame(bindings, options?.costLimit ?? environment.costLimit)),
  };
}

function run(evaluate: Evaluate, frame: Frame): Outcome {
  try {
    const value = evaluate(frame);
    if (!(value instanceof EvaluationError)) return { value, cost: frame.cost };
    return { error: value.message, cost: frame.cost, isCostExceeded: false };
  } catch (error) {
    if (error instanceof CostExceeded) return { error: error.message, cost: frame.cost, isCostExceeded: true };
    // Deeply nested data, or a string beyond the maximum length, overflows the stack or the heap.
    if (error instanceof RangeError) {
      return { error: `evaluation outgrew its limits: ${error.message}`, cost: frame.cost, isCostExceeded: false };
    }
    throw error;
  }
}

/** Yields the names of variables, including loop variables. */
function* variableNames(expression: Expression): Generator<string> {
  if (expression.kind === 'identifier') yield expression.name;
  if (expression.kind === 'select' && expression.resolved) yield expression.resolved.name;
  for (const child of children(expression)) yield* variableNames(child);
}
