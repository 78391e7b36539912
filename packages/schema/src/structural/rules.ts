/**
 * CEL rules (`x-kubernetes-validations`): compiled when an object first contains the part that they apply to, and
 * evaluated within a cost budget for the whole object. Unchanged values may keep violating a rule, with a warning.
 */
import { compile, type Program } from '@kruise/cel/compile';
import { kubernetesEnvironment, perCallLimit, runtimeCostBudget } from '@kruise/cel/environments';
import { read } from '@kruise/cel/json-values';
import { optionalType, type Type } from '@kruise/cel/types';
import { none, Optional } from '@kruise/cel/values';
import { quote } from '@kruise/values/go-syntax';
import { type Cause, forbidden, internal, required } from '../field-error.ts';
import type { Rule } from '../language.ts';
import { celType } from './cel-type.ts';
import type { Correlation } from './correlate.ts';
import { followFieldPath } from './field-path.ts';
import { additionalOf, isObject, itemsOf, type JsonSchema } from './json-schema.ts';
import { fault, shown } from './report.ts';

/** Library version of an expression: that of new expressions, or everything for stored ones. */
export type Expressions = 'new' | 'stored';

/** A compiled rule, or its compile error. */
export type CompiledRule = {
  readonly rule: Rule;
  readonly program?: Program;
  readonly usesOldSelf: boolean;
  readonly error?: string;
  readonly message?: Program;
  readonly messageError?: string;
  /** Path of reported violations, relative to the value of the rule. */
  readonly fieldPath: string;
};

/** Compiles the rules of one node. `type` is the CEL type of the value. */
export function compileRules(
  schema: JsonSchema,
  type: Type,
  expressions: (text: string) => Expressions,
): CompiledRule[] {
  return (schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, schema, type, expressions));
}

function compileRule(
  rule: Rule,
  schema: JsonSchema,
  type: Type,
  expressions: (text: string) => Expressions,
): CompiledRule {
  const compileIn = (text: string) => {
    const oldSelf = rule.optionalOldSelf ? optionalType(type) : type;
    return compile(kubernetesEnvironment({ variables: { self: type, oldSelf }, expressions: expressions(text) }), text);
  };
  const nothing: CompiledRule = { rule, usesOldSelf: false, fieldPath: '' };
  if (rule.rule.trim() === '') return nothing;
  const program = compileIn(rule.rule);
  if (!program.ok) {
    const kind = program.stage === 'text' ? 'compilation failed' : 'program instantiation failed';
    return { ...nothing, error: `${kind}: ${program.message}` };
  }
  if (program.type.kind !== 'bool') return { ...nothing, error: 'cel expression must evaluate to a bool' };
  const found = rule.fieldPath ? followFieldPath(rule.fieldPath, schema) : { path: '' };
  const fieldPath = 'path' in found ? found.path : '';
  const compiled: CompiledRule = { rule, program, usesOldSelf: program.uses('oldSelf'), fieldPath };
  if (!rule.messageExpression) return compiled;

  const message = compileIn(rule.messageExpression);
  if (!message.ok) {
    const kind = message.stage === 'text' ? 'compilation' : 'instantiation';
    return { ...compiled, messageError: `messageExpression ${kind} failed: ${message.message}` };
  }
  if (message.type.kind !== 'string')
    return { ...compiled, messageError: 'messageExpression must evaluate to a string' };
  return { ...compiled, message };
}

/** Returns all violations of the rules of a value and its parts. */
export type CheckRules = (value: unknown, options?: CheckRulesOptions) => Cause[];

/** Context of the value. */
export type CheckRulesOptions = {
  /** Prefix of the path of every cause. */
  readonly origin?: string;
  /** Correlation with the old value, if there is one. */
  readonly correlation?: Correlation | undefined;
  /** Receives the violations of unchanged values; without it they are reported as causes. */
  readonly warnings?: string[] | undefined;
};

/** Returns the check of all rules of a schema; undefined if there are none. */
export function ruleChecker(schema: JsonSchema, isResource: boolean): CheckRules | undefined {
  const root = ruleNode(schema, isResource);
  return (
    root &&
    ((value, { origin = '', correlation, warnings } = {}) => {
      const check: RuleCheck = { causes: [], warnings, remainingCost: runtimeCostBudget };
      checkNode(root, value, origin, { correlation, parent: undefined }, check);
      return check.causes;
    })
  );
}

/** Parts of a schema that contain rules. */
type RuleNode = {
  readonly schema: JsonSchema;
  /** CEL type and compiled rules; computed on first use. */
  readonly compiled: () => { readonly type: Type; readonly rules: readonly CompiledRule[] } | undefined;
  readonly hasRules: boolean;
  readonly items: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
};

function ruleNode(schema: JsonSchema, isResource: boolean): RuleNode | undefined {
  const part = (of: JsonSchema | undefined) => of && ruleNode(of, of['x-kubernetes-embedded-resource'] === true);
  const items = part(itemsOf(schema));
  const additional = part(additionalOf(schema));
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = part(property);
    if (node) properties.set(name, node);
  }
  const hasRules = (schema['x-kubernetes-validations']?.length ?? 0) > 0;
  if (!hasRules && !items && !additional && properties.size === 0) return undefined;

  let compiled: ReturnType<RuleNode['compiled']> | null = null;
  const compileNode = () => {
    const type = celType(schema, selfTypeName, isResource);
    return type && { type, rules: compileRules(schema, type, () => 'stored') };
  };
  return {
    schema,
    hasRules,
    items,
    properties,
    additional,
    compiled: () => (compiled === null ? (compiled = compileNode()) : compiled),
  };
}

/** Name of the type of `self` in messages. */
export const selfTypeName = 'selfType1';

