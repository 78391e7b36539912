import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { globMatches } from './glob.ts';

const rows: readonly (readonly [pattern: string, text: string, expected: boolean])[] = [
  ['registry', 'registry', true],
  ['registry', 'registry2', false],
  ['*', '', true],
  ['*', 'anything', true],
  ['a*c', 'abbbc', true],
  ['a*c', 'abbbd', false],
  ['*a*b*', 'xxaxxbxx', true],
  ['*a*b', 'ab-b', true],
  ['?', 'a', true],
  ['?', '', false],
  ['r[0-9]', 'r7', true],
  ['r[0-9]', 'rx', false],
  ['r[^0-9]', 'rx', true],
  ['r[abc]', 'rb', true],
  ['r\\*', 'r*', true],
  ['r\\*', 'rx', false],
  ['r[\\]]', 'r]', true],
  ['.', 'x', false],
  ['(', '(', true],
  ['[', '[', false],
  ['[]a]', 'a', false],
  ['[a-]', 'a', false],
  ['r\\', 'r\\', false],
];
for (const [pattern, text, expected] of rows) {
  test(`${pattern} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
    assert.equal(globMatches(pattern, text), expected);
  });
}

test('stars match like a regular expression', () => {
  const short = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 8 }).map((parts) => parts.join(''));
  const text = fc.array(fc.constantFrom('a', 'b'), { maxLength: 10 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(short, text, (pattern, found) => {
      assert.equal(globMatches(pattern, found), new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(found));
    }),
  );
});

test('a hostile pattern does not block the kubelet', () => {
  const host = `${'a'.repeat(62)}b`;
  const patterns = ['*a'.repeat(500_000), `${'*a'.repeat(30)}*c`, '*'.repeat(1_000_000), `[${'a'.repeat(1_000_000)}]`];
  const startedAt = process.threadCpuUsage();
  for (const pattern of patterns) globMatches(pattern, host);
  assert.ok(process.threadCpuUsage(startedAt).user < 1_000_000);
});
