/** Converts exceptions of parsers in `@kruise/values` to CEL errors. */
import { ParseError } from '@kruise/values/parse-error';
import { EvaluationError } from './values.ts';

/** Returns the result of a parser, or its error as a CEL error. */
export function attempt<Result>(read: () => Result): Result | EvaluationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return new EvaluationError(error.message);
    throw error;
  }
}
