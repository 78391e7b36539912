import type { Namespace } from '@kruise/api/core/namespace';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches } from '@kruise/client/informer';
import { allow, type Webhook } from '@kruise/client/webhook';
import { isPodActive } from '@kruise/machinery/pods';
import { handler, refuse, type WebhookContext } from '../webhooks/context.ts';
import { deletionFault, reportProtection } from './label.ts';

/** Deletion protection of namespaces: a namespace with Pods or bound PVCs is protected. */
export function namespaceProtecting({ caches, settings: { gates }, onProtected }: WebhookContext): Webhook {
  return handler<Namespace>(({ oldObject, userInfo }) => {
    if (!oldObject) return allow();
    const { metadata } = oldObject;
    const fault = deletionFault(metadata, gates, (refusal) => describeContent(caches, metadata.name ?? '', refusal));
    if (!fault) return allow();
    reportProtection(onProtected, { kind: 'Namespace', metadata, username: userInfo.username });
    return refuse(403, fault);
  });
}

function describeContent(caches: Caches, namespace: string, refusal: string): string | undefined {
  const pods = caches.of(pod).list({ namespace }).filter(isPodActive).length;
  if (pods > 0) return `${refusal} and active pods ${pods}>0`;
  const claims = caches.of(persistentVolumeClaim).list({ namespace });
  const bound = claims.filter((claim) => claim.status?.phase === 'Bound' && !isBeingDeleted(claim)).length;
  return bound > 0 ? `${refusal} and "Bound" status pvc ${bound}>0` : undefined;
}
