/** Compiling expressions, and evaluating what was compiled. */

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

/** How an evaluation ended, and what it cost. */
export type Outcome =
  | { readonly value: Exclude<Value, EvaluationError>; readonly cost: number }
  | { readonly error: string; readonly cost: number; readonly isCostExceeded: boolean };

/** How an evaluation is to be. */
export type EvaluateOptions = {
  /** Evaluation ends with an error once it has cost more. */
  readonly costLimit?: number;
};

/** An expression that can be evaluated. */
export type Program = {
  readonly ok: true;
  /** The type of its results. */
  readonly type: Type;
  /** The least and the most it may cost, given the sizes variables are declared with. Computed when first read. */
  readonly estimatedCost: Range;
  /** Whether the expression refers to a variable. */
  uses(variable: string): boolean;
  /** Evaluates it with variables set to JSON or CEL values. */
  evaluate(bindings: Readonly<Record<string, unknown>>, options?: EvaluateOptions): Outcome;
};

/** Why an expression cannot be evaluated. */
export type CompileFailure = {
  readonly ok: false;
  /** Whether the text is at fault, or a constant in it that cannot be computed (`int('x')`). */
  readonly stage: 'text' | 'constant';
  readonly issues: readonly Issue[];
  /** All faults, each with the place in the text, as users are shown them. */
  readonly message: string;
};

/**
 * Compiles an expression.
 *
 * ```ts
 * const program = compile(kubernetesEnvironment({ variables: { self: type } }), 'self.replicas <= 10');
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
    // Data nested thousands deep, or a string grown beyond what a string can be: the stack or the heap says so.
    if (error instanceof RangeError) {
      return { error: `evaluation outgrew its limits: ${error.message}`, cost: frame.cost, isCostExceeded: false };
    }
    throw error;
  }
}

/** Names of variables, those of loops included. */
function* variableNames(expression: Expression): Generator<string> {
  if (expression.kind === 'identifier') yield expression.name;
  if (expression.kind === 'select' && expression.resolved) yield expression.resolved.name;
  for (const child of children(expression)) yield* variableNames(child);
}
