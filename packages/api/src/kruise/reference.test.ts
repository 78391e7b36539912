import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { asField, type Field, flatFields, type Node, type ObjectNode, resolve } from '@kruise/schema';
import type { Kind } from '@kruise/schema/kind';
import { kruiseKinds } from './crds.ts';

type Json = { readonly [name: string]: unknown };

const file = new URL('../../../../../shared/reference/kruise-v1.9-crds.json', import.meta.url);
const reference: { readonly [name: string]: Json } | undefined = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : undefined;

test('every definition of the reference is reproduced, fact by fact', (context) => {
  if (!reference) return context.diagnostic('not compared: the reference is not beside this project');
  const ours = Object.fromEntries(kruiseKinds.map(({ stored, older }) => definition([...older, stored])));
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(reference).sort());
  for (const [name, expected] of Object.entries(reference)) {
    assert.deepEqual(ours[name], expected, name);
  }
});

/** A kind as the reference lists it: a definition without metadata and descriptions. */
function definition(versions: readonly Kind[]): readonly [name: string, facts: Json] {
  const [{ group, kind, listKind, plural, singular, shortNames, scope }] = versions as [Kind];
  const names = { kind, listKind, plural, singular, ...(shortNames.length > 0 ? { shortNames } : {}) };
  return [`${plural}.${group}`, { group, names, scope, versions: versions.map((each) => version(each, versions)) }];
}

function version(kind: Kind, all: readonly Kind[]): Json {
  return {
    name: kind.version,
    served: true,
    storage: kind === all.at(-1),
    schema: { openAPIV3Schema: rootSchema(kind.root) },
    subresources: { status: {}, ...(kind.scale ? { scale: kind.scale } : {}) },
    ...(kind.columns ? { additionalPrinterColumns: kind.columns.map(({ doc: _, ...column }) => column) } : {}),
  };
}

function rootSchema(root: ObjectNode): Json {
  const { properties, ...rest } = schema(root);
  return { ...rest, properties: { ...(properties as Json), metadata: { type: 'object' } } };
}

function schema(node: Node): Json {
  const found = resolve(node);
  return { ...shape(found), ...found.constraints };
}

function shape(node: ReturnType<typeof resolve>): Json {
  switch (node.type) {
    case 'string':
    case 'boolean':
      return { type: node.type };
    case 'integer':
      return { type: 'integer', format: node.format };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'intOrString':
      return { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
    case 'any':
      return {
        ...(node.partial || node.embeddedResource ? { type: 'object' } : {}),
        ...(node.partial ? members(Object.entries(node.partial).map(([name, member]) => [name, asField(member)])) : {}),
        ...(node.embeddedResource ? { 'x-kubernetes-embedded-resource': true } : {}),
        'x-kubernetes-preserve-unknown-fields': true,
      };
    case 'map':
      return { type: 'object', additionalProperties: schema(node.values) };
    case 'list':
      return {
        type: 'array',
        items: schema(node.items),
        ...(node.listType ? { 'x-kubernetes-list-type': node.listType } : {}),
        ...(node.keys ? { 'x-kubernetes-list-map-keys': node.keys } : {}),
      };
    case 'object':
      return {
        type: 'object',
        ...members([...flatFields(node)]),
        ...(node.mapType ? { 'x-kubernetes-map-type': node.mapType } : {}),
      };
    default:
      return assert.fail(`no Kruise kind has a ${node.type}`);
  }
}

function members(fields: readonly (readonly [name: string, field: Field])[]): Json {
  if (fields.length === 0) return {};
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  return {
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schema(field.node)])),
    ...(required.length > 0 ? { required: required.sort() } : {}),
  };
}
