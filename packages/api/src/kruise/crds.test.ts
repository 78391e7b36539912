import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codecOf } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import { defaultCustomResourceDefinition } from '../apiextensions/customresourcedefinition.default.ts';
import { type CustomResourceDefinition, customResourceDefinition } from '../apiextensions/customresourcedefinition.ts';
import { validateCustomResourceDefinition } from '../apiextensions/customresourcedefinition.validate.ts';
import { kruiseDefinitions } from './crds.ts';

const codec = codecOf(customResourceDefinition.root);

for (const definition of kruiseDefinitions({ url: 'https://localhost/convert' })) {
  test(`a server accepts ${definition.metadata.name}`, () => {
    const unknown: string[] = [];
    const draft = codec.fromJson(definition, { onUnknown: (path) => unknown.push(path) });
    defaultCustomResourceDefinition(draft as Draft<CustomResourceDefinition>);
    assert.deepEqual(unknown, []);
    assert.deepEqual([...validateCustomResourceDefinition(codec.canonical(draft))], []);
  });
}
