import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodUnavailableBudgetStatus, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { simulateBudget } from './budget-simulation.ts';
import { mutateDecision } from './mutants/mutant.ts';

for (const seed of ['budget-1', 'budget-2', 'budget-3', 'budget-4']) {
  test(`as many Pods as the budget of simulation ${seed} requires are always ready`, async () => {
    const { replicas, desired, minAvailable, disruptions } = await simulateBudget(seed);
    assert.ok(minAvailable >= desired, `${minAvailable} of ${replicas} were ready, and ${desired} must be`);
    assert.ok(disruptions > 5, `only ${disruptions} disruptions were admitted`);
  });
}

test('simulations detect a budget that allows one disruption too many', async () => {
  const generous = mutateDecision(podUnavailableBudget, (decision) => {
    // The budget controller reports the status of a budget.
    const status = decision.status as PodUnavailableBudgetStatus;
    return { ...decision, status: { ...status, unavailableAllowed: status.unavailableAllowed + 1 } };
  });
  const { desired, minAvailable } = await simulateBudget('budget-1', generous.control);
  assert.ok(minAvailable < desired, `${minAvailable} were ready, and ${desired} must be`);
});
