import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as s from './language.ts';
import { deduced, fieldTypeOf, type MergeType, mergeTypeOf, mergeTypeOfStructural, untyped } from './merge-type.ts';
import type { JsonSchema } from './structural/json-schema.ts';

const port = s.object({
  port: s.required(1, s.int32()),
  protocol: s.optional(2, s.string({ default: 'TCP' })),
  name: s.optional(3, s.string()),
});
const root = s.object('a.b.Root', '', {
  ports: s.optional(1, s.listMap(port, ['port', 'protocol']), '', { patchStrategy: 'merge', patchMergeKey: 'port' }),
  finalizers: s.optional(2, s.set(s.string()), '', { patchStrategy: 'merge' }),
  args: s.optional(3, s.list(s.string())),
  untold: s.optional(4, s.list(port), '', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'port' }),
  selector: s.optional(5, s.map(s.string(), { mapType: 'atomic' })),
  labels: s.optional(6, s.map(s.string())),
  time: s.optional(7, s.time()),
  size: s.optional(8, s.quantity()),
  when: s.pointer(9, s.intOrString()),
  raw: s.optional(10, s.rawExtension()),
  json: s.optional(11, s.json()),
  empty: s.pointer(12, s.object('a.b.Empty', '', {})),
});

function at(type: MergeType, name: string): MergeType {
  const found = type.map && fieldTypeOf(type.map, name);
  assert(found, `${name} has a type`);
  return found;
}

test('items of a list map are identified by keys, which may have defaults', () => {
  const { list } = at(mergeTypeOf(root), 'ports');
  assert.equal(list?.relation, 'map');
  assert.deepEqual(list?.keys, [
    { name: 'port', default: 0 },
    { name: 'protocol', default: 'TCP' },
  ]);
});

test('keys are sorted by name', () => {
  const list = at(mergeTypeOf(s.object({ l: s.listMap(port, ['protocol', 'port']) })), 'l').list;
  assert.deepEqual(
    list?.sortedKeys.map(({ name }) => name),
    ['port', 'protocol'],
  );
});

const relations = [
  ['finalizers', 'set'],
  ['args', 'atomic'],
  ['untold', 'map'],
] as const;
for (const [name, relation] of relations) {
  test(`the list ${name} is ${relation}`, () => {
    assert.equal(at(mergeTypeOf(root), name).list?.relation, relation);
  });
}

test('a field keeps its patch strategy', () => {
  const { fields } = mergeTypeOf(root).map!;
  const { patchStrategy, retainsKeys, patchMergeKey } = fields.get('untold')!;
  assert.deepEqual(
    { patchStrategy, retainsKeys, patchMergeKey },
    { patchStrategy: 'merge', retainsKeys: true, patchMergeKey: 'port' },
  );
});

test('maps are atomic if declared so', () => {
  assert.equal(at(mergeTypeOf(root), 'selector').map?.isAtomic, true);
  assert.equal(at(mergeTypeOf(root), 'labels').map?.isAtomic, false);
});

test('values with a custom text form accept any scalar', () => {
  assert.equal(at(mergeTypeOf(root), 'time').scalar, 'any');
  assert.equal(at(mergeTypeOf(root), 'size').scalar, 'any');
  assert.equal(at(mergeTypeOf(root), 'when').map, deduced.map);
});

test('an embedded object is atomic, any JSON is not, and an object without fields accepts all fields', () => {
  assert.equal(at(mergeTypeOf(root), 'raw'), untyped);
  assert.equal(at(mergeTypeOf(root), 'json'), deduced);
  assert.equal(at(at(mergeTypeOf(root), 'empty'), 'x'), deduced);
});

test('unknown fields have no type', () => {
  assert.equal(fieldTypeOf(mergeTypeOf(root).map!, 'unheardOf'), undefined);
});

test('merge types are memoized, including recursive ones', () => {
  type Tree = { readonly children?: readonly Tree[] };
  const tree: s.ObjectNode = s.object('a.b.Tree', '', { children: s.optional(1, s.list(s.lazy<Tree>(() => tree))) });
  assert.equal(mergeTypeOf(tree), mergeTypeOf(tree));
  assert.equal(at(mergeTypeOf(tree), 'children').list?.element.map?.fields.has('children'), true);
});

const metadata = mergeTypeOf(s.object({ name: s.optional(1, s.string()) }));
const structural = (schema: JsonSchema) => mergeTypeOfStructural(schema, metadata);

test('a custom resource has the common fields of all objects', () => {
  const type = structural({
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'integer' } } } },
  });
  assert.equal(at(type, 'metadata'), metadata);
  assert.equal(at(type, 'kind').scalar, 'string');
  assert.equal(at(at(type, 'spec'), 'a').scalar, 'numeric');
  assert.equal(fieldTypeOf(at(type, 'spec').map!, 'b'), undefined);
});

test('a custom resource without a schema accepts anything', () => {
  assert.equal(at(mergeTypeOfStructural(undefined, metadata), 'spec'), deduced);
});

test('lists and maps of a custom resource follow its extensions', () => {
  const items: JsonSchema = { type: 'object', properties: { k: { type: 'string', default: 'd' } } };
  const type = structural({
    type: 'object',
    properties: {
      m: { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      s: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      l: { type: 'array', items },
      a: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    },
  });
  assert.deepEqual(at(type, 'm').list?.keys, [{ name: 'k', default: 'd' }]);
  assert.equal(at(type, 's').list?.relation, 'set');
  assert.equal(at(type, 'l').list?.relation, 'atomic');
  assert.equal(at(type, 'a').map?.isAtomic, true);
  assert.equal(at(at(type, 'a'), 'x').scalar, 'string');
});

test('preserved unknown fields have deduced types at every level', () => {
  const inner: JsonSchema = { type: 'object', properties: { a: { type: 'string' } } };
  const type = structural({
    type: 'object',
    properties: { kept: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { inner } } },
  });
  assert.equal(at(at(type, 'kept'), 'x'), deduced);
  assert.equal(at(at(at(type, 'kept'), 'inner'), 'x'), deduced);
});

test('an embedded resource has the common fields of all objects', () => {
  const type = structural({
    type: 'object',
    properties: { r: { type: 'object', 'x-kubernetes-embedded-resource': true } },
  });
  assert.equal(at(at(type, 'r'), 'metadata'), metadata);
});

test('intOrString accepts any scalar', () => {
  const type = structural({ type: 'object', properties: { n: { 'x-kubernetes-int-or-string': true } } });
  assert.equal(at(type, 'n').scalar, 'any');
});
