/**
 * A kubelet may be killed between any two calls and replaced by another: running containers keep running, and neither
 * their state nor their reported status moves backwards.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulateCrashingNode } from './crashing-node.ts';

const worlds = 50;

test(`no state moves backwards in ${worlds} simulations of crashing kubelets`, async () => {
  let crashes = 0;
  for (let number = 1; number <= worlds; number++) {
    const seed = `kubelet ${number}`;
    const { faults, crashCount } = await simulateCrashingNode(seed);
    assert.deepEqual(faults, [], `seed ${seed}`);
    crashes += crashCount;
  }
  // Without crashes the test would check nothing.
  assert.ok(crashes > 3 * worlds, `${crashes} crashes`);
});
