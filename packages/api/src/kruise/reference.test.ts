import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kruiseDefinitions } from './crds.ts';

const file = new URL('../../../../../shared/reference/kruise-v1.9-crds.json', import.meta.url);
const reference: { readonly [name: string]: unknown } | undefined = existsSync(file)
  ? JSON.parse(readFileSync(file, 'utf8'))
  : undefined;

const definitions = kruiseDefinitions({ url: 'https://kruise.example.com/convert' });

test('every CRD of OpenKruise is reproduced', (context) => {
  if (!reference) return context.diagnostic('not compared: the reference is not beside this project');
  const ours = Object.fromEntries(
    definitions.map(({ metadata, spec: { conversion: _, ...facts } }) => [metadata.name, withoutDescriptions(facts)]),
  );
  assert.deepEqual(Object.keys(ours).sort(), Object.keys(reference).sort());
  for (const [name, expected] of Object.entries(reference)) {
    assert.deepEqual(ours[name], expected, name);
  }
});

test('every kind is stored in its newest version, and converted where versions differ', () => {
  const webhook = definitions.filter(({ spec }) => spec.conversion?.strategy === 'Webhook');
  assert.equal(webhook.length, 10);
  for (const { metadata, spec } of definitions) {
    const stored = spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
    assert.deepEqual(stored, [spec.versions.at(-1)?.name], metadata.name);
  }
});

/** Removes descriptions, which are our own. */
function withoutDescriptions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDescriptions);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name === 'description' && typeof member === 'string'))
      .map(([name, member]) => [name, withoutDescriptions(member)]),
  );
}
