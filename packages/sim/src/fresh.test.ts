import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { told } from './faults.ts';
import { run } from './run.ts';

const worlds = 16;

/** Every commit has worlds of its own, which are the same wherever it is tested. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'no-commit';
  }
}

test('new worlds hold', async (context) => {
  const base = commit();
  for (let number = 1; number <= worlds; number++) {
    const seed = `${base}-${number}`;
    const { failure, faults } = await run({ seed, minutes: 1 });
    context.diagnostic(`world ${seed}: ${faults.length} faults`);
    const how = `kruise sim --seed ${seed} --minutes 1\n${faults.map(told).join('\n')}`;
    assert.equal(failure, undefined, `${failure?.invariant}: ${failure?.why}\n${how}`);
  }
});
