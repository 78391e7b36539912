/**
 * JSON encoding of Go's `encoding/json`. Responses of the API server and the input of revision hashes must be identical
 * byte for byte.
 */
import { compareStrings } from './go-syntax.ts';

declare global {
  interface JSON {
    /** `JSON.rawJSON` is not in the declarations of the compiler yet. */
    rawJSON(text: string): unknown;
  }
}

// Characters that Go encodes differently: characters that it escapes for HTML and JavaScript, and lone surrogates.
// Numbers are encoded identically.
const mayDiffer = /[<>&\u2028\u2029]|\\ud[89a-f]/;
// Matches an escape sequence as a whole, so that `\ud800` in `\\ud800` is treated as text.
const differing = /[<>&\u2028\u2029]|\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** Encodes a value as JSON with its keys in their order. Bigints are encoded as numbers. */
export function stringify(value: unknown): string {
  return rewrite(stringifyPlain(value));
}

function rewrite(text: string): string {
  return mayDiffer.test(text) ? text.replace(differing, asGoWrites) : text;
}

function asGoWrites(match: string): string {
  if (match.length === 1) return `\\u${match.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return match.length === 6 ? '\\ufffd' : match;
}

// A replacer makes `JSON.stringify` several times slower, so it is used only for values that need one.
function stringifyPlain(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, writeBigint) ?? 'null';
  }
}

function writeBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}

/**
 * Encodes a value as JSON with sorted keys, as Go encodes maps. Creating sorted objects would not work: JavaScript
 * orders integer-like keys such as `10` first.
 */
export function stringifySorted(value: unknown): string {
  return rewrite(sorted(value));
}

function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return stringifyPlain(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '' : ',') + sorted(item);
    return `[${text}]`;
  }
  for (const key of Object.keys(value).sort(compareStrings)) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${sorted(member)}`;
  }
  return `{${text}}`;
}
