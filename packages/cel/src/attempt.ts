/** Readers of `@kruise/values` throw; functions of CEL yield errors. */
import { ParseError } from '@kruise/values/parse-error';
import { EvaluationError } from './values.ts';

/** What a reader reads, or its complaint. */
export function attempt<Result>(read: () => Result): Result | EvaluationError {
  try {
    return read();
  } catch (error) {
    if (error instanceof ParseError) return new EvaluationError(error.message);
    throw error;
  }
}
