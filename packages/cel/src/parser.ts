/**
 * Parser of expressions.
 *
 * A recursive descent parser with the error messages of the ANTLR parser in other implementations: an unexpected token
 * is skipped if the next one fits (`extraneous input`), a missing token is assumed (`missing`), and anything else ends
 * parsing (`mismatched input`).
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
import { Abort, operandStart, startsOperand, TokenCursor } from './token-cursor.ts';
import { EvaluationError, type Value } from './values.ts';

/** Syntax options of an environment. */
export type Syntax = {
  readonly macros: Macros;
  /** `a.?b`, `a[?b]`, `[?a]`, `{?k: v}`. */
  readonly optionals: boolean;
  /** Fields in backquotes: a.`b-c`. */
  readonly quotedFields: boolean;
};

const maxCodePoints = 100_000;
const maxDepth = 250;

/** Parses an expression; returns undefined if there are errors, which are in `issues`. */
export function parse(text: string, syntax: Syntax, issues: Issues): Expression | undefined {
  // Only a text with more UTF-16 units than the limit can have more characters.
  const size = text.length > maxCodePoints ? [...text].length : 0;
  if (size > maxCodePoints) {
    issues.report(-1, `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}`);
    return undefined;
  }
  const parser = new Parser(new TokenCursor(text, tokenize(text, issues), issues), syntax, issues);
  const expression = parser.parse();
  return issues.isEmpty ? expression : undefined;
}

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

// Tokens that may follow an opening bracket, including the closing one.
const indexStart: readonly TokenKind[] = [...operandStart, '?'];
const argumentStart: readonly TokenKind[] = [...operandStart, ')'];
const elementStart: readonly TokenKind[] = [...operandStart, ']', ',', '?'];
const entryStart: readonly TokenKind[] = [...operandStart, '}', ',', '?'];
const fieldStart: readonly TokenKind[] = ['}', ',', '?', 'identifier', 'escaped identifier'];

class Parser {
  readonly #tokens: TokenCursor;
  readonly #syntax: Syntax;
  readonly #issues: Issues;
  readonly #ruleDepth: Record<Rule, number> = { expression: 0, relation: 0, calculation: 0, member: 0 };
  /** Height of the last returned tree, in operators. */
  #height = 0;

  constructor(tokens: TokenCursor, syntax: Syntax, issues: Issues) {
    this.#tokens = tokens;
    this.#syntax = syntax;
    this.#issues = issues;
  }

  parse(): Expression | undefined {
    try {
      const expression = this.#expression();
      this.#tokens.expect('end');
      return expression;
    } catch (error) {
      if (error instanceof Abort) return undefined;
      throw error;
    }
  }

