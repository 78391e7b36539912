/** Chance, handed in by the entry point, so that a run can be repeated from its seed. */

/** A source of chance. */
export type Random = {
  /** A number from 0 up to, not including, 1. */
  next(): number;
};

/** A source that gives the same numbers for the same seed: sfc32, 128 bits of state, good and fast. */
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
  // The state starts out close to the seed; a few rounds carry every bit of it everywhere.
  for (let round = 0; round < 12; round++) random.next();
  return random;
}

/** Three words that differ in about half of their bits for seeds that differ in one (murmur3's mixing). */
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

/** A whole number from 0 up to, not including, `limit`. */
export function randomInteger(random: Random, limit: number): number {
  return Math.floor(random.next() * limit);
}

/** One of the items, which must not be empty. */
export function pick<T>(random: Random, items: readonly T[]): T {
  const index = randomInteger(random, items.length);
  if (index >= items.length) throw new RangeError('there is nothing to pick from');
  return items[index] as T;
}

/** The items in any order, each as likely as the next. */
export function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const shuffled = [...items];
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = randomInteger(random, index + 1);
    [shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T];
  }
  return shuffled;
}

/** A duration stretched by up to `factor` of itself, so that many waits begun together do not end together. */
export function jitter(random: Random, durationMs: number, factor: number): number {
  return durationMs * (1 + random.next() * factor);
}
