/** Regular expressions as RE2 has them: matching takes time linear in the text, whatever the pattern. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Implementation } from './functions.ts';
import { EvaluationError } from './values.ts';

/** A function whose pattern is known beforehand: what it does with its arguments, or why the pattern is no good. */
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

/** The text of matches, one after the other, `limit` at most. */
export function* findMatches(regex: RE2JS, text: string, limit = Number.POSITIVE_INFINITY): Generator<string> {
  const matcher = regex.matcher(text);
  for (let count = 0; count < limit && matcher.find(); count++) yield matcher.group() ?? '';
}
