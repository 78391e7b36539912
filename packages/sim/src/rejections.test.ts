import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { seededRandom } from '@kruise/values/random';
import { drawRejections, permanentMs, type Rejection } from './rejections.ts';
import { run } from './run.ts';

const kinds = [
  'is refused by validation',
  'is refused by a policy',
  'is forbidden by a policy',
  'is denied by a webhook',
  'waits for a webhook that is down',
  'exceeds a quota',
] as const;

/** The first Pods are created a moment after the Deployment, which is created within five seconds. */
const early = { target: 'the creation of Pods', atMs: 0 } as const;

for (const kind of kinds) {
  test(`Pods whose creation ${kind} for a while are created afterwards`, async () => {
    const lines: string[] = [];
    const refusal: Rejection = { ...early, kind, lastsMs: 30_000 };
    const { failure } = await run({
      seed: 'refused-3',
      minutes: 0.2,
      only: deployment,
      faults: [refusal],
      onLine: (line) => lines.push(line),
    });
    assert.equal(failure, undefined, `${failure?.invariant}: ${failure?.why}`);
    const created = lines.flatMap((line) => /^([\d.]+) put \/registry\/pods\//.exec(line)?.[1] ?? []).map(Number);
    // A quota of two Pods admits the first.
    const first = kind === 'exceeds a quota' ? created.at(-1) : created[0];
    assert.ok(first !== undefined && first >= 30, `a Pod was created after ${first} s`);
  });
}

test('some simulations have rejections: of one request, for a while or permanent', () => {
  const drawn = Array.from({ length: 200 }, (_, index) =>
    drawRejections(seededRandom(`refusals ${index}`), 60_000, 60_000),
  );
  const all = drawn.flat();
  assert.ok(drawn.some(({ length }) => length === 0));
  assert.ok(all.some(({ lastsMs }) => lastsMs === permanentMs));
  assert.ok(all.some(({ lastsMs }) => lastsMs === 500));
  assert.ok(all.some(({ lastsMs }) => lastsMs > 500 && lastsMs < permanentMs));
  assert.deepEqual([...new Set(all.map(({ kind }) => kind))].sort(), [...kinds].sort());
});
