import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestsFor } from './manifests.ts';

type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly object[];
};

// A client that applies the manifests needs only these fields.
const manifests = manifestsFor('elsewhere') as readonly Manifest[];
const names = ({ kind, metadata }: Manifest) => [kind, metadata.namespace, metadata.name].filter(Boolean).join(' ');

test('every object is listed once', () => {
  assert.equal(new Set(manifests.map(names)).size, manifests.length);
  assert.equal(manifests.filter(({ kind }) => kind === 'CustomResourceDefinition').length, 18);
});

test('a namespace comes before its objects', () => {
  const made = new Set<string>();
  for (const { kind, metadata } of manifests) {
    if (kind === 'Namespace') made.add(metadata.name);
    if (metadata.namespace !== undefined) assert.ok(made.has(metadata.namespace), `${kind} ${metadata.name}`);
  }
});

test('all subjects of bindings are in the requested namespace', () => {
  const subjects = manifests.flatMap(({ subjects: all = [] }) => all);
  assert.deepEqual(
    subjects,
    ['manager', 'manager', 'manager', 'manager', 'daemon', 'daemon'].map((name) => ({
      kind: 'ServiceAccount',
      name: `kruise-${name}`,
      namespace: 'elsewhere',
    })),
  );
});
