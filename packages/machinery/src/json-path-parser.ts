/** Parser of JSONPath templates (see `json-path.ts`), as lenient as that of Kubernetes, because users rely on it. */
import { tryParseInteger } from '@kruise/values/go-integer';
import { ParseError } from '@kruise/values/parse-error';

/** A step of a path. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  /** In Go `1.0` and `1` have different types and cannot be compared. */
  | { readonly kind: 'literal'; readonly value: number | boolean; readonly type: 'int64' | 'float64' | 'bool' }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  /** `end` is an index, `next` for a single item, or `last` for the end of the list. */
  | { readonly kind: 'slice'; readonly start: number; readonly end: number | 'next' | 'last'; readonly step: number }
  | { readonly kind: 'union'; readonly alternatives: readonly Nodes[] }
  | { readonly kind: 'filter'; readonly left: Nodes; readonly operator: string; readonly right: Nodes };

/** A path: each step starts at the result of the previous one. */
export type Nodes = readonly Node[];

/** A template: texts and paths in order. */
export type Template = readonly Nodes[];

// Maximum nesting of filters, each of which takes a stack frame.
const maxDepth = 100;

/** Parses a template. Throws `ParseError` with the message of Kubernetes. */
export function parseTemplate(text: string): Template {
  return readTemplate(text, 0);
}

function readTemplate(text: string, depth: number): Template {
  if (depth > maxDepth) throw new ParseError('jsonpath is nested too deeply');
  const parts: Nodes[] = [];
  const cursor = { text, position: 0 };
  while (cursor.position < text.length) {
    const brace = text.indexOf('{', cursor.position);
    const end = brace < 0 ? text.length : brace;
    if (end > cursor.position) parts.push([{ kind: 'text', text: text.slice(cursor.position, end) }]);
    cursor.position = end + 1;
    if (brace >= 0) parts.push(readAction(cursor, depth));
  }
  return parts;
}

/** Parses the path between braces. */
function readPath(text: string, depth: number): Nodes {
  return readTemplate(`{${text}}`, depth + 1)[0] ?? [];
}

type Cursor = { readonly text: string; position: number };

function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.position;
  const match = pattern.exec(cursor.text)?.[0] ?? '';
  cursor.position += match.length;
  return match;
}

const ignored = /[ @$]+/y;
const number = /[-+]?[.\p{Nd}]*/uy;
const wordStart = /[_\p{L}\p{Nd}]/uy;
// A word ends where another step may start; a field may contain escapes.
const word = /[^ \t\r\n.,[\]$@{}]+/y;
const fieldName = /(?:\\.|[^\\ \t\r\n.,[\]$@{}])*/sy;

function readAction(cursor: Cursor, depth: number): Nodes {
  const nodes: Node[] = [];
  for (;;) {
    take(cursor, ignored);
    const rest = cursor.text.charAt(cursor.position);
    if (rest === '' || rest === '\r' || rest === '\n') throw new ParseError('unclosed action');
    if (rest === '}') {
      cursor.position++;
      return nodes;
    }
    if (cursor.text.startsWith('[?(', cursor.position)) nodes.push(readFilter(cursor, depth));
    else if (cursor.text.startsWith('..', cursor.position)) nodes.push(...readRecursive(cursor, nodes));
    else if (rest === '[') nodes.push(...readBrackets(cursor, depth));
    else if (rest === '"' || rest === "'") nodes.push(readQuoted(cursor, rest));
    else if (rest === '.') {
      cursor.position++;
      nodes.push(readField(cursor));
    } else if (/[-+\p{Nd}]/u.test(rest)) nodes.push(readNumber(cursor));
    else nodes.push(readWord(cursor));
  }
}

function readField(cursor: Cursor): Node {
  const name = take(cursor, fieldName);
  return name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') };
}

function readRecursive(cursor: Cursor, before: Nodes): Nodes {
  if (before.at(-1)?.kind === 'recursive') throw new ParseError('invalid multiple recursive descent');
  cursor.position += 2;
  wordStart.lastIndex = cursor.position;
  return wordStart.test(cursor.text) ? [{ kind: 'recursive' }, readField(cursor)] : [{ kind: 'recursive' }];
}

function readNumber(cursor: Cursor): Node {
  const text = take(cursor, number);
  const integer = tryParseInteger(text);
  if (integer !== undefined) return { kind: 'literal', value: Number(integer), type: 'int64' };
  if (/^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)$/.test(text))
    return { kind: 'literal', value: Number(text), type: 'float64' };
  throw new ParseError(`cannot parse number ${text}`);
}

function readWord(cursor: Cursor): Node {
  wordStart.lastIndex = cursor.position;
  if (!wordStart.test(cursor.text)) {
    throw new ParseError(`unrecognized character in action: ${describeCharacter(cursor)}`);
  }
  const name = take(cursor, word);
  if (name === 'true' || name === 'false') return { kind: 'literal', value: name === 'true', type: 'bool' };
  return { kind: 'identifier', name };
}

