import type { Cause } from '@kruise/schema/field-error';
import type { Variable } from './validatingadmissionpolicy.ts';

/** Where an expression stands, and so what it may name and must yield. */
export type ExpressionPlace = {
  readonly path: string;
  readonly params: boolean;
  readonly authorizer: boolean;
  /** The variables before it; undefined where there can be none. */
  readonly variables?: readonly Variable[];
  readonly yields: 'bool' | 'string' | 'string or null' | 'anything';
  /** It has been there before, and may use what older expressions could not. */
  readonly isStored: boolean;
  /** The text to be shown where that is not the one compiled. */
  readonly shown?: string;
};

/** The faults of an expression. Whoever evaluates expressions knows; here it is only known where they stand. */
export type ExpressionCheck = (expression: string, place: ExpressionPlace) => Iterable<Cause>;
