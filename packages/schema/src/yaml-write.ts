/**
 * Writes YAML byte for byte like Kubernetes: block style, keys in natural order, strings folded at 80 columns, and
 * quotes only around strings that would otherwise be parsed as something else.
 */
import { isTimestamp, resolvePlain } from './yaml-scalar.ts';

/**
 * Returns the YAML text of a JSON value.
 *
 * ```ts
 * formatYaml({ kind: 'Pod', metadata: { name: 'web-0' } }); // kind: Pod\nmetadata:\n  name: web-0\n
 * ```
 */
export function formatYaml(value: unknown): string {
  const out = new Writer();
  out.node(value, 0, false);
  return out.text();
}

/** A string is folded at the first space beyond this column. */
const width = 80;
/** Longer keys need an explicit key indicator. */
const longestSimpleKey = 128;

class Writer {
  #lines = '';
  #column = 0;

  text(): string {
    return `${this.#lines}\n`;
  }

  #write(text: string): void {
    this.#lines += text;
    this.#column += text.length;
  }

  #newLine(indent: number): void {
    this.#lines += `\n${' '.repeat(indent)}`;
    this.#column = indent;
  }

  /** Writes a value. Its block starts at the current position if `isInline`, otherwise on the next line. */
  node(value: unknown, indent: number, isInline: boolean): void {
    if (Array.isArray(value)) this.#list(value, indent, isInline);
    else if (typeof value === 'object' && value !== null) this.#mapping(value, indent, isInline);
    else this.#scalar(value, indent);
  }

  #list(items: readonly unknown[], indent: number, isInline: boolean): void {
    if (items.length === 0) {
      this.#write('[]');
      return;
    }
    for (const [index, item] of items.entries()) {
      if (this.#lines !== '' && !(isInline && index === 0)) this.#newLine(indent);
      this.#write('- ');
      this.node(item, indent + 2, true);
    }
  }

  #mapping(value: object, indent: number, isInline: boolean): void {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    if (members.length === 0) {
      this.#write('{}');
      return;
    }
    for (const [index, [key, member]] of members.sort(([a], [b]) => compareKeys(a, b)).entries()) {
      if (this.#lines !== '' && !(isInline && index === 0)) this.#newLine(indent);
      this.#key(key, indent);
      this.#member(member, indent);
    }
  }

  #key(key: string, indent: number): void {
    const isSimple = key.length <= longestSimpleKey && !key.includes('\n');
    if (!isSimple) this.#write('? ');
    this.#text(key, indent, isSimple);
    if (!isSimple) this.#newLine(indent);
    this.#write(':');
  }

  #member(member: unknown, indent: number): void {
    const isBlock = typeof member === 'object' && member !== null && Object.keys(member).length > 0;
    if (!isBlock) this.#write(' ');
    // Lists are not indented below their key.
    this.node(member, isBlock && Array.isArray(member) ? indent : indent + 2, false);
  }

  #scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.#text(value, indent, false);
    else this.#write(typeof value === 'number' ? numberText(value) : String(value));
  }

  #text(text: string, indent: number, isKey: boolean): void {
    const traits = traitsOf(text);
    if (text.includes('\n') && traits.allowsBlock && !isKey) this.#literal(text, indent);
    else if (text.includes('\n') || !isPlainText(text)) this.#doubleQuoted(text, indent, isKey);
    else if (traits.allowsPlain) this.#folded(text, indent, isKey);
    else if (traits.allowsSingle) this.#singleQuoted(text, indent, isKey);
    else this.#doubleQuoted(text, indent, isKey);
  }

  #folded(text: string, indent: number, isKey: boolean): void {
    const words = text.split(' ');
    for (const [index, word] of words.entries()) {
      if (index > 0) {
        // Only a single space between two words can be folded and parsed back.
        const isSingle = word !== '' && words[index - 1] !== '';
        if (isSingle && !isKey && this.#column > width) this.#newLine(indent === 0 ? 2 : indent);
        else this.#write(' ');
      }
      this.#write(word);
    }
  }

  #singleQuoted(text: string, indent: number, isKey: boolean): void {
    this.#write("'");
    this.#folded(text.replaceAll("'", "''"), indent, isKey);
    this.#write("'");
  }

  #doubleQuoted(text: string, indent: number, isKey: boolean): void {
    this.#write('"');
    const characters = [...text];
    let afterSpace = false;
    for (const [index, character] of characters.entries()) {
      const isMiddle = index > 0 && index < characters.length - 1;
      if (character === ' ' && !isKey && !afterSpace && isMiddle && this.#column > width) {
        this.#newLine(indent === 0 ? 2 : indent);
        if (characters[index + 1] === ' ') this.#write('\\');
      } else this.#write(isPrintable(character) ? (escapes[character] ?? character) : escaped(character));
      afterSpace = character === ' ';
    }
    this.#write('"');
  }

  #literal(text: string, indent: number): void {
    const lead = /^[ \n]/.test(text) ? '2' : '';
    const end = text.endsWith('\n') ? (/^\n$|\n\n$/.test(text) ? '+' : '') : '-';
    this.#write(`|${lead}${end}`);
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    for (const line of lines) {
      if (line === '') this.#lines += '\n';
      else this.#newLine(indent === 0 ? 2 : indent);
      this.#write(line);
    }
  }
}

