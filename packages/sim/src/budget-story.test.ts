import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodUnavailableBudgetStatus, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { playBudget } from './budget-story.ts';
import { deciding } from './mutants/mutant.ts';

for (const seed of ['budget-1', 'budget-2', 'budget-3', 'budget-4']) {
  test(`as many Pods as the budget of simulation ${seed} requires are always ready`, async () => {
    const { replicas, desired, least, taken } = await playBudget(seed);
    assert.ok(least >= desired, `${least} of ${replicas} were ready, and ${desired} must be`);
    assert.ok(taken > 5, `only ${taken} disruptions were admitted`);
  });
}

test('simulations detect a budget that allows one disruption too many', async () => {
  const generous = deciding(podUnavailableBudget, (decision) => {
    // The budget controller reports the status of a budget.
    const status = decision.status as PodUnavailableBudgetStatus;
    return { ...decision, status: { ...status, unavailableAllowed: status.unavailableAllowed + 1 } };
  });
  const { desired, least } = await playBudget('budget-1', generous.control);
  assert.ok(least < desired, `${least} were ready, and ${desired} must be`);
});
