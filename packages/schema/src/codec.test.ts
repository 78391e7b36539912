import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf, DecodeError, WrittenList } from './codec.ts';
import { deepFreeze } from './draft.ts';
import * as s from './language.ts';

const part = s.object('io.example.v1.Part', 'A part.', {
  name: s.required(1, s.string(), ''),
  size: s.optional(2, s.quantity(), ''),
  weights: s.optional(3, s.map(s.quantity(), { goType: 'v1.Weights' }), ''),
});
const thing = s.object('io.example.v1.Thing', 'A thing.', {
  kind: s.optional(s.string(), ''),
  created: s.optional(1, s.time(), ''),
  count: s.pointer(2, s.int32(), ''),
  generation: s.optional(3, s.int64(), ''),
  labels: s.optional(4, s.map(s.string()), ''),
  parts: s.required(5, s.list(part), ''),
  port: s.pointer(6, s.intOrString(), ''),
  data: s.optional(7, s.map(s.bytes()), ''),
  raw: s.optional(8, s.rawExtension(), ''),
  isReady: s.optional(9, s.boolean(), ''),
});
const codec = codecOf(thing);

const empty = '{"created":null,"parts":null,"raw":null}';

const canonicalForms: readonly (readonly [name: string, given: string, canonical: string])[] = [
  ['writes what Go always writes', '{}', empty],
  ['takes null for absent', '{"kind":null,"count":null,"labels":null,"parts":null}', empty],
  ['drops what is empty', '{"kind":"","generation":0,"labels":{},"isReady":false,"data":{}}', empty],
  [
    'keeps the zero of a pointer',
    '{"count":0,"port":0}',
    '{"created":null,"count":0,"parts":null,"port":0,"raw":null}',
  ],
  ['tells an empty list from none', '{"parts":[]}', '{"created":null,"parts":[],"raw":null}'],
  [
    'puts fields in order and sorts maps',
    '{"raw":{"b":1,"a":2},"parts":[],"labels":{"b":"1","a":"2"},"created":"2024-01-01T01:00:00+01:00"}',
    '{"created":"2024-01-01T00:00:00Z","labels":{"a":"2","b":"1"},"parts":[],"raw":{"b":1,"a":2}}',
  ],
  [
    'reads quantities as they are spelt',
    '{"parts":[{"size":1e3,"weights":{"a":1000,"b":"0.5"," ":" 1Gi "}}]}',
    '{"created":null,"parts":[{"name":"","size":"1e3","weights":{" ":"1Gi","a":"1k","b":"500m"}}],"raw":null}',
  ],
  [
    'makes zero values of nulls in lists and maps',
    '{"parts":[null],"labels":{"a":null},"data":{"a":null}}',
    '{"created":null,"labels":{"a":""},"parts":[{"name":"","size":"0"}],"data":{"a":null},"raw":null}',
  ],
  [
    'keeps large integers',
    '{"generation":9223372036854775807,"raw":[12345678901234567890]}',
    '{"created":null,"generation":9223372036854775807,"parts":null,"raw":[12345678901234567890]}',
  ],
  [
    'takes a list of numbers for bytes, as Go does',
    '{"data":{"a":[104,105]}}',
    '{"created":null,"parts":null,"data":{"a":"aGk="},"raw":null}',
  ],
  [
    'merges what a repeated key says',
    '{"labels":{"a":"1"},"parts":[{"name":"x"}],"labels":{"b":"2"},"parts":[{"size":"1"}]}',
    '{"created":null,"labels":{"a":"1","b":"2"},"parts":[{"name":"x","size":"1"}],"raw":null}',
  ],
  [
    'escapes what Go escapes',
    '{"kind":"<a & b>\\u2028"}',
    `{"kind":"\\u003ca \\u0026 b\\u003e\\u2028",${empty.slice(1)}`,
  ],
];
for (const [name, given, canonical] of canonicalForms) {
  test(name, () => assert.equal(codec.toJson(codec.decode(given).object), canonical));
}

