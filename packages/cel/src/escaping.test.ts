import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { escapeIdentifier, unescapeIdentifier } from './escaping.ts';

const cases = [
  { property: 'plain', identifier: 'plain' },
  { property: 'namespace', identifier: '__namespace__' },
  { property: 'in', identifier: '__in__' },
  { property: 'a.b', identifier: 'a__dot__b' },
  { property: 'a-b/c', identifier: 'a__dash__b__slash__c' },
  { property: 'a__b', identifier: 'a__underscores__b' },
  { property: '_', identifier: '_' },
  { property: '1a', identifier: undefined },
  { property: '', identifier: undefined },
  { property: 'a b', identifier: undefined },
  { property: 'é', identifier: undefined },
];
for (const { property, identifier } of cases) {
  test(`the property ${JSON.stringify(property)} is escaped as ${identifier}`, () => {
    assert.equal(escapeIdentifier(property), identifier);
  });
}

test('unknown escapes are rejected', () => {
  assert.equal(unescapeIdentifier('a__nope__b'), undefined);
  assert.equal(unescapeIdentifier('a__in__b'), undefined);
});

test('escaped properties round-trip', () => {
  const property = fc.stringMatching(/^[a-zA-Z_./-][a-zA-Z0-9_./-]{0,12}$/);
  fc.assert(
    fc.property(property, (name) => {
      const identifier = escapeIdentifier(name)!;
      assert.match(identifier, /^[a-zA-Z_][a-zA-Z0-9_]*$/);
      // A sequence of underscores may be split in two ways, as in cel-go.
      if (!/_{3}|__(underscores|dot|dash|slash)|_[-./]|[-./]_/.test(name))
        assert.equal(unescapeIdentifier(identifier), name);
    }),
  );
});
