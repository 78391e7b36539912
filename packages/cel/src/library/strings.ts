/** The strings extension, at version 2, which Kubernetes includes, and at the latest version. */
import { ArrayList, type ListValue } from '../collections.ts';
import { addRanges, eachElement, fixed, multiplyRanges, scale, stringFactor, traversal } from '../costs.ts';
import { formatValue } from '../format-value.ts';
import {
  type CallEstimate,
  type CallShape,
  type Cost,
  type FunctionDeclaration,
  method,
  overload,
  type Range,
} from '../functions.ts';
import type { Library } from '../library.ts';
import { codePointCount, sizeOf } from '../type-names.ts';
import { dynType, intType, listType, stringType } from '../types.ts';
import { EvaluationError, type Int, isInt, type Value } from '../values.ts';
import { formatString } from './string-format.ts';

const maximum = 2n ** 64n - 1n;

const outOfRange = (index: Int): EvaluationError => new EvaluationError(`index out of range: ${index}`);

/** Cost of one pass; the result is as long as the text. */
const onePass: Cost = {
  actual: traversal(0),
  estimate: ({ target }) => ({ cost: scale(target!.size, stringFactor), resultSize: target!.size }),
};

const replacing: Cost = {
  actual: traversal(0, 2),
  estimate: ({ target, args }) => ({
    cost: scale(target!.size, 2 * stringFactor),
    resultSize: replacedSize(target!.size, args[0]!.size, args[1]!.size),
  }),
};

/** Returns the size of a text of `size` after every `old` is replaced. */
function replacedSize(size: Range, old: Range, replacement: Range): Range {
  const longest = replacedBound(size.max, old.min, replacement.max <= old.min);
  const shortest = replacedBound(size.min, old.max, old.max <= replacement.min);
  const count: Range = { min: shortest.count, max: longest.count };
  return addRanges(multiplyRanges(count, replacement), { min: shortest.retained, max: longest.retained });
}

/** An empty `old` matches around every character; if the replacement does not help, the bound assumes no match. */
function replacedBound(size: bigint, old: bigint, isBestKept: boolean): { count: bigint; retained: bigint } {
  if (old === 0n) return { count: size < maximum ? size + 1n : size, retained: size };
  if (isBestKept) return { count: 0n, retained: size };
  const count = Math.ceil(Number(size) / Number(old));
  return { count: count >= 2 ** 64 ? maximum : BigInt(count), retained: 0n };
}

const splitting: Cost = {
  actual: traversal(0, 2),
  estimate: ({ target, args }) => {
    const limit = args[1]?.expression;
    const isKnown = limit?.kind === 'literal' && isInt(limit.value);
    const max = isKnown ? BigInt.asUintN(64, BigInt(limit.value as Int)) : target!.size.max;
    return { cost: scale(target!.size, 2 * stringFactor), resultSize: { min: 0n, max } };
  },
};

const joining: Cost = {
  actual: (_args, result) => Math.ceil(sizeOf(result) * 2 * stringFactor),
  estimate: ({ target, args }: CallShape): CallEstimate => {
    const { size: count, element } = target!;
    let size = element ? multiplyRanges(count, element.size) : fixed(0);
    const [separator] = args;
    if (separator) {
      const gaps = { min: count.min > 0n ? count.min - 1n : 0n, max: count.max > 0n ? count.max - 1n : 0n };
      size = addRanges(size, multiplyRanges(separator.size, gaps));
    }
    return { cost: scale(size, stringFactor), resultSize: size };
  },
};

const formatting: Cost = {
  actual: traversal(0),
  estimate: ({ target }) => ({ cost: scale(target!.size, stringFactor) }),
};

const quoting: Cost = {
  actual: traversal(0),
  estimate: ({ args }) => {
    const { min, max } = args[0]!.size;
    const wrap = (value: bigint) => BigInt.asUintN(64, value);
    return { cost: scale(args[0]!.size, stringFactor), resultSize: { min: wrap(min + 2n), max: wrap(max * 2n + 2n) } };
  },
};

