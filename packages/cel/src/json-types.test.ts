import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from './compile.ts';
import { kubernetesEnvironment } from './environments.ts';
import {
  jsonBool,
  jsonInt,
  jsonIntOrString,
  jsonList,
  jsonMap,
  jsonNumber,
  jsonObject,
  jsonString,
  maxCardinality,
  nullable,
} from './json-types.ts';
import { toJson } from './json-values.ts';
import type { Type } from './types.ts';

function evaluate(type: Type, self: unknown, text: string): unknown {
  const program = compile(kubernetesEnvironment({ variables: { self: type } }), text);
  assert.ok(program.ok, program.ok ? '' : program.message);
  const result = program.evaluate({ self });
  return 'error' in result ? `error: ${result.error}` : toJson(result.value);
}

const object = (type: Type): Type => jsonObject('T', { x: { type } });

const readings = [
  { name: 'whole numbers as ints', type: jsonInt, json: 3, text: 'self.x / 2', value: 1 },
  {
    name: 'whole numbers as doubles where numbers are declared',
    type: jsonNumber,
    json: 3,
    text: 'self.x / 2.0',
    value: 1.5,
  },
  {
    name: 'date-times as timestamps',
    type: jsonString({ format: 'date-time' }),
    json: '2024-02-29T12:00:00Z',
    text: 'self.x.getDate()',
    value: 29,
  },
  {
    name: 'dates as timestamps',
    type: jsonString({ format: 'date' }),
    json: '2024-02-29',
    text: 'self.x.getHours()',
    value: 0,
  },
  { name: 'durations', type: jsonString({ format: 'duration' }), json: '90m', text: 'self.x.getHours()', value: 1 },
  {
    name: 'durations in words',
    type: jsonString({ format: 'duration' }),
    json: '2 days',
    text: 'self.x.getHours()',
    value: 48,
  },
  { name: 'base64 as bytes', type: jsonString({ format: 'byte' }), json: 'aGk=', text: 'string(self.x)', value: 'hi' },
  {
    name: 'an int of int-or-string',
    type: jsonIntOrString,
    json: 8,
    text: 'type(self.x) == int && self.x < 9',
    value: true,
  },
  { name: 'a string of int-or-string', type: jsonIntOrString, json: '8%', text: "self.x.endsWith('%')", value: true },
  { name: 'null as absent', type: nullable(jsonString()), json: null, text: 'has(self.x)', value: false },
  {
    name: 'a bad date-time as an error',
    type: jsonString({ format: 'date-time' }),
    json: 'x',
    text: 'self.x.getDate()',
    value: 'error: Invalid date-time formatted string x',
  },
  {
    name: 'a string for an int as an error',
    type: jsonInt,
    json: 'x',
    text: 'self.x',
    value: 'error: invalid data, expected int, got string',
  },
  {
    name: 'sets without regard to order',
    type: jsonList(jsonInt, { listType: 'set' }),
    json: [1, 2],
    text: 'self.x == [2, 1]',
    value: true,
  },
  { name: 'plain lists in order', type: jsonList(jsonInt), json: [1, 2], text: 'self.x == [2, 1]', value: false },
  {
    name: 'a set joined with a list without doubles',
    type: jsonList(jsonInt, { listType: 'set' }),
    json: [1, 2],
    text: 'self.x + [2, 3]',
    value: [1, 2, 3],
  },
  { name: 'maps by key', type: jsonMap(jsonBool), json: { a: true }, text: "self.x['a']", value: true },
];
for (const { name, type, json, text, value } of readings) {
  test(`JSON is read as expected: ${name}`, () => {
    assert.deepEqual(evaluate(object(type), { x: json }, text), value);
  });
}

test('joins list-maps by key, the right one winning', () => {
  const item = jsonObject('T.x.@idx', { name: { type: jsonString() }, n: { type: jsonInt } });
  const type = object(jsonList(item, { listType: 'map', mapKeys: ['name'] }));
  const self = {
    x: [
      { name: 'a', n: 1 },
      { name: 'b', n: 2 },
    ],
  };
  assert.deepEqual(evaluate(type, self, '(self.x + [self.x[0]]).map(e, e.n)'), [1, 2]);
  assert.equal(evaluate(type, self, '[self.x[1], self.x[0]] == self.x'), false);
  assert.equal(evaluate(type, self, 'self.x == [self.x[1], self.x[0]]'), true);
});

test('reaches properties whose names are reserved or escaped', () => {
  const type = jsonObject('T', { namespace: { type: jsonString() }, 'a.b': { type: jsonString() } });
  assert.equal(
    evaluate(type, { namespace: 'n', 'a.b': 'd' }, 'self.namespace + self.__namespace__ + self.a__dot__b'),
    'nnd',
  );
});

const sizes = [
  { name: 'four bytes a character', type: jsonString({ maxLength: 10 }), maxElements: 40 },
  { name: 'the longest of an enumeration', type: jsonString({ enum: ['a', 'abc'] }), maxElements: 3 },
  { name: 'a whole request for an unbounded string', type: jsonString(), maxElements: 3145726 },
  { name: 'a date-time', type: jsonString({ format: 'date-time' }), maxElements: 32 },
  { name: 'as many ints as fit a request', type: jsonList(jsonInt), maxElements: 1572863 },
  { name: 'as many entries as fit a request', type: jsonMap(jsonString()), maxElements: 393215 },
  { name: 'what maxItems says', type: jsonList(jsonString(), { maxItems: 7 }), maxElements: 7 },
];
for (const { name, type, maxElements } of sizes) {
  test(`the maximum size of a value is ${name}`, () => {
    assert.equal(type.json?.maxElements, maxElements);
  });
}

test('the number of objects in a request is limited by their required properties', () => {
  const type = jsonObject('T', {
    name: { type: jsonString(), isRequired: true },
    n: { type: jsonInt, isRequired: true, hasDefault: true },
  });
  assert.equal(type.json?.minSerializedSize, 12);
  assert.equal(maxCardinality(type), 241979);
});
