import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticking, virtualClock } from '@kruise/values/virtual-clock';
import { createBudget, EndlessWorldError } from './endless.ts';
import { overtakenDisk } from './mutants/disks.ts';
import { run } from './run.ts';

test('a timer that sets itself again without a delay ends a world', async () => {
  const budget = createBudget(ticking(), () => clock.now());
  const clock = virtualClock(0, budget.settle);
  const again = () => void clock.setTimer(0, again);
  again();
  await assert.rejects(clock.advanceAsync(1), EndlessWorldError);
});

test('a world in which the store refuses all updates is a finding, with its seed', async () => {
  const { seed, failure } = await run({ seed: 'refused', minutes: 0.2, parts: { createDisk: overtakenDisk } });
  assert.equal(seed, 'refused');
  assert.equal(failure?.invariant, 'a world comes to its end');
  assert.match(failure.why, /writes were attempted at one instant/);
});