const refusals: readonly (readonly [given: string, error: string])[] = [
  ['[]', 'json: cannot unmarshal array into Go value of type v1.Thing'],
  ['{"kind":1}', 'json: cannot unmarshal number into Go struct field Thing.kind of type string'],
  ['{"count":1.0}', 'json: cannot unmarshal number 1.0 into Go struct field Thing.count of type int32'],
  ['{"count":1e3}', 'json: cannot unmarshal number 1e3 into Go struct field Thing.count of type int32'],
  ['{"count":2147483648}', 'json: cannot unmarshal number 2147483648 into Go struct field Thing.count of type int32'],
  ['{"parts":["a"]}', 'json: cannot unmarshal string into Go struct field Thing.parts of type v1.Part'],
  ['{"parts":{}}', 'json: cannot unmarshal object into Go struct field Thing.parts of type []v1.Part'],
  ['{"parts":[{"name":[]}]}', 'json: cannot unmarshal array into Go struct field Part.parts.name of type string'],
  [
    '{"parts":[{"weights":1}]}',
    'json: cannot unmarshal number into Go struct field Part.parts.weights of type v1.Weights',
  ],
  ['{"created":5}', 'json: cannot unmarshal number into Go struct field Thing.created of type string'],
  ['{"created":"x"}', 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  ['{"port":1.5}', 'json: cannot unmarshal number 1.5 into Go struct field Thing.port of type int32'],
  ['{"data":{"a":"!"}}', 'illegal base64 data at input byte 0'],
  ['{"isReady":"x","kind":1}', 'json: cannot unmarshal string into Go struct field Thing.isReady of type bool'],
];
for (const [given, error] of refusals) {
  test(`${given} is rejected with Go's message`, () => {
    assert.throws(() => codec.decode(given), { name: 'DecodeError', message: error });
  });
}

test('a value with a custom decoder is rejected before any other', () => {
  assert.throws(() => codec.decode('{"kind":1,"created":"x"}'), /^DecodeError: parsing time/);
});

test('unknown and duplicate fields are listed in the order of the text', () => {
  const { strictErrors } = codec.decode(
    '{"b":1,"parts":[{"x":1,"name":"a","name":"b"}],"labels":{"k":"","k":""},"a":{}}',
  );
  assert.deepEqual(strictErrors, [
    'unknown field "b"',
    'unknown field "parts[0].x"',
    'duplicate field "parts[0].name"',
    'duplicate field "labels.k"',
    'unknown field "a"',
  ]);
});

test('unknown fields are not checked for errors', () => {
  assert.deepEqual(codec.decode('{"raw":{"a":1,"a":2}}').strictErrors, []);
});

test('unknown fields of a value are dropped and reported by path', () => {
  const paths: string[] = [];
  const object = codec.fromJson({ parts: [{ name: 'a', nam: 'b' }], x: 1 }, { onUnknown: (path) => paths.push(path) });
  assert.deepEqual(paths, ['parts[0].nam', 'x']);
  assert.equal(codec.toJson(object), '{"created":null,"parts":[{"name":"a","size":"0"}],"raw":null}');
});

test('fromJson copies a shared object', () => {
  const shared = deepFreeze(codec.fromJson({ labels: { a: '1' }, parts: [{ name: 'a' }] }));
  const fresh = codec.fromJson(shared);
  assert.deepEqual(fresh, shared);
  for (const key of ['labels', 'parts'] as const) assert.notEqual(fresh[key], shared[key]);
  assert.notEqual(fresh.parts[0], shared.parts[0]);
});

test('canonical returns a canonical object itself', () => {
  const object = deepFreeze(codec.fromJson({ labels: { 9: 'a', 10: 'b', a: 'c' }, parts: [{ name: 'a' }] }));
  assert.equal(codec.canonical(object), object);
});

test('canonical restores field order and empty values, and shares unchanged parts', () => {
  const object = deepFreeze(codec.fromJson({ labels: { a: '1' }, parts: [{ name: 'a' }] }));
  const changed = codec.canonical({ ...object, labels: {}, generation: 2 });
  assert.equal(codec.toJson(changed), '{"created":null,"generation":2,"parts":[{"name":"a","size":"0"}],"raw":null}');
  assert.equal(changed.parts, object.parts);
});

test('a key called __proto__ is a key', () => {
  const { object, strictErrors } = codec.decode('{"labels":{"b":"1","__proto__":"x"},"__proto__":{"polluted":true}}');
  assert.deepEqual(strictErrors, ['unknown field "__proto__"']);
  assert.equal(codec.toJson(object), '{"created":null,"labels":{"__proto__":"x","b":"1"},"parts":null,"raw":null}');
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.equal('polluted' in {}, false);
});

test('canonical throws for an object that does not match its schema', () => {
  assert.throws(() => codec.fromJson({ parts: [{ name: 1 }] }), DecodeError);
});

test('the protobuf bytes of the parts of a list are those of the whole list', () => {
  const parts = Array.from({ length: 5 }, (_, index) => ({ name: `part ${index}`, size: '1Gi' }));
  const head = codec.toProtobuf(codec.fromJson({ count: 1 }));
  const pieces = [parts.slice(0, 2), parts.slice(2)].map((piece) => codec.listToProtobuf('parts', piece));
  const whole = codec.toProtobuf(codec.fromJson({ count: 1, parts }));
  assert.equal(Buffer.concat(pieces).length, whole.length - head.length);
  const written = new WrittenList(Buffer.concat(pieces));
  assert.deepEqual(codec.toProtobuf({ ...codec.fromJson({ count: 1 }), parts: written } as never), whole);
});
