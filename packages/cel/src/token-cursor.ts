/**
 * Cursor over tokens with error recovery: it skips an unexpected token if the next one fits (`extraneous input`),
 * assumes a missing token if the current one could follow it (`missing`), or ends parsing (`mismatched input`). The
 * messages are those of the ANTLR parser in other implementations.
 */
import type { Token, TokenKind } from './lexer.ts';
import type { Issues } from './source.ts';

/** Thrown to end parsing; the error has been reported. */
export class Abort extends Error {}

/** Tokens that can start an operand. */
export const operandStart: readonly TokenKind[] = [
  '[',
  '{',
  '(',
  '.',
  '-',
  '!',
  'true',
  'false',
  'null',
  'double',
  'int',
  'uint',
  'string',
  'bytes',
  'identifier',
];

/** Tokens that can follow an operand. */
const continuations: ReadonlySet<TokenKind> = new Set([
  '<',
  '<=',
  '>=',
  '>',
  '==',
  '!=',
  'in',
  '*',
  '/',
  '%',
  '+',
  '-',
  '&&',
  '||',
  '?',
  '.',
  '[',
] satisfies TokenKind[]);

/** Returns whether a token can start an operand. */
export const startsOperand = (kind: TokenKind): boolean => operandStart.includes(kind);

/** Position of a parser. */
export class TokenCursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #issues: Issues;
  /** Tokens that may end the current expression, innermost last. */
  readonly #closers: (readonly TokenKind[])[] = [['end']];
  #position = 0;

  constructor(text: string, tokens: readonly Token[], issues: Issues) {
    this.#text = text;
    this.#tokens = tokens;
    this.#issues = issues;
  }

  get token(): Token {
    return this.#tokens[this.#position]!;
  }

  get previous(): Token {
    return this.#tokens[this.#position - 1]!;
  }

  /** Moves back by one token. */
  back(): void {
    this.#position--;
  }

  /** Returns the kind of the token `count` positions ahead. */
  kindAhead(count: number): TokenKind {
    return this.#tokens[this.#position + count]?.kind ?? 'end';
  }

  /** Returns whether the current token has a kind. */
  at(kind: TokenKind): boolean {
    return this.token.kind === kind;
  }

  /** Returns the current token and advances. */
  take(): Token {
    return this.#tokens[this.#position++]!;
  }

  /** Skips the current token if it has a kind. */
  accept(kind: TokenKind): boolean {
    if (!this.at(kind)) return false;
    this.#position++;
    return true;
  }

  /** Requires a token of a kind and skips it. */
  expect(kind: TokenKind): Token {
    if (this.at(kind)) return kind === 'end' ? this.token : this.take();
    if (this.kindAhead(1) === kind && !this.at('end')) {
      this.pass([kind]);
      return this.expect(kind);
    }
    const token = this.token;
    if (this.#mayFollow(kind, token.kind)) {
      this.#report(`missing ${expecting([kind])} at ${this.#shown()}`);
      return token;
    }
    return this.mismatch([kind]);
  }

  #mayFollow(kind: TokenKind, next: TokenKind): boolean {
    if (kind === ':') return startsOperand(next);
    if (kind === 'end') return false;
    return continuations.has(next) || this.#closers.at(-1)!.includes(next);
  }

  /**
   * Ensures that one of `wanted` starts here, skipping one token if that helps. Returns false if a token follows that
   * could come after an operand: then the operand is missing.
   */
  startsWith(wanted: readonly TokenKind[]): boolean {
    if (wanted.includes(this.token.kind)) return true;
    if (wanted.includes(this.kindAhead(1)) && !this.at('end')) {
      this.pass(wanted);
      return true;
    }
    this.#report(`mismatched input ${this.#shown()} expecting ${expecting(wanted)}`);
    this.resume();
    return false;
  }

  /** Continues after an error if an operator follows, otherwise ends parsing. */
  resume(): void {
    if (!continuations.has(this.token.kind)) throw new Abort();
  }

  /** Skips an extraneous token. */
  pass(wanted: readonly TokenKind[]): void {
    this.reportExtraneous(wanted);
    this.#position++;
  }

  reportExtraneous(wanted: readonly TokenKind[]): void {
    this.#report(`extraneous input ${this.#shown()} expecting ${expecting(wanted)}`);
  }

  /** Ends parsing because of a mismatched token. */
  mismatch(wanted: readonly TokenKind[]): never {
    return this.fail(`mismatched input ${this.#shown()} expecting ${expecting(wanted)}`);
  }

  /** Parses something that ends with one of `closers`. */
  within<Result>(closers: readonly TokenKind[], parse: () => Result): Result {
    this.#closers.push(closers);
    const result = parse();
    this.#closers.pop();
    return result;
  }

  #shown(): string {
    return `'${escapeWhitespace(this.token.text)}'`;
  }

  #report(message: string): void {
    this.#issues.report(this.token.start, `Syntax error: ${message}`);
  }

  /** Reports an error and ends parsing. */
  fail(message: string): never {
    this.#report(message);
    throw new Abort();
  }

  /** Reports that the text from a token to the current one has no valid interpretation. */
  reportNoViable(token: Token): void {
    this.#report(`no viable alternative at input '${this.#textFrom(token)}'`);
  }

  #textFrom({ start }: Token): string {
    const { kind, text, start: end } = this.token;
    return escapeWhitespace(this.#text.slice(start, kind === 'end' ? undefined : end + text.length));
  }
}

const escapeWhitespace = (text: string): string =>
  text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t');

// Order of tokens in ANTLR's messages, and its names of tokens that differ from their text.
const tokenOrder: readonly (readonly [TokenKind, string?])[] = [
  ['['],
  [']'],
  ['{'],
  ['}'],
  ['('],
  [')'],
  ['.'],
  [','],
  ['-'],
  ['!'],
  ['?'],
  [':'],
  ['true'],
  ['false'],
  ['null'],
  ['double', 'NUM_FLOAT'],
  ['int', 'NUM_INT'],
  ['uint', 'NUM_UINT'],
  ['string', 'STRING'],
  ['bytes', 'BYTES'],
  ['identifier', 'IDENTIFIER'],
  ['escaped identifier', 'ESC_IDENTIFIER'],
  ['end', '<EOF>'],
];

/** Formats a set of tokens like ANTLR. */
function expecting(kinds: readonly TokenKind[]): string {
  const names = tokenOrder.flatMap(([kind, name]) => (kinds.includes(kind) ? [name ?? `'${kind}'`] : []));
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}
