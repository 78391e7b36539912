import { type Result, run } from '../run.ts';
import type { Mutant } from './mutant.ts';

/** Short simulations, because mutants show soon. */
const settings = { minutes: 1, patienceMinutes: 10 };

/** Runs the simulation of a seed with a mutant, and only with workloads that show the mutant. */
export function runMutant({ parts, about }: Mutant, seed: string): Promise<Result> {
  return run({ ...settings, seed, parts, ...(about ? { only: about } : {}) });
}

/** Detection of a mutant: the seed, the number of simulations it took, and the violated invariant. */
export type Finding = { readonly seed: string; readonly worlds: number; readonly caughtBy: string };

/** Runs simulations of seeds until one detects a mutant and passes without it. */
export async function searchMutant({ parts }: Mutant, seeds: Iterable<string>): Promise<Finding | undefined> {
  let worlds = 0;
  for (const seed of seeds) {
    worlds++;
    const { failure } = await run({ ...settings, seed, parts });
    if (!failure) continue;
    const sound = await run({ ...settings, seed });
    if (!sound.failure) return { seed, worlds, caughtBy: failure.invariant };
  }
  return undefined;
}