type RuleCheck = {
  readonly causes: Cause[];
  readonly warnings: string[] | undefined;
  /** Negative once the budget is exhausted: nothing more is evaluated. */
  remainingCost: number;
};

/** Correlation of a value; if unknown, that of its nearest parent. */
type Past = { readonly correlation: Correlation | undefined; readonly parent: Correlation | undefined };

function checkNode(node: RuleNode, value: unknown, path: string, past: Past, check: RuleCheck): void {
  if (value === null || value === undefined || check.remainingCost < 0) return;
  if (node.hasRules) checkRules(node, value, path, past, check);
  const { correlation } = past;
  const within = (part: Correlation | undefined): Past =>
    correlation ? { correlation: part, parent: correlation } : past;
  if (Array.isArray(value)) {
    if (!node.items) return;
    for (const [index, item] of value.entries()) {
      checkNode(node.items, item, `${path}[${index}]`, within(correlation?.item(index)), check);
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const property = node.properties.get(name);
      const part = property ?? node.additional;
      if (!part) continue;
      const partPath = property ? (path === '' ? name : `${path}.${name}`) : `${path}[${name}]`;
      checkNode(part, value[name], partPath, within(correlation?.property(name)), check);
    }
  }
}

function checkRules(node: RuleNode, value: unknown, path: string, past: Past, check: RuleCheck): void {
  const { type: typeName = '' } = node.schema;
  const invalid = (detail: string, at = path) => fault('FieldValueInvalid', at === '' ? '<nil>' : at, typeName, detail);
  /** Reports a cause and ends the evaluation. */
  const stop = (cause: Cause): void => {
    check.causes.push(cause);
    check.remainingCost = -1;
  };
  // A CRD with rules on values that rules cannot access is rejected.
  const compiled = node.compiled();
  if (!compiled) return;
  if (check.remainingCost === 0) {
    stop(invalid(outOfBudget));
    return;
  }

  const self = read(value, compiled.type);
  const oldValue = past.correlation?.old ?? null;
  const oldSelf = oldValue === null ? undefined : read(oldValue, compiled.type);
  for (const { rule, program, usesOldSelf, error, message, fieldPath } of compiled.rules) {
    if (error !== undefined) check.causes.push(invalid(`rule compile error: ${error}`));
    if (!program) continue;
    if (usesOldSelf && oldSelf === undefined && !rule.optionalOldSelf) continue;
    const old = rule.optionalOldSelf ? (oldSelf === undefined ? none : new Optional(oldSelf)) : oldSelf;
    const bindings = { self, ...(old === undefined ? {} : { oldSelf: old }) };
    const outcome = program.evaluate(bindings, { costLimit: perCallLimit });
    if (outcome.cost > check.remainingCost) {
      stop(invalid(outOfBudget));
      return;
    }
    check.remainingCost -= outcome.cost;
    if ('error' in outcome) {
      const cause = invalid(evaluationError(outcome.error, outcome.isCostExceeded, rule));
      check.causes.push(cause);
      if (!outcome.isCostExceeded) continue;
      check.remainingCost = -1;
      return;
    }
    if (outcome.value === true) continue;

    const at = fieldPath === '' ? path : path === '' ? fieldPath : `${path}.${fieldPath}`;
    // A forbidden transition is a change, whatever else is unchanged.
    const isForgiven = !usesOldSelf && (past.correlation ?? past.parent)?.isUnchanged === true;
    const report = (cause: Cause) => {
      if (isForgiven && check.warnings) check.warnings.push(`${cause.field}: ${cause.message}`);
      else check.causes.push(cause);
    };
    const text = message && composeMessage(message, rule, bindings, check);
    if (text && 'failure' in text) {
      report(text.failure === 'internal' ? internal(at, text.detail) : invalid(text.detail, at));
      check.remainingCost = -1;
      return;
    }
    report(violationOf(rule, text?.text ?? ruleMessage(rule), at === '' ? '<nil>' : at, typeName));
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';
const maxMessageBytes = 5 * 1024;

function evaluationError(error: string, isCostExceeded: boolean, rule: Rule): string {
  const name = (rule.message || rule.rule).trim();
  if (isCostExceeded) {
    return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
  }
  if (error.startsWith('no such overload')) {
    return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
  }
  return `${error} evaluating rule: ${name}`;
}

type Message = { readonly text: string } | { readonly failure: 'invalid' | 'internal'; readonly detail: string };

/** Returns the message of an expression; undefined if the result is not a valid message. */
function composeMessage(program: Program, rule: Rule, bindings: object, check: RuleCheck): Message | undefined {
  const outcome = program.evaluate(bindings as Record<string, unknown>, { costLimit: perCallLimit });
  const source = quote(rule.messageExpression ?? '');
  if (outcome.cost > check.remainingCost) {
    const detail =
      'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
    return { failure: 'invalid', detail };
  }
  if ('error' in outcome && outcome.isCostExceeded) {
    const detail = `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`;
    return { failure: 'invalid', detail };
  }
  check.remainingCost -= outcome.cost;
  if ('error' in outcome || typeof outcome.value !== 'string') return undefined;
  const text = outcome.value.trim();
  return text === '' || text.includes('\n') || Buffer.byteLength(text) > maxMessageBytes ? undefined : { text };
}

function ruleMessage({ message, rule }: Rule): string {
  return message ? message.trim() : `failed rule: ${rule.trim()}`;
}

function violationOf({ reason }: Rule, detail: string, field: string, typeName: string): Cause {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail);
    case 'FieldValueRequired':
      return required(field, detail);
    case 'FieldValueDuplicate':
      return { reason: 'FieldValueDuplicate', message: `Duplicate value: ${shown(typeName)}`, field };
    default:
      return fault('FieldValueInvalid', field, typeName, detail);
  }
}
