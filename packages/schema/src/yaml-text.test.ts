import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml, parseYamlText, splitYamlDocuments, strictYamlError } from './yaml-text.ts';

const scalars: readonly (readonly [text: string, value: unknown])[] = [
  ...['y', 'yes', 'On', 'TRUE'].map((text) => [text, true] as const),
  ...['n', 'No', 'OFF', 'False'].map((text) => [text, false] as const),
  ...['', '~', 'null', 'NULL'].map((text) => [text, null] as const),
  ...['12:30:00', '2024-01-01', '2024-01-01T00:00:00Z', '1Gi', '0x', '0o8', '1.2.3', '_1', '-.', '1e999', '<<'].map(
    (text) => [text, text] as const,
  ),
  ['0644', 420],
  ['0o17', 15],
  ['08', 8],
  ['0x1F', 31],
  ['-0b11', -3],
  ['1_000', 1000],
  ['1e3', 1000],
  ['.5', 0.5],
  ['9223372036854775807', 9223372036854775807n],
  ['18446744073709551615', 18446744073709551615n],
  ['18446744073709551616', 2 ** 64],
  ['"1"', '1'],
  ["'yes'", 'yes'],
  ['!!str 12', '12'],
  ['!!int "12"', 12],
  ['!!float 3', 3],
  ['!!binary aGk=', 'hi'],
  ['!foo 12', '12'],
  ['! 12', '12'],
];
for (const [text, value] of scalars) {
  test(`${text || 'an empty scalar'} is parsed as in Go`, () =>
    assert.deepEqual(parseYaml(`a: ${text}\n`), { a: value }));
}

const documents: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['turns keys into text', '1: a\ntrue: b\n1.5: c\n', { 1: 'a', '1.5': 'c', true: 'b' }],
  [
    'lets a later key override what is merged in',
    'b: &b {x: 1, z: 2}\nc:\n  <<: *b\n  x: 3\n',
    { b: { x: 1, z: 2 }, c: { x: 3, z: 2 } },
  ],
  [
    'lets the first of several merged maps win',
    'a: &a {p: 1}\nb: &b {p: 2, q: 3}\nc: {<<: [*a, *b]}\n',
    { a: { p: 1 }, b: { p: 2, q: 3 }, c: { p: 1, q: 3 } },
  ],
  ['reads the first document only', 'a: 1\n---\nb: 2\n', { a: 1 }],
  ['reads JSON', '{"a": [true, null]}', { a: [true, null] }],
  ['takes the last of equal keys', 'a: 1\na: 2\n', { a: 2 }],
  ['finds nothing in nothing', '# comment\n', null],
];
for (const [name, text, value] of documents) {
  test(name, () => assert.deepEqual(parseYaml(text), value));
}

test('objects are sorted by key', () => {
  assert.deepEqual(Object.keys(parseYaml('c: 1\na: 2\nb: 3\n') as object), ['a', 'b', 'c']);
});

test('each duplicate is reported with its line and key', () => {
  const { duplicates } = parseYamlText('x:\n  foo: 1\n  bar:\n    - a\n  foo:\n    - b\n1: a\n1: |\n  text\n');
  assert.equal(
    strictYamlError(duplicates),
    'yaml: unmarshal errors:\n  line 6: key "foo" already set in map\n  line 8: key 1 already set in map',
  );
});

const failures: readonly (readonly [text: string, message: string])[] = [
  ['a: *x\n', "yaml: unknown anchor 'x' referenced"],
  ['a: &a\n  b: *a\n', "yaml: anchor 'a' value contains itself"],
  ['c: {<<: 5}\n', 'yaml: map merge requires map or sequence of maps as the value'],
  ['a: !!int abc\n', 'yaml: cannot decode !!str `abc` as a !!int'],
  ['a: .nan\n', 'json: unsupported value: NaN'],
  ['a: b: c\n', 'yaml: mapping values are not allowed in this context'],
  ['a:\n\t- b\n', 'yaml: line 2: found character that cannot start any token'],
];
for (const [text, message] of failures) {
  test(`${JSON.stringify(text)} is rejected`, () => {
    assert.throws(() => parseYaml(text), { name: 'YamlError', message });
  });
}

