import assert from 'node:assert/strict';
import { test } from 'node:test';
import { told } from './faults.ts';
import { run } from './run.ts';

/** How long new worlds are tried; one that has begun is brought to its end. */
const budgetMs = 15_000;

test('new worlds hold', async (context) => {
  const begun = performance.now();
  const base = Date.now().toString(36);
  for (let number = 1; performance.now() - begun < budgetMs; number++) {
    const seed = `${base}-${number}`;
    const { failure, faults } = await run({ seed, minutes: 1 });
    context.diagnostic(`world ${seed}: ${faults.length} faults`);
    const how = `kruise sim --seed ${seed} --minutes 1\n${faults.map(told).join('\n')}`;
    assert.equal(failure, undefined, `${failure?.invariant}: ${failure?.why}\n${how}`);
  }
});
