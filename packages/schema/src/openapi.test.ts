import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allVerbs, type Kind } from './kind.ts';
import * as s from './language.ts';
import { openApiV2 } from './openapi-v2.ts';
import { openApiV3, type PublishedResource, type Vocabulary } from './openapi-v3.ts';

type Json = { readonly [name: string]: unknown };

const meta = (name: string) => s.object(`io.k8s.apimachinery.pkg.apis.meta.v1.${name}`, `${name}.`, {});
const objectMeta = meta('ObjectMeta');
const vocabulary: Vocabulary = {
  objectMeta,
  listMeta: meta('ListMeta'),
  status: meta('Status'),
  deleteOptions: meta('DeleteOptions'),
  watchEvent: meta('WatchEvent'),
  apiResourceList: meta('APIResourceList'),
  kinds: [],
};

const facts = {
  group: 'toys.example.com',
  version: 'v1',
  kind: 'Ball',
  listKind: 'BallList',
  plural: 'balls',
  singular: 'ball',
  scope: 'Namespaced',
  shortNames: [],
  categories: [],
  verbs: allVerbs,
  subresources: ['status'],
} as const;

const root: s.ObjectNode = s.object('com.example.Ball', 'A ball.', {
  metadata: s.optional(1, objectMeta, 'Its metadata.'),
  color: s.optional(2, s.oneOf('v1.Color', ['Red', 'Blue']), 'Its color.'),
  size: s.required(3, s.int32(), 'Its size.'),
  weight: s.pointer(4, s.quantity(), 'Its weight.'),
  marks: s.optional(
    5,
    s.listMap(s.object('com.example.Mark', 'A mark.', { at: s.required(1, s.string()) }), ['at']),
    'Marks.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'at',
    },
  ),
  owner: s.optional(
    6,
    s.lazy(() => root),
    'The ball it came from.',
  ),
});
const ball: Kind = {
  ...facts,
  root,
  list: s.object('com.example.BallList', 'Balls.', { items: s.required(1, s.list(root)) }),
};
const builtin: PublishedResource = {
  kind: ball,
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
};

const custom: PublishedResource = {
  kind: ball,
  custom: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['a', 'n'],
        properties: {
          a: { type: 'string', default: 'A', 'x-kubernetes-validations': [{ rule: "self != 'B'" }] },
          n: { type: 'object', nullable: true, properties: { x: { type: 'string' } } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { x: { type: 'string' } } },
          either: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        },
      },
    },
  },
  subresources: [{ name: 'status', verbs: ['get', 'patch', 'update'] }],
};

const v3 = (resource: PublishedResource) =>
  openApiV3(facts, [resource], vocabulary) as {
    paths: { [path: string]: { [method: string]: Json } };
    components: { schemas: { [name: string]: Json & { properties: { [name: string]: Json } } } };
  };
const v2 = (resource: PublishedResource) =>
  openApiV2([resource], vocabulary) as {
    paths: { [path: string]: { [method: string]: Json } };
    definitions: { [name: string]: Json & { properties: { [name: string]: Json } } };
    parameters: { [name: string]: Json };
  };

test('a kind is published with merge keys, required fields and enums', () => {
  const { properties, required } = v3(builtin).components.schemas['com.example.Ball']!;
  assert.deepEqual(required, ['size']);
  assert.deepEqual(properties['color'], { description: 'Its color.', type: 'string', enum: ['Red', 'Blue'] });
  assert.deepEqual(properties['size'], { description: 'Its size.', type: 'integer', format: 'int32', default: 0 });
  assert.deepEqual(properties['marks'], {
    description: 'Marks.',
    type: 'array',
    items: { allOf: [{ $ref: '#/components/schemas/com.example.Mark' }], default: {} },
    'x-kubernetes-list-map-keys': ['at'],
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-patch-merge-key': 'at',
    'x-kubernetes-patch-strategy': 'merge',
  });
});

test('a kind may refer to itself', () => {
  const { definitions } = v2(builtin);
  assert.equal(definitions['com.example.Ball']!.properties['owner']!['$ref'], '#/definitions/com.example.Ball');
});

