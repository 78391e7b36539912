/**
 * A kubelet may be killed between any two things it does, and another be started in its place: what ran runs on, and
 * neither what runs nor what is said of it goes back.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashingNode } from './crashing-node.ts';

const worlds = 50;

test(`in ${worlds} worlds in which kubelets crash, nothing goes back`, async () => {
  let crashes = 0;
  for (let number = 1; number <= worlds; number++) {
    const seed = `kubelet ${number}`;
    const { faults, crashCount } = await crashingNode(seed);
    assert.deepEqual(faults, [], `seed ${seed}`);
    crashes += crashCount;
  }
  // Were there none, nothing would have been tried.
  assert.ok(crashes > 3 * worlds, `${crashes} crashes`);
});
