import { type Random, randomInteger } from '@kruise/values/random';
import { safeAlphabet } from './hash.ts';

const maxNameLength = 63;
const suffixLength = 5;

/**
 * Generates a name for `generateName`: the prefix, truncated to 58 characters, and five random characters.
 *
 * ```ts
 * generateName(random, 'web-'); // web-x7k2p
 * ```
 */
export function generateName(random: Random, base: string): string {
  return base.slice(0, maxNameLength - suffixLength) + randomSuffix(random, suffixLength);
}

/** Returns random characters that are safe in any name. */
export function randomSuffix(random: Random, length: number): string {
  let suffix = '';
  for (let index = 0; index < length; index++) suffix += safeAlphabet[randomInteger(random, safeAlphabet.length)];
  return suffix;
}
