import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { customResourceDefinition } from '@kruise/schema/crd';
import { kruiseKinds } from './crds.ts';

const file = new URL('../../../../../shared/reference/kruise-v1.9-crds.json', import.meta.url);

test('the definitions made of the kinds are those of the reference, but for their texts', (context) => {
  if (!existsSync(file)) return context.diagnostic('not compared: the reference is not beside this project');
  const reference: { readonly [name: string]: unknown } = JSON.parse(readFileSync(file, 'utf8'));
  for (const { stored, older } of kruiseKinds) {
    const [first = stored, ...rest] = [...older, stored];
    const { metadata, spec } = customResourceDefinition({ kinds: [first, ...rest], storage: stored.version });
    assert.deepEqual(withoutTexts(spec), reference[metadata.name], metadata.name);
  }
  assert.equal(kruiseKinds.length, Object.keys(reference).length);
});

/** Descriptions are ours; a property of that name is not a description. */
function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, member]) => !(name === 'description' && typeof member === 'string'),
  );
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutTexts(member)]));
}
