import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cause } from '../field-error.ts';
import type { Rule } from '../language.ts';
import { type JsonSchema, structuralSchema } from '../structural.ts';

const metadata = { read: (found: unknown) => ({ metadata: found, unknown: [] }), validate: () => [] };
const one = (spec: unknown) => ({ apiVersion: 'example.com/v1', kind: 'One', metadata: { name: 'a' }, spec });
const ofSpec = (spec: JsonSchema) => structuralSchema({ type: 'object', properties: { spec } }, { metadata });
const ofRule = (rule: Rule, properties: { [name: string]: JsonSchema }) =>
  ofSpec({ type: 'object', properties, 'x-kubernetes-validations': [rule] });
const lines = (causes: readonly Cause[]) => causes.map(({ field, message }) => `${field}: ${message}`);

const violations: readonly { name: string; rule: Rule; spec: object; faults: readonly string[] }[] = [
  { name: 'a satisfied rule reports nothing', rule: { rule: 'self.n < 3' }, spec: { n: 1 }, faults: [] },
  {
    name: 'the message of a rule without a message is its expression',
    rule: { rule: ' self.n < 3 ' },
    spec: { n: 3 },
    faults: ['spec: Invalid value: "object": failed rule: self.n < 3'],
  },
  {
    name: 'a message is trimmed',
    rule: { rule: 'self.n < 3', message: ' too many ' },
    spec: { n: 3 },
    faults: ['spec: Invalid value: "object": too many'],
  },
  {
    name: 'a messageExpression can use the value',
    rule: { rule: 'self.n < 3', message: 'no', messageExpression: "'got ' + string(self.n)" },
    spec: { n: 3 },
    faults: ['spec: Invalid value: "object": got 3'],
  },
  {
    name: 'an invalid result of messageExpression falls back to the message',
    rule: { rule: 'self.n < 3', message: 'no', messageExpression: "'a\\nb'" },
    spec: { n: 3 },
    faults: ['spec: Invalid value: "object": no'],
  },
  {
    name: 'a violation is reported with fieldPath and reason',
    rule: { rule: 'self.n < 3', message: 'no', fieldPath: '.n', reason: 'FieldValueForbidden' },
    spec: { n: 3 },
    faults: ['spec.n: Forbidden: no'],
  },
  {
    name: 'a rule that cannot be evaluated is violated',
    rule: { rule: '10 / self.n > 1' },
    spec: { n: 0 },
    faults: ['spec: Invalid value: "object": division by zero evaluating rule: 10 / self.n > 1'],
  },
  {
    name: 'a transition rule does not apply to a new value',
    rule: { rule: 'self.n >= oldSelf.n' },
    spec: { n: 0 },
    faults: [],
  },
  {
    name: 'a rule with optionalOldSelf applies to a new value',
    rule: { rule: 'oldSelf.hasValue() || self.n > 0', optionalOldSelf: true, message: 'starts at one' },
    spec: { n: 0 },
    faults: ['spec: Invalid value: "object": starts at one'],
  },
  {
    name: 'fields that are not CEL identifiers are escaped',
    rule: { rule: "self.a__dash__b == 'x' && self.__namespace__ == 'y'" },
    spec: { 'a-b': 'x', namespace: 'y' },
    faults: [],
  },
];
for (const { name, rule, spec, faults } of violations) {
  test(name, () => {
    const text: JsonSchema = { type: 'string' };
    const structural = ofRule(rule, { n: { type: 'integer' }, 'a-b': text, namespace: text });
    assert.deepEqual(lines(structural.validate(one(spec))), faults);
  });
}

test('root rules can access metadata.name', () => {
  const rule = { rule: "self.metadata.name != 'a' && self.kind == 'One'", message: 'not a' };
  const structural = structuralSchema({ type: 'object', 'x-kubernetes-validations': [rule] }, { metadata });
  assert.deepEqual(lines(structural.validate(one({}))), ['<nil>: Invalid value: "object": not a']);
});

test('rules are not evaluated on an object with other errors', () => {
  const structural = ofRule({ rule: 'self.n < 3' }, { n: { type: 'integer' } });
  assert.deepEqual(lines(structural.validate(one({ n: 'x' }))), [
    'spec.n: Invalid value: "string": spec.n in body must be of type integer: "string"',
    '<nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ]);
});

test('a transition rule compares with the old value, items of a map-like list by key', () => {
  const item: JsonSchema = {
    type: 'object',
    properties: { k: { type: 'string' }, n: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule: 'self.n >= oldSelf.n', message: 'must not shrink' }],
  };
  const structural = ofSpec({
    type: 'array',
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  });
  const old = one([
    { k: 'a', n: 5 },
    { k: 'b', n: 5 },
  ]);
  const update = one([
    { k: 'b', n: 6 },
    { k: 'new', n: 0 },
    { k: 'a', n: 4 },
  ]);
  assert.deepEqual(lines(structural.validateUpdate(update, old)), [
    'spec[2]: Invalid value: "object": must not shrink',
  ]);
});

test('an unchanged value may keep violating a rule, with a warning', () => {
  const small: JsonSchema = {
    type: 'integer',
    'x-kubernetes-validations': [{ rule: 'self < 3', message: 'too many' }],
  };
  const structural = ofSpec({ type: 'object', properties: { a: small, b: small } });
  const warnings: string[] = [];
  const causes = structural.validateUpdate(one({ a: 9, b: 8 }), one({ a: 9, b: 1 }), warnings);
  assert.deepEqual(lines(causes), ['spec.b: Invalid value: "integer": too many']);
  assert.deepEqual(warnings, ['spec.a: Invalid value: "integer": too many']);
});

test('a rule that exceeds the cost budget ends the evaluation', () => {
  const list: JsonSchema = { type: 'array', items: { type: 'string' } };
  const structural = ofSpec({
    type: 'object',
    properties: { l: list },
    'x-kubernetes-validations': [
      { rule: 'self.l.all(x, self.l.all(y, self.l.all(z, x == y && y == z)))' },
      { rule: 'false' },
    ],
  });
  const words = Array.from({ length: 150 }, () => 'a');
  const causes = lines(structural.validate(one({ l: words })));
  assert.equal(causes.length, 1);
  assert.match(causes[0]!, /call cost exceeds limit for rule: self\.l\.all/);
});
