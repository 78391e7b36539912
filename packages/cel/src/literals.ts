/** Parses literals. */
import { Double, EvaluationError, type Int, maxInt, maxUint, minInt, toInt, Uint } from './values.ts';

/** Parses an integer literal, decimal or `0x…`; returns undefined if it does not fit in 64 bits. */
export function parseIntLiteral(text: string, isNegative: boolean): Int | undefined {
  const magnitude = BigInt(text);
  const value = isNegative ? -magnitude : magnitude;
  return value < minInt || value > maxInt ? undefined : toInt(value);
}

/** Parses an unsigned literal with its `u`. */
export function parseUintLiteral(text: string): Uint | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > maxUint ? undefined : new Uint(value);
}

/** Parses a floating point literal; returns undefined if it is too large. */
export function parseDoubleLiteral(text: string, isNegative: boolean): Double | undefined {
  const value = Number(text);
  return Number.isFinite(value) ? new Double(isNegative ? -value : value) : undefined;
}

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Returns the characters of a quoted string literal. */
export function parseStringLiteral(token: string): string | EvaluationError {
  const { body, isRaw } = unquote(token);
  if (isRaw || !body.includes('\\')) return body;
  let result = '';
  for (let index = 0; index < body.length; ) {
    const part = readEscape(body, index);
    if (part.codePoint === undefined) {
      result += part.text;
    } else {
      if (!isScalarValue(part.codePoint)) return new EvaluationError('invalid unicode code point');
      result += String.fromCodePoint(part.codePoint);
    }
    index += part.length;
  }
  return result;
}

/** Returns the bytes of a `b'…'` literal; `\x` and octal escapes are single bytes, everything else is UTF-8. */
export function parseBytesLiteral(token: string): Uint8Array | EvaluationError {
  const { body, isRaw } = unquote(token.slice(1));
  const encoder = new TextEncoder();
  if (isRaw || !body.includes('\\')) return encoder.encode(body);
  const bytes: number[] = [];
  for (let index = 0; index < body.length; ) {
    const part = readEscape(body, index);
    if (part.isUnicode) return new EvaluationError('unable to unescape string');
    if (part.codePoint === undefined) bytes.push(...encoder.encode(part.text));
    else bytes.push(part.codePoint);
    index += part.length;
  }
  return Uint8Array.from(bytes);
}

function unquote(token: string): { body: string; isRaw: boolean } {
  const isRaw = token[0] === 'r' || token[0] === 'R';
  const quoted = (isRaw ? token.slice(1) : token).replace(/\r\n?/g, '\n');
  const quotes = quoted.length >= 6 && /^("""|''')/.test(quoted) ? 3 : 1;
  return { body: quoted.slice(quotes, -quotes), isRaw };
}

type Escape = { length: number; text: string; codePoint?: number; isUnicode?: boolean };

/** Reads one character or escape sequence. The lexer has checked that every escape is complete. */
function readEscape(body: string, index: number): Escape {
  if (body[index] !== '\\') {
    const text = String.fromCodePoint(body.codePointAt(index)!);
    return { length: text.length, text };
  }
  const letter = body[index + 1]!;
  switch (letter) {
    case 'x':
    case 'X':
      return { length: 4, text: '', codePoint: Number.parseInt(body.slice(index + 2, index + 4), 16) };
    case 'u':
    case 'U': {
      const digits = letter === 'u' ? 4 : 8;
      const codePoint = Number.parseInt(body.slice(index + 2, index + 2 + digits), 16);
      return { length: digits + 2, text: '', codePoint, isUnicode: true };
    }
    case '0':
    case '1':
    case '2':
    case '3':
      return { length: 4, text: '', codePoint: Number.parseInt(body.slice(index + 1, index + 4), 8) };
    default:
      return { length: 2, text: simpleEscapes[letter] ?? letter };
  }
}

const isScalarValue = (codePoint: number): boolean =>
  codePoint < 0xd800 || (codePoint > 0xdfff && codePoint <= 0x10ffff);
