import type { CustomResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Client } from '@kruise/client/client';
import { allow, type Webhook } from '@kruise/client/webhook';
import { handler, refuse, type WebhookContext } from '../context.ts';
import { deletionFault, tellOfProtection } from './label.ts';

/** Definitions have all objects of their kind. */
export function definitionProtecting({ client, settings: { gates }, onProtected }: WebhookContext): Webhook {
  return handler<CustomResourceDefinition>(async ({ oldObject, userInfo }) => {
    if (!oldObject) return allow();
    const { metadata } = oldObject;
    const isCascading = deletionFault(metadata, gates, (refusal) => refusal);
    if (!isCascading) return allow();
    const fault = deletionFault(metadata, gates, () => undefined) ?? (await faultOfObjects());
    if (!fault) return allow();
    tellOfProtection(onProtected, { kind: 'CustomResourceDefinition', metadata, username: userInfo.username });
    return refuse(403, fault);

    async function faultOfObjects(): Promise<string | undefined> {
      if (!gates.DeletionProtectionForCRDCascadingGate) {
        return 'feature-gate DeletionProtectionForCRDCascadingGate is not enabled';
      }
      const objects = await countObjects(client, oldObject!);
      return objects > 0 ? `${isCascading} and active CRs ${objects}>0` : undefined;
    }
  });
}

/** How many objects of a kind there are that are not on their way out. */
async function countObjects(client: Client, { spec }: CustomResourceDefinition): Promise<number> {
  const { group, versions, names } = spec!;
  const version = versions.find(({ storage }) => storage)?.name ?? '';
  const { object } = await client.transport.request({
    method: 'GET',
    path: `/apis/${group}/${version}/${names.plural}`,
  });
  // Whatever the kind, its list has items with metadata.
  const { items } = object as { readonly items: readonly { readonly metadata: ObjectMeta }[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp == null).length;
}
