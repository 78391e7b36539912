/** Go's `base64.StdEncoding`, which defines the valid values of `[]byte` fields. */
import { ParseError } from './parse-error.ts';

/** Decodes padded standard base64; line breaks are ignored. Throws `ParseError` with the message of Go. */
export function decodeBase64(text: string): Uint8Array {
  const joined = /[\r\n]/.test(text) ? text.replace(/[\r\n]/g, '') : text;
  const bytes = Buffer.from(joined, 'base64');
  if (!isValid(joined, bytes.length)) throw new ParseError(`illegal base64 data at input byte ${firstFault(text)}`);
  return bytes;
}

/** Encodes bytes as padded standard base64. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** Returns the stored form of a `[]byte` field: without line breaks and with unused bits cleared. */
export function canonicalBase64(text: string): string {
  return encodeBase64(decodeBase64(text));
}

// Validates by length: Node skips invalid characters and stops at padding, so both show in the decoded length. This is
// far faster than a regular expression over megabytes. Node also accepts the URL-safe alphabet, which has to be
// rejected.
function isValid(text: string, decodedLength: number): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return text.length % 4 === 0 && decodedLength === (text.length / 4) * 3 - padding && !/[^+/-9A-Z=a-z]/.test(text);
}

const digit = /[A-Za-z0-9+/]/;

/**
 * Returns the byte offset in Go's error message. Go decodes four digits at a time and checks the padding afterwards.
 */
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
