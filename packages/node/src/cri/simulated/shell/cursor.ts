/** Position of the parser in a script. */
import { ShellSyntaxError } from './syntax.ts';

export type Cursor = { readonly text: string; at: number; depth: number };

const maxDepth = 100;
const namePattern = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Creates a cursor at the start of a text, which may be nested in another one. */
export function cursorAt(text: string, depth = 0): Cursor {
  return { text, at: 0, depth };
}

/** Throws a syntax error with a given reason, or for the next token. */
export function failAt({ text, at }: Cursor, what?: string): never {
  const next = () => (text[at] === '\n' ? 'newline' : nextToken(text, at));
  const trouble = what ?? (at >= text.length ? 'end of file (expecting more)' : `unexpected "${next()}"`);
  throw new ShellSyntaxError(`syntax error: ${trouble}`);
}

function nextToken(text: string, at: number): string {
  return /^(?:&&|\|\||;;|[&|;()<>]|[^\s&|;()<>]+)/.exec(text.slice(at, at + 80))?.[0] ?? '';
}

/** Parses a nested construct, with a depth limit. */
export function nested<T>(cursor: Cursor, read: () => T): T {
  if (++cursor.depth > maxDepth) failAt(cursor, 'nested too deeply');
  const result = read();
  cursor.depth--;
  return result;
}

export function skipBlanks(cursor: Cursor): void {
  const { text } = cursor;
  for (;;) {
    const character = text[cursor.at];
    if (character === ' ' || character === '\t' || character === '\r') cursor.at++;
    else if (character === '\\' && text[cursor.at + 1] === '\n') cursor.at += 2;
    else if (character === '#') while (cursor.at < text.length && text[cursor.at] !== '\n') cursor.at++;
    else return;
  }
}

export function takeOperator(cursor: Cursor, operator: string): boolean {
  skipBlanks(cursor);
  if (!cursor.text.startsWith(operator, cursor.at)) return false;
  cursor.at += operator.length;
  return true;
}

export function takeName(cursor: Cursor): string | undefined {
  namePattern.lastIndex = cursor.at;
  const name = namePattern.exec(cursor.text)?.[0];
  if (name !== undefined) cursor.at += name.length;
  return name;
}
