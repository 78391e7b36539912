import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCharacters, expand } from './expansion.ts';

const variables = new Map([
  ['A', 'one'],
  ['B', '$(A)'],
  ['', 'empty'],
]);
const resolve = (name: string) => variables.get(name);

const rows: readonly (readonly [text: string, expected: string])[] = [
  ['', ''],
  ['plain', 'plain'],
  ['$(A)', 'one'],
  ['a$(A)b$(A)c', 'aonebonec'],
  ['$(B)', '$(A)'],
  ['$(C)', '$(C)'],
  ['$()', 'empty'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$A', '$A'],
  ['$', '$'],
  ['$(A', '$(A'],
  ['$(A$$', '$(A$'],
  ['$x$(A)', '$xone'],
  ['$(A)$(', 'one$('],
];
for (const [text, expected] of rows) {
  test(`${JSON.stringify(text)} becomes ${JSON.stringify(expected)}`, () =>
    assert.equal(expand(text, resolve), expected));
}

test('references are expanded like a regular expression would', () => {
  const text = fc.array(fc.constantFrom('$', '(', ')', 'A', 'x'), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (each) => {
      const expected = each.replace(/\$(\$|\(([^)]*)\))/g, (whole, escaped: string, name: string | undefined) =>
        escaped === '$' ? '$' : (resolve(name ?? '') ?? whole),
      );
      assert.equal(expand(each, resolve), expected);
    }),
    { numRuns: 2000 },
  );
});

test('unclosed references take linear time', () => {
  const startedAt = process.threadCpuUsage();
  assert.equal(expand('$('.repeat(500_000), resolve).length, 1_000_000);
  const { user } = process.threadCpuUsage(startedAt);
  assert.ok(user < 1_000_000, `${user} µs`);
});

test('exponential expansion is bounded', () => {
  const grown = new Map([['V0', 'x'.repeat(1000)]]);
  assert.throws(() => {
    for (let index = 1; index < 40; index++) {
      const before = `$(V${index - 1})`;
      grown.set(
        `V${index}`,
        expand(before + before, (name) => grown.get(name)),
      );
    }
  }, /longer than 131072 characters/);
});

test('the arguments and environment of a process are bounded', () => {
  const count = countCharacters();
  for (let index = 0; index < 48; index++) count('x'.repeat(128 * 1024));
  assert.throws(() => count('x'), /argument list too long/);
});
