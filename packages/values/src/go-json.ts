/**
 * JSON text as Go's `encoding/json` writes it. The API server's answers, and the bytes that revision hashes are taken
 * of, have to be the same to the byte.
 */
import { compareStrings } from './go-syntax.ts';

declare global {
  interface JSON {
    /** Not among the compiler's declarations yet. */
    rawJSON(text: string): unknown;
  }
}

// What Go writes otherwise than JavaScript does: characters it escapes for the sake of HTML and of old JavaScript, and
// lone surrogates. Numbers come out the same from both.
const mayDiffer = /[<>&\u2028\u2029]|\\ud[89a-f]/;
// An escape is matched whole, so that the `\ud800` in `\\ud800` is seen for the text it is.
const differing = /[<>&\u2028\u2029]|\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** The JSON text of a value, its keys in the order they have. Bigints are written as numbers. */
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

// A replacer makes `JSON.stringify` several times slower, so it is there only for values that cannot do without.
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
 * The JSON text of a value with the keys of every object sorted, as Go writes maps. Objects cannot be sorted by making
 * new ones: JavaScript puts keys such as `10` first, and by number.
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
