import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseYaml } from './yaml-text.ts';
import { formatYaml } from './yaml-write.ts';

test('keys are sorted, and lists are not indented below their key', () => {
  const text = formatYaml({ spec: { ports: [{ port: 80, name: 'a' }], empty: {} }, kind: 'Service' });
  assert.equal(text, 'kind: Service\nspec:\n  empty: {}\n  ports:\n  - name: a\n    port: 80\n');
});

test('strings that look like other types round-trip', () => {
  const values = {
    values: ['true', 'on', 'null', '~', '1', '1.5', '0o7', '2020-01-01', '=', '', ' a', 'a: b', '#x', 'é\n'],
  };
  assert.deepEqual(parseYaml(formatYaml(values)), values);
});

const cases: readonly [string, unknown, string][] = [
  ['a text that looks like a number is quoted', '1', '"1"\n'],
  ['so is one that looks like a time', '2020-01-01T00:00:00Z', '"2020-01-01T00:00:00Z"\n'],
  ['an empty text is quoted', '', '""\n'],
  ['a text with a colon and a space is in single quotes', "it's: so", "'it''s: so'\n"],
  ['a colon within a word needs none', 'a:b', 'a:b\n'],
  ['a text of several lines is a block', { a: 'x\ny\n' }, 'a: |\n  x\n  y\n'],
  ['a block without a last line end says so', { a: 'x\n\ny' }, 'a: |-\n  x\n\n  y\n'],
  ['a tab is escaped', 'a\tb', '"a\\tb"\n'],
  ['lists in lists share a line', [[1, 2], []], '- - 1\n  - 2\n- []\n'],
  ['numbers in keys count as numbers', { a10: 1, a2: 2, 'a-b': 3, ab: 4 }, 'a-b: 3\na2: 2\na10: 1\nab: 4\n'],
  ['floats are as Go prints them', [1.5, 1234567.5, 1e-7, 3e21], '- 1.5\n- 1.2345675e+06\n- 1e-07\n- 3e+21\n'],
];
for (const [name, value, expected] of cases) {
  test(name, () => assert.equal(formatYaml(value), expected));
}

test('a long string is folded at the first space beyond 80 columns', () => {
  const text = formatYaml({ description: `'${'word '.repeat(20)}end` });
  assert.equal(text, `description: '''${'word '.repeat(13)}word\n  ${'word '.repeat(6)}end'\n`);
});

test('every JSON value round-trips', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.parse(JSON.stringify(value));
      // Integers beyond the precision of JavaScript numbers are read as bigints.
      const read = JSON.stringify(parseYaml(formatYaml(json)), (_, each) =>
        typeof each === 'bigint' ? Number(each) : each,
      );
      assert.deepEqual(JSON.parse(read), json);
    }),
    { numRuns: 500 },
  );
});

test('every string round-trips', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...' \n\t:#-\'"\\ab1?,[]{}&*!|>%@`é~=<') }), (text) => {
      assert.equal((parseYaml(formatYaml({ text })) as { text: string }).text, text);
    }),
    { numRuns: 3000 },
  );
});
