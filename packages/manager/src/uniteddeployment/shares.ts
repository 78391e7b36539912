/** Replicas of a subset: a number of Pods, or a percentage of the total. */
import type { Subset } from '@kruise/api/kruise/uniteddeployment';
import { parseInteger } from '@kruise/values/go-integer';
import type { IntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';

/** Upper bound that no subset exceeds. */
export const unlimited = 2 ** 31 - 1;

/**
 * Resolves the replicas of a subset. A percentage refers to the total, and half a Pod rounds up. Throws `ParseError`.
 */
export function replicasOfShare(share: IntOrString, total: number | undefined): number {
  if (typeof share === 'number') {
    if (share < 0) throw new ParseError(`subset replicas (${share}) should not be less than 0`);
    return share;
  }
  if (total === undefined) {
    throw new ParseError(`subsetReplicas (${share}) should not be string when unitedDeployment replicas is empty`);
  }
  if (!share.endsWith('%')) {
    throw new ParseError(`subset replicas (${share}) only support integer value or percentage value with a suffix '%'`);
  }
  const percentage = wholeNumber(share);
  if (percentage > 100 || percentage < 0)
    throw new ParseError(`subset replicas (${share}) should be in range [0, 100]`);
  return Math.floor((total * percentage) / 100 + 0.5);
}

function wholeNumber(share: string): number {
  const text = share.slice(0, -1);
  const refused = (why: string) =>
    new ParseError(`subset replicas (${share}) should be correct percentage integer: ${why}`);
  try {
    const value = Number(parseInteger(text));
    if (value === (value | 0)) return value;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw refused(error.message.replace('strconv.Atoi', 'strconv.ParseInt'));
  }
  throw refused(`strconv.ParseInt: parsing "${text}": value out of range`);
}

/** Resolves the replicas of a subset; `absent` where undefined, 0 where invalid. */
function orElse(share: IntOrString | undefined, total: number, absent: number): number {
  if (share === undefined) return absent;
  try {
    return replicasOfShare(share, total);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return 0;
  }
}

/** Returns the minimum and the maximum replicas of a subset. An invalid value that passed admission counts as 0. */
export function boundsOf({ minReplicas, maxReplicas }: Subset, total: number): { min: number; max: number } {
  return { min: orElse(minReplicas, total, 0), max: orElse(maxReplicas, total, unlimited) };
}
