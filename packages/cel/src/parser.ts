/**
 * Parses the text of an expression.
 *
 * A recursive descent that fails with the words of the ANTLR parser the other implementations use: an unexpected token
 * is passed over when the one after it fits (`extraneous input`), a token that is plainly lacking is taken as read
 * (`missing`), and anything else ends the parse (`mismatched input`).
 */
import type { Expression, FieldInitializer, MapEntry } from './ast.ts';
import { isReservedWord } from './escaping.ts';
import { type Token, type TokenKind, tokenize } from './lexer.ts';
import {
  parseBytesLiteral,
  parseDoubleLiteral,
  parseIntLiteral,
  parseStringLiteral,
  parseUintLiteral,
} from './literals.ts';
import { isFault, type Macros, macroKey } from './macros.ts';
import type { Issues } from './source.ts';
import { EvaluationError, type Value } from './values.ts';

/** What the language of an environment includes. */
export type Syntax = {
  readonly macros: Macros;
  /** `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`. */
  readonly optionals: boolean;
  /** Fields in backquotes: a.`b-c`. */
  readonly quotedFields: boolean;
};

const maxCodePoints = 100_000;
const maxDepth = 250;

/** Parses an expression; undefined when there were faults, which are then in `issues`. */
export function parse(text: string, syntax: Syntax, issues: Issues): Expression | undefined {
  // Only a text with more units than the limit can have more characters than it.
  const size = text.length > maxCodePoints ? [...text].length : 0;
  if (size > maxCodePoints) {
    issues.report(-1, `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}`);
    return undefined;
  }
  const parser = new Parser(text, tokenize(text, issues), syntax, issues);
  const expression = parser.parse();
  return issues.isEmpty ? expression : undefined;
}

/** Ends the parse; the fault has been reported. */
class Abort extends Error {}

type Rule = 'expression' | 'relation' | 'calculation' | 'member';

const relations: ReadonlySet<TokenKind> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const operators: Partial<Record<TokenKind, string>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>=': '_>=_',
  '>': '_>_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
  '*': '_*_',
  '/': '_/_',
  '%': '_%_',
  '+': '_+_',
  '-': '_-_',
};

