import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Cause } from './field-error.ts';
import { type JsonObject, type JsonSchema, type MetadataRules, structuralSchema } from './structural.ts';

/** Metadata rules that know only the name. */
const metadata: MetadataRules = {
  read(found) {
    if (typeof found !== 'object' || found === null) return { error: 'not an object' };
    const { name, ...rest } = found as { name?: string };
    return { metadata: { name }, unknown: Object.keys(rest) };
  },
  validate: (found, path) => {
    const { name } = found as { name?: string };
    return name === '..' ? [{ reason: 'FieldValueInvalid', field: `${path}.name`, message: 'bad name' }] : [];
  },
};

const ofSpec = (spec: JsonSchema) => structuralSchema({ type: 'object', properties: { spec } }, { metadata });
const ofFields = (properties: { [name: string]: JsonSchema }, more: JsonSchema = {}) =>
  ofSpec({ type: 'object', properties, ...more });
const one = (spec: unknown): JsonObject => ({
  apiVersion: 'example.com/v1',
  kind: 'One',
  metadata: { name: 'a' },
  spec,
});
const lines = (causes: readonly Cause[]) => causes.map(({ field, message }) => `${field}: ${message}`);

test('unknown fields are pruned and listed in order', () => {
  const structural = ofFields({
    a: { type: 'string' },
    deep: { type: 'object', properties: { b: { type: 'integer' } } },
    list: { type: 'array', items: { type: 'object', properties: { c: { type: 'string' } } } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { d: { type: 'string' } } } },
  });
  const pruned: string[] = [];
  const sent = {
    ...one({ z: 1, a: 'x', deep: { b: 1, y: 2 }, list: [{ c: 'x', w: 3 }], map: { k: { d: '', v: 1 } } }),
    other: true,
  };
  const { object } = structural.read(sent, pruned);
  assert.deepEqual(object, one({ a: 'x', deep: { b: 1 }, list: [{ c: 'x' }], map: { k: { d: '' } } }));
  assert.deepEqual(pruned, ['other', 'spec.deep.y', 'spec.list[0].w', 'spec.map.k.v', 'spec.z']);
});

const readings: readonly { name: string; schema: JsonSchema; sent: unknown; read: unknown }[] = [
  {
    name: 'unknown fields are preserved if declared so, but known fields are pruned inside',
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: { type: 'integer' } } } },
    },
    sent: { free: { y: [1, null] }, known: { a: 1, b: 2 } },
    read: { free: { y: [1, null] }, known: { a: 1 } },
  },
  {
    name: 'a list that preserves unknown fields does so for its items',
    schema: {
      type: 'array',
      'x-kubernetes-preserve-unknown-fields': true,
      items: { type: 'object', properties: { a: { type: 'object' } } },
    },
    sent: [{ a: { b: 1 }, c: { d: 1 } }],
    read: [{ a: {}, c: { d: 1 } }],
  },
  {
    name: 'additionalProperties without a schema keep only scalars',
    schema: { type: 'object', additionalProperties: true },
    sent: { a: 1, b: { c: 1 }, d: [{ e: 1 }] },
    read: { a: 1, b: {}, d: [{}] },
  },
  {
    name: 'a null that is not nullable is dropped',
    schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string', nullable: true } } },
    sent: { a: null, b: null },
    read: { b: null },
  },
  {
    name: 'a null in a map is dropped, a null in a list is kept for validation',
    schema: {
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: { type: 'string' } },
        list: { type: 'array', items: { type: 'string' } },
      },
    },
    sent: { map: { a: null, b: '' }, list: [null] },
    read: { map: { b: '' }, list: [null] },
  },
  {
    name: 'defaults replace absent values and forbidden nulls, also inside other defaults',
    schema: {
      type: 'object',
      properties: {
        a: { type: 'string', default: 'A' },
        n: { type: 'integer', default: 7 },
        nullable: { type: 'string', nullable: true, default: 'N' },
        o: {
          type: 'object',
          default: { x: 1 },
          properties: { x: { type: 'integer' }, y: { type: 'integer', default: 2 } },
        },
      },
    },
    sent: { n: null, nullable: null },
    read: { a: 'A', n: 7, nullable: null, o: { x: 1, y: 2 } },
  },
  {
    name: 'defaults apply inside lists and maps, not inside absent values',
    schema: {
      type: 'object',
      properties: {
        absent: { type: 'object', properties: { a: { type: 'string', default: 'A' } } },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string', default: 'A' } } } },
        map: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { a: { type: 'string', default: 'A' } } },
        },
      },
    },
    sent: { list: [{}, { a: 'B' }], map: { k: {} } },
    read: { list: [{ a: 'A' }, { a: 'B' }], map: { k: { a: 'A' } } },
  },
  {
    name: 'a field named __proto__ is an ordinary field',
    schema: { type: 'object', properties: { a: { type: 'string' } } },
    sent: JSON.parse('{"a":"x","__proto__":{"polluted":true}}'),
    read: { a: 'x' },
  },
];
for (const { name, schema, sent, read } of readings) {
  test(name, () => {
    const { object } = ofSpec(schema).read(one(sent));
    assert.deepEqual(object, one(read));
    assert.equal(ofSpec(schema).read(object).object, object);
  });
}

