/** The units run-time costs and estimates are made of. */

import { ListValue, MapValue } from './collections.ts';
import type { ActualCost, CallShape, Cost, Range } from './functions.ts';
import { sizeOf } from './type-names.ts';
import type { Value } from './values.ts';

/** Going once through a string costs a tenth of its length. */
export const stringFactor = 0.1;
/** A regular expression costs a quarter of the length of its pattern, times the text. */
export const regexFactor = 0.25;

const maxCost = 2n ** 64n - 1n;

/** The size of what nothing is known of. */
export const unknownSize: Range = { min: 0n, max: maxCost };

/** A range of one amount. */
export const fixed = (amount: number | bigint): Range => ({ min: BigInt(amount), max: BigInt(amount) });

const saturate = (value: bigint): bigint => (value > maxCost ? maxCost : value);

/** The sum, at most 2^64 - 1. */
export const addRanges = (a: Range, b: Range): Range => ({
  min: saturate(a.min + b.min),
  max: saturate(a.max + b.max),
});

/** The product, at most 2^64 - 1. */
export const multiplyRanges = (a: Range, b: Range): Range => ({
  min: saturate(a.min * b.min),
  max: saturate(a.max * b.max),
});

/** The range that covers both. */
export const unite = (a: Range, b: Range): Range => ({ min: lesser(a.min, b.min), max: greater(a.max, b.max) });

/** `Math.min` does not take bigints. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function greater(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** A size times a price, rounded up, in floating point as the reference does it. */
export const scale = (range: Range, factor: number): Range => ({
  min: scaleOne(range.min, factor),
  max: scaleOne(range.max, factor),
});

function scaleOne(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= 2 ** 64 ? maxCost : BigInt(product);
}

/** A constant cost. */
export const constantCost = (amount: number): Cost => ({
  actual: () => amount,
  estimate: () => ({ cost: fixed(amount) }),
});

/** Going through the text of the argument at `index` so many times. */
export const traversal =
  (index: number, times = 1): ActualCost =>
  (args) =>
    Math.ceil(sizeOf(args[index]!) * times * stringFactor);

/** Matching a pattern against a text. The text counts one more, so that an empty one does not make a pattern free. */
export function regexCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * stringFactor) * Math.ceil(pattern * regexFactor);
}

/** The same before text and pattern are known. */
export const regexEstimate = (text: Range, pattern: Range): Range =>
  multiplyRanges(scale(addRanges(text, fixed(1)), stringFactor), scale(pattern, regexFactor));

/** The cost of looking at every part of a value once. */
function wholeTraversal(value: Value): number {
  if (typeof value === 'string') return Math.trunc(Buffer.byteLength(value) * stringFactor);
  if (value instanceof Uint8Array) return Math.trunc(value.length * stringFactor);
  let cost = 0;
  if (value instanceof ListValue) {
    for (const element of value) cost += wholeTraversal(element);
    return cost;
  }
  if (value instanceof MapValue) {
    for (const [key, entry] of value.entries()) cost += wholeTraversal(key) + wholeTraversal(entry);
    return cost;
  }
  return 1;
}

/** What functions that look at each element of a list once cost; or at each character of a string. */
export const eachElement: Cost = {
  actual: ([collection]) => wholeTraversal(collection!),
  estimate: ({ target }: CallShape) => {
    if (!target) return undefined;
    const { element } = target;
    if (!element) return { cost: scale(target.size, stringFactor) };
    const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
    const each = isText ? addRanges(fixed(1), scale(element.size, stringFactor)) : fixed(1);
    return { cost: multiplyRanges(target.size, each) };
  },
};

/** One pass over the argument at `index`; estimates count the last argument, as the reference does. */
export const onePass = (resultSize?: (size: Range) => Range): Cost => ({
  actual: traversal(0),
  estimate: ({ args }) => {
    const size = args[0]!.size;
    return { cost: scale(size, stringFactor), ...(resultSize && { resultSize: resultSize(size) }) };
  },
});
