/** Malicious input: every case ends soon, with an error that explains it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, type Outcome } from './compile.ts';
import { kubernetesEnvironment } from './environments.ts';
import { jsonMap, jsonObject, jsonString } from './json-types.ts';
import { dynType } from './types.ts';

const environment = kubernetesEnvironment({ variables: { object: dynType } });

function evaluate(text: string, object: unknown): Outcome {
  const program = compile(environment, text);
  assert.ok(program.ok, program.ok ? '' : program.message);
  return program.evaluate({ object });
}

function fault(text: string): string {
  const program = compile(environment, text);
  return program.ok ? 'none' : program.message.split('\n')[0]!;
}

const nestsTooDeep = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250';
const chainTooLong = 'ERROR: <input>:-1:0: max recursion depth exceeded';
const nests = [
  { name: 'parentheses', at: (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`, refused: nestsTooDeep },
  { name: 'lists', at: (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`, refused: nestsTooDeep },
  { name: 'indexes', at: (depth: number) => `${'object['.repeat(depth)}0${']'.repeat(depth)}`, refused: nestsTooDeep },
  { name: 'conditions', at: (depth: number) => `${'true ? 1 : '.repeat(depth)}1`, refused: nestsTooDeep },
  { name: 'selections', at: (depth: number) => `object${'.a'.repeat(depth)}`, refused: chainTooLong },
  { name: 'sums', at: (depth: number) => `1${' + 1'.repeat(depth)}`, refused: chainTooLong },
  { name: 'relations', at: (depth: number) => `true${' == true'.repeat(depth)}`, refused: chainTooLong },
];
for (const { name, at, refused } of nests) {
  test(`${name} are accepted 249 deep and rejected 251 deep`, () => {
    assert.equal(fault(at(249)), 'none');
    assert.equal(fault(at(251)), refused);
  });
  test(`${name} 8,000 deep are rejected without a stack overflow`, () => {
    assert.equal(fault(at(8000)), refused);
  });
}

test('a tree that is deep only in total is rejected', () => {
  const text = `object${'.a'.repeat(200)}${' + 1'.repeat(100)}`;
  assert.equal(fault(text), chainTooLong);
});

test('a logical operator accepts ten thousand terms', () => {
  assert.equal(fault(`true${' && true'.repeat(10_000)}`), 'none');
});

test('a text of more than a hundred thousand characters is rejected', () => {
  assert.equal(
    fault(' '.repeat(100_001)),
    'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
  );
});

test('a list of forty thousand elements is accepted', () => {
  const outcome = evaluate(`[${'1,'.repeat(40_000)}].size()`, null);
  assert.deepEqual(outcome, { value: 40_000, cost: 1 });
});

for (const pattern of ['(a*)*b', '(a+)+$', '(a|aa)+$', '([a-z]+)*[0-9]', '(.*)*x']) {
  test(`the pattern ${pattern} is matched in linear time`, () => {
    const outcome = evaluate(`object.matches('${pattern}')`, 'a'.repeat(30_000));
    assert.ok('value' in outcome);
  });
}

test('patterns with excessive nested repetitions are rejected', () => {
  assert.match(fault("'a'.matches('((a{100}){100}){100}')"), /invalid matches argument/);
});

test('evaluation stops at the cost limit, however large the data', () => {
  const object = Array.from({ length: 200_000 }, (_, index) => index);
  const outcome = evaluate('object.all(x, object.exists(y, x == y))', object);
  assert.ok('error' in outcome && outcome.isCostExceeded);
});

test('a string beyond the maximum length is an error', () => {
  const outcome = evaluate("object.replace('a', object).replace('a', object).replace('a', object)", 'a'.repeat(10_000));
  assert.ok('error' in outcome);
  assert.match(outcome.error, /^evaluation outgrew its limits/);
});

test('data that nests deeper than the stack is an error', () => {
  const nested = (): unknown => {
    let value: unknown = [];
    for (let depth = 0; depth < 200_000; depth++) value = [value];
    return value;
  };
  const outcome = evaluate('object.a == object.b', { a: nested(), b: nested() });
  assert.ok('error' in outcome);
  assert.match(outcome.error, /^evaluation outgrew its limits/);
});

const inherited = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
for (const key of inherited) {
  test(`${key} is not a key of every map`, () => {
    assert.deepEqual(evaluate(`'${key}' in object`, {}), { value: false, cost: 2 });
    assert.deepEqual(evaluate(`object[?'${key}'].hasValue()`, {}), { value: false, cost: 2 });
    assert.equal('error' in evaluate(`object['${key}']`, {}), true);
    assert.equal('error' in evaluate(`{'a': 1}['${key}']`, {}), true);
  });
}

test('keys such as __proto__ are ordinary keys', () => {
  const object = JSON.parse('{"__proto__": {"x": 1}, "constructor": "c"}');
  assert.deepEqual(evaluate("object['__proto__'].x == 1 && object.constructor == 'c'", object), {
    value: true,
    cost: 7,
  });
  assert.deepEqual(evaluate('size(object)', object), { value: 2, cost: 2 });
});

test('an inherited JavaScript property is not a declared property', () => {
  const type = jsonObject('T', { labels: { type: jsonMap(jsonString()) } });
  const program = compile(kubernetesEnvironment({ variables: { self: type } }), 'has(self.constructor)');
  assert.equal(program.ok, false);
});

test('an inherited JavaScript property is not a variable', () => {
  const program = compile(kubernetesEnvironment({ variables: { toString: dynType } }), 'toString');
  assert.ok(program.ok);
  assert.equal('error' in program.evaluate({}), true);
});
