import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonPath } from './json-path.ts';

const nodes = {
  kind: 'List',
  items: [
    {
      metadata: { name: 'a', labels: { 'example.com/zone': 'z1' } },
      status: { addresses: [{ type: 'Internal', ip: '10.0.0.1' }], cpu: 4, ready: true, load: 1.5 },
    },
    {
      metadata: { name: 'b' },
      status: {
        addresses: [
          { type: 'Internal', ip: '10.0.0.2' },
          { type: 'External', ip: '1.2.3.4' },
        ],
        cpu: 8,
        ready: false,
        load: 0.5,
      },
    },
  ],
  numbers: [0, 1, 2, 3, 4, 5],
  lists: [[1, 2], [], [3]],
  nothing: null,
  html: '<&>',
};

const printed: readonly (readonly [string, string])[] = [
  ['plain', 'plain'],
  ['{.kind}', 'List'],
  ['{$.kind}', 'List'],
  ['{ .kind }!', 'List!'],
  ['{.items[*].metadata.name}', 'a b'],
  ['{.items[0].metadata}', '{"labels":{"example.com/zone":"z1"},"name":"a"}'],
  ['{.items[-1].metadata.name}', 'b'],
  ["{.items[*]['metadata.name']}", 'a b'],
  ["{.items[0].metadata.labels['example\\.com/zone']}", 'z1'],
  ['{.items[0].metadata.labels.example\\.com/zone}', 'z1'],
  ['{.numbers[1:3]}', '1 2'],
  ['{.numbers[3:]}', '3 4 5'],
  ['{.numbers[:2]}', '0 1'],
  ['{.numbers[-2:]}', '4 5'],
  ['{.numbers[::2]}', '0 2 4'],
  ['{.numbers[0,2,5]}', '0 2 5'],
  ['{.numbers[2:2]}', ''],
  ["{['kind','html']}", 'List <&>'],
  [
    '{.items[*].status.*}',
    '[{"ip":"10.0.0.1","type":"Internal"}] 4 1.5 true [{"ip":"10.0.0.2","type":"Internal"},{"ip":"1.2.3.4","type":"External"}] 8 0.5 false',
  ],
  ['{..ip}', '10.0.0.1 10.0.0.2 1.2.3.4'],
  ['{.items[*]..type}', 'Internal Internal External'],
  ['{.items[?(@.status.cpu>4)].metadata.name}', 'b'],
  ['{.items[?(@.status.cpu<=4)].metadata.name}', 'a'],
  ['{.items[?(@.status.load<1.0)].metadata.name}', 'b'],
  ['{.items[?(@.status.ready==true)].metadata.name}', 'a'],
  ['{.items[?(@.metadata.name!="a")].metadata.name}', 'b'],
  ['{.items[*].status.addresses[?(@.type=="External")].ip}', '1.2.3.4'],
  ['{.items[?(@.metadata.labels)].metadata.name}', 'a'],
  ['{.numbers[?(@ >= 4)]}', '4 5'],
  ['{range .items[*]}{.metadata.name}={.status.cpu}{"\\n"}{end}', 'a=4\nb=8\n'],
  [
    '{range .items[*]}{.metadata.name}:{range .status.addresses[*]}{.ip},{end};{end}.',
    'a:10.0.0.1,;b:10.0.0.2,1.2.3.4,;.',
  ],
  ['{.nothing}', 'null'],
  ['{.html}{.lists}', '<&>[[1,2],[],[3]]'],
  ['{"a\\tb"}{\'it\\\'s\'}{"\\x41\\u00e9\\101"}', "a\tbit'sAéA"],
  ['{1}{-2}{1.5}{true}', '1-21.5true'],
  // The reference leaves out the lists after an empty one.
  ['{.lists[*][*]}', '1 2'],
];
for (const [template, expected] of printed) {
  test(`${template} prints ${JSON.stringify(expected)}`, () => {
    assert.equal(jsonPath(template, { missingKeys: 'allow' }).print(nodes), expected);
  });
}

