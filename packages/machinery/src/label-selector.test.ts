import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  everything,
  formatLabelSelector,
  type LabelSelector,
  nothing,
  parseSelector,
  requiredLabel,
  selectorOf,
  selectorOfLabels,
} from './label-selector.ts';

const printed: readonly (readonly [string, string])[] = [
  ['', ''],
  ['b=2 , a', 'a,b=2'],
  ['!a', '!a'],
  ['a==1', 'a==1'],
  ['a!=1', 'a!=1'],
  ['a in (2,1,2)', 'a in (1,2)'],
  ['a notin ( x )', 'a notin (x)'],
  ['a in ()', 'a in ()'],
  ['a in (,x)', 'a in (,x)'],
  ['a=', 'a='],
  ['a>5,b<3', 'a>5,b<3'],
  ['in in (in,notin)', 'in in (in,notin)'],
  ['notin', 'notin'],
];
for (const [text, expected] of printed) {
  test(`${JSON.stringify(text)} is printed ${JSON.stringify(expected)}`, () => {
    assert.equal(parseSelector(text).text, expected);
  });
}

const matched: readonly (readonly [string, Record<string, string> | undefined, boolean])[] = [
  ['', undefined, true],
  ['a', { a: '' }, true],
  ['a', { b: '1' }, false],
  ['!a', undefined, true],
  ['!a', { a: '' }, false],
  ['a=', { a: '' }, true],
  ['a=', {}, false],
  ['a=1,b=2', { a: '1', b: '2' }, true],
  ['a=1,b=2', { a: '1' }, false],
  ['a!=1', {}, true],
  ['a!=1', { a: '1' }, false],
  ['a in (1,2)', { a: '2' }, true],
  ['a in (1,2)', { a: '3' }, false],
  ['a notin (1,2)', {}, true],
  ['a notin (1,2)', { a: '2' }, false],
  ['a>5', { a: '6' }, true],
  ['a>5', { a: '5' }, false],
  ['a>5', { a: 'x' }, false],
  ['a>5', {}, false],
  ['a<9223372036854775807', { a: '9223372036854775806' }, true],
  ['a>0', { a: '9223372036854775808' }, false],
  ['constructor', {}, false],
  ['!constructor', {}, true],
  ['constructor!=x', {}, true],
];
for (const [text, labels, expected] of matched) {
  test(`${JSON.stringify(text)} ${expected ? 'selects' : 'leaves'} ${JSON.stringify(labels)}`, () => {
    assert.equal(parseSelector(text).matches(labels), expected);
  });
}

const name =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const refused: readonly (readonly [string, string])[] = [
  [',', "found ',', expected: !, identifier, or 'end of string'"],
  ['a,', "found '', expected: identifier after ','"],
  ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ['a=1 b', "found 'b', expected: ',' or 'end of string'"],
  ['!', "unable to parse requirement: found '', expected: identifier"],
  ['!a=1', "found '=', expected: ',' or 'end of string'"],
  ['a=(', "unable to parse requirement: found '(', expected: identifier"],
  ['a in 1', "unable to parse requirement: found '1' expected: '('"],
  ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ['a in (1', "unable to parse requirement: found '', expected: ',' or ')'"],
  ['a in (1,=', "unable to parse requirement: found '=', expected: ',', or identifier"],
  [
    'a>x',
    "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  ],
  ['-a', `unable to parse requirement: <nil>: Invalid value: "-a": name part ${name}`],
  ['a=-1', `unable to parse requirement: values[0][a]: Invalid value: "-1": ${value}`],
];
for (const [text, message] of refused) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(() => parseSelector(text), { name: 'ParseError', message });
  });
}

test('a selector of an object wants all of its labels and expressions', () => {
  const selector: LabelSelector = {
    matchLabels: { app: 'web' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['b', 'a'] },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  };
  assert.equal(formatLabelSelector(selector), 'app=web,!old,tier in (a,b)');
  assert.equal(selectorOf(selector).matches({ app: 'web', tier: 'a' }), true);
  assert.equal(selectorOf(selector).matches({ app: 'web', tier: 'a', old: '' }), false);
});

test('an absent selector selects nothing, an empty one everything', () => {
  assert.equal(selectorOf(undefined), nothing);
  assert.equal(selectorOf(null).matches({}), false);
  assert.equal(selectorOf({}), everything);
  assert.equal(formatLabelSelector({}), '<none>');
  assert.equal(selectorOfLabels(undefined), everything);
  assert.equal(selectorOfLabels({ b: '1', a: '' }).text, 'a=,b=1');
});

test('an invalid expression is rejected', () => {
  const expression = (key: string, operator: string, values?: readonly string[]) => () =>
    selectorOf({ matchExpressions: [values ? { key, operator, values } : { key, operator }] });
  assert.throws(expression('a', 'Gt'), { message: '"Gt" is not a valid label selector operator' });
  assert.throws(expression('a', 'In'), {
    message: "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty",
  });
  assert.throws(expression('-', 'Exists', ['1']), {
    message: `[key: Invalid value: "-": name part ${name}, values: Invalid value: []string{"1"}: values set must be empty for exists and does not exist]`,
  });
  assert.equal(formatLabelSelector({ matchLabels: { '-': '' } }), '<error>');
});

test('a label is required where only one value is allowed', () => {
  assert.deepEqual(requiredLabel(parseSelector('a in (x),b=2')), { key: 'a', value: 'x' });
  assert.deepEqual(requiredLabel(parseSelector('a in (x,y),b=2')), { key: 'b', value: '2' });
  assert.equal(requiredLabel(parseSelector('a in (x,y)')), undefined);
  assert.equal(requiredLabel(parseSelector('a!=x,b')), undefined);
});

test('what is printed is read back to the same', () => {
  const requirement = fc.oneof(
    fc.constantFrom('a', '!b', 'c/d=1', 'e!=2', 'f>3', 'g<4'),
    fc
      .uniqueArray(fc.stringMatching(/^[a-z0-9]{0,3}$/), { minLength: 1, maxLength: 4 })
      .map((list) => `h in (${list})`),
    fc
      .uniqueArray(fc.stringMatching(/^[a-z0-9]{0,3}$/), { minLength: 1, maxLength: 4 })
      .map((list) => `h notin (${list})`),
  );
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 6 }), (requirements) => {
      const { text } = parseSelector(requirements.join(','));
      assert.equal(parseSelector(text).text, text);
    }),
  );
});

test('any text is read or refused, a megabyte in linear time', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('a', '=', '!', '(', ')', ',', ' ', '<', '>', 'in', 'é') }),
      (text) => {
        try {
          parseSelector(text);
        } catch (error) {
          assert.equal((error as Error).name, 'ParseError');
        }
      },
    ),
  );
  assert.equal(parseSelector('a,'.repeat(100_000) + 'a').requirements.length, 100_001);
  assert.throws(() => parseSelector(`a in (${'x,'.repeat(500_000)}`), { name: 'ParseError' });
  assert.throws(() => parseSelector('!'.repeat(1_000_000)), { name: 'ParseError' });
});
