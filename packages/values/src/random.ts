/** Randomness as a dependency, so that a run can be repeated from its seed. */

/** A random number generator. */
export type Random = {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
};

/** Creates a deterministic generator from a seed: sfc32 with 128 bits of state. */
export function seededRandom(seed: number | string): Random {
  let [a, b, c] = spread(String(seed));
  let counter = 1;
  const random = {
    next(): number {
      const result = (((a + b) | 0) + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + result) | 0;
      return (result >>> 0) / 2 ** 32;
    },
  };
  // Warm-up: the initial state is close to the seed; a few rounds mix all bits.
  for (let round = 0; round < 12; round++) random.next();
  return random;
}

/**
 * Hashes the seed to three words (murmur3 finalizer): seeds that differ in one bit differ in about half of the bits.
 */
function spread(seed: string): [number, number, number] {
  let hash = 1779033703 ^ seed.length;
  for (let index = 0; index < seed.length; index++) {
    hash = Math.imul(hash ^ seed.charCodeAt(index), 3432918353);
    hash = (hash << 13) | (hash >>> 19);
  }
  const word = () => {
    hash = Math.imul(hash ^ (hash >>> 16), 2246822507);
    hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
    return (hash ^= hash >>> 16);
  };
  return [word(), word(), word()];
}

/** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
export function randomInteger(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}

/** Returns a random item of a non-empty list. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const index = randomInteger(random, items.length);
  if (index >= items.length) throw new RangeError('cannot pick from an empty list');
  return items[index] as T;
}

/** Returns the items in random order (uniform). */
export function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = randomInteger(random, index + 1);
    [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
  }
  return shuffled;
}

/** Returns a duration extended by up to `factor` of itself, so that timers that start together do not fire together. */
export function jitter(random: Random, durationMs: number, factor: number): number {
  return durationMs * (1 + random.next() * factor);
}
