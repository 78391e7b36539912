import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  escapeValue,
  formatFieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredField,
  transformFields,
} from './field-selector.ts';

const printed: readonly (readonly [string, string])[] = [
  ['', ''],
  ['b=2,a==1', 'a=1,b=2'],
  ['a!=1', 'a!=1'],
  ['a=', 'a='],
  [',a=1,,', 'a=1'],
  ['a=x\\,y\\=z\\\\', 'a=x\\,y\\=z\\\\'],
  ['!=', ''],
  ['=1', '=1'],
  ['a!b=1', 'a!b=1'],
];
for (const [text, expected] of printed) {
  test(`${JSON.stringify(text)} is printed ${JSON.stringify(expected)}`, () => {
    assert.equal(formatFieldSelector(parseFieldSelector(text)), expected);
  });
}

const refused: readonly (readonly [string, string])[] = [
  ['a', "invalid selector: 'a'; can't understand 'a'"],
  ['a=1,b', "invalid selector: 'a=1,b'; can't understand 'b'"],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
  ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ['a=\\😀', 'invalid field selector: invalid escape sequence: \\😀'],
];
for (const [text, message] of refused) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => parseFieldSelector(text), { name: 'ParseError', message });
  });
}

test('every term has to hold, and a field an object lacks is empty', () => {
  const matches = (text: string) =>
    matchesFields(parseFieldSelector(text), (field) => ({ phase: 'Running', node: '' })[field]);
  assert.equal(matches('phase=Running,node='), true);
  assert.equal(matches('phase!=Running'), false);
  assert.equal(matches('other='), true);
  assert.equal(matches('other!='), false);
});

test('a required value is that of an equality', () => {
  assert.equal(requiredField(parseFieldSelector('metadata.name=a\\,b,x!=1'), 'metadata.name'), 'a,b');
  assert.equal(requiredField(parseFieldSelector('x!=1'), 'x'), undefined);
});

test('fields are renamed, dropped or refused', () => {
  const renamed = transformFields(parseFieldSelector('spec.host=a,x=1'), (field, value) =>
    field === 'x' ? undefined : { field: 'spec.nodeName', value },
  );
  assert.equal(formatFieldSelector(renamed), 'spec.nodeName=a');
});

test('any value survives being escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('\\', ',', '=', 'a', '!', '😀') }), (value) => {
      assert.equal(requiredField(parseFieldSelector(`f=${escapeValue(value)}`), 'f'), value);
    }),
  );
});

test('a megabyte is read in linear time', () => {
  assert.throws(() => parseFieldSelector('a=\\'.repeat(300_000)), { name: 'ParseError' });
  assert.equal(parseFieldSelector('a=1,'.repeat(200_000)).terms.length, 200_000);
});
