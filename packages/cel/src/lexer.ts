/** Lexer: splits the text of an expression into tokens. */
import type { Issues } from './source.ts';

/** Kind of a token: for punctuation and keywords, their own text. */
export type TokenKind =
  | 'identifier'
  | 'escaped identifier'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'end'
  | Punctuation
  | Keyword;

type Keyword = 'in' | 'true' | 'false' | 'null';
type Punctuation =
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '&&'
  | '||'
  | '['
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | '.'
  | ','
  | '-'
  | '!'
  | '?'
  | ':'
  | '+'
  | '*'
  | '/'
  | '%';

/** A token with its position in the text. */
export type Token = { readonly kind: TokenKind; readonly text: string; readonly start: number };

const keywords: ReadonlySet<string> = new Set<Keyword>(['in', 'true', 'false', 'null']);

const skipped = /(?:[\t \r\n\f]|\/\/[^\n]*(?:\n|$))+/y;
const word = /[A-Za-z_][A-Za-z0-9_]*/y;
const escapedWord = /`[A-Za-z0-9_.\-/ ]+`/y;
const number =
  /0x[0-9a-fA-F]+[uU]?|[0-9]+[uU]|(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+/y;
const punctuation = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const stringStart = /[bB]?[rR]?(?="|')/y;

const escapeSequence = String.raw`\\(?:[abfnrtv"'\\?\x60]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})`;
const plainStrings: Readonly<Record<string, RegExp>> = {
  '"': new RegExp(String.raw`"(?:${escapeSequence}|[^\\"\n\r])*"`, 'y'),
  "'": new RegExp(String.raw`'(?:${escapeSequence}|[^\\'\n\r])*'`, 'y'),
  '"""': new RegExp(String.raw`"""(?:${escapeSequence}|[^\\])*?"""`, 'y'),
  "'''": new RegExp(String.raw`'''(?:${escapeSequence}|[^\\])*?'''`, 'y'),
};
const rawStrings: Readonly<Record<string, RegExp>> = {
  '"': /"[^"\n\r]*"/y,
  "'": /'[^'\n\r]*'/y,
  '"""': /"""[\s\S]*?"""/y,
  "'''": /'''[\s\S]*?'''/y,
};

/** Returns the tokens of a text, followed by an `end` token. Unrecognized characters are reported and skipped. */
export function tokenize(text: string, issues: Issues): Token[] {
  const tokens: Token[] = [];
  let position = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    return pattern.exec(text)?.[0];
  };

  while (position < text.length) {
    const gap = match(skipped);
    if (gap !== undefined) {
      position += gap.length;
      continue;
    }
    const token = next(match, text, position);
    if (token) {
      tokens.push(token);
      position += token.text.length;
    } else {
      position = reportUnrecognized(text, position, issues);
    }
  }
  tokens.push({ kind: 'end', text: '<EOF>', start: text.length });
  return tokens;
}

function next(match: (pattern: RegExp) => string | undefined, text: string, start: number): Token | undefined {
  const prefix = match(stringStart);
  if (prefix !== undefined) {
    const found = matchString(text, start, prefix);
    if (found !== undefined) return { kind: /^b/i.test(prefix) ? 'bytes' : 'string', text: found, start };
  }
  const name = match(word);
  if (name !== undefined) return { kind: keywords.has(name) ? (name as Keyword) : 'identifier', text: name, start };
  const digits = match(number);
  if (digits !== undefined) return { kind: numberKind(digits), text: digits, start };
  const quoted = match(escapedWord);
  if (quoted !== undefined) return { kind: 'escaped identifier', text: quoted, start };
  const symbol = match(punctuation);
  // The pattern matches only punctuation.
  return symbol === undefined ? undefined : { kind: symbol as Punctuation, text: symbol, start };
}

function numberKind(text: string): 'int' | 'uint' | 'double' {
  if (/[uU]$/.test(text)) return 'uint';
  return !text.startsWith('0x') && /[.eE]/.test(text) ? 'double' : 'int';
}

function matchString(text: string, start: number, prefix: string): string | undefined {
  const patterns = /[rR]/.test(prefix) ? rawStrings : plainStrings;
  const body = start + prefix.length;
  const quote = text[body]!;
  // Three unclosed quotes are an empty string followed by something else.
  for (const opening of text.startsWith(quote.repeat(3), body) ? [quote.repeat(3), quote] : [quote]) {
    const pattern = patterns[opening]!;
    pattern.lastIndex = body;
    const found = pattern.exec(text);
    if (found) return prefix + found[0];
  }
  return undefined;
}

/**
 * Reports unrecognized text, and returns where to continue: after the character at which no token could be completed.
 */
function reportUnrecognized(text: string, start: number, issues: Issues): number {
  const end = Math.min(failureIndex(text, start) + 1, text.length);
  const shown = text.slice(start, end).replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\r', '\\r');
  issues.report(start, `Syntax error: token recognition error at: '${shown}'`);
  return end;
}

function failureIndex(text: string, start: number): number {
  const first = text[start]!;
  if (first === '"' || first === "'") {
    const part = new RegExp(
      String.raw`${first}(?:${escapeSequence}|[^\\${first}\n\r])*(?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?)?`,
      'y',
    );
    part.lastIndex = start;
    return start + part.exec(text)![0].length;
  }
  if (first === '`') {
    let index = start + 1;
    while (index < text.length && /[A-Za-z0-9_.\-/ ]/.test(text[index]!)) index++;
    return index;
  }
  if (first === '&' || first === '|' || first === '=') return start + 1;
  // A character beyond the basic plane is one character of two UTF-16 units.
  return text.codePointAt(start)! > 0xffff ? start + 1 : start;
}
