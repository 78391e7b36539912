/** `'%s is %d'.format([…])`. */
import { compareStrings, quote } from '@kruise/values/go-syntax';
import type { Expression } from '../ast.ts';
import { ListValue, MapValue } from '../collections.ts';
import { Duration, formatDuration, formatTimestamp, Timestamp } from '../time.ts';
import { typeNameOf } from '../type-names.ts';
import { isDyn, type Kind } from '../types.ts';
import { Double, EvaluationError, isInt, TypeValue, Uint, type Value } from '../values.ts';
import { parseDouble, toStringValue } from './conversions.ts';

type Clause = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

const defaultPrecision = 6;

const refusals: Readonly<Record<Clause, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

const refusal = (clause: Clause, typeName: string): EvaluationError =>
  new EvaluationError(`${refusals[clause]}, was given ${typeName}`);

type Part = { readonly text: string } | { readonly clause: Clause; readonly precision: number | undefined };

/**
 * Splits a format string into text and clauses. A generator, because errors are reported only as far as the text is
 * read.
 */
function* parts(format: string): Generator<Part | EvaluationError | 'argument'> {
  let position = 0;
  while (position < format.length) {
    const percent = format.indexOf('%', position);
    if (percent < 0) {
      yield { text: format.slice(position) };
      return;
    }
    if (percent > position) yield { text: format.slice(position, percent) };
    if (format[percent + 1] === '%') {
      yield { text: '%' };
      position = percent + 2;
      continue;
    }
    yield 'argument';
    const rest = format.slice(percent + 1);
    if (rest === '') {
      yield new EvaluationError('unexpected end of string');
      return;
    }
    const match = /^(?:\.([0-9]*))?/.exec(rest)!;
    const fault = precisionFault(match, rest);
    if (fault) {
      yield new EvaluationError(`could not parse formatting clause: error while parsing precision: ${fault}`);
      return;
    }
    const letter = rest[match[0].length]!;
    if (!Object.hasOwn(refusals, letter)) {
      const shown = String.fromCodePoint(Buffer.from(rest.slice(match[0].length))[0]!);
      yield new EvaluationError(`could not parse formatting clause: unrecognized formatting clause "${shown}"`);
      return;
    }
    // The lookup above has checked the letter.
    yield { clause: letter as Clause, precision: match[1] === undefined ? undefined : Number(match[1]) };
    position = percent + 1 + match[0].length + 1;
  }
}

function precisionFault(match: RegExpExecArray, rest: string): string | undefined {
  if (match[1] === undefined) return undefined;
  if (match[0].length === rest.length) return 'could not find end of precision specifier';
  if (match[1] !== '' && match[1].length < 19) return undefined;
  const reason = match[1] === '' ? 'invalid syntax' : 'value out of range';
  return `error while converting precision to integer: strconv.Atoi: parsing "${match[1]}": ${reason}`;
}

/** Formats values with a format string. */
export function formatString(format: string, values: ListValue): string | EvaluationError {
  let result = '';
  let index = -1;
  for (const part of parts(format)) {
    if (part === 'argument') {
      if (++index >= values.size) return new EvaluationError(`index ${index} out of range`);
    } else if (part instanceof EvaluationError) {
      return part;
    } else if ('text' in part) {
      result += part.text;
    } else {
      const shown = show(part.clause, values.at(index), part.precision ?? defaultPrecision);
      if (shown instanceof EvaluationError) return new EvaluationError(`error during formatting: ${shown.message}`);
      result += shown;
    }
  }
  return result;
}

const accepted: Readonly<Record<Clause, readonly Kind[]>> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
};

/** Returns the errors of a format string for arguments of known types. */
export function formatFaults(
  format: string,
  args: readonly Expression[],
): { readonly message: string; readonly at?: Expression } | undefined {
  let index = -1;
  for (const part of parts(format)) {
    if (part === 'argument') {
      index++;
    } else if (part instanceof EvaluationError) {
      return { message: part.message };
    } else if ('clause' in part) {
      const arg = args[index];
      if (!arg) return { message: `index ${index} out of range` };
      const refused = refusedPart(part.clause, arg);
      if (refused) {
        const { message } = refusal(part.clause, refused.type!.name);
        return { message: `error during formatting: ${message}`, at: refused };
      }
    }
  }
  const expected = index + 1;
  if (args.length <= expected) return undefined;
  return { message: `too many arguments supplied to string.format (expected ${expected}, got ${args.length})` };
}

function refusedPart(clause: Clause, arg: Expression): Expression | undefined {
  const type = arg.type!;
  if (!isDyn(type) && !accepted[clause].includes(type.kind)) return arg;
  if (clause !== 's') return undefined;
  if (arg.kind === 'list') return firstRefused(clause, arg.elements);
  if (arg.kind !== 'map') return undefined;
  return firstRefused(
    clause,
    arg.entries.flatMap(({ key, value }) => [key, value]),
  );
}

function firstRefused(clause: Clause, parts: readonly Expression[]): Expression | undefined {
  for (const part of parts) {
    const refused = refusedPart(clause, part);
    if (refused) return refused;
  }
  return undefined;
}

