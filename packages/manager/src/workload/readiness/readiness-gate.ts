import type { Pod } from '@kruise/api/core/pod';
import { appsGroup, kruisePodReadyCondition } from '@kruise/api/kruise/well-known';
import { controllerOf } from '@kruise/machinery/owner-references';
import type { WebhookContext } from '../../webhooks/context.ts';
import { hasReadinessGate } from './pod-readiness.ts';

/** Adds Kruise's readiness gate to the Pods of Kruise's workloads, or to all Pods. */
export function withReadinessGate(pod: Pod, { settings }: Pick<WebhookContext, 'settings'>): Pod {
  const needsGate = settings.gates.KruisePodReadinessGate || isOwnedByKruise(pod);
  if (!needsGate || hasReadinessGate(pod, kruisePodReadyCondition)) return pod;
  const spec = pod.spec ?? { containers: [] };
  const readinessGates = [...(spec.readinessGates ?? []), { conditionType: kruisePodReadyCondition }];
  return { ...pod, spec: { ...spec, readinessGates } };
}

/** Reports whether a workload of Kruise owns a Pod. */
export function isOwnedByKruise(pod: Pod): boolean {
  const [group] = controllerOf(pod)?.apiVersion.split('/') ?? [];
  return group === appsGroup;
}