type Traits = { readonly allowsPlain: boolean; readonly allowsSingle: boolean; readonly allowsBlock: boolean };

const indicators = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?:\s|$))|:(?:\s|$)|\s#/;

function traitsOf(text: string): Traits {
  const isSpecial = / \n/.test(text) || [...text].some((character) => character !== '\n' && !isPrintable(character));
  return {
    allowsPlain: !isSpecial && !indicators.test(text) && !/^ | $|\n/.test(text),
    allowsSingle: !isSpecial && !/\n /.test(text),
    allowsBlock: !isSpecial && !text.endsWith(' '),
  };
}

/** Old notations that YAML 1.1 parsers read as numbers. */
const baseSixty = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Returns whether an unquoted string is parsed back as the same string. */
function isPlainText(text: string): boolean {
  return (
    typeof resolvePlain(text) === 'string' &&
    !isTimestamp(text) &&
    !baseSixty.test(text) &&
    text !== '<<' &&
    text !== '='
  );
}

function isPrintable(character: string): boolean {
  const code = character.codePointAt(0)!;
  return (
    (code >= 0x20 && code < 0x7f) ||
    (code >= 0xa0 && code < 0xd800) ||
    (code >= 0xe000 && code < 0xfffe && code !== 0xfeff)
  );
}

const escapes: { readonly [character: string]: string } = {
  '\0': '\\0',
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '\x1b': '\\e',
  '"': '\\"',
  '\\': '\\\\',
  '\x85': '\\N',
  '\xa0': '\\_',
  '\u2028': '\\L',
  '\u2029': '\\P',
};

function escaped(character: string): string {
  const known = escapes[character];
  if (known) return known;
  const hex = character.codePointAt(0)!.toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Formats numbers like Go: whole numbers in full, others with an exponent from a million on. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  if (Number.isSafeInteger(value)) return String(value);
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 21 && Number.isInteger(value)) return BigInt(value).toString();
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const letter = /\p{L}/u;
const digit = /\p{Nd}/u;

/** Compares keys in natural order: `a2` is before `a10`. */
function compareKeys(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  let common = 0;
  while (common < x.length && common < y.length && x[common] === y[common]) common++;
  if (common === x.length || common === y.length) return x.length - y.length;
  const [left, right] = [x[common]!, y[common]!];
  const [isLeftLetter, isRightLetter] = [letter.test(left), letter.test(right)];
  if (isLeftLetter && isRightLetter) return left < right ? -1 : 1;
  if (isLeftLetter || isRightLetter) {
    const isAfterDigit = common > 0 && digit.test(x[common - 1]!);
    return isLeftLetter === isAfterDigit ? -1 : 1;
  }
  const [m, n] = [numberAt(x, common), numberAt(y, common)];
  return m.value - n.value || m.end - n.end || (left < right ? -1 : 1);
}

/** Returns the number at an index; preceding digits make a leading zero significant. */
function numberAt(characters: readonly string[], start: number): { readonly value: number; readonly end: number } {
  let end = start;
  while (end < characters.length && /[0-9]/.test(characters[end]!)) end++;
  let begin = start;
  while (begin > 0 && /[0-9]/.test(characters[begin - 1]!)) begin--;
  return { value: Number(characters.slice(begin, end).join('') || 0), end };
}