test('complete sets defaults and keeps all other fields', () => {
  const structural = ofFields({
    a: { type: 'string' },
    n: { type: 'integer', default: 7 },
    list: { type: 'array', items: { type: 'object', properties: { c: { type: 'string', default: 'C' } } } },
  });
  const sent = one({ a: null, n: null, odd: { x: null }, list: [{ odd: 1 }, null] });
  const completed = structural.complete(sent);
  assert.deepEqual(completed, one({ a: null, n: 7, odd: { x: null }, list: [{ odd: 1, c: 'C' }, null] }));
  assert.equal(structural.complete(completed), completed);
});

test('an object that already conforms is returned itself', () => {
  const structural = ofFields({ a: { type: 'string', default: 'A' }, l: { type: 'array', items: { type: 'object' } } });
  const object = Object.freeze(one(Object.freeze({ a: 'x', l: Object.freeze([Object.freeze({})]) })));
  assert.equal(structural.read(object, []).object, object);
});

test('unchanged parts are shared with the input', () => {
  const structural = ofFields({ kept: { type: 'object', properties: { a: { type: 'string' } } } });
  const kept = { a: 'x' };
  assert.equal((structural.read(one({ kept, gone: 1 })).object['spec'] as { kept: unknown }).kept, kept);
});

const faulty: readonly { schema: JsonSchema; value: unknown; faults: readonly string[] }[] = [
  {
    schema: { type: 'string' },
    value: 1,
    faults: ['spec.f: Invalid value: "integer": spec.f in body must be of type string: "integer"'],
  },
  {
    schema: { type: 'integer' },
    value: 1.5,
    faults: ['spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"'],
  },
  { schema: { type: 'integer' }, value: 2n ** 62n, faults: [] },
  {
    schema: { type: 'integer' },
    value: 2 ** 63,
    faults: ['spec.f: Invalid value: "number": spec.f in body must be of type integer: "number"'],
  },
  { schema: { type: 'integer', format: 'int32' }, value: 2 ** 40, faults: [] },
  { schema: { type: 'number' }, value: 3, faults: [] },
  {
    schema: { type: 'array', items: { type: 'string' } },
    value: ['a', null],
    faults: ['spec.f[1]: Invalid value: "null": spec.f[1] in body must be of type string: "null"'],
  },
  {
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    value: { x: 'y' },
    faults: ['spec.f.x: Invalid value: "string": spec.f.x in body must be of type integer: "string"'],
  },
  {
    schema: { 'x-kubernetes-int-or-string': true },
    value: true,
    faults: ['spec.f: Invalid value: "boolean": spec.f in body must be of type integer,string: "boolean"'],
  },
  {
    schema: { type: 'string', minLength: 2, maxLength: 4 },
    value: 'a',
    faults: ['spec.f: Invalid value: "a": spec.f in body should be at least 2 chars long'],
  },
  {
    schema: { type: 'string', maxLength: 4 },
    value: 'aaaaa',
    faults: ['spec.f: Too long: may not be more than 4 bytes'],
  },
  { schema: { type: 'string', minLength: 2, maxLength: 2 }, value: '\u{1f600}\u{1f600}', faults: [] },
  {
    schema: { type: 'string', pattern: '^a+$' },
    value: 'b',
    faults: ['spec.f: Invalid value: "b": spec.f in body should match \'^a+$\''],
  },
  {
    schema: { type: 'string', enum: ['x', 'y'] },
    value: 'z',
    faults: ['spec.f: Unsupported value: "z": supported values: "x", "y"'],
  },
  {
    schema: { type: 'string', format: 'date' },
    value: '2024-02-30',
    faults: ['spec.f: Invalid value: "2024-02-30": spec.f in body must be of type date: "2024-02-30"'],
  },
  { schema: { type: 'string', format: 'telephone' }, value: 'x', faults: [] },
  {
    schema: { type: 'integer', minimum: 3, exclusiveMinimum: true, multipleOf: 4 },
    value: 3,
    faults: [
      'spec.f: Invalid value: 3: spec.f in body should be a multiple of 4',
      'spec.f: Invalid value: 3: spec.f in body should be greater than 3',
    ],
  },
  {
    schema: { type: 'number', maximum: 1.5 },
    value: 1.6,
    faults: ['spec.f: Invalid value: 1.6: spec.f in body should be less than or equal to 1.5'],
  },
  {
    schema: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
    value: {},
    faults: ['spec.f.a: Required value', 'spec.f.b: Required value'],
  },
  {
    schema: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    value: { a: '', b: '' },
    faults: ['spec.f: Too many: 2: must have at most 1 items'],
  },
  {
    schema: { type: 'array', minItems: 1, items: { type: 'string' } },
    value: [],
    faults: ['spec.f: Invalid value: 0: spec.f in body should have at least 1 items'],
  },
  {
    schema: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    value: {},
    faults: [
      '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
      'spec.f.a: Required value',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    value: { a: '', b: '' },
    faults: [
      '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  },
  {
    schema: { type: 'integer', allOf: [{ minimum: 2 }, { maximum: 4 }] },
    value: 1,
    faults: [
      'spec.f: Invalid value: 1: spec.f in body should be greater than or equal to 2',
      '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf)',
    ],
  },
  {
    schema: { type: 'string', not: { enum: ['bad'] } },
    value: 'bad',
    faults: ['<nil>: Invalid value: "": "spec.f" must not validate the schema (not)'],
  },
  {
    schema: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    value: ['a', 'b', 'a', 'a'],
    faults: ['spec.f[2]: Duplicate value: "a"'],
  },
  {
    schema: {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' }, n: { type: 'integer' }, v: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'n'],
    },
    value: [
      { k: '1', n: 1 },
      { k: '1', n: 2 },
      { n: 1, k: '1', v: 'x' },
    ],
    faults: ['spec.f[2]: Duplicate value: map[string]interface {}{"k":"1", "n":1}'],
  },
];
for (const { schema, value, faults } of faulty) {
  test(`${JSON.stringify(schema)} ${faults.length === 0 ? 'accepts' : 'rejects'} ${typeof value === 'bigint' ? value : JSON.stringify(value)}`, () => {
    assert.deepEqual(lines(ofFields({ f: schema }).validate(one({ f: value }))), faults);
  });
}

test('the failed alternative with the most checks is reported', () => {
  const far: JsonSchema = { properties: { a: { minLength: 1 }, b: { minLength: 1 } } };
  const structural = ofFields({ a: { type: 'string' }, b: { type: 'string' } }, { anyOf: [{ minProperties: 3 }, far] });
  assert.deepEqual(lines(structural.validate(one({ a: 'x', b: '' }))), [
    '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
    'spec.b: Invalid value: "": spec.b in body should be at least 1 chars long',
  ]);
});

test('embedded objects have their own apiVersion, kind and metadata', () => {
  const structural = ofFields({
    t: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  });
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', bogus: 1 }, spec: {} };
  const pruned: string[] = [];
  const { object } = structural.read(one({ t: pod }), pruned);
  assert.deepEqual(object['spec'], { t: { ...pod, metadata: { name: 'p' } } });
  assert.deepEqual(pruned, ['spec.t.metadata.bogus']);
  assert.deepEqual(lines(structural.validate(one({ t: {} }))), [
    'spec.t.apiVersion: Required value: must not be empty',
    'spec.t.kind: Required value: must not be empty',
  ]);
  assert.deepEqual(
    lines(structural.validate(one({ t: { apiVersion: 'a/b/c', kind: 'Pod', metadata: { name: '..' } } }))),
    [
      'spec.t.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'spec.t.metadata.name: bad name',
    ],
  );
  assert.deepEqual(lines(structural.read(one({ t: { kind: 5 } })).faults), [
    'spec.t.kind: Invalid value: 5: must be a string',
  ]);
});

test('validation ratcheting ignores errors in unchanged values', () => {
  const small: JsonSchema = { type: 'integer', maximum: 3 };
  const structural = ofFields({
    a: small,
    b: small,
    list: { type: 'array', items: small },
    map: {
      type: 'array',
      items: { type: 'object', properties: { k: { type: 'string' }, n: small } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
  });
  const old = one({
    a: 9,
    b: 1,
    list: [9],
    map: [
      { k: 'x', n: 9 },
      { k: 'y', n: 1 },
    ],
  });
  const update = one({
    a: 9,
    b: 8,
    list: [9, 1],
    map: [
      { k: 'y', n: 7 },
      { k: 'x', n: 9 },
    ],
  });
  assert.deepEqual(lines(structural.validateUpdate(update, old)), [
    'spec.b: Invalid value: 8: spec.b in body should be less than or equal to 3',
    'spec.list[0]: Invalid value: 9: spec.list[0] in body should be less than or equal to 3',
    'spec.map[0].n: Invalid value: 7: spec.map[0].n in body should be less than or equal to 3',
  ]);
  assert.deepEqual(structural.validateUpdate(old, structuredClone(old)), []);
});

test('a set with a duplicate item may keep it in an update', () => {
  const structural = ofFields({ set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } });
  assert.deepEqual(structural.validateUpdate(one({ set: ['a', 'a', 'b'] }), one({ set: ['a', 'a'] })), []);
  assert.equal(structural.validateUpdate(one({ set: ['a', 'a'] }), one({ set: ['a'] })).length, 1);
});

test('a status update reports only errors of the status', () => {
  const properties: { [name: string]: JsonSchema } = {
    spec: { type: 'object', required: ['n'] },
    status: { type: 'object', properties: { m: { type: 'integer' } } },
  };
  const structural = structuralSchema({ type: 'object', properties }, { metadata });
  const sent = { ...one({}), status: { m: 'text' } };
  assert.deepEqual(lines(structural.validateStatusUpdate(sent, one({}))), [
    'status.m: Invalid value: "string": m in body must be of type integer: "string"',
  ]);
});

test('a catastrophic backtracking pattern is matched in linear time', () => {
  const structural = ofFields({ f: { type: 'string', pattern: '^(a+)+$' } });
  assert.equal(structural.validate(one({ f: `${'a'.repeat(5000)}b` })).length, 1);
});

test('an object that is nested too deeply is rejected', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 9000; level++) deep = [deep];
  const structural = ofFields({ f: { type: 'object', additionalProperties: true } });
  assert.deepEqual(lines(structural.read(one({ f: { deep } })).faults), [
    '<nil>: Invalid value: "": must not be nested so deeply',
  ]);
});

test('tens of thousands of defaults are set without a stack overflow', () => {
  const names = Array.from({ length: 30_000 }, (_, index) => `p${index}`);
  const structural = ofFields(Object.fromEntries(names.map((name) => [name, { type: 'string', default: 'x' }])));
  assert.equal(Object.keys(structural.read(one({})).object['spec'] as object).length, names.length);
});
