import { deleteProtectionLabel } from '@kruise/api/kruise/well-known';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import type { WebhookContext } from '../webhooks/context.ts';

/**
 * Returns the reason why an object may not be deleted; undefined if it may be. `ofCascade` describes the dependents
 * that would be deleted too, as the end of the refusal's message.
 */
export function deletionFault(
  { labels, deletionTimestamp }: ObjectMeta,
  gates: FeatureGates,
  ofCascade: (refusal: string) => string | undefined,
): string | undefined {
  if (!gates.ResourcesDeletionProtection || deletionTimestamp != null) return undefined;
  const protection = labels?.[deleteProtectionLabel];
  const refusal = `forbidden by ResourcesProtectionDeletion for ${deleteProtectionLabel}=${protection}`;
  if (protection === 'Always') return refusal;
  return protection === 'Cascading' ? ofCascade(refusal) : undefined;
}

/** Reports a refused deletion and its user. */
export function reportProtection(
  onProtected: WebhookContext['onProtected'],
  {
    kind,
    metadata: { namespace = '', name = '' },
    username = '',
  }: { readonly kind: string; readonly metadata: ObjectMeta; readonly username: string | undefined },
): void {
  onProtected?.({ event: 'DeletionProtection', kind, namespace, name, username });
}
