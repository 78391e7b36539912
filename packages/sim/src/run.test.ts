import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '@kruise/values/random';
import { run } from './run.ts';
import { drawSteps } from './scenario.ts';
import { workloads } from './workloads.ts';

const minutes = 1;

/** Returns the first seed whose users create every kind of workload. */
function fullSeed(): string {
  for (let number = 1; ; number++) {
    const seed = `full-${number}`;
    const made = drawSteps(seededRandom(`${seed} steps`), minutes * 60_000).filter(({ what }) =>
      /^creates /.test(what),
    );
    if (workloads.every(({ kind, name }) => made.some(({ what }) => what === `creates ${kind.kind} ${name}`)))
      return seed;
  }
}

test('a simulation with every workload has the same trace in two processes, whatever their environment and history', async () => {
  const seed = fullSeed();
  const code = `
    const { run } = await import(${JSON.stringify(new URL('./run.ts', import.meta.url).href)});
    await run({ seed: 'before', minutes: 0.2 });
    console.log((await run(${JSON.stringify({ seed, minutes })})).trace);
    process.exit();`;
  const elsewhere = { env: { ...process.env, TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8' } };
  const other = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], elsewhere);
  const { failure, trace, revisions } = await run({ seed, minutes });
  assert.equal(failure, undefined);
  assert.ok(revisions > 500);
  assert.equal((await other).stdout.trim(), trace);
});

test('another seed gives another simulation', async () => {
  const [one, other] = await Promise.all([run({ seed: 'one', minutes }), run({ seed: 'other', minutes })]);
  assert.notEqual(one.trace, other.trace);
});

test('a cluster with a machine that loses power permanently never converges', async () => {
  const forever = { kind: 'loses power', target: 'node-1', atMs: 1000, lastsMs: 40 * 60_000 } as const;
  const { failure } = await run({ seed: 'dark', minutes, faults: [forever], patienceMinutes: 2 });
  assert.equal(failure?.invariant, 'the cluster converges');
});
