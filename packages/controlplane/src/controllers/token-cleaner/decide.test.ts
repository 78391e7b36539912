import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Secret } from '@kruise/api/core/secret';
import { formatTime, instantOf } from '@kruise/values/time';
import fc from 'fast-check';
import { decide } from './decide.ts';

const now = instantOf(2026, 1, 1);
const tokenOf = (expiration?: string) =>
  ({
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    data: expiration === undefined ? {} : { expiration: Buffer.from(expiration).toString('base64') },
  }) as unknown as Secret;

const cases: readonly { name: string; token: Secret; comes: 'deleted' | 'kept' | number }[] = [
  { name: 'a token without an expiration is kept', token: tokenOf(), comes: 'kept' },
  { name: 'a token is kept until it expires', token: tokenOf('2026-01-01T00:01:00Z'), comes: 60 },
  { name: 'a token is deleted when it expires', token: tokenOf('2026-01-01T00:00:00Z'), comes: 'deleted' },
  { name: 'the expiration may be in any time zone', token: tokenOf('2026-01-01T01:00:30+01:00'), comes: 30 },
  { name: 'an unreadable expiration counts as expired', token: tokenOf('soon'), comes: 'deleted' },
];
for (const { name, token, comes } of cases) {
  test(name, () => {
    const { actions, requeueAfterSeconds } = decide(token, now);
    assert.equal(actions.length > 0 ? 'deleted' : (requeueAfterSeconds ?? 'kept'), comes);
  });
}

test('after the requeue delay, the token is expired', () => {
  fc.assert(
    fc.property(fc.integer({ min: -100, max: 100_000 }), (seconds) => {
      const token = tokenOf(formatTime(now + seconds * 1000));
      const { actions, requeueAfterSeconds = 0 } = decide(token, now);
      assert.equal(actions.length > 0, seconds <= 0);
      assert.equal(decide(token, now + requeueAfterSeconds * 1000).actions.length, 1);
    }),
  );
});
