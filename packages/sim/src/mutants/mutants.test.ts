import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutants } from './catalogue.ts';
import { runMutant } from './search.ts';

/**
 * Changes in the cluster change its simulations: where the recorded seed no longer detects a mutant, another one does.
 */
const spareSeeds = Array.from({ length: 60 }, (_, index) => `spare-${index + 1}`);

for (const mutant of mutants) {
  test(`a simulation detects that ${mutant.name}`, async () => {
    const found: string[] = [];
    for (const seed of [mutant.seed, ...spareSeeds]) {
      const { failure } = await runMutant(mutant, seed);
      if (failure?.invariant === mutant.caughtBy) return;
      found.push(failure?.invariant ?? 'nothing');
    }
    assert.fail(`not detected by any of ${found.length} simulations, which found ${[...new Set(found)].join('; ')}`);
  });
}