const unreadable: readonly (readonly [string, string])[] = [
  ['{.a', 'unclosed action'],
  ['{', 'unclosed action'],
  ['{.a\n}', 'unclosed action'],
  ['{.a[0', 'unterminated array'],
  ['{.a[0][1', 'unterminated array'],
  ['{.a[x]}', 'invalid array index x'],
  ['{.a[-]}', 'array index - is not a number'],
  ['{.a[?(@.b==1]}', 'unterminated filter'],
  ['{.a[?(@.b==1)}', 'unclosed array expect ]'],
  ['{"a}', 'unterminated quoted string'],
  ['{"\\q"}', 'unquote string "\\q" error invalid syntax'],
  ['{"\\\'"}', 'unquote string "\\\'" error invalid syntax'],
  ["{'it\\\\'s'}", "unquote string 'it\\\\'s' error invalid syntax"],
  ['{1.2.3}', 'cannot parse number 1.2.3'],
  ['{#}', "unrecognized character in action: U+0023 '#'"],
  ['{\t}', 'unrecognized character in action: U+0009'],
  ['{....a}', 'invalid multiple recursive descent'],
];
for (const [template, message] of unreadable) {
  test(`${JSON.stringify(template)} is refused: ${message}`, () => {
    assert.throws(() => jsonPath(template), { name: 'ParseError', message });
  });
}

const failing: readonly (readonly [string, string])[] = [
  ['{.missing}', 'missing is not found'],
  ['{.constructor}', 'constructor is not found'],
  ['{.kind[0]}', 'string is not array or slice'],
  ['{[0]}', 'map[string]interface {} is not array or slice'],
  ['{.numbers[6]}', 'array index out of bounds: index 6, length 6'],
  ['{.numbers[-7]}', 'array index out of bounds: index -1, length 6'],
  ['{.numbers[0:9]}', 'array index out of bounds: index 8, length 6'],
  ['{.numbers[3:1]}', 'starting index 3 is greater than ending index 1'],
  ['{.numbers[::0]}', 'step must be > 0'],
  ['{foo}', 'unrecognized identifier foo'],
  ['{end}', 'not in range, nothing to end'],
  ['{range .numbers[2:2]}{.name}{end}', 'name is not found'],
  ['{.kind[?(@.a)]}', 'List is not array or slice and cannot be filtered'],
  ['{.items[?(@.metadata.name==1)]}', 'incompatible types for comparison'],
  ['{.items[?(@.status.cpu==4.0)]}', 'incompatible types for comparison'],
  ['{.items[?(@.metadata=="a")]}', 'invalid type for comparison'],
  ['{.items[?(@.status.ready<true)]}', 'invalid type for comparison'],
  ['{.items[?(@.status.addresses[*].ip=="x")]}', 'can only compare one element at a time'],
  ['{.items[?(@.metadata.name=!"x")]}', 'unrecognized filter operator =!'],
];
for (const [template, message] of failing) {
  test(`${template} fails: ${message}`, () => {
    assert.throws(() => jsonPath(template).print(nodes), { name: 'JsonPathError', message });
  });
}

test('what is found is given part by part', () => {
  assert.deepEqual(jsonPath('{.kind}{.numbers[0:2]}').find(nodes), [['List'], [0, 1]]);
  assert.deepEqual(jsonPath('{.a.b}', { missingKeys: 'allow' }).find(nodes), [[]]);
});

test('any text is a template or is refused', () => {
  const unit = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '.',
    '..',
    '*',
    '?(',
    ')',
    "'",
    '"',
    '\\',
    'a',
    '1',
    ',',
    ':',
    '@',
    ' ',
    '=',
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 30 }), (template) => {
      try {
        jsonPath(template).print({ a: [{ a: 1 }] });
      } catch (error) {
        assert.match((error as Error).name, /^(ParseError|JsonPathError)$/);
      }
    }),
    { numRuns: 2000 },
  );
});

test('what multiplies is stopped', () => {
  const deep = JSON.parse(`${'{"a":['.repeat(500)}1${']}'.repeat(500)}`);
  assert.throws(() => jsonPath('{..a..a..a..a}').print(deep), { message: 'jsonpath finds too many values' });
  assert.throws(() => jsonPath('{range @}'.repeat(40)).print({}), { message: 'jsonpath takes too many steps' });
  assert.throws(() => jsonPath(`{${'[?(@'.repeat(500)}`), { name: 'ParseError' });
});

test('a path of many digits or spaces is scanned once', () => {
  const before = process.cpuUsage().user;
  for (const text of ['1'.repeat(100_000), ' '.repeat(100_000)]) {
    try {
      jsonPath(`{[?(@.a == ${text}x)]}{['a${text}b',${text}'c']}`).print({});
    } catch (error) {
      assert.match((error as Error).name, /^(ParseError|JsonPathError)$/);
    }
  }
  assert.ok(process.cpuUsage().user - before < 1_000_000);
});
