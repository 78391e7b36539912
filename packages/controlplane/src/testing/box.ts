/** A custom resource for tests of generic controllers. */
import { customResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import type { Client } from '@kruise/client/client';
import { dynamicKind } from '@kruise/client/dynamic-kind';

export const box = dynamicKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Box',
  plural: 'boxes',
  scope: 'Namespaced',
});

/** Name of the CRD. */
export const boxDefinition = { name: 'boxes.example.com' };

/** Creates the CRD; the resource is served shortly afterwards. */
export async function defineBox(client: Client): Promise<void> {
  const properties = { spec: { type: 'object', properties: { size: { type: 'integer' } } } };
  await client.create(customResourceDefinition, {
    metadata: boxDefinition,
    spec: {
      group: box.group,
      scope: box.scope,
      names: { plural: box.plural, kind: box.kind },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } },
      ],
    },
  });
}
