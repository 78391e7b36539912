import { type Random, randomInteger } from '@kruise/values/random';

/**
 * Yields the numbers below a size in random order, but those below `reserved` last, so that a request for a specific
 * low number is likely to succeed.
 */
export function* inRandomOrder(random: Random, size: number, reserved: number): Generator<number> {
  const low = Math.min(reserved, size);
  yield* around(random, low, size);
  yield* around(random, 0, low);
}

function* around(random: Random, from: number, to: number): Generator<number> {
  const count = to - from;
  if (count <= 0) return;
  const start = randomInteger(random, count);
  for (let step = 0; step < count; step++) yield from + ((start + step) % count);
}

/** Returns the size of the static band: the first numbers of a range, reserved for requests of a specific number. */
export function reservedBand(
  size: number,
  share: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  if (size <= bounds.min) return 0;
  return Math.min(Math.max(bounds.min, Math.floor(size / share)), bounds.max);
}
