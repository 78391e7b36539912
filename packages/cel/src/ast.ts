/**
 * The tree an expression is parsed into. The checker fills in `type`, `overloads` and resolved names in place: a tree
 * belongs to the one compilation that made it.
 */
import type { Type } from './types.ts';
import type { Value } from './values.ts';

type Common = {
  /** Where errors about this node point. */
  readonly offset: number;
  /** Set by the checker. */
  type?: Type;
};

/** A constant as it is written. */
export type Literal = Common & { readonly kind: 'literal'; readonly value: Value };

/** A name. */
export type Identifier = Common & {
  readonly kind: 'identifier';
  name: string;
  /** Set when loop variables of the same name are passed over, as in `.name`. */
  isRooted?: boolean;
  /** Set when the name is that of a type. */
  constant?: Value;
};

/** `operand.field`, or a test for it. */
export type Select = Common & {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly isPresenceTest: boolean;
  /** Set when the whole chain turned out to be one qualified name. */
  resolved?: Identifier;
};

/** A call of a function, method or operator. */
export type Call = Common & {
  readonly kind: 'call';
  function: string;
  target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Identifiers of the overloads that fit, in the order of declaration. */
  overloads?: readonly string[];
};

/** `[a, b]`. */
export type ListLiteral = Common & {
  readonly kind: 'list';
  readonly elements: readonly Expression[];
  /** Which elements are marked `?`. */
  readonly optional: ReadonlySet<number>;
};

/** `key: value`. */
export type MapEntry = {
  readonly offset: number;
  readonly key: Expression;
  readonly value: Expression;
  readonly isOptional: boolean;
};

/** `{k: v}`. */
export type MapLiteral = Common & { readonly kind: 'map'; readonly entries: readonly MapEntry[] };

/** `name: value`. */
export type FieldInitializer = {
  readonly offset: number;
  readonly name: string;
  readonly value: Expression;
  readonly isOptional: boolean;
};

/** `Name{field: value}`. */
export type ObjectLiteral = Common & {
  readonly kind: 'object';
  typeName: string;
  readonly fields: readonly FieldInitializer[];
};

/** A fold over a list or map: what the macros `all`, `exists`, `map`, `filter` and `cel.bind` become. */
export type Comprehension = Common & {
  readonly kind: 'comprehension';
  readonly range: Expression;
  readonly variable: string;
  /** Given for the two-variable forms, where `variable` is the index or key and this the value. */
  readonly secondVariable: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
};

/** Any part of an expression. */
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | ObjectLiteral
  | Comprehension;

/** The name macros give their accumulator; no source text can spell it. */
export const accumulatorName = '@result';

/** The dotted name a chain of selections spells, or undefined. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name;
  if (expression.kind !== 'select' || expression.isPresenceTest) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

/** The direct parts of an expression, in the order they are written. */
export function children(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'literal':
    case 'identifier':
      return [];
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target ? [expression.target, ...expression.args] : expression.args;
    case 'list':
      return expression.elements;
    case 'map':
      return expression.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'object':
      return expression.fields.map((field) => field.value);
    case 'comprehension':
      return [expression.range, expression.initial, expression.condition, expression.step, expression.result];
  }
}
