/** Names of chains and sets in the kernel, which has a limit for their length. */
import { createHash } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Returns the first characters of the Base32 form of the SHA-256 hash of a text. */
export function shortHash(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest();
  let result = '';
  let bits = 0;
  let value = 0;
  for (const byte of digest) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5 && result.length < length) {
      bits -= 5;
      result += alphabet[(value >>> bits) & 31];
    }
    value &= (1 << bits) - 1;
    if (result.length === length) break;
  }
  return result;
}

/** Identifies the rules of a chain in a comment. */
export function digestOf(rules: readonly string[]): string {
  return shortHash(rules.join('\n'), 16);
}
