import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '@kruise/client/client';
import { formatTime } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { makePod } from '../fixtures.ts';
import { createTokens } from './tokens.ts';

const hour = 3600;

/** Returns the tokens of a server that grants every request, with a fixed random value. */
function tokensOf(chance: number) {
  const clock = virtualClock(0);
  const asked: unknown[] = [];
  const client = createClient({
    async request({ body }) {
      // The cast is safe: the client only requests tokens.
      const { spec } = body as { spec: { expirationSeconds: number } };
      asked.push(spec);
      const expirationTimestamp = formatTime(clock.now() + spec.expirationSeconds * 1000);
      return { code: 201, object: { status: { token: `token-${asked.length}`, expirationTimestamp } }, warnings: [] };
    },
    async *watch() {},
  });
  return { clock, asked, tokens: createTokens(client, clock, { next: () => chance }) };
}

const rows: readonly (readonly [name: string, expirationSeconds: number, chance: number, refreshSeconds: number])[] = [
  ['after 80 percent of its lifetime', hour, 0, 0.8 * hour],
  ['after 80 percent of its lifetime, at most ten seconds earlier', hour, 0.999_999, 0.8 * hour - 10],
  ['after a day at the latest', 100 * hour, 0, 24 * hour],
];
for (const [name, expirationSeconds, chance, refreshSeconds] of rows) {
  test(`a token is refreshed ${name}`, async () => {
    const { tokens } = tokensOf(chance);
    const { refreshAt } = await tokens.get(makePod(), { audience: '', expirationSeconds });
    assert.equal(Math.round(refreshAt / 1000), Math.round(refreshSeconds));
  });
}

test('a token belongs to one Pod and one audience', async () => {
  const { tokens, asked } = tokensOf(0);
  const pod = makePod({ serviceAccountName: 'bot' });
  await tokens.get(pod, { audience: 'vault', expirationSeconds: hour });
  assert.deepEqual(asked, [
    {
      audiences: ['vault'],
      expirationSeconds: hour,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'uid-1' },
    },
  ]);
});

test('a token is cached until its refresh time, and removed with its Pod', async () => {
  const { clock, tokens, asked } = tokensOf(0);
  const wish = { audience: '', expirationSeconds: hour };
  const first = await tokens.get(makePod(), wish);
  clock.advance(0.8 * hour * 1000 - 1);
  assert.equal(await tokens.get(makePod(), wish), first);
  clock.advance(1);
  assert.notEqual((await tokens.get(makePod(), wish)).text, first.text);
  tokens.remove('uid-1');
  await tokens.get(makePod(), wish);
  assert.equal(asked.length, 3);
});
