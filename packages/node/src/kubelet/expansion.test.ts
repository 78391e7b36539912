import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expand } from './expansion.ts';

const resolve = (name: string) => ({ A: 'a', EMPTY: '', NESTED: '$(A)' })[name];

const cases = [
  { text: 'plain', expanded: 'plain' },
  { text: '$(A)-$(A)', expanded: 'a-a' },
  { text: 'x$(EMPTY)y', expanded: 'xy' },
  { text: '$(UNKNOWN)', expanded: '$(UNKNOWN)' },
  { text: '$$(A)', expanded: '$(A)' },
  { text: '$$$(A)', expanded: '$a' },
  { text: '$(NESTED)', expanded: '$(A)' },
  { text: '$(A', expanded: '$(A' },
  { text: '$(A $$', expanded: '$(A $' },
  { text: 'cost: 5$', expanded: 'cost: 5$' },
];
for (const { text, expanded } of cases) {
  test(`${text} expands to ${expanded}`, () => assert.equal(expand(text, resolve), expanded));
}

test('an expansion is what a pattern replaces', () => {
  const byPattern = (text: string) =>
    text.replace(/\$(\$|\(([^)]*)\))/g, (whole, escaped: string, name: string | undefined) =>
      escaped === '$' ? '$' : (resolve(name ?? '') ?? whole),
    );
  fc.assert(
    fc.property(fc.array(fc.constantFrom('$', '(', ')', 'A', 'B', '$(A)'), { maxLength: 10 }), (parts) => {
      const text = parts.join('');
      assert.equal(expand(text, resolve), byPattern(text));
    }),
    { numRuns: 5000 },
  );
});
