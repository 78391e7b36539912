import { type Result, run } from '../run.ts';
import type { Mutant } from './mutant.ts';

/** Short worlds: what is broken shows soon. */
const settings = { minutes: 1, patienceMinutes: 10 };

/** Runs the world of a seed with a mutant in it, and those workloads alone that show it. */
export function runMutant({ parts, about }: Mutant, seed: string): Promise<Result> {
  return run({ ...settings, seed, parts, ...(about ? { only: about } : {}) });
}

/** How a mutant was found out: in which world, after how many, and by what. */
export type Finding = { readonly seed: string; readonly worlds: number; readonly caughtBy: string };

/** Runs worlds with whatever their seeds say in them until one finds a mutant out, and holds without it. */
export async function findOut({ parts }: Mutant, seeds: Iterable<string>): Promise<Finding | undefined> {
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
