/** Deletion protection of workloads, by label. */
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { type AdmissionDecision, type AdmissionRequestFor, allow, type Webhook } from '@kruise/client/webhook';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { handler, refuse, type WebhookContext } from '../webhooks/context.ts';
import { deletionFault, reportProtection } from './label.ts';

type Workload = { readonly metadata: ObjectMeta; readonly spec?: { readonly replicas?: number } };

/** Returns the reason why a workload may not be deleted; undefined if it may be. */
export function workloadDeletionFault({ metadata, spec }: Workload, gates: FeatureGates): string | undefined {
  const replicas = spec?.replicas ?? 0;
  const kept = (refusal: string) => (replicas > 0 ? `${refusal} and replicas ${replicas}>0` : undefined);
  return deletionFault(metadata, gates, kept);
}

/** Refuses the deletion of a protected workload, and reports refused deletions. */
export function protectFromDeletion(
  { settings, onProtected }: WebhookContext,
  { oldObject, kind, userInfo }: AdmissionRequestFor<Workload>,
): AdmissionDecision<never> {
  const fault = oldObject && workloadDeletionFault(oldObject, settings.gates);
  if (!oldObject || !fault) return allow();
  reportProtection(onProtected, { kind: kind.kind, metadata: oldObject.metadata, username: userInfo.username });
  return refuse(403, fault);
}

/** Deletion protection of Kubernetes' Deployments, ReplicaSets and StatefulSets. */
export function workloadProtecting(context: WebhookContext): Webhook {
  return handler<Workload>((request) => protectFromDeletion(context, request));
}
