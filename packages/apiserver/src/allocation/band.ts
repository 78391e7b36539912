import { type Random, randomInteger } from '@kruise/values/random';

/**
 * The numbers below a size in the order they should be tried: at random, but those below `reserved` last, so that
 * whoever asks for a low number by name is likely to get it.
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

/** How many of the first numbers of a range are kept for those who ask for them by name. */
export function reservedBand(
  size: number,
  share: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  if (size <= bounds.min) return 0;
  return Math.min(Math.max(bounds.min, Math.floor(size / share)), bounds.max);
}