/** Returns whether every character is one UTF-16 unit, so that positions need no counting. */
const isPlain = (text: string): boolean => !/[\ud800-\udfff]/.test(text);

/** Returns the UTF-16 index of a character. */
function unitIndex(text: string, characters: number): number {
  if (isPlain(text)) return characters;
  let index = 0;
  for (let count = 0; count < characters; count++) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return index;
}

const characterIndex = (text: string, units: number): number =>
  units < 0 ? units : codePointCount(text.slice(0, units));

function charAt(text: string, index: Int): Value {
  const length = codePointCount(text);
  if (index < 0 || index > length) return outOfRange(index);
  const unit = unitIndex(text, Number(index));
  return unit >= text.length ? '' : String.fromCodePoint(text.codePointAt(unit)!);
}

function indexOf(text: string, part: string, offset: Int): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePointCount(text)) return -1;
  return characterIndex(text, text.indexOf(part, unitIndex(text, Number(offset))));
}

function lastIndexOf(text: string, part: string, offset: Int): Value {
  if (part === '') return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePointCount(text)) return -1;
  return characterIndex(text, text.lastIndexOf(part, unitIndex(text, Number(offset))));
}

function substring(text: string, start: Int, end: Int | undefined): Value {
  const length = codePointCount(text);
  if (end !== undefined && start > end) {
    return new EvaluationError(`invalid substring range. start: ${start}, end: ${end}`);
  }
  if (start < 0 || start > length) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > length)) return outOfRange(end);
  const from = unitIndex(text, Number(start));
  return end === undefined ? text.slice(from) : text.slice(from, unitIndex(text, Number(end)));
}

/** Replaces the first `limit` occurrences; all if it is negative. An empty `old` matches between all characters. */
function replace(text: string, old: string, replacement: string, limit: number): string {
  if (limit < 0 && old !== '') return text.replaceAll(old, () => replacement);
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  if (old === '') {
    let count = 0;
    const before = () => (count++ < most ? replacement : '');
    return `${[...text].map((character) => before() + character).join('')}${before()}`;
  }
  let result = '';
  let position = 0;
  for (let count = 0; count < most; count++) {
    const found = text.indexOf(old, position);
    if (found < 0) break;
    result += text.slice(position, found) + replacement;
    position = found + old.length;
  }
  return result + text.slice(position);
}

/** Splits into at most `limit` parts, of which the last is the rest; without a limit into all parts. */
function split(text: string, separator: string, limit: number): ListValue {
  const parts = separator === '' ? [...text] : text.split(separator);
  if (limit === 0) return new ArrayList([]);
  if (limit < 0 || parts.length <= limit) return new ArrayList(parts);
  return new ArrayList([...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]);
}

function join(list: ListValue, separator: string): Value {
  const parts: string[] = [];
  for (const value of list) {
    if (typeof value !== 'string') return new EvaluationError(`join: invalid input: ${formatValue(value)}`);
    parts.push(value);
  }
  return parts.join(separator);
}

const quotes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

const quote = (text: string): string =>
  `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (character) => quotes[character]!)}"`;

// White space of Go's unicode.IsSpace; JavaScript's \s also contains the byte order mark and lacks U+0085.
const space = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const leadingSpace = new RegExp(`^${space}+`);
const spaceCharacter = new RegExp(space);

function trim(text: string): string {
  const start = text.replace(leadingSpace, '');
  let end = start.length;
  while (end > 0 && spaceCharacter.test(start[end - 1]!)) end--;
  return start.slice(0, end);
}

// The interpreter has checked the types of arguments.
const string = (value: Value | undefined): string => value as string;
const int = (value: Value | undefined): Int => value as Int;

