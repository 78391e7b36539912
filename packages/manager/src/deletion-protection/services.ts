import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { allow, type Webhook } from '@kruise/client/webhook';
import { handler, refuse, type WebhookContext } from '../webhooks/context.ts';
import { deletionFault } from './label.ts';

/** Deletion protection of Services and Ingresses, which have no dependents. */
export function wholeProtecting({ settings: { gates } }: WebhookContext): Webhook {
  return handler<{ readonly metadata: ObjectMeta }>(({ oldObject }) => {
    const fault = oldObject && deletionFault(oldObject.metadata, gates, () => undefined);
    return fault ? refuse(403, fault) : allow();
  });
}