test('a text with exponential aliases is rejected', () => {
  const levels = [...'bcdefghi'].map((name, index) => {
    const items = Array(9).fill(`*${'abcdefgh'[index]}`);
    return `${name}: &${name} [${items.join(',')}]`;
  });
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${levels.join('\n')}\n`;
  assert.throws(() => parseYaml(bomb), { message: 'yaml: document contains excessive aliasing' });
});

test('a text that is nested too deeply is rejected', () => {
  assert.throws(() => parseYaml('['.repeat(100_000)), { name: 'YamlError' });
});

test('a key named __proto__ is an ordinary key', () => {
  const value = parseYaml('__proto__: {polluted: 1}\n') as object;
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.equal('polluted' in {}, false);
});

test('a manifest is split at lines of three dashes', () => {
  assert.deepEqual(splitYamlDocuments('---\na: 1\n--- # next\nb: 2\n---\n').map(parseYaml), [{ a: 1 }, { b: 2 }]);
  assert.throws(() => splitYamlDocuments('a: 1\n--- b\n'), { message: 'invalid Yaml document separator: b' });
});

const unfinishedTexts: readonly (readonly [text: string, message: string])[] = [
  ['a: [1', "yaml: line 1: did not find expected ',' or ']'"],
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['a: [1,', 'yaml: line 1: did not find expected node content'],
  ['a: {b: 1', "yaml: line 1: did not find expected ',' or '}'"],
  ['a: {b:', 'yaml: line 1: did not find expected node content'],
];
for (const [text, message] of unfinishedTexts) {
  test(`${JSON.stringify(text)} is rejected with Go's message`, () => {
    assert.throws(() => parseYaml(text), { message });
  });
}

const multiplied = (first: string, next: (before: string) => string) =>
  Array.from(
    { length: 30 },
    (_, index) => `a${index}: &a${index} ${index === 0 ? first : next(`*a${index - 1}`)}`,
  ).join('\n');

for (const [what, text] of [
  ['items', multiplied('[x]', (before) => `[${before}, ${before}]`)],
  ['merged members', multiplied('{k: v}', (before) => `{<<: [${before}, ${before}]}`)],
  ['merged members of nothing', multiplied('{}', (before) => `{<<: [${before}, ${before}]}`)],
  ['text', `a: &a ${'x'.repeat(1 << 20)}\nb: [*a, *a, *a, *a]`],
] as const) {
  test(`aliases that multiply ${what} are rejected in linear time`, () => {
    const before = process.cpuUsage().user;
    assert.throws(() => parseYaml(text), { message: 'yaml: document contains excessive aliasing' });
    assert.ok(process.cpuUsage().user - before < 1_000_000);
  });
}

test('the lines of duplicate keys are found in linear time', () => {
  const timeOf = (count: number) => {
    const text = 'a: b\n'.repeat(count);
    const before = process.cpuUsage().user;
    const { duplicates } = parseYamlText(text);
    assert.equal(duplicates.at(-1), `line ${count}: key "a" already set in map`);
    return process.cpuUsage().user - before;
  };
  timeOf(1000);
  const few = timeOf(10_000);
  assert.ok(timeOf(80_000) < 24 * few + 200_000);
});

test('an unclosed collection is reported in linear time, whatever its quotes', () => {
  const before = process.cpuUsage().user;
  assert.throws(() => parseYaml(`[a${'"\\'.repeat(100_000)}`), {
    message: "yaml: line 1: did not find expected ',' or ']'",
  });
  assert.ok(process.cpuUsage().user - before < 1_000_000);
});