test('version 2 keeps descriptions beside references and has no defaults', () => {
  const { properties } = v2(builtin).definitions['com.example.Ball']!;
  assert.deepEqual(properties['weight'], {
    description: 'Its weight.',
    $ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity',
  });
  assert.deepEqual(properties['size'], { description: 'Its size.', type: 'integer', format: 'int32' });
});

test('every path of a namespaced resource is published', () => {
  const root = '/apis/toys.example.com/v1';
  assert.deepEqual(Object.keys(v3(builtin).paths), [
    `${root}/`,
    `${root}/balls`,
    `${root}/namespaces/{namespace}/balls`,
    `${root}/namespaces/{namespace}/balls/{name}`,
    `${root}/namespaces/{namespace}/balls/{name}/status`,
    `${root}/watch/balls`,
    `${root}/watch/namespaces/{namespace}/balls`,
    `${root}/watch/namespaces/{namespace}/balls/{name}`,
  ]);
});

test('operations have the IDs that client generators expect', () => {
  const names = Object.values(v3(builtin).paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => operation['operationId'] ?? []),
  );
  assert.ok(names.includes('listToysExampleComV1NamespacedBall'));
  assert.ok(names.includes('deleteToysExampleComV1CollectionNamespacedBall'));
  assert.ok(names.includes('listToysExampleComV1BallForAllNamespaces'));
  assert.ok(names.includes('patchToysExampleComV1NamespacedBallStatus'));
  assert.equal(new Set(names).size, names.length);
});

test('dryRun and fieldValidation are inlined, other parameters are references', () => {
  const document = v2(builtin);
  const { post } = document.paths['/apis/toys.example.com/v1/namespaces/{namespace}/balls']!;
  const parameters = post!['parameters'] as readonly Json[];
  assert.deepEqual(
    parameters.map(({ name, $ref }) => name ?? String($ref).replace(/-.*/, '')),
    ['body', 'dryRun', '#/parameters/fieldManager', 'fieldValidation'],
  );
  for (const { $ref } of parameters) {
    if ($ref) assert.ok(document.parameters[String($ref).slice('#/parameters/'.length)]);
  }
});

test('a custom resource is published with the schema of its CRD and the common fields', () => {
  const schema = v3(custom).components.schemas['com.example.toys.v1.Ball']!;
  assert.deepEqual(schema.properties['spec'], custom.custom!.properties!['spec']);
  assert.deepEqual(Object.keys(schema.properties), ['spec', 'apiVersion', 'kind', 'metadata']);
  assert.deepEqual(schema['x-kubernetes-group-version-kind'], [
    { group: 'toys.example.com', kind: 'Ball', version: 'v1' },
  ]);
});

test('the selectable fields of a custom resource are published', () => {
  const schema = v3({ ...custom, selectableFields: ['spec.a'] }).components.schemas['com.example.toys.v1.Ball']!;
  assert.deepEqual(schema['x-kubernetes-selectable-fields'], [{ fieldPath: 'spec.a' }]);
});

test('a custom resource has no strategic merge patch and no deprecated watch paths', () => {
  const { paths } = v3(custom);
  const { patch } = paths['/apis/toys.example.com/v1/namespaces/{namespace}/balls/{name}']!;
  assert.deepEqual(Object.keys((patch!['requestBody'] as { content: Json }).content), [
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/apply-patch+yaml',
  ]);
  assert.ok(!Object.keys(paths).some((path) => path.includes('/watch/')));
});

test('version 2 omits parts of a custom resource that it cannot express', () => {
  const { properties } = v2(custom).definitions['com.example.toys.v1.Ball']!;
  assert.deepEqual(properties['spec'], {
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'string' },
      n: {},
      free: { 'x-kubernetes-preserve-unknown-fields': true },
      either: { 'x-kubernetes-int-or-string': true },
    },
  });
});

test('version 2 publishes an object with unknown fields without properties', () => {
  const open: PublishedResource = {
    ...custom,
    custom: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  assert.deepEqual(v2(open).definitions['com.example.toys.v1.Ball'], {
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'toys.example.com', kind: 'Ball', version: 'v1' }],
  });
});
