import type { Random } from '@kruise/values/random';

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Returns a random UUID (RFC 4122, version 4). A uid distinguishes an object from earlier ones with the same name.
 *
 * ```ts
 * uuid(random); // 0c1f2b0e-8b55-4c4e-9d3e-5f6f0a6d2b11
 * ```
 */
export function uuid(random: Random): string {
  let text = '';
  for (let index = 0; index < 16; index++) {
    let byte = Math.floor(random.next() * 256);
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    if (index === 8) byte = (byte & 0x3f) | 0x80;
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-';
    text += hex[byte];
  }
  return text;
}
