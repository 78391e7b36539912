/**
 * JSON of requests. `JSON.parse` parses it. A scan of the bytes, at a fraction of the cost of parsing, finds what
 * `JSON.parse` cannot report: integers beyond 2^53, duplicate keys, `1.0` in place of an integer, and the nesting
 * depth. Only a text with such a finding is parsed a second time, exactly.
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

/** Findings of a scan of a JSON text. */
export type JsonScan = {
  /** Number of members of all objects, duplicates counted each time. */
  readonly memberCount: number;
  readonly depth: number;
  /** A number has a fraction or an exponent. */
  readonly hasFraction: boolean;
  /** A number has so many digits that JavaScript may have rounded it, or an exponent so large that it is infinite. */
  readonly hasLongNumber: boolean;
  /** A string has an escaped surrogate, possibly an unpaired one. */
  readonly hasSurrogate: boolean;
};

/** A JSON text with the value of `JSON.parse` and the findings of the scan. */
export type ScannedJson = { readonly bytes: Uint8Array; readonly value: unknown; readonly scan: JsonScan };

/**
 * Parses a JSON text; large integers are bigints. Throws `JsonSyntaxError` with Go's message.
 *
 * ```ts
 * parseJson('{"replicas":3}'); // { replicas: 3 }
 * ```
 */
export function parseJson(input: Uint8Array | string): unknown {
  return exactValue(scanJson(input));
}

/** Returns the value of a scanned text with exact numbers and well-formed strings. */
export function exactValue({ bytes, value, scan }: ScannedJson): unknown {
  return scan.hasLongNumber || scan.hasSurrogate ? plainValue(readJsonDocument(bytes)) : value;
}

/** Parses and scans a JSON text. Throws `JsonSyntaxError` with Go's message. */
export function scanJson(input: Uint8Array | string): ScannedJson {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const value = parsePlainly(bytes);
  const scan = scanBytes(bytes);
  // The exact parser throws the error with Go's message.
  if (scan.depth > maxNesting) readJsonDocument(bytes);
  return { bytes, value, scan };
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

/** Returns the paths of duplicate keys: `spec.replicas`. Cheap if there are none. */
export function findDuplicateKeys({ bytes, value, scan }: ScannedJson): readonly string[] {
  return countMembers(value) === scan.memberCount ? [] : duplicateKeys(readJsonDocument(bytes));
}

/** Counts the members of all objects of a value. */
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

/** Scans a text that is known to be JSON. */
export function scanBytes(bytes: Uint8Array): JsonScan {
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

/** Returns whether the digits at a position are an exponent. */
function isExponent(bytes: Uint8Array, start: number): boolean {
  const before = bytes[start - 1];
  const letter = before === 0x2b || before === 0x2d ? bytes[start - 2] : before;
  return letter === 0x65 || letter === 0x45;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
