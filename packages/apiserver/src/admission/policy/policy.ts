import type { MatchResources } from '@kruise/api/admissionregistration/rule';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  Validation,
} from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import { runtimeCostBudget } from '@kruise/cel/environments';
import { typeNameOf } from '@kruise/cel/type-names';
import { boolType, dynType, nullType, stringType, type Type } from '@kruise/cel/types';
import {
  type Bindings,
  type Budget,
  type Compiled,
  compileExpression,
  type Declarations,
  evaluate,
  OutOfBudget,
  Variables,
} from '../expressions.ts';
import type { Criteria } from '../matching.ts';
import { compiledSelector } from '../matching.ts';
import { compileMatchConditions, meetsConditions } from './match-conditions.ts';

/** Policy with compiled expressions. */
export type CompiledPolicy = {
  readonly policy: ValidatingAdmissionPolicy;
  readonly criteria: Criteria;
  readonly failsOpen: boolean;
  readonly conditions: readonly Compiled[];
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly validations: readonly {
    readonly validation: Validation;
    readonly expression: Compiled;
    readonly message: Compiled | undefined;
  }[];
  readonly annotations: readonly { readonly key: string; readonly expression: Compiled }[];
};

/** Violation of a policy by a write. */
export type PolicyViolation = {
  /** Index of the violated validation; 0 if the violation concerns all validations. */
  readonly index: number;
  readonly message: string;
  /** Reason of the Status; absent if the evaluation failed rather than the rule. */
  readonly reason?: string;
};

export type Verdict = {
  readonly breaches: readonly PolicyViolation[];
  /** Audit annotations, as keys and values. */
  readonly annotations: readonly (readonly [key: string, value: string])[];
  /** Denials that apply whatever the validationActions of a binding are. */
  readonly failures: readonly string[];
};

export function compilePolicy(policy: ValidatingAdmissionPolicy): CompiledPolicy {
  const { paramKind, matchConstraints, validations, auditAnnotations, variables, matchConditions, failurePolicy } =
    policy.spec ?? {};
  const base = { params: paramKind != null };
  const compiled = compileVariables(variables ?? [], { ...base, authorizer: true });
  const declarations: Declarations = { ...base, authorizer: true, variables: typesOf(compiled) };
  return {
    policy,
    criteria: criteriaOf(matchConstraints),
    failsOpen: failurePolicy === 'Ignore',
    conditions: compileMatchConditions(matchConditions, declarations),
    variables: compiled,
    validations: (validations ?? []).map((validation) => ({
      validation,
      expression: compileExpression(validation.expression, declarations, [boolType]),
      message: validation.messageExpression
        ? compileExpression(validation.messageExpression, { ...declarations, authorizer: false }, [stringType])
        : undefined,
    })),
    annotations: (auditAnnotations ?? []).map(({ key, valueExpression }: AuditAnnotation) => ({
      key,
      expression: compileExpression(valueExpression, declarations, [stringType, nullType]),
    })),
  };
}

/**
 * Compiles the variables of a policy in order. A variable may use the earlier ones, so each is compiled with their
 * types.
 */
export function compileVariables(
  variables: readonly { readonly name: string; readonly expression: string }[],
  declarations: Omit<Declarations, 'variables'>,
): ReadonlyMap<string, Compiled> {
  const compiled = new Map<string, Compiled>();
  for (const { name, expression } of variables) {
    compiled.set(name, compileExpression(expression, { ...declarations, variables: typesOf(compiled) }));
  }
  return compiled;
}

export function typesOf(compiled: ReadonlyMap<string, Compiled>): ReadonlyMap<string, Type> {
  return new Map([...compiled].map(([name, { program }]) => [name, program?.type ?? dynType]));
}

/** Returns the match criteria of a policy or binding. Absent constraints match everything. */
export function criteriaOf(match: MatchResources | null | undefined): Criteria {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy, namespaceSelector, objectSelector } = match ?? {};
  return {
    rules: resourceRules,
    excluded: excludeResourceRules,
    everyResource: resourceRules.length === 0,
    equivalent: matchPolicy !== 'Exact',
    namespaceSelector: compiledSelector(namespaceSelector),
    objectSelector: compiledSelector(objectSelector),
  };
}

const nothing: Verdict = { breaches: [], annotations: [], failures: [] };

/** Evaluates a policy for a write. */
export function evaluatePolicy(compiled: CompiledPolicy, bindings: Bindings): Verdict {
  const { conditions, variables, failsOpen } = compiled;
  const failed = (message: string): Verdict =>
    failsOpen ? nothing : { ...nothing, breaches: [{ index: 0, message }] };
  const meets = meetsConditions(conditions, bindings, variables);
  if (meets === false) return nothing;
  if (meets !== true) return failed(meets.error);
  try {
    const breaches = [...breachesOf(compiled, bindings)];
    return { breaches, ...annotationsOf(compiled, bindings) };
  } catch (error) {
    if (error instanceof OutOfBudget) return failed(error.message);
    throw error;
  }
}

function* breachesOf(
  { validations, variables, failsOpen }: CompiledPolicy,
  bindings: Bindings,
): Generator<PolicyViolation> {
  const budget: Budget = { remaining: runtimeCostBudget };
  const all = { ...bindings, variables: new Variables(variables, bindings, budget) };
  for (const [index, { validation, expression, message }] of validations.entries()) {
    const { value, error } = evaluate(expression, all, budget);
    if (error !== undefined) {
      if (!failsOpen) yield { index, message: error };
    } else if (value !== true) {
      const text = message && evaluatedMessage(message, all, budget);
      const violationMessage =
        text || validation.message?.trim() || `failed expression: ${validation.expression.trim()}`;
      yield { index, message: violationMessage, reason: validation.reason ?? 'Invalid' };
    }
  }
}

const maxMessageBytes = 5 * 1024;

/** Evaluates a messageExpression. A message that is too long or has several lines is discarded. */
function evaluatedMessage(message: Compiled, bindings: Bindings, budget: Budget): string {
  const { value } = evaluate(message, bindings, budget);
  const text = typeof value === 'string' ? value.trim() : '';
  return text.includes('\n') || Buffer.byteLength(text) > maxMessageBytes ? '' : text;
}

function annotationsOf(
  { annotations, variables, failsOpen }: CompiledPolicy,
  bindings: Bindings,
): Pick<Verdict, 'annotations' | 'failures'> {
  const auditAnnotations: [string, string][] = [];
  const failures: string[] = [];
  const budget: Budget = { remaining: runtimeCostBudget };
  const all = { ...bindings, variables: new Variables(variables, bindings, budget) };
  for (const { key, expression } of annotations) {
    const { value, error } = evaluate(expression, all, budget);
    if (error !== undefined) {
      if (!failsOpen) failures.push(error);
    } else if (typeof value === 'string') {
      if (value.trim() !== '') auditAnnotations.push([key, value.trim()]);
    } else if (value !== null) {
      failures.push(
        `valueExpression '${expression.text}' resulted in unsupported return type: ${typeNameOf(value!)}. Return type must be either string or null.`,
      );
    }
  }
  return { annotations: auditAnnotations, failures };
}