const functions: readonly FunctionDeclaration[] = [
  {
    name: 'charAt',
    overloads: [
      method('string_char_at_int', [stringType, intType], stringType, (text, index) =>
        charAt(string(text), int(index)),
      ),
    ],
  },
  {
    name: 'indexOf',
    overloads: [
      method('string_index_of_string', [stringType, stringType], intType, (text, part) =>
        indexOf(string(text), string(part), 0),
      ),
      method('string_index_of_string_int', [stringType, stringType, intType], intType, (text, part, offset) =>
        indexOf(string(text), string(part), int(offset)),
      ),
    ],
    cost: eachElement,
  },
  {
    name: 'lastIndexOf',
    overloads: [
      method('string_last_index_of_string', [stringType, stringType], intType, (text, part) => {
        const length = codePointCount(string(text));
        if (part === '') return length;
        return length === 0 ? outOfRange(-1) : lastIndexOf(string(text), string(part), length - 1);
      }),
      method('string_last_index_of_string_int', [stringType, stringType, intType], intType, (text, part, offset) =>
        lastIndexOf(string(text), string(part), int(offset)),
      ),
    ],
    cost: eachElement,
  },
  {
    name: 'lowerAscii',
    overloads: [
      method('string_lower_ascii', [stringType], stringType, (text) =>
        string(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
      ),
    ],
    cost: onePass,
  },
  {
    name: 'upperAscii',
    overloads: [
      method('string_upper_ascii', [stringType], stringType, (text) =>
        string(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
      ),
    ],
    cost: onePass,
  },
  {
    name: 'replace',
    overloads: [
      method('string_replace_string_string', [stringType, stringType, stringType], stringType, (text, old, by) =>
        replace(string(text), string(old), string(by), -1),
      ),
      method(
        'string_replace_string_string_int',
        [stringType, stringType, stringType, intType],
        stringType,
        (text, old, by, limit) => replace(string(text), string(old), string(by), Number(limit)),
      ),
    ],
    cost: replacing,
  },
  {
    name: 'split',
    overloads: [
      method('string_split_string', [stringType, stringType], listType(stringType), (text, separator) =>
        split(string(text), string(separator), -1),
      ),
      method(
        'string_split_string_int',
        [stringType, stringType, intType],
        listType(stringType),
        (text, separator, limit) => split(string(text), string(separator), Number(limit)),
      ),
    ],
    cost: splitting,
  },
  {
    name: 'substring',
    overloads: [
      method('string_substring_int', [stringType, intType], stringType, (text, start) =>
        substring(string(text), int(start), undefined),
      ),
      method('string_substring_int_int', [stringType, intType, intType], stringType, (text, start, end) =>
        substring(string(text), int(start), int(end)),
      ),
    ],
    cost: onePass,
  },
  {
    name: 'trim',
    overloads: [method('string_trim', [stringType], stringType, (text) => trim(string(text)))],
    cost: onePass,
  },
  {
    name: 'format',
    overloads: [
      method(
        'string_format',
        [stringType, listType(dynType)],
        stringType,
        (format, args) => formatString(string(format), args as ListValue),
        { cost: formatting, stopsAtErrors: true },
      ),
    ],
  },
  {
    name: 'strings.quote',
    overloads: [overload('strings_quote', [stringType], stringType, (text) => quote(string(text)), { cost: quoting })],
  },
  {
    name: 'join',
    overloads: [
      method('list_join', [listType(stringType)], stringType, (list) => join(list as ListValue, '')),
      method('list_join_string', [listType(stringType), stringType], stringType, (list, separator) =>
        join(list as ListValue, string(separator)),
      ),
    ],
    cost: joining,
  },
];

const reverse: FunctionDeclaration = {
  name: 'reverse',
  overloads: [method('string_reverse', [stringType], stringType, (text) => [...string(text)].toReversed().join(''))],
};

/** Version 2, which Kubernetes includes. */
export const stringsLibrary: Library = { functions };

/** The latest version, which adds `reverse`. */
export const latestStringsLibrary: Library = { functions: [...functions, reverse] };
