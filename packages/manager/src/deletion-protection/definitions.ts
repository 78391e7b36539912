import type { CustomResourceDefinition } from '@kruise/api/apiextensions/customresourcedefinition';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Client } from '@kruise/client/client';
import { allow, type Webhook } from '@kruise/client/webhook';
import { handler, refuse, type WebhookContext } from '../webhooks/context.ts';
import { deletionFault, reportProtection } from './label.ts';

/** Deletion protection of CRDs: a CRD with objects of its kind is protected, because deleting it deletes them. */
export function definitionProtecting({ client, settings: { gates }, onProtected }: WebhookContext): Webhook {
  return handler<CustomResourceDefinition>(async ({ oldObject, userInfo }) => {
    if (!oldObject) return allow();
    const { metadata } = oldObject;
    const isCascading = deletionFault(metadata, gates, (refusal) => refusal);
    if (!isCascading) return allow();
    const fault = deletionFault(metadata, gates, () => undefined) ?? (await faultOfObjects());
    if (!fault) return allow();
    reportProtection(onProtected, { kind: 'CustomResourceDefinition', metadata, username: userInfo.username });
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

/** Returns the number of objects of a kind that are not terminating. */
async function countObjects(client: Client, { spec }: CustomResourceDefinition): Promise<number> {
  const { group, versions, names } = spec!;
  const version = versions.find(({ storage }) => storage)?.name ?? '';
  const { object } = await client.transport.request({
    method: 'GET',
    path: `/apis/${group}/${version}/${names.plural}`,
  });
  // A list of any kind has items with metadata.
  const { items } = object as { readonly items: readonly { readonly metadata: ObjectMeta }[] };
  return items.filter(({ metadata }) => metadata.deletionTimestamp == null).length;
}
