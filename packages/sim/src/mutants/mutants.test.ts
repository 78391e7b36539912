import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mutants } from './catalogue.ts';
import { runMutant } from './search.ts';

/** What changes in the cluster changes its worlds: where the seed that is kept no longer shows a mutant, others do. */
const spareSeeds = Array.from({ length: 60 }, (_, index) => `spare-${index + 1}`);

for (const mutant of mutants) {
  test(`it is found out that ${mutant.name}`, async () => {
    const found: string[] = [];
    for (const seed of [mutant.seed, ...spareSeeds]) {
      const { failure } = await runMutant(mutant, seed);
      if (failure?.invariant === mutant.caughtBy) return;
      found.push(failure?.invariant ?? 'nothing');
    }
    assert.fail(`not by any of ${found.length} worlds, which found ${[...new Set(found)].join('; ')}`);
  });
}
