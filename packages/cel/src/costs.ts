/** Units of run-time costs and estimates. */

import { ListValue, MapValue } from './collections.ts';
import type { ActualCost, CallShape, Cost, Range } from './functions.ts';
import { sizeOf } from './type-names.ts';
import type { Value } from './values.ts';

/** Cost factor of traversing a string: a tenth of its length. */
export const stringFactor = 0.1;
/** Cost factor of a regular expression: a quarter of the length of its pattern, times the text. */
export const regexFactor = 0.25;

const maxCost = 2n ** 64n - 1n;

/** Size of a value of unknown size. */
export const unknownSize: Range = { min: 0n, max: maxCost };

/** Returns a range of one amount. */
export const fixed = (amount: number | bigint): Range => ({ min: BigInt(amount), max: BigInt(amount) });

const saturate = (value: bigint): bigint => (value > maxCost ? maxCost : value);

/** Returns the sum, at most 2^64 - 1. */
export const addRanges = (a: Range, b: Range): Range => ({
  min: saturate(a.min + b.min),
  max: saturate(a.max + b.max),
});

/** Returns the product, at most 2^64 - 1. */
export const multiplyRanges = (a: Range, b: Range): Range => ({
  min: saturate(a.min * b.min),
  max: saturate(a.max * b.max),
});

/** Returns the range that covers both. */
export const unite = (a: Range, b: Range): Range => ({ min: lesser(a.min, b.min), max: greater(a.max, b.max) });

/** Returns the minimum of two bigints, which `Math.min` does not accept. */
export function lesser(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

function greater(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}

/** Returns a size times a factor, rounded up, in floating point as in cel-go. */
export const scale = (range: Range, factor: number): Range => ({
  min: scaleOne(range.min, factor),
  max: scaleOne(range.max, factor),
});

function scaleOne(value: bigint, factor: number): bigint {
  const product = Math.ceil(Number(value) * factor);
  return product >= 2 ** 64 ? maxCost : BigInt(product);
}

/** Returns a constant cost. */
export const constantCost = (amount: number): Cost => ({
  actual: () => amount,
  estimate: () => ({ cost: fixed(amount) }),
});

/** Returns the cost of traversing the text of the argument at `index`. */
export const traversal =
  (index: number, times = 1): ActualCost =>
  (args) =>
    Math.ceil(sizeOf(args[index]!) * times * stringFactor);

/**
 * Returns the cost of matching a pattern against a text. The text counts one more, so that an empty text does not make
 * a pattern free.
 */
export function regexCost(text: number, pattern: number): number {
  return Math.ceil((1 + text) * stringFactor) * Math.ceil(pattern * regexFactor);
}

/** Estimates the cost of matching a pattern against a text. */
export const regexEstimate = (text: Range, pattern: Range): Range =>
  multiplyRanges(scale(addRanges(text, fixed(1)), stringFactor), scale(pattern, regexFactor));

/** Returns the cost of visiting every part of a value once. */
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

/** Cost of functions that visit each element of a list, or each character of a string, once. */
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

/** Returns the cost of one pass over the argument at `index`; estimates use the last argument, as in cel-go. */
export const onePass = (resultSize?: (size: Range) => Range): Cost => ({
  actual: traversal(0),
  estimate: ({ args }) => {
    const size = args[0]!.size;
    return { cost: scale(size, stringFactor), ...(resultSize && { resultSize: resultSize(size) }) };
  },
});