function show(clause: Clause, value: Value, precision: number): string | EvaluationError {
  switch (clause) {
    case 's':
      return showString(value);
    case 'd':
      return showDecimal(value);
    case 'f':
      return showFloat(clause, value, (number) => fixedPoint(number, precision));
    case 'e':
      return showFloat(clause, value, (number) => scientific(number, precision));
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return showInteger(clause, value, 2);
    case 'o':
      return showInteger(clause, value, 8);
    case 'x':
      return showHex(clause, value);
    case 'X': {
      const hex = showHex(clause, value);
      return typeof hex === 'string' ? hex.toUpperCase() : hex;
    }
  }
}

function showString(value: Value): string | EvaluationError {
  if (value instanceof ListValue) return showList(value);
  if (value instanceof MapValue) return showMap(value);
  const text = toStringValue(value);
  if (typeof text === 'string') return text;
  return value instanceof Uint8Array
    ? new EvaluationError(`could not convert argument "${text.message}" to string`)
    : refusal('s', typeNameOf(value));
}

function showDecimal(value: Value): string | EvaluationError {
  if (isInt(value)) return String(value);
  return value instanceof Uint ? String(value.value) : refusal('d', typeNameOf(value));
}

function showFloat(clause: 'f' | 'e', value: Value, format: (number: number) => string): string | EvaluationError {
  if (value instanceof Double) return format(value.value);
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return format(parseDouble(value)!);
  return refusal(clause, typeNameOf(value));
}

// cel-go prints numbers in US English: groups of three digits, an infinity sign and a multiplication sign.
function fixedPoint(number: number, precision: number): string {
  if (Number.isNaN(number)) return 'NaN';
  if (!Number.isFinite(number)) return number > 0 ? '∞' : '-∞';
  const [whole, fraction] = exactFixed(number, precision).split('.') as [string, string?];
  const grouped = withThousandsSeparators(whole);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function withThousandsSeparators(whole: string): string {
  const sign = whole.startsWith('-') ? '-' : '';
  const digits = whole.slice(sign.length);
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return sign + groups.join(',');
}

function scientific(number: number, precision: number): string {
  if (Number.isNaN(number)) return 'NaN'.padStart(precision);
  if (!Number.isFinite(number)) return (number > 0 ? '∞' : '-∞').padStart(precision);
  // cel-go treats the precision as a width, so six digits are always shown.
  const [mantissa, exponentText] = number.toExponential(6).split('e') as [string, string];
  const exponent = Number(exponentText);
  const sign = exponent < 0 ? '-' : '';
  const superscript = [...String(Math.abs(exponent)).padStart(2, '0')].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]);
  return `${mantissa}×10${sign && '⁻'}${superscript.join('')}`.padStart(precision);
}

/**
 * Formats a number with `precision` digits after the point, halves rounded to even. `toFixed` rounds them up, and is
 * limited to 1e21 and 100 digits.
 */
function exactFixed(number: number, precision: number): string {
  if (Math.abs(number) >= 1e21)
    return precision === 0 ? `${BigInt(number)}` : `${BigInt(number)}.${'0'.repeat(precision)}`;
  const exact = number.toFixed(100);
  if (precision >= 100) return exact.padEnd(exact.length - 100 + precision, '0');
  const rounded = number.toFixed(precision);
  const cut = exact.length - 100 + precision;
  const isHalf = /^50*$/.test(exact.slice(cut));
  const down = precision === 0 ? exact.slice(0, cut - 1) : exact.slice(0, cut);
  return isHalf && Number(down.at(-1)) % 2 === 0 ? down : rounded;
}

function showInteger(clause: Clause, value: Value, radix: number): string | EvaluationError {
  if (isInt(value)) return value.toString(radix);
  return value instanceof Uint ? value.value.toString(radix) : refusal(clause, typeNameOf(value));
}

function showHex(clause: 'x' | 'X', value: Value): string | EvaluationError {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return showInteger(clause, value, 16);
}

function showList(list: ListValue): string | EvaluationError {
  const shown: string[] = [];
  for (const value of list) {
    const text = showNested(value);
    if (text instanceof EvaluationError) return text;
    shown.push(text);
  }
  return `[${shown.join(', ')}]`;
}

function showMap(map: MapValue): string | EvaluationError {
  const shown: [string, string][] = [];
  for (const [key, value] of map.entries()) {
    if (key instanceof Double || key === null) {
      return new EvaluationError(`no formatting function for map key of type ${typeNameOf(key)}`);
    }
    const keyText = showNested(key);
    if (keyText instanceof EvaluationError) return keyText;
    const valueText = showNested(value);
    if (valueText instanceof EvaluationError) return valueText;
    shown.push([keyText, valueText]);
  }
  const sorted = shown.toSorted(([a], [b]) => compareStrings(a, b));
  return `{${sorted.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

/** Formats a value inside of a list or map as a CEL literal. */
function showNested(value: Value): string | EvaluationError {
  if (typeof value === 'string') return quote(value);
  if (value instanceof Double) {
    if (Number.isFinite(value.value)) return exactFixed(value.value, defaultPrecision);
    return Number.isNaN(value.value) ? '"NaN"' : value.value > 0 ? '"+Inf"' : '"-Inf"';
  }
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatDuration(value)}")`;
  if (value instanceof ListValue) return showList(value);
  if (value instanceof MapValue) return showMap(value);
  if (value instanceof Uint8Array) {
    const text = showString(value);
    return typeof text === 'string' ? `b${quote(text)}` : text;
  }
  if (value instanceof Uint || isInt(value)) return showDecimal(value);
  if (value === null || typeof value === 'boolean' || value instanceof TypeValue) return showString(value);
  return new EvaluationError(`no formatting function for ${typeNameOf(value)}`);
}
