/**
 * Abstract syntax tree of an expression. The checker sets `type`, `overloads` and resolved names in place: a tree
 * belongs to one compilation.
 */
import type { Type } from './types.ts';
import type { Value } from './values.ts';

type Common = {
  /** Position for error messages about this node. */
  readonly offset: number;
  /** Set by the checker. */
  type?: Type;
};

/** A literal. */
export type Literal = Common & { readonly kind: 'literal'; readonly value: Value };

/** An identifier. */
export type Identifier = Common & {
  readonly kind: 'identifier';
  name: string;
  /** Set if loop variables of the same name are skipped, as in `.name`. */
  isRooted?: boolean;
  /** Set if the name is a type. */
  constant?: Value;
};

/** `operand.field`, or a test for its presence. */
export type Select = Common & {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly isPresenceTest: boolean;
  /** Set if the whole chain is one qualified name. */
  resolved?: Identifier;
};

/** A call of a function, method or operator. */
export type Call = Common & {
  readonly kind: 'call';
  function: string;
  target: Expression | undefined;
  readonly args: readonly Expression[];
  /** Identifiers of the matching overloads, in the order of declaration. */
  overloads?: readonly string[];
};

/** `[a, b]`. */
export type ListLiteral = Common & {
  readonly kind: 'list';
  readonly elements: readonly Expression[];
  /** Indexes of the elements that are marked `?`. */
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

/** A fold over a list or map: the expansion of the macros `all`, `exists`, `map`, `filter` and `cel.bind`. */
export type Comprehension = Common & {
  readonly kind: 'comprehension';
  readonly range: Expression;
  readonly variable: string;
  /** Set for the two-variable forms, where `variable` is the index or key and this is the value. */
  readonly secondVariable: string | undefined;
  readonly accumulator: string;
  readonly initial: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
};

/** Any node of an expression. */
export type Expression =
  | Literal
  | Identifier
  | Select
  | Call
  | ListLiteral
  | MapLiteral
  | ObjectLiteral
  | Comprehension;

/** Name of the accumulator in macros; it is not a valid identifier in source text. */
export const accumulatorName = '@result';

/** Returns the dotted name of a chain of selections, or undefined. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'identifier') return expression.name;
  if (expression.kind !== 'select' || expression.isPresenceTest) return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}

/** Returns the child nodes of an expression, in source order. */
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
