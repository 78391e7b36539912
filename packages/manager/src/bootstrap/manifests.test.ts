import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifestsFor } from './manifests.ts';

type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly subjects?: readonly object[];
};

// Whoever applies them knows no more of them than this.
const manifests = manifestsFor('elsewhere') as readonly Manifest[];
const names = ({ kind, metadata }: Manifest) => [kind, metadata.namespace, metadata.name].filter(Boolean).join(' ');

test('every object is there once', () => {
  assert.equal(new Set(manifests.map(names)).size, manifests.length);
  assert.equal(manifests.filter(({ kind }) => kind === 'CustomResourceDefinition').length, 18);
});

test('a namespace comes before what is in it', () => {
  const made = new Set<string>();
  for (const { kind, metadata } of manifests) {
    if (kind === 'Namespace') made.add(metadata.name);
    if (metadata.namespace !== undefined) assert.ok(made.has(metadata.namespace), `${kind} ${metadata.name}`);
  }
});

test('everybody who is given rights is of the namespace that was asked for', () => {
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
