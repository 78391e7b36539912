import { deleteProtectionLabel } from '@kruise/api/kruise/well-known';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { FeatureGates } from '../../feature-gates.ts';
import type { WebhookContext } from '../context.ts';

/**
 * Why an object may not be deleted; nothing if it may. `ofCascade` says what else would go with it, in words that follow
 * those of a refusal.
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

/** Notes that something was not deleted, and who wanted it to be. */
export function tellOfProtection(
  onProtected: WebhookContext['onProtected'],
  {
    kind,
    metadata: { namespace = '', name = '' },
    username = '',
  }: { readonly kind: string; readonly metadata: ObjectMeta; readonly username: string | undefined },
): void {
  onProtected?.({ event: 'DeletionProtection', kind, namespace, name, username });
}
