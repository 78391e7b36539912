import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTickSettle, virtualClock } from '@kruise/values/virtual-clock';
import { conflictingDisk } from './mutants/disks.ts';
import { run } from './run.ts';
import { createBudget, EndlessSimulationError } from './step-budget.ts';
import type { Program } from './world.ts';

test('a timer that sets itself again without a delay ends a simulation', async () => {
  const budget = createBudget(createTickSettle(), () => clock.now());
  const clock = virtualClock(0, budget.settle);
  const again = () => void clock.setTimer(0, again);
  again();
  await assert.rejects(clock.advanceAsync(1), EndlessSimulationError);
});

test('a simulation in which the store rejects all updates fails with its seed', async () => {
  const { seed, failure } = await run({ seed: 'refused', minutes: 0.2, parts: { createDisk: conflictingDisk } });
  assert.equal(seed, 'refused');
  assert.equal(failure?.invariant, 'a simulation terminates');
  assert.match(failure.why, /writes were attempted at one instant/);
});

test('a simulation in which a process loops without a wait fails with its seed', async () => {
  const spinning: Program = {
    name: 'spinning',
    async run({ life }) {
      // An endless loop would not even let the test time out.
      for (let reads = 0; reads < 10_000_000; reads++) await Promise.resolve(life.clock.elapsedMs());
    },
  };
  const programs = (usual: readonly Program[]) => [...usual, spinning];
  const { failure } = await run({ seed: 'spinning', minutes: 0.2, faults: [], parts: { programs } });
  assert.equal(failure?.invariant, 'a simulation terminates');
  assert.match(failure.why, /^the clock was read 1000001 times at one instant/);
});