const operandStart: readonly TokenKind[] = [
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
const continuations: ReadonlySet<TokenKind> = new Set([
  ...relations,
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

class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #syntax: Syntax;
  readonly #issues: Issues;
  #position = 0;
  readonly #ruleDepth: Record<Rule, number> = { expression: 0, relation: 0, calculation: 0, member: 0 };
  /** How many operators deep the tree just returned is. */
  #height = 0;
  /** What may end the expression being parsed, innermost last. */
  readonly #closers: (readonly TokenKind[])[] = [['end']];

  constructor(text: string, tokens: readonly Token[], syntax: Syntax, issues: Issues) {
    this.#text = text;
    this.#tokens = tokens;
    this.#syntax = syntax;
    this.#issues = issues;
  }

  parse(): Expression | undefined {
    try {
      const expression = this.#expression();
      this.#expect('end');
      return expression;
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  #expression(): Expression {
    this.#enter('expression');
    let result = this.#or();
    if (this.#at('?')) {
      const { start } = this.#take();
      const conditionHeight = this.#height;
      const whenTrue = this.#within([':'], () => this.#or());
      const trueHeight = this.#height;
      this.#expect(':');
      const whenFalse = this.#expression();
      this.#grow(conditionHeight, trueHeight, this.#height);
      result = operator(start, '_?_:_', [result, whenTrue, whenFalse]);
    }
    this.#leave('expression');
    return result;
  }

  #or(): Expression {
    return this.#logical('||', '_||_', () => this.#and());
  }

  #and(): Expression {
    return this.#logical('&&', '_&&_', () => this.#relation());
  }

  /** A chain of one logical operator, as a balanced tree so that long chains stay shallow. */
  #logical(sign: '||' | '&&', name: string, operand: () => Expression): Expression {
    const first = operand();
    if (!this.#at(sign)) return first;
    let height = this.#height;
    const terms = [first];
    const offsets: number[] = [];
    while (this.#at(sign)) {
      offsets.push(this.#take().start);
      terms.push(operand());
      height = Math.max(height, this.#height);
    }
    this.#height = height;
    const balanced = (low: number, high: number): Expression => {
      const middle = (low + high + 1) >> 1;
      const left = middle === low ? terms[middle]! : balanced(low, middle - 1);
      const right = middle === high ? terms[middle + 1]! : balanced(middle + 1, high);
      return operator(offsets[middle]!, name, [left, right]);
    };
    return balanced(0, offsets.length - 1);
  }

  #relation(minimum = 1): Expression {
    this.#enter('relation');
    let result = this.#calculation();
    while (minimum <= 1 && relations.has(this.#token.kind)) {
      const height = this.#height;
      const { start, kind } = this.#take();
      const right = this.#relation(2);
      this.#grow(height, this.#height);
      result = operator(start, operators[kind]!, [result, right]);
    }
    this.#leave('relation');
    return result;
  }

  #calculation(minimum = 1): Expression {
    this.#enter('calculation');
    let result = this.#unary();
    for (let strength = this.#strength(); strength >= minimum; strength = this.#strength()) {
      const height = this.#height;
      const { start, kind } = this.#take();
      const right = this.#calculation(strength + 1);
      this.#grow(height, this.#height);
      result = operator(start, operators[kind]!, [result, right]);
    }
    this.#leave('calculation');
    return result;
  }

  #strength(): number {
    switch (this.#token.kind) {
      case '*':
      case '/':
      case '%':
        return 2;
      case '+':
      case '-':
        return 1;
      default:
        return 0;
    }
  }

  #unary(): Expression {
    if (!this.#startsWith(operandStart)) return this.#standIn();
    const { kind, start } = this.#token;
    if (kind === '!') return this.#repeated('!', start, '!_');
    if (kind === '-' && !this.#isNumber(1)) return this.#repeated('-', start, '-_');
    return this.#member();
  }

  /** `!!a` is `a`: an even number of the same sign cancels out. */
  #repeated(sign: '!' | '-', start: number, name: string): Expression {
    let count = 0;
    for (; this.#at(sign); this.#position++) count++;
    if (!this.#startsOperand(this.#token.kind)) {
      if (sign === '-') return this.#noViableSign();
      // Even the end of the text counts as one token too many here.
      this.#report(`extraneous input ${this.#shown()} expecting ${expecting(operandStart)}`);
      if (!this.#startsOperand(this.#kindAhead(1))) throw new Abort();
      this.#position++;
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : operator(start, name, [operand]);
  }

  /** The last sign is then taken for an operator whose left side is lacking. */
  #noViableSign(): Expression {
    const sign = this.#tokens[this.#position - 1]!;
    this.#report(`no viable alternative at input '${this.#textFrom(sign)}'`);
    this.#position--;
    return this.#standIn();
  }

  /** The text from a token to the current one. */
  #textFrom({ start }: Token): string {
    const { kind, text, start: end } = this.#token;
    return escapeWhitespace(this.#text.slice(start, kind === 'end' ? undefined : end + text.length));
  }

  #member(): Expression {
    this.#enter('member');
    let result = this.#primary();
    for (;;) {
      if (this.#at('.')) result = this.#selection(result);
      else if (this.#at('[')) result = this.#index(result);
      else break;
    }
    this.#leave('member');
    return result;
  }

  #selection(operand: Expression): Expression {
    const height = this.#height;
    const dot = this.#take();
    const isOptional = this.#at('?');
    if (isOptional) this.#position++;
    const name = this.#token;
    if (name.kind !== 'identifier' && name.kind !== 'escaped identifier') {
      if (!isOptional) return this.#notAField(dot);
      return this.#fail(
        `mismatched input ${this.#shown()} expecting ${expecting(['identifier', 'escaped identifier'])}`,
      );
    }
    this.#position++;
    if (!isOptional && this.#at('(') && name.kind === 'identifier') {
      const open = this.#take();
      this.#height = 0;
      const args = this.#arguments();
      this.#grow(height, this.#height);
      return this.#call(open.start, name.text, operand, args);
    }
    this.#grow(height);
    const field = this.#fieldName(name, name.start);
    if (!isOptional) return { kind: 'select', offset: dot.start, operand, field, isPresenceTest: false };
    if (!this.#syntax.optionals) return this.#fault(dot.start, "unsupported syntax '.?'");
    const literal = this.#literal(name.start, field);
    return operator(dot.start, '_?._', [operand, literal]);
  }

  #notAField(dot: Token): Expression {
    const { kind, text } = this.#token;
    if (kind === 'true' || kind === 'false' || kind === 'null') {
      this.#fail(`mismatched input '${text}' expecting IDENTIFIER`);
    }
    this.#report(`no viable alternative at input '${this.#textFrom(dot)}'`);
    return this.#resume();
  }

  #fieldName(name: Token, blame: number): string {
    if (name.kind === 'identifier') return name.text;
    if (!this.#syntax.quotedFields) this.#fault(blame, "unsupported syntax: '`'");
    return name.text.slice(1, -1);
  }

  #index(operand: Expression): Expression {
    const height = this.#height;
    const { start } = this.#take();
    const isOptional = this.#at('?');
    if (isOptional) this.#position++;
    else this.#startsWith([...operandStart, '?']);
    const index = this.#within([']'], () => this.#expression());
    this.#expect(']');
    this.#grow(height, this.#height);
    if (isOptional && !this.#syntax.optionals) return this.#fault(start, "unsupported syntax '[?'");
    return operator(start, isOptional ? '_[?_]' : '_[_]', [operand, index]);
  }

  #arguments(): Expression[] {
    const args: Expression[] = [];
    this.#startsWith([...operandStart, ')']);
    let height = 0;
    if (!this.#at(')')) {
      do {
        args.push(this.#within([',', ')'], () => this.#expression()));
        height = Math.max(height, this.#height);
      } while (this.#accept(','));
    }
    this.#expect(')');
    this.#height = height;
    return args;
  }

  #primary(): Expression {
    const token = this.#token;
    this.#height = 0;
    switch (token.kind) {
      case '(': {
        this.#position++;
        const inner = this.#within([')'], () => this.#expression());
        this.#expect(')');
        return inner;
      }
      case '[':
        return this.#list();
      case '{':
        return this.#map();
      case '.':
      case 'identifier':
        return this.#name();
      case '-': {
        this.#position++;
        const number = this.#take();
        return this.#number(token.start, number, true);
      }
      case 'int':
      case 'uint':
      case 'double':
        this.#position++;
        return this.#number(token.start, token, false);
      case 'string':
        this.#position++;
        return this.#literal(token.start, parseStringLiteral(token.text));
      case 'bytes':
        this.#position++;
        return this.#literal(token.start, parseBytesLiteral(token.text));
      case 'true':
      case 'false':
        this.#position++;
        return this.#literal(token.start, token.kind === 'true');
      case 'null':
        this.#position++;
        return this.#literal(token.start, null);
      default:
        return this.#fail(`mismatched input ${this.#shown()} expecting ${expecting(operandStart)}`);
    }
  }

  #number(offset: number, token: Token, isNegative: boolean): Expression {
    switch (token.kind) {
      case 'int':
        return this.#literal(
          offset,
          parseIntLiteral(token.text, isNegative) ?? new EvaluationError('invalid int literal'),
        );
      case 'uint':
        return this.#literal(offset, parseUintLiteral(token.text) ?? new EvaluationError('invalid uint literal'));
      default:
        return this.#literal(
          offset,
          parseDoubleLiteral(token.text, isNegative) ?? new EvaluationError('invalid double literal'),
        );
    }
  }

  #isNumber(ahead: number): boolean {
    const kind = this.#tokens[this.#position + ahead]?.kind;
    return kind === 'int' || kind === 'double';
  }

  #name(): Expression {
    const first = this.#token;
    const isRooted = this.#accept('.');
    const token = this.#token;
    if (token.kind !== 'identifier') return this.#notAField(first);
    this.#position++;
    const prefix = isRooted ? '.' : '';
    if (this.#at('(')) {
      const open = this.#take();
      if (isReservedWord(token.text)) return this.#fault(first.start, `reserved identifier: ${token.text}`);
      return this.#call(open.start, prefix + token.text, undefined, this.#arguments());
    }
    const braces = this.#bracesAfterName();
    if (braces !== undefined) {
      const names = [token.text];
      while (this.#position < braces) {
        this.#position++;
        names.push(this.#take().text);
      }
      return this.#object(prefix + names.join('.'));
    }
    if (isReservedWord(token.text)) return this.#fault(first.start, `reserved identifier: ${token.text}`);
    return { kind: 'identifier', offset: token.start, name: prefix + token.text };
  }

  /** The position of the brace in `a.b.C{`, if that is what comes. */
  #bracesAfterName(): number | undefined {
    let position = this.#position;
    while (this.#tokens[position]?.kind === '.' && this.#tokens[position + 1]?.kind === 'identifier') position += 2;
    return this.#tokens[position]?.kind === '{' ? position : undefined;
  }

  #object(typeName: string): Expression {
    const { start } = this.#take();
    const fields: FieldInitializer[] = [];
    let height = 0;
    this.#startsWith(['}', ',', '?', 'identifier', 'escaped identifier']);
    while (!this.#at('}') && !(this.#at(',') && fields.length === 0)) {
      const first = this.#token.start;
      const isOptional = this.#accept('?');
      if (isOptional && !this.#syntax.optionals) this.#fault(first, "unsupported syntax '?'");
      const name = this.#token;
      if (name.kind !== 'identifier' && name.kind !== 'escaped identifier') {
        this.#fail(
          `mismatched input ${this.#shown()} expecting ${expecting(['}', ',', '?', 'identifier', 'escaped identifier'])}`,
        );
      }
      this.#position++;
      const field = this.#fieldName(name, start);
      const colon = this.#expect(':');
      const value = this.#within([',', '}'], () => this.#expression());
      height = Math.max(height, this.#height);
      fields.push({ offset: colon.start, name: field, value, isOptional });
      if (!this.#separator('}')) break;
    }
    this.#accept(',');
    this.#expect('}');
    this.#height = height;
    return { kind: 'object', offset: start, typeName, fields };
  }

  #list(): Expression {
    const { start } = this.#take();
    const elements: Expression[] = [];
    const optional = new Set<number>();
    let height = 0;
    this.#startsWith([...operandStart, ']', ',', '?']);
    while (!this.#at(']') && !(this.#at(',') && elements.length === 0)) {
      const mark = this.#token;
      if (this.#accept('?')) {
        if (this.#syntax.optionals) optional.add(elements.length);
        else this.#fault(mark.start, "unsupported syntax '?'");
      }
      elements.push(this.#within([',', ']'], () => this.#expression()));
      height = Math.max(height, this.#height);
      if (!this.#separator(']')) break;
    }
    this.#accept(',');
    this.#expect(']');
    this.#height = height;
    return { kind: 'list', offset: start, elements, optional };
  }

  #map(): Expression {
    const { start } = this.#take();
    const entries: MapEntry[] = [];
    let height = 0;
    this.#startsWith([...operandStart, '}', ',', '?']);
    while (!this.#at('}') && !(this.#at(',') && entries.length === 0)) {
      const mark = this.#token;
      const isOptional = this.#accept('?');
      if (isOptional && !this.#syntax.optionals) this.#fault(mark.start, "unsupported syntax '?'");
      const key = this.#within([':'], () => this.#expression());
      height = Math.max(height, this.#height);
      const colon = this.#expect(':');
      const value = this.#within([',', '}'], () => this.#expression());
      height = Math.max(height, this.#height);
      entries.push({ offset: colon.start, key, value, isOptional });
      if (!this.#separator('}')) break;
    }
    this.#accept(',');
    this.#expect('}');
    this.#height = height;
    return { kind: 'map', offset: start, entries };
  }

  /** Passes the comma between elements; false when the elements end here, with a last comma or without. */
  #separator(close: ']' | '}'): boolean {
    if (this.#at(',')) {
      const after = this.#kindAhead(1);
      if (!this.#startsOperand(after) && after !== '?' && after !== 'escaped identifier') return false;
      this.#position++;
      return true;
    }
    if (this.#at(close)) return false;
    const wanted: TokenKind[] = [close, ','];
    if (!wanted.includes(this.#kindAhead(1))) {
      this.#fail(`mismatched input ${this.#shown()} expecting ${expecting(wanted)}`);
    }
    this.#pass(wanted);
    return this.#separator(close);
  }

  #call(offset: number, name: string, target: Expression | undefined, args: readonly Expression[]): Expression {
    const isMember = target !== undefined;
    const { macros } = this.#syntax;
    const macro = macros.get(macroKey(name, args.length, isMember)) ?? macros.get(macroKey(name, '*', isMember));
    const expanded = macro?.(offset, target, args);
    if (expanded === undefined) return { kind: 'call', offset, function: name, target, args };
    return isFault(expanded) ? this.#fault(expanded.offset, expanded.fault) : expanded;
  }

  #literal(offset: number, value: Value): Expression {
    if (value instanceof EvaluationError) return this.#fault(offset, value.message);
    return { kind: 'literal', offset, value };
  }

  /** Reports a fault that does not stop the parse; what it returns only stands in. */
  #fault(offset: number, message: string): Expression {
    this.#issues.report(offset, message);
    return { kind: 'literal', offset, value: null };
  }

  get #token(): Token {
    return this.#tokens[this.#position]!;
  }

  #kindAhead(count: number): TokenKind {
    return this.#tokens[this.#position + count]?.kind ?? 'end';
  }

  #at(kind: TokenKind): boolean {
    return this.#token.kind === kind;
  }

  #take(): Token {
    return this.#tokens[this.#position++]!;
  }

  #accept(kind: TokenKind): boolean {
    if (!this.#at(kind)) return false;
    this.#position++;
    return true;
  }

  #expect(kind: TokenKind): Token {
    if (this.#at(kind)) return kind === 'end' ? this.#token : this.#take();
    if (this.#kindAhead(1) === kind && !this.#at('end')) {
      this.#pass([kind]);
      return this.#expect(kind);
    }
    const token = this.#token;
    if (this.#mayFollow(kind, token.kind)) {
      this.#report(`missing ${expecting([kind])} at ${this.#shown()}`);
      return token;
    }
    return this.#fail(`mismatched input ${this.#shown()} expecting ${expecting([kind])}`);
  }

  #mayFollow(kind: TokenKind, next: TokenKind): boolean {
    if (kind === ':') return this.#startsOperand(next);
    if (kind === 'end') return false;
    return continuations.has(next) || this.#closers.at(-1)!.includes(next);
  }

  /**
   * Sees to it that one of `wanted` starts here, passing over one token if that helps. False when something else does
   * that could follow an operand: then the operand is taken to be lacking.
   */
  #startsWith(wanted: readonly TokenKind[]): boolean {
    if (wanted.includes(this.#token.kind)) return true;
    if (wanted.includes(this.#kindAhead(1)) && !this.#at('end')) {
      this.#pass(wanted);
      return true;
    }
    this.#report(`mismatched input ${this.#shown()} expecting ${expecting(wanted)}`);
    this.#resume();
    return false;
  }

  /** Goes on after a fault if an operator comes next, else gives up. */
  #resume(): Expression {
    if (!continuations.has(this.#token.kind)) throw new Abort();
    return this.#standIn();
  }

  #standIn(): Expression {
    return { kind: 'literal', offset: this.#token.start, value: null };
  }

  #startsOperand(kind: TokenKind): boolean {
    return operandStart.includes(kind);
  }

  #pass(wanted: readonly TokenKind[]): void {
    this.#report(`extraneous input ${this.#shown()} expecting ${expecting(wanted)}`);
    this.#position++;
  }

  #within<Result>(closers: readonly TokenKind[], parse: () => Result): Result {
    this.#closers.push(closers);
    const result = parse();
    this.#closers.pop();
    return result;
  }

  #shown(): string {
    return `'${escapeWhitespace(this.#token.text)}'`;
  }

  #report(message: string): void {
    this.#issues.report(this.#token.start, `Syntax error: ${message}`);
  }

  #fail(message: string): never {
    this.#report(message);
    throw new Abort();
  }

  #enter(rule: Rule): void {
    if (++this.#ruleDepth[rule] > maxDepth) this.#tooDeep(`expression recursion limit exceeded: ${maxDepth}`);
  }

  #leave(rule: Rule): void {
    this.#ruleDepth[rule]--;
  }

  /** The tree just made is one operator higher than its parts. */
  #grow(...heights: number[]): void {
    this.#height = Math.max(...heights) + 1;
    if (this.#height > maxDepth) this.#tooDeep('max recursion depth exceeded');
  }

  #tooDeep(message: string): never {
    this.#issues.report(-1, message);
    throw new Abort();
  }
}

const operator = (offset: number, name: string, args: readonly Expression[]): Expression => ({
  kind: 'call',
  offset,
  function: name,
  target: undefined,
  args,
});

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

function expecting(kinds: readonly TokenKind[]): string {
  const names = tokenOrder.flatMap(([kind, name]) => (kinds.includes(kind) ? [name ?? `'${kind}'`] : []));
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}
