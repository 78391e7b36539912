import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFault } from './faults.ts';
import { run } from './run.ts';

// Fixed seeds, so that a run can be repeated; `npm run sim` uses new ones.
const seeds = [
  ...Array.from({ length: 12 }, (_, index) => `kept-${index + 1}`),
  // A DaemonSet closed and opened the readiness gate of a Pod whose lifecycle label was rejected.
  '4625b3c3bb3f-54',
  // A CloneSet created and deleted PVCs of Pods that a quota rejected.
  '3385a75333fe-64',
  // A SidecarSet whose status write was in backoff was reconciled again and again at one instant.
  't-91',
];

for (const seed of seeds) {
  test(`simulation ${seed} violates no invariant`, async () => {
    const { failure, faults } = await run({ seed, minutes: 1 });
    const how = `kruise sim --seed ${seed} --minutes 1\n${faults.map(describeFault).join('\n')}`;
    assert.equal(failure, undefined, `${failure?.invariant}: ${failure?.why}\n${how}`);
  });
}
