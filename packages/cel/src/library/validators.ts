/** Additional checks of Kubernetes beyond types: invalid literals, lists of mixed types, invalid formats. */
import { children, type Expression } from '../ast.ts';
import type { Validator } from '../environment.ts';
import { compileRegex } from '../regex.ts';
import { parseDuration, parseTimestamp, timestampFromUnix } from '../time.ts';
import { formatType, isEquivalentType, isOptional, type Type } from '../types.ts';
import { EvaluationError, isInt, type Value } from '../values.ts';
import { formatFaults } from './string-format.ts';

/** Returns a check for calls of `name` whose first argument is an invalid literal. */
const literalArgument =
  (name: string, isValid: (value: Value) => boolean): Validator =>
  (expression, issues) => {
    for (const node of descendants(expression)) {
      if (node.kind !== 'call' || node.function !== name) continue;
      const [argument] = node.args;
      if (argument?.kind === 'literal' && !isValid(argument.value)) {
        issues.report(argument.offset, `invalid ${name} argument`);
      }
    }
  };

const isValid = (value: unknown): boolean => value !== undefined && !(value instanceof EvaluationError);

/** Rejects `duration('x')`. */
export const durationLiterals = literalArgument(
  'duration',
  (value) => typeof value === 'string' && isValid(parseDuration(value)),
);

/** Rejects `timestamp('x')`. */
export const timestampLiterals = literalArgument('timestamp', (value) =>
  isValid(typeof value === 'string' ? parseTimestamp(value) : isInt(value) ? timestampFromUnix(value) : value),
);

/** Rejects `a.matches('(')`. */
export const regexLiterals = literalArgument('matches', (value) =>
  isValid(typeof value === 'string' ? compileRegex(value) : value),
);

/** Rejects list and map literals with elements of several types, unless they are arguments of `format`. */
export const homogeneousLiterals: Validator = (expression, issues) => {
  const mismatch = (offset: number, wanted: Type, found: Type) =>
    issues.report(offset, `expected type '${formatType(wanted)}' but found '${formatType(found)}'`);
  const held = (part: Expression, isMarked: boolean): Type => {
    const type = part.type!;
    return isMarked && isOptional(type) ? type.parameters[0]! : type;
  };
  for (const node of descendants(expression, (call) => call === 'format')) {
    if (node.kind === 'list') {
      const types = node.elements.map((element, index) => held(element, node.optional.has(index)));
      const wrong = types.findIndex((type) => !isEquivalentType(types[0]!, type));
      if (wrong > 0) mismatch(node.elements[wrong]!.offset, types[0]!, types[wrong]!);
    } else if (node.kind === 'map') {
      const [first, ...rest] = node.entries;
      if (!first) continue;
      const key = first.key.type!;
      const value = held(first.value, first.isOptional);
      for (const entry of rest) {
        if (!isEquivalentType(key, entry.key.type!)) mismatch(entry.key.offset, key, entry.key.type!);
        const found = held(entry.value, entry.isOptional);
        if (!isEquivalentType(value, found)) mismatch(entry.value.offset, value, found);
      }
    }
  }
};

/** Rejects `'…'.format([…])` whose clauses do not match its arguments. */
export const formatCalls: Validator = (expression, issues) => {
  for (const node of descendants(expression)) {
    if (node.kind !== 'call' || node.function !== 'format' || !node.target || node.args.length !== 1) continue;
    const { target, overloads } = node;
    const [list] = node.args;
    if (overloads?.includes('string_format') === false) continue;
    if (target.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') continue;
    const fault = formatFaults(target.value, list.elements);
    if (fault) issues.report(fault.at?.offset ?? node.offset, fault.message);
  }
};

/** Yields all nodes of an expression, itself first, except inside of `passedOver` calls. */
function* descendants(
  expression: Expression,
  passedOver: (functionName: string) => boolean = () => false,
): Generator<Expression> {
  yield expression;
  if (expression.kind === 'call' && passedOver(expression.function)) return;
  for (const child of children(expression)) yield* descendants(child, passedOver);
}
