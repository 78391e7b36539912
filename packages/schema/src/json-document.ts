/**
 * Exact JSON parser: members in the order of the text with duplicates, numbers as they are spelled. It is much slower
 * than `JSON.parse` and used only in unusual cases: to report a syntax error with Go's message, to find duplicate keys,
 * to distinguish `1.0` from `1`.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { quote } from '@kruise/values/go-syntax';

/** Thrown if a text is not JSON. The message is Go's. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** A number with its spelling. */
export class JsonNumber {
  readonly literal: string;
  constructor(literal: string) {
    this.literal = literal;
  }
}

/** Members of an object, in the order of the text, duplicates included. */
export class JsonMembers {
  readonly entries: [key: string, value: JsonToken][] = [];
}

/** An exactly parsed value. Plain JSON values are tokens, too, so functions on tokens accept either. */
export type JsonToken = unknown;

/**
 * Maximum nesting depth. Go's limit is 10,000; no legitimate document comes near this one, and every recursive function
 * here has enough stack for it.
 */
export const maxNesting = 1000;

/** Parses a JSON text. Throws `JsonSyntaxError` with Go's message. */
export function readJsonDocument(bytes: Uint8Array): JsonToken {
  const cursor = new Cursor(bytes);
  const open: (JsonMembers | JsonToken[])[] = [];
  const keys: string[] = [];

  for (;;) {
    let value = readStart(cursor, open, keys);
    if (value === opened) continue;
    for (;;) {
      const parent = open.at(-1);
      const next = cursor.peekPastSpace();
      if (parent === undefined) {
        if (next !== end) throw cursor.unexpected('after top-level value');
        return value;
      }
      if (Array.isArray(parent)) {
        parent.push(value);
        if (next !== comma && next !== closeArray) throw cursor.unexpected('after array element');
      } else {
        parent.entries.push([keys.pop()!, value]);
        if (next !== comma && next !== closeObject) throw cursor.unexpected('after object key:value pair');
      }
      cursor.at++;
      if (next === comma) {
        if (!Array.isArray(parent)) keys.push(cursor.readKey());
        break;
      }
      value = open.pop();
    }
  }
}

const opened = Symbol('an object or a list has begun');

/** Reads a scalar or an empty object or list, or enters a list or an object. */
function readStart(cursor: Cursor, open: (JsonMembers | JsonToken[])[], keys: string[]): JsonToken {
  const first = cursor.peekPastSpace();
  if (first !== openObject && first !== openArray) return cursor.readScalar(first);
  if (open.length === maxNesting) throw cursor.unexpected('exceeded max depth');
  cursor.at++;
  const isArray = first === openArray;
  const container = isArray ? [] : new JsonMembers();
  if (cursor.peekPastSpace() === (isArray ? closeArray : closeObject)) {
    cursor.at++;
    return container;
  }
  open.push(container);
  if (!isArray) keys.push(cursor.readKey());
  return opened;
}

const end = -1;
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const [doubleQuote, backslash, comma, colon, minus, plus, point] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2b, 0x2e];
const literals = new Map<number, readonly [string, unknown]>([
  [0x74, ['true', true]],
  [0x66, ['false', false]],
  [0x6e, ['null', null]],
]);

const withinToken = /^in (?!string literal)|decimal point/;

class Cursor {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  peek(): number {
    return this.bytes[this.at] ?? end;
  }

