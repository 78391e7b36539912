/** Go's `base64.StdEncoding`, which decides what a `[]byte` field of an object may be. */
import { ParseError } from './parse-error.ts';

/** Reads padded standard base64; line breaks are skipped. Throws `ParseError` with Go's text. */
export function decodeBase64(text: string): Uint8Array {
  const joined = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text;
  const bytes = Buffer.from(joined, 'base64');
  if (!isWhole(joined, bytes.length)) throw new ParseError(`illegal base64 data at input byte ${firstFault(text)}`);
  return bytes;
}

/** Writes padded standard base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** What a `[]byte` field reads back as after being stored: without line breaks, with unused bits cleared. */
export function canonicalBase64(text: string): string {
  return encodeBase64(decodeBase64(text));
}

// Node skips what is not base64, and stops at padding, so any of it shows in the length; that is far faster than a
// pattern over megabytes. What it takes beside the standard alphabet is the one for URLs.
function isWhole(text: string, decodedLength: number): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.length % 4 === 0 && decodedLength === (text.length / 4) * 3 - padding && !/[^+/-9A-Z=a-z]/.test(text);
}

const digit = /[A-Za-z0-9+/]/;

/** The index Go reports, which depends on how it reads: four digits at a time, then the padding. */
function firstFault(text: string): number {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '\n' || character === '\r') continue;
    if (digit.test(character)) digits = (digits + 1) % 4;
    else return character === '=' && digits >= 2 ? paddingFault(text, index, digits) : index;
  }
  return text.length - digits;
}

function paddingFault(text: string, index: number, digits: number): number {
  let next = skipLineBreaks(text, index + 1);
  if (digits === 2) {
    if (next === text.length) return next;
    if (text[next] !== '=') return next - 1;
    next = skipLineBreaks(text, next + 1);
  }
  return next;
}

function skipLineBreaks(text: string, index: number): number {
  while (text[index] === '\n' || text[index] === '\r') index++;
  return index;
}
