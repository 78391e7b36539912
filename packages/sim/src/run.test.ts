import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run } from './run.ts';

test('a world holds, and is the same each time', async () => {
  const first = await run({ seed: 'held', minutes: 1 });
  assert.equal(first.failure, undefined);
  assert.ok(first.revisions > 200);
  const second = await run({ seed: 'held', minutes: 1 });
  assert.equal(second.trace, first.trace);
  const other = await run({ seed: 'other', minutes: 1 });
  assert.notEqual(other.trace, first.trace);
});

test('a cluster whose machine loses power for good is never at rest', async () => {
  const forever = { kind: 'loses power', target: 'node-1', atMs: 1000, lastsMs: 40 * 60_000 } as const;
  const { failure } = await run({ seed: 'dark', minutes: 1, faults: [forever], patienceMinutes: 2 });
  assert.equal(failure?.invariant, 'everything comes to rest');
});
