import type { Cause } from '@kruise/schema/field-error';
import type { Variable } from './validatingadmissionpolicy.ts';

/** The position of a CEL expression, which determines its variables and its result type. */
export type ExpressionPlace = {
  readonly path: string;
  readonly params: boolean;
  readonly authorizer: boolean;
  /** The variables declared before the expression; undefined if it can have none. */
  readonly variables?: readonly Variable[];
  readonly yields: 'bool' | 'string' | 'string or null' | 'anything';
  /** The expression is already stored, and may use features that new expressions may not. */
  readonly isStored: boolean;
  /** The text for messages, if it differs from the compiled text. */
  readonly shown?: string;
};

/** Returns the errors of an expression. The CEL environment knows them; this package knows only the position. */
export type ExpressionCheck = (expression: string, place: ExpressionPlace) => Iterable<Cause>;
