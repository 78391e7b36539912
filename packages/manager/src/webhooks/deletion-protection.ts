/** Objects that must not be deleted, because somebody labelled them so (manager.md §11.6). */
import { deleteProtectionLabel } from '@kruise/api/kruise/well-known';
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { allow, type RequestFor, type Verdict } from '@kruise/client/webhook';
import type { FeatureGates } from '../feature-gates.ts';
import { refuse, type WebhookContext } from './context.ts';

type Workload = { readonly metadata: ObjectMeta; readonly spec?: { readonly replicas?: number } };

/** Why a workload may not be deleted; nothing if it may. */
export function workloadDeletionFault(workload: Workload, gates: FeatureGates): string | undefined {
  const { metadata, spec } = workload;
  if (!gates.ResourcesDeletionProtection || metadata.deletionTimestamp != null) return undefined;
  const protection = metadata.labels?.[deleteProtectionLabel];
  const prefix = `forbidden by ResourcesProtectionDeletion for ${deleteProtectionLabel}=${protection}`;
  if (protection === 'Always') return prefix;
  const replicas = spec?.replicas ?? 0;
  return protection === 'Cascading' && replicas > 0 ? `${prefix} and replicas ${replicas}>0` : undefined;
}

/** Whether a workload may be deleted; who tried in vain is told of elsewhere as well. */
export function protectFromDeletion(
  { settings, onProtected }: WebhookContext,
  { oldObject, kind, userInfo }: RequestFor<Workload>,
): Verdict<never> {
  const fault = oldObject && workloadDeletionFault(oldObject, settings.gates);
  if (!oldObject || !fault) return allow();
  const { namespace = '', name = '' } = oldObject.metadata;
  const username = userInfo.username ?? '';
  onProtected?.({ event: 'DeletionProtection', kind: kind.kind, namespace, name, username });
  return refuse(403, fault);
}
