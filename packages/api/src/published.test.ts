import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openApiV2 } from '@kruise/schema/openapi-v2';
import { openApiV3 } from '@kruise/schema/openapi-v3';
import { publishedResources, vocabulary } from './published.ts';

type Json = { readonly [name: string]: unknown };
type Reference = {
  readonly definitions: { readonly [name: string]: Json };
  readonly paths: { readonly [path: string]: { readonly [method: string]: ReferenceOperation } };
};
type ReferenceOperation = {
  readonly action?: string;
  readonly gvk?: { readonly version: string };
  readonly consumes?: readonly string[];
  readonly query: readonly string[];
};

const file = new URL('../../../../shared/reference/kubernetes-v1.33-api.json', import.meta.url);
const reference: Reference | undefined = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
const absent = 'not compared: the reference is not beside this project';

const document = openApiV2(publishedResources, vocabulary) as {
  readonly definitions: { readonly [name: string]: Json };
  readonly paths: { readonly [path: string]: Json };
};

test('every definition equals that of Kubernetes, except for its texts', (context) => {
  if (!reference) return context.diagnostic(absent);
  for (const [name, definition] of Object.entries(document.definitions)) {
    // The groups of these kinds depend on the groups of a server.
    const isEverywhere = /\.(?:DeleteOptions|WatchEvent)$/.test(name);
    const omitted = isEverywhere ? ['description', 'enum', kinds] : ['description', 'enum'];
    assert.deepEqual(without(definition, omitted), without(reference.definitions[name] ?? {}, omitted), name);
  }
});

test('all definitions of the stable kinds of Kubernetes exist', (context) => {
  if (!reference) return context.diagnostic(absent);
  const roots = Object.entries(reference.definitions)
    .filter(([, definition]) => publishedResources.some(({ kind }) => hasKind(definition, kind)))
    .map(([name]) => name);
  const missing = reachable(reference.definitions, roots).filter((name) => !(name in document.definitions));
  assert.ok(roots.length >= publishedResources.length);
  assert.deepEqual(missing, []);
});

test('every path and method of the stable groups of Kubernetes exists, with its action, kind and types', (context) => {
  if (!reference) return context.diagnostic(absent);
  const expected = Object.entries(reference.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { gvk }]) => gvk && !/alpha|beta/.test(`${path} ${gvk.version}`))
      .map(([method, operation]) => [`${method} ${path}`, operation] as const),
  );
  for (const [name, { action, gvk, consumes = [], query }] of expected) {
    const [method = '', path = ''] = name.split(' ');
    const item = document.paths[path];
    const operation = item?.[method] as Json | undefined;
    assert.ok(operation, `${name} is missing`);
    assert.equal(operation['x-kubernetes-action'], action, name);
    assert.deepEqual(operation[kinds], gvk, name);
    // CBOR is disabled by default.
    const types = consumes.filter((type) => !type.endsWith('+cbor'));
    assert.deepEqual(operation['consumes'], types, name);
    const own = (operation['parameters'] ?? []) as readonly Json[];
    for (const parameter of query)
      assert.ok(
        own.some((each) => each['name'] === parameter),
        `${name} ${parameter}`,
      );
  }
  assert.ok(expected.length > 500);
});

test('OpenAPI v3 wraps references, and gives required fields their empty value', () => {
  const resources = publishedResources.filter(({ kind }) => kind.group === 'apps');
  const { components } = openApiV3({ group: 'apps', version: 'v1' }, resources, vocabulary) as {
    components: { schemas: { [name: string]: { properties: { [name: string]: Json }; required: readonly string[] } } };
  };
  const spec = components.schemas['io.k8s.api.apps.v1.DeploymentSpec']!.properties;
  const prefix = '#/components/schemas/';
  assert.deepEqual(spec['template']!['allOf'], [{ $ref: `${prefix}io.k8s.api.core.v1.PodTemplateSpec` }]);
  assert.deepEqual(spec['template']!['default'], {});
  assert.equal('default' in spec['selector']!, false);
  const port = components.schemas['io.k8s.api.core.v1.ContainerPort']!.properties;
  assert.equal(port['containerPort']!['default'], 0);
  assert.equal(port['protocol']!['default'], 'TCP');
  assert.equal('default' in port['hostPort']!, false);
  const claim = components.schemas['io.k8s.api.core.v1.PersistentVolumeClaim'] as unknown as Json;
  assert.deepEqual(claim[kinds], [{ group: '', kind: 'PersistentVolumeClaim', version: 'v1' }]);
});

test('the PATCH of a kind lists its content types for kubectl', () => {
  const resources = publishedResources.filter(({ kind }) => kind.group === 'apps');
  const { paths } = openApiV3({ group: 'apps', version: 'v1' }, resources, vocabulary) as {
    paths: { [path: string]: Json };
  };
  const patch = paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']!['patch'] as {
    parameters: { name: string }[];
    requestBody: { content: Json };
  } & Json;
  assert.deepEqual(patch[kinds], { group: 'apps', kind: 'Deployment', version: 'v1' });
  assert.deepEqual(
    patch.parameters.map(({ name }) => name),
    ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  );
  assert.ok('application/strategic-merge-patch+json' in patch.requestBody.content);
});

const kinds = 'x-kubernetes-group-version-kind';

function hasKind(
  definition: Json,
  { group, version, kind }: { group: string; version: string; kind: string },
): boolean {
  const found = (definition[kinds] ?? []) as readonly { group: string; version: string; kind: string }[];
  return found.some((each) => each.group === group && each.version === version && each.kind === kind);
}

/** Returns the value without these members at any depth, with sorted members. */
function without(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, names));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    // A property may be called description too. A text is not a property.
    .filter(([name, member]) => !(names.includes(name) && (typeof member === 'string' || Array.isArray(member))))
    .map(([name, member]) => [
      name,
      name === 'required' && Array.isArray(member) ? [...member].sort() : without(member, names),
    ]);
  return Object.fromEntries(entries.sort(([a], [b]) => ((a as string) < (b as string) ? -1 : 1)));
}

function reachable(definitions: { readonly [name: string]: Json }, roots: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  const queue = [...roots];
  for (const name of queue) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const [, found] of JSON.stringify(definitions[name]).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g))
      queue.push(found!);
  }
  return [...seen];
}