  peekPastSpace(): number {
    let byte = this.peek();
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.at++;
      byte = this.peek();
    }
    return byte;
  }

  unexpected(context: string): JsonSyntaxError {
    const byte = this.peek();
    // Go treats the end of the text as a space first, and reports it within numbers, literals and escapes.
    if (byte === end && !withinToken.test(context)) return new JsonSyntaxError('unexpected end of JSON input');
    return new JsonSyntaxError(`invalid character ${quoteByte(byte === end ? 0x20 : byte)} ${context}`);
  }

  readKey(): string {
    if (this.peekPastSpace() !== doubleQuote) throw this.unexpected('looking for beginning of object key string');
    const key = this.readString();
    if (this.peekPastSpace() !== colon) throw this.unexpected('after object key');
    this.at++;
    return key;
  }

  readScalar(first: number): JsonToken {
    if (first === doubleQuote) return this.readString();
    if (first === minus || isDigit(first)) return this.readNumber();
    const literal = literals.get(first);
    if (literal === undefined) throw this.unexpected('looking for beginning of value');
    const [text, value] = literal;
    for (const character of text) {
      if (this.peek() !== character.charCodeAt(0)) {
        throw this.unexpected(`in literal ${text} (expecting '${character}')`);
      }
      this.at++;
    }
    return value;
  }

  readString(): string {
    const start = ++this.at;
    let hasEscape = false;
    for (let byte = this.peek(); byte !== doubleQuote; byte = this.peek()) {
      if (byte < 0x20) throw this.unexpected('in string literal');
      this.at++;
      if (byte !== backslash) continue;
      hasEscape = true;
      this.skipEscape();
    }
    const text = decodeText(this.bytes.subarray(start, this.at++));
    return hasEscape ? (JSON.parse(`"${text}"`) as string).toWellFormed() : text;
  }

  skipEscape(): void {
    const byte = this.peek();
    if (byte === end || !'"\\/bfnrtu'.includes(String.fromCharCode(byte))) {
      throw this.unexpected('in string escape code');
    }
    this.at++;
    if (byte !== 0x75) return;
    for (let count = 0; count < 4; count++) {
      if (!isHexDigit(this.peek())) throw this.unexpected('in \\u hexadecimal character escape');
      this.at++;
    }
  }

  readNumber(): JsonNumber {
    const start = this.at;
    if (this.peek() === minus) this.at++;
    if (this.peek() === 0x30) this.at++;
    else this.skipDigits('in numeric literal');
    if (this.peek() === point) {
      this.at++;
      this.skipDigits('after decimal point in numeric literal');
    }
    if ((this.peek() | 0x20) === 0x65) {
      this.at++;
      if (this.peek() === plus || this.peek() === minus) this.at++;
      this.skipDigits('in exponent of numeric literal');
    }
    return new JsonNumber(decodeText(this.bytes.subarray(start, this.at)));
  }

  skipDigits(context: string): void {
    if (!isDigit(this.peek())) throw this.unexpected(context);
    while (isDigit(this.peek())) this.at++;
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

/** Returns one byte of the text as Go prints it, even if it is a part of a longer character. */
function quoteByte(byte: number): string {
  if (byte === 0x27) return "'\\''";
  if (byte === doubleQuote) return `'"'`;
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`;
}

/** Decodes UTF-8 like Go: each invalid byte becomes a replacement character. */
export function decodeText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (isUtf8(buffer)) return buffer.toString('utf8');
  let text = '';
  for (let start = 0; start < bytes.length; ) {
    let length = 1;
    while (length <= 4 && !isUtf8(buffer.subarray(start, start + length))) length++;
    text += length <= 4 ? buffer.toString('utf8', start, start + length) : '\ufffd';
    start += length <= 4 ? length : 1;
  }
  return text;
}

/** Returns the plain value of a token: numbers as numbers, or bigints for integers that are too large. */
export function plainValue(token: JsonToken): unknown {
  if (token instanceof JsonNumber) return numberOf(token.literal);
  if (token instanceof JsonMembers) {
    const object: Record<string, unknown> = {};
    for (const [key, value] of token.entries) setOwn(object, key, plainValue(value));
    return object;
  }
  return Array.isArray(token) ? token.map(plainValue) : token;
}

const integer = /^-?[0-9]+$/;
/** Parsing an integer takes superlinear time; no field accepts a longer one. */
const maxIntegerLength = 1000;

function numberOf(literal: string): number | bigint {
  const value = Number(literal);
  if (!Number.isFinite(value) && (literal.length > maxIntegerLength || !integer.test(literal))) {
    throw new JsonSyntaxError(`json: cannot unmarshal number ${literal} into Go value of type float64`);
  }
  return Number.isSafeInteger(value) || !integer.test(literal) ? value : BigInt(literal);
}

/** Sets a property with an untrusted name: `__proto__` is a key like any other. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** Returns the paths of duplicate keys: `spec.replicas`, `spec.containers[0].name`. */
export function duplicateKeys(token: JsonToken): readonly string[] {
  const found = new Set<string>();
  visit(token, '');
  return [...found];

  function visit(value: JsonToken, path: string): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`);
    }
    if (!(value instanceof JsonMembers)) return;
    const seen = new Set<string>();
    for (const [key, member] of value.entries) {
      const memberPath = path === '' ? key : `${path}.${key}`;
      if (seen.has(key)) found.add(memberPath);
      seen.add(key);
      visit(member, memberPath);
    }
  }
}
