/** Regular expressions of `grep`, `sed` and `awk`. */
import { RE2JS, RE2JSSyntaxException } from 're2js';
import { ToolError } from './arguments.ts';

/** Converts a pattern: basic and extended regular expressions use opposite backslash escapes. */
export function toRegExp(pattern: string, isExtended: boolean): string {
  return isExtended
    ? pattern
    : pattern.replace(/\\?[+?(){}|]/g, (found) => (found.startsWith('\\') ? found.slice(1) : `\\${found}`));
}

export type Expression = {
  /** Returns the first match. */
  find(text: string): string | undefined;
  replace(text: string, replacement: string, which: 'first' | 'all'): string;
};

/** Compiles a pattern to RE2, which runs in linear time: a tenant's pattern must not block the process. */
export function regExp(source: string, { ignoresCase = false } = {}): Expression {
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(source, ignoresCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw new ToolError(`bad regex '${source}': ${error.message}`, 2);
    throw error;
  }
  return {
    find(text) {
      const matcher = pattern.matcher(text);
      return matcher.find() ? (matcher.group() ?? '') : undefined;
    },
    replace(text, replacement, which) {
      const matcher = pattern.matcher(text);
      return which === 'all' ? matcher.replaceAll(replacement) : matcher.replaceFirst(replacement);
    },
  };
}