function describeCharacter({ text, position }: Cursor): string {
  const code = text.codePointAt(position) ?? 0;
  const character = String.fromCodePoint(code);
  const hex = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return /[ \p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character) ? `${hex} '${character}'` : hex;
}

const brackets = /\[[^\]\n]*\]/y;

function readBrackets(cursor: Cursor, depth: number): Nodes {
  const taken = take(cursor, brackets);
  if (taken === '') throw new ParseError('unterminated array');
  const inside = taken.slice(1, -1);
  const alternatives = inside.split(',');
  if (alternatives.length > 1) {
    return [{ kind: 'union', alternatives: alternatives.map((part) => readPath(`[${trimSpaces(part)}]`, depth)) }];
  }
  const key = /^'([^']*)'$/.exec(inside)?.[1];
  return key === undefined ? [readSlice(inside === '*' ? ':' : inside)] : readPath(`.${key}`, depth);
}

function trimSpaces(text: string): string {
  return text.replace(/^ +|(?<! ) +$/g, '');
}

/** Parses `[2]`, `[-1]`, `[1:3]`, `[::2]`: a single index is a slice of one item. */
function readSlice(text: string): Node {
  const match = /^(-?[0-9]*)(:-?[0-9]*)?(:-?[0-9]*)?$/.exec(text);
  if (!match) throw new ParseError(`invalid array index ${text}`);
  const [, first = '', second, third] = match;
  const start = first === '' ? 0 : readIndex(first);
  const end = second === undefined ? 'next' : (readOptionalIndex(second) ?? 'last');
  const step = (third === undefined ? undefined : readOptionalIndex(third)) ?? 1;
  return { kind: 'slice', start, end, step };
}

function readOptionalIndex(text: string): number | undefined {
  return text === ':' ? undefined : readIndex(text.slice(1));
}

function readIndex(text: string): number {
  const index = tryParseInteger(text);
  if (index === undefined) throw new ParseError(`array index ${text} is not a number`);
  return Number(index);
}

/** Reads up to the first parenthesis outside of quotes. At most one pair of quotes is supported. */
function readFilter(cursor: Cursor, depth: number): Node {
  const start = cursor.position + 3;
  const end = endOfFilter(cursor.text, start);
  if (cursor.text[end + 1] !== ']') throw new ParseError('unclosed array expect ]');
  cursor.position = end + 2;
  const text = cursor.text.slice(start, end);
  const [, left, operator, right] = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text) ?? [];
  if (left === undefined || operator === undefined || right === undefined) {
    return { kind: 'filter', left: readPath(text, depth), operator: 'exists', right: [] };
  }
  return { kind: 'filter', left: readPath(left, depth), operator, right: readPath(right, depth) };
}

function endOfFilter(text: string, start: number): number {
  let opening: string | undefined;
  let isClosed = false;
  for (let index = start; index < text.length && text[index] !== '\n'; index++) {
    const character = text[index];
    if (character === '"' || character === "'") {
      if (opening === undefined) opening = character;
      else if (character === opening && text[index - 1] !== '\\') isClosed = true;
    } else if (character === ')' && (opening === undefined || isClosed)) {
      return index;
    }
  }
  throw new ParseError('unterminated filter');
}

function readQuoted(cursor: Cursor, mark: string): Node {
  const { text, position } = cursor;
  let end = position;
  do {
    end++;
    if (end >= text.length || text[end] === '\n') throw new ParseError('unterminated quoted string');
  } while (text[end] !== mark || text[end - 1] === '\\');
  cursor.position = end + 1;
  const quoted = text.slice(position, end + 1);
  return { kind: 'text', text: unquote(quoted.slice(1, -1), mark, quoted) };
}

const namedEscapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
]);

const escapeSequence = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.?)|["']/gs;

/** Resolves Go's escapes; a quotation mark is escaped only inside its own kind. */
function unquote(text: string, mark: string, quoted: string): string {
  return text.replace(escapeSequence, (sequence) => {
    const character = sequence.startsWith('\\') ? characterOf(sequence.slice(1), mark) : sequence;
    if (character === undefined || sequence === mark) {
      throw new ParseError(`unquote string ${quoted} error invalid syntax`);
    }
    return character;
  });
}

function characterOf(body: string, mark: string): string | undefined {
  return body === mark ? mark : (namedEscapes.get(body) ?? characterOfCode(body));
}

function characterOfCode(body: string): string | undefined {
  if (body.length < 3) return undefined;
  const isOctal = body.length === 3 && /^[0-7]/.test(body);
  const code = isOctal ? Number.parseInt(body, 8) : Number.parseInt(body.slice(1), 16);
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return code > (isOctal ? 0xff : 0x10ffff) || isSurrogate ? undefined : String.fromCodePoint(code);
}
