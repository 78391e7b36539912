import assert from 'node:assert/strict';
import { test } from 'node:test';
import { staticTokens } from './static-tokens.ts';

test('a line has a token, a user, a uid and groups', () => {
  const tokens = staticTokens('secret1,ann,u1,"team-a,team-b"\n\nsecret2,bob,u2\r\n');
  assert.deepEqual(tokens.authenticate('secret1', []), {
    user: { username: 'ann', uid: 'u1', groups: ['team-a', 'team-b'] },
  });
  assert.deepEqual(tokens.authenticate('secret2', []), { user: { username: 'bob', uid: 'u2', groups: [] } });
  assert.equal(tokens.authenticate('secret3', []), undefined);
});

test('a line without a user is rejected with its number', () => {
  assert.throws(() => staticTokens('a,b,c\n,\n'), /line 2/);
});
