/**
 * A place in a sequence of tokens, and what to do where the token is not the one wanted: pass over it if the next one
 * fits (`extraneous input`), take the wanted one as read if what is there could follow it (`missing`), or give up
 * (`mismatched input`). The words are those of the ANTLR parser the other implementations use.
 */
import type { Token, TokenKind } from './lexer.ts';
import type { Issues } from './source.ts';

/** Ends the parse; the fault has been reported. */
export class Abort extends Error {}

/** What an operand can start with. */
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

/** What can follow an operand. */
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

/** Whether an operand can start with a token of this sort. */
export const startsOperand = (kind: TokenKind): boolean => operandStart.includes(kind);

/** Where a parser is. */
export class TokenCursor {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #issues: Issues;
  /** What may end the expression being parsed, innermost last. */
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

  /** Goes one token back. */
  back(): void {
    this.#position--;
  }

  /** The sort of the token so many after this one. */
  kindAhead(count: number): TokenKind {
    return this.#tokens[this.#position + count]?.kind ?? 'end';
  }

  /** Whether the current token is of a sort. */
  at(kind: TokenKind): boolean {
    return this.token.kind === kind;
  }

  /** This token; the next one is then current. */
  take(): Token {
    return this.#tokens[this.#position++]!;
  }

  /** Passes the token if it is of a sort. */
  accept(kind: TokenKind): boolean {
    if (!this.at(kind)) return false;
    this.#position++;
    return true;
  }

  /** Passes a token that has to be there. */
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
   * Sees to it that one of `wanted` starts here, passing over one token if that helps. False when something else does
   * that could follow an operand: then the operand is taken to be lacking.
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

  /** Goes on after a fault if an operator comes next, else gives up. */
  resume(): void {
    if (!continuations.has(this.token.kind)) throw new Abort();
  }

  /** Passes over a token that is one too many. */
  pass(wanted: readonly TokenKind[]): void {
    this.reportExtraneous(wanted);
    this.#position++;
  }

  reportExtraneous(wanted: readonly TokenKind[]): void {
    this.#report(`extraneous input ${this.#shown()} expecting ${expecting(wanted)}`);
  }

  /** Gives up: there is another token than one of those wanted. */
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

  /** Reports a fault and ends the parse. */
  fail(message: string): never {
    this.#report(message);
    throw new Abort();
  }

  /** Reports that nothing could be made of the text from a token to the current one. */
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

// The order in which ANTLR lists tokens, and its names for those that are not their own text.
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

/** A set of tokens as ANTLR lists it. */
function expecting(kinds: readonly TokenKind[]): string {
  const names = tokenOrder.flatMap(([kind, name]) => (kinds.includes(kind) ? [name ?? `'${kind}'`] : []));
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}
