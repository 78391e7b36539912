import type { Fault } from './faults.ts';
import type { Result } from './run.ts';

/**
 * Returns a minimal set of faults that violates the same invariant: each fault is left out in turn, and stays out if
 * the invariant is still violated.
 */
export async function shrink(failed: Result, again: (faults: readonly Fault[]) => Promise<Result>): Promise<Result> {
  let least = failed;
  for (let index = 0; index < least.faults.length; ) {
    const result = await again(least.faults.toSpliced(index, 1));
    if (result.failure?.invariant === failed.failure?.invariant) least = result;
    else index++;
  }
  return least;
}
