import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { customResourceDefinition, definitionYaml, structuralSchemaOf } from './crd.ts';
import { allVerbs, type Kind } from './kind.ts';
import * as s from './language.ts';

const list = s.object({ items: s.list(s.string()) });
const root = (fields: s.Fields): s.ObjectNode =>
  s.object('com.example.Ball', 'A ball.', {
    apiVersion: s.optional(s.string(), 'Its version.'),
    metadata: s.optional(s.object({ name: s.optional(s.string()) }), 'Its metadata.'),
    spec: s.required(s.object(fields), 'What is wanted.'),
  });
const ball = (version: string, more: Partial<Kind> = {}): Kind => ({
  group: 'toys.example.com',
  version,
  kind: 'Ball',
  listKind: 'BallList',
  plural: 'balls',
  singular: 'ball',
  scope: 'Namespaced',
  shortNames: ['bl'],
  categories: [],
  verbs: allVerbs,
  subresources: ['status'],
  root: root({ size: s.optional(s.int32({ minimum: 1 }), 'Its size.') }),
  list,
  ...more,
});

test('a CRD has one version per kind and one storage version', () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', doc: 'Its size.' }] as const;
  const { metadata, spec } = customResourceDefinition({
    kinds: [ball('v1alpha1'), ball('v1', { scale, columns })],
    storage: 'v1',
  });
  assert.equal(metadata.name, 'balls.toys.example.com');
  assert.deepEqual(spec.names, {
    kind: 'Ball',
    listKind: 'BallList',
    plural: 'balls',
    singular: 'ball',
    shortNames: ['bl'],
  });
  assert.deepEqual(
    spec.versions.map(({ schema: _, ...version }) => version),
    [
      { name: 'v1alpha1', served: true, storage: false, subresources: { status: {} } },
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {}, scale },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'Its size.' }],
      },
    ],
  );
});

test('a schema declares metadata only as an object', () => {
  const { spec } = customResourceDefinition({ kinds: [ball('v1')], storage: 'v1' });
  assert.deepEqual(spec.versions[0]!.schema.openAPIV3Schema, {
    description: 'A ball.',
    type: 'object',
    properties: {
      apiVersion: { description: 'Its version.', type: 'string' },
      metadata: { type: 'object' },
      spec: {
        description: 'What is wanted.',
        type: 'object',
        properties: { size: { description: 'Its size.', type: 'integer', format: 'int32', minimum: 1 } },
      },
    },
    required: ['spec'],
  });
});

const schemas: readonly { name: string; node: s.Node; schema: unknown }[] = [
  {
    name: 'intOrString is published as x-kubernetes-int-or-string',
    node: s.intOrString(),
    schema: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
  },
  {
    name: 'an object that preserves unknown fields declares its known fields',
    node: s.preserved({ partial: { known: s.required(s.string()) }, embeddedResource: true }),
    schema: {
      type: 'object',
      properties: { known: { type: 'string' } },
      required: ['known'],
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  },
  {
    name: 'a map-like list has its keys',
    node: s.listMap(s.object({ name: s.string() }), ['name'], { maxItems: 3 }),
    schema: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      maxItems: 3,
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-list-type': 'map',
    },
  },
  {
    name: 'CEL rules are published as x-kubernetes-validations',
    node: s.object({ a: s.optional(s.enumeration(['x', 'y'])) }, { rules: [{ rule: 'has(self.a)', message: 'no a' }] }),
    schema: {
      type: 'object',
      properties: { a: { type: 'string', enum: ['x', 'y'] } },
      'x-kubernetes-validations': [{ rule: 'has(self.a)', message: 'no a' }],
    },
  },
];
for (const { name, node, schema } of schemas) {
  test(name, () => assert.deepEqual(structuralSchemaOf(node), schema));
}

test('a CRD round-trips through YAML', () => {
  const definition = customResourceDefinition({ kinds: [ball('v1')], storage: 'v1', conversion: { strategy: 'None' } });
  assert.deepEqual(load(definitionYaml(definition)), definition);
});
