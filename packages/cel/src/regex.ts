/** Regular expressions of RE2: matching takes linear time, whatever the pattern. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Implementation } from './functions.ts';
import { EvaluationError } from './values.ts';

/** A function with a constant pattern: returns its implementation, or the error of the pattern. */
export type RegexFunction = (pattern: string) => Implementation | EvaluationError;

/** Compiles a pattern. */
export function compileRegex(pattern: string): RE2JS | EvaluationError {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return new EvaluationError(error.message);
    throw error;
  }
}

/** Yields the text of up to `limit` matches. */
export function* findMatches(regex: RE2JS, text: string, limit = Number.POSITIVE_INFINITY): Generator<string> {
  const matcher = regex.matcher(text);
  for (let count = 0; count < limit && matcher.find(); count++) yield matcher.group() ?? '';
}
