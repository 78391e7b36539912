/**
 * The JSON of requests. `JSON.parse` reads it; what that cannot tell (integers beyond 2^53, keys that occur twice,
 * `1.0` where an integer belongs, how deep the text nests) a survey of the bytes finds out, at a fraction of the cost
 * of parsing. Only a text with something of the sort in it is read a second time, exactly.
 */
import {
  decodeText,
  duplicateKeys,
  JsonSyntaxError,
  maxNesting,
  plainValue,
  readJsonDocument,
} from './json-document.ts';

export { JsonSyntaxError } from './json-document.ts';

/** What a JSON text has in it, beside its value. */
export type JsonSurvey = {
  /** How many members its objects have, counting a repeated one each time. */
  readonly memberCount: number;
  readonly depth: number;
  /** A number has a fraction or an exponent. */
  readonly hasFraction: boolean;
  /** A number has so many digits that JavaScript may have rounded it, or so large an exponent that it is infinite. */
  readonly hasLongNumber: boolean;
  /** A text has an escaped surrogate, perhaps a lone one. */
  readonly hasSurrogate: boolean;
};

/** A JSON text, what `JSON.parse` makes of it, and what is to be known beside. */
export type ScannedJson = { readonly bytes: Uint8Array; readonly value: unknown; readonly survey: JsonSurvey };

/** The value of a JSON text; large integers are bigints. Throws `JsonSyntaxError` with Go's words. */
export function parseJson(input: Uint8Array | string): unknown {
  return exactValue(scanJson(input));
}

/** The value of a scanned text with every number exact and every text well-formed. */
export function exactValue({ bytes, value, survey }: ScannedJson): unknown {
  return survey.hasLongNumber || survey.hasSurrogate ? plainValue(readJsonDocument(bytes)) : value;
}

/** Parses a JSON text and looks it over. Throws `JsonSyntaxError` with Go's words. */
export function scanJson(input: Uint8Array | string): ScannedJson {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const value = parsePlainly(bytes);
  const survey = surveyJson(bytes);
  // Found too deep by the reader as well, which has the words for it.
  if (survey.depth > maxNesting) readJsonDocument(bytes);
  return { bytes, value, survey };
}

function parsePlainly(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decodeText(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    readJsonDocument(bytes);
    throw new JsonSyntaxError(error.message);
  }
}

/** The paths of keys that occur twice in one object: `spec.replicas`. Cheap where there are none. */
export function findDuplicateKeys({ bytes, value, survey }: ScannedJson): readonly string[] {
  return countMembers(value) === survey.memberCount ? [] : duplicateKeys(readJsonDocument(bytes));
}

/** How many members the objects of a value have. */
export function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countMembers(item);
    return count;
  }
  const object = value as Readonly<Record<string, unknown>>;
  for (const key in object) {
    count++;
    const member = object[key];
    if (typeof member === 'object') count += countMembers(member);
  }
  return count;
}

/** Looks over a text that is known to be JSON. */
export function surveyJson(bytes: Uint8Array): JsonSurvey {
  let memberCount = 0;
  let depth = 0;
  let deepest = 0;
  let hasFraction = false;
  let hasLongNumber = false;
  let hasSurrogate = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === 0x22) {
      for (at++; bytes[at] !== 0x22; at++) {
        if (bytes[at] !== 0x5c) continue;
        at++;
        if (bytes[at] === 0x75 && (bytes[at + 1]! | 0x20) === 0x64) hasSurrogate = true;
      }
    } else if (byte === 0x3a) memberCount++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte >= 0x30 && byte <= 0x39) {
      const start = at;
      while (isDigit(bytes[at + 1])) at++;
      if (at - start >= 15) hasLongNumber = true;
      const next = bytes[at + 1];
      if (next === 0x2e || next === 0x65 || next === 0x45) hasFraction = true;
      if (at - start >= 2 && isExponent(bytes, start)) hasLongNumber = true;
    }
  }
  return { memberCount, depth: deepest, hasFraction, hasLongNumber, hasSurrogate };
}

/** Whether the digits from here are an exponent. */
function isExponent(bytes: Uint8Array, start: number): boolean {
  const before = bytes[start - 1];
  const letter = before === 0x2b || before === 0x2d ? bytes[start - 2] : before;
  return letter === 0x65 || letter === 0x45;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