  #expression(): Expression {
    this.#enter('expression');
    let result = this.#or();
    if (this.#tokens.at('?')) {
      const { start } = this.#tokens.take();
      const conditionHeight = this.#height;
      const whenTrue = this.#tokens.within([':'], () => this.#or());
      const trueHeight = this.#height;
      this.#tokens.expect(':');
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

  /** Parses a chain of one logical operator as a balanced tree, so that long chains stay shallow. */
  #logical(sign: '||' | '&&', name: string, operand: () => Expression): Expression {
    const first = operand();
    if (!this.#tokens.at(sign)) return first;
    let height = this.#height;
    const terms = [first];
    const offsets: number[] = [];
    while (this.#tokens.at(sign)) {
      offsets.push(this.#tokens.take().start);
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
    while (minimum <= 1 && relations.has(this.#tokens.token.kind)) {
      const height = this.#height;
      const { start, kind } = this.#tokens.take();
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
      const { start, kind } = this.#tokens.take();
      const right = this.#calculation(strength + 1);
      this.#grow(height, this.#height);
      result = operator(start, operators[kind]!, [result, right]);
    }
    this.#leave('calculation');
    return result;
  }

  #strength(): number {
    switch (this.#tokens.token.kind) {
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
    if (!this.#tokens.startsWith(operandStart)) return this.#standIn();
    const { kind, start } = this.#tokens.token;
    if (kind === '!') return this.#repeated('!', start, '!_');
    if (kind === '-' && !this.#isNumber(1)) return this.#repeated('-', start, '-_');
    return this.#member();
  }

  /** `!!a` is `a`: an even number of equal signs cancels out. */
  #repeated(sign: '!' | '-', start: number, name: string): Expression {
    let count = 0;
    while (this.#tokens.accept(sign)) count++;
    if (sign === '-' && this.#tokens.at('!')) return this.#noViableSign();
    if (!startsOperand(this.#tokens.token.kind)) {
      if (sign === '-') return this.#noViableSign();
      // Even the end of the text is an extraneous token here.
      this.#tokens.reportExtraneous(operandStart);
      if (!startsOperand(this.#tokens.kindAhead(1))) throw new Abort();
      this.#tokens.take();
    }
    const operand = this.#member();
    return count % 2 === 0 ? operand : operator(start, name, [operand]);
  }

  /** The last sign is then an operator without a left operand. */
  #noViableSign(): Expression {
    this.#tokens.reportNoViable(this.#tokens.previous);
    this.#tokens.back();
    return this.#standIn();
  }

  #member(): Expression {
    this.#enter('member');
    let result = this.#primary();
    for (;;) {
      if (this.#tokens.at('.')) result = this.#selection(result);
      else if (this.#tokens.at('[')) result = this.#index(result);
      else break;
    }
    this.#leave('member');
    return result;
  }

  #selection(operand: Expression): Expression {
    const height = this.#height;
    const dot = this.#tokens.take();
    const isOptional = this.#tokens.accept('?');
    const name = this.#tokens.token;
    if (name.kind !== 'identifier' && name.kind !== 'escaped identifier') {
      if (!isOptional) return this.#notAField(dot);
      return this.#tokens.mismatch(['identifier', 'escaped identifier']);
    }
    this.#tokens.take();
    if (!isOptional && this.#tokens.at('(') && name.kind === 'identifier') {
      const open = this.#tokens.take();
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
    const { kind, text } = this.#tokens.token;
    if (kind === 'true' || kind === 'false' || kind === 'null') {
      this.#tokens.fail(`mismatched input '${text}' expecting IDENTIFIER`);
    }
    this.#tokens.reportNoViable(dot);
    this.#tokens.resume();
    return this.#standIn();
  }

  #fieldName(name: Token, blame: number): string {
    if (name.kind === 'identifier') return name.text;
    if (!this.#syntax.quotedFields) this.#fault(blame, "unsupported syntax: '`'");
    return name.text.slice(1, -1);
  }

  #index(operand: Expression): Expression {
    const height = this.#height;
    const { start } = this.#tokens.take();
    const isOptional = this.#tokens.accept('?');
    if (!isOptional) this.#tokens.startsWith(indexStart);
    const index = this.#tokens.within([']'], () => this.#expression());
    this.#tokens.expect(']');
    this.#grow(height, this.#height);
    if (isOptional && !this.#syntax.optionals) return this.#fault(start, "unsupported syntax '[?'");
    return operator(start, isOptional ? '_[?_]' : '_[_]', [operand, index]);
  }

  #arguments(): Expression[] {
    const args: Expression[] = [];
    this.#tokens.startsWith(argumentStart);
    let height = 0;
    if (!this.#tokens.at(')')) {
      do {
        args.push(this.#tokens.within([',', ')'], () => this.#expression()));
        height = Math.max(height, this.#height);
      } while (this.#tokens.accept(','));
    }
    this.#tokens.expect(')');
    this.#height = height;
    return args;
  }

  #primary(): Expression {
    const token = this.#tokens.token;
    this.#height = 0;
    switch (token.kind) {
      case '(': {
        this.#tokens.take();
        const inner = this.#tokens.within([')'], () => this.#expression());
        this.#tokens.expect(')');
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
        this.#tokens.take();
        if (!this.#isNumber(0)) return this.#noViableSign();
        return this.#number(token.start, this.#tokens.take(), true);
      }
      case 'int':
      case 'uint':
      case 'double':
        this.#tokens.take();
        return this.#number(token.start, token, false);
      case 'string':
        this.#tokens.take();
        return this.#literal(token.start, parseStringLiteral(token.text));
      case 'bytes':
        this.#tokens.take();
        return this.#literal(token.start, parseBytesLiteral(token.text));
      case 'true':
      case 'false':
        this.#tokens.take();
        return this.#literal(token.start, token.kind === 'true');
      case 'null':
        this.#tokens.take();
        return this.#literal(token.start, null);
      default:
        return this.#tokens.mismatch(operandStart);
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
    const kind = this.#tokens.kindAhead(ahead);
    return kind === 'int' || kind === 'double';
  }

  #name(): Expression {
    const first = this.#tokens.token;
    const isRooted = this.#tokens.accept('.');
    const token = this.#tokens.token;
    if (token.kind !== 'identifier') return this.#notAField(first);
    this.#tokens.take();
    const prefix = isRooted ? '.' : '';
    if (this.#tokens.at('(')) {
      const open = this.#tokens.take();
      if (isReservedWord(token.text)) return this.#fault(first.start, `reserved identifier: ${token.text}`);
      return this.#call(open.start, prefix + token.text, undefined, this.#arguments());
    }
    const dots = this.#dotsBeforeBraces();
    if (dots !== undefined) {
      const names = [token.text];
      for (let count = 0; count < dots; count++) {
        this.#tokens.take();
        names.push(this.#tokens.take().text);
      }
      return this.#object(prefix + names.join('.'));
    }
    if (isReservedWord(token.text)) return this.#fault(first.start, `reserved identifier: ${token.text}`);
    return { kind: 'identifier', offset: token.start, name: prefix + token.text };
  }

  /** Returns the number of dots before the brace in `a.b.C{`, if the text continues like this. */
  #dotsBeforeBraces(): number | undefined {
    let ahead = 0;
    while (this.#tokens.kindAhead(ahead) === '.' && this.#tokens.kindAhead(ahead + 1) === 'identifier') ahead += 2;
    return this.#tokens.kindAhead(ahead) === '{' ? ahead / 2 : undefined;
  }

  #object(typeName: string): Expression {
    const { start } = this.#tokens.take();
    const fields: FieldInitializer[] = [];
    let height = 0;
    this.#tokens.startsWith(fieldStart);
    while (!this.#tokens.at('}') && !(this.#tokens.at(',') && fields.length === 0)) {
      const first = this.#tokens.token.start;
      const isOptional = this.#tokens.accept('?');
      if (isOptional && !this.#syntax.optionals) this.#fault(first, "unsupported syntax '?'");
      const name = this.#tokens.token;
      if (name.kind !== 'identifier' && name.kind !== 'escaped identifier') {
        this.#tokens.mismatch(fieldStart);
      }
      this.#tokens.take();
      const field = this.#fieldName(name, start);
      const colon = this.#tokens.expect(':');
      const value = this.#tokens.within([',', '}'], () => this.#expression());
      height = Math.max(height, this.#height);
      fields.push({ offset: colon.start, name: field, value, isOptional });
      if (!this.#separator('}')) break;
    }
    this.#tokens.accept(',');
    this.#tokens.expect('}');
    this.#height = height;
    return { kind: 'object', offset: start, typeName, fields };
  }

  #list(): Expression {
    const { start } = this.#tokens.take();
    const elements: Expression[] = [];
    const optional = new Set<number>();
    let height = 0;
    this.#tokens.startsWith(elementStart);
    while (!this.#tokens.at(']') && !(this.#tokens.at(',') && elements.length === 0)) {
      const mark = this.#tokens.token;
      if (this.#tokens.accept('?')) {
        if (this.#syntax.optionals) optional.add(elements.length);
        else this.#fault(mark.start, "unsupported syntax '?'");
      }
      elements.push(this.#tokens.within([',', ']'], () => this.#expression()));
      height = Math.max(height, this.#height);
      if (!this.#separator(']')) break;
    }
    this.#tokens.accept(',');
    this.#tokens.expect(']');
    this.#height = height;
    return { kind: 'list', offset: start, elements, optional };
  }

  #map(): Expression {
    const { start } = this.#tokens.take();
    const entries: MapEntry[] = [];
    let height = 0;
    this.#tokens.startsWith(entryStart);
    while (!this.#tokens.at('}') && !(this.#tokens.at(',') && entries.length === 0)) {
      const mark = this.#tokens.token;
      const isOptional = this.#tokens.accept('?');
      if (isOptional && !this.#syntax.optionals) this.#fault(mark.start, "unsupported syntax '?'");
      const key = this.#tokens.within([':'], () => this.#expression());
      height = Math.max(height, this.#height);
      const colon = this.#tokens.expect(':');
      const value = this.#tokens.within([',', '}'], () => this.#expression());
      height = Math.max(height, this.#height);
      entries.push({ offset: colon.start, key, value, isOptional });
      if (!this.#separator('}')) break;
    }
    this.#tokens.accept(',');
    this.#tokens.expect('}');
    this.#height = height;
    return { kind: 'map', offset: start, entries };
  }

  /** Skips the comma between elements; returns false at the end of the elements, with or without a trailing comma. */
  #separator(close: ']' | '}'): boolean {
    if (this.#tokens.at(',')) {
      const after = this.#tokens.kindAhead(1);
      if (!startsOperand(after) && after !== '?' && after !== 'escaped identifier') return false;
      this.#tokens.take();
      return true;
    }
    if (this.#tokens.at(close)) return false;
    const wanted: TokenKind[] = [close, ','];
    if (!wanted.includes(this.#tokens.kindAhead(1))) {
      this.#tokens.mismatch(wanted);
    }
    this.#tokens.pass(wanted);
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

  /** Reports an error that does not end parsing; returns a placeholder. */
  #fault(offset: number, message: string): Expression {
    this.#issues.report(offset, message);
    return { kind: 'literal', offset, value: null };
  }

  #standIn(): Expression {
    return { kind: 'literal', offset: this.#tokens.token.start, value: null };
  }

  #enter(rule: Rule): void {
    if (++this.#ruleDepth[rule] > maxDepth) this.#tooDeep(`expression recursion limit exceeded: ${maxDepth}`);
  }

  #leave(rule: Rule): void {
    this.#ruleDepth[rule]--;
  }

  /** The new tree is one operator higher than its parts. */
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
