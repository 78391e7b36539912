/** What a Deployment asks of its ReplicaSets. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { isSame } from '@kruise/machinery/json-value';
import { templateHashLabel } from '@kruise/machinery/template-hash';
import { compareStrings } from '@kruise/values/go-syntax';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import { parseTime } from '@kruise/values/time';

/** The ReplicaSets of a Deployment, the one of its template apart. */
export type ReplicaSets = {
  /** The one of the present template. */
  readonly newSet: ReplicaSet | undefined;
  /** All others, the oldest first. */
  readonly oldSets: readonly ReplicaSet[];
};

/** A ReplicaSet that is to be of another size. */
export type Resize = { readonly set: ReplicaSet; readonly replicas: number };

/** How many Pods there may be too many or too few during a rollout. */
export type Budget = { readonly maxSurge: number; readonly maxUnavailable: number };

/** The Pods a Deployment is to have. */
export function replicasOf({ spec }: Deployment | ReplicaSet): number {
  return spec?.replicas ?? 1;
}

/** Tells the ReplicaSet of the template from the others. Where several have it, the oldest is meant. */
export function sortByTemplate({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSets {
  const sorted = sets.toSorted(compareAges);
  const newSet = sorted.find((set) => isSameTemplate(set.spec?.template, spec?.template));
  return { newSet, oldSets: sorted.filter((set) => set !== newSet) };
}

/** Whether templates are the same but for the label that is derived from them. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return isSame(withoutHash(a), withoutHash(b));
}

/** A template without the label that is derived from it. */
export function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  const labels = template?.metadata?.labels;
  if (labels?.[templateHashLabel] === undefined) return template;
  const { [templateHashLabel]: _, ...others } = labels;
  return { ...template, metadata: { ...template?.metadata, labels: others } };
}

/** The oldest first; of those made in one second by name. */
export function compareAges(a: ReplicaSet, b: ReplicaSet): number {
  return madeAt(a) - madeAt(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}

function madeAt({ metadata: { creationTimestamp } }: ReplicaSet): number {
  return creationTimestamp ? parseTime(creationTimestamp) : 0;
}

/** All ReplicaSets, the new one last. */
export function allOf({ newSet, oldSets }: ReplicaSets): readonly ReplicaSet[] {
  return newSet ? [...oldSets, newSet] : oldSets;
}

/** The ReplicaSets that are to have Pods. */
export function activeOf(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

/** How many Pods ReplicaSets are to have together. */
export function totalOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

/** The sum of a figure the ReplicaSets report. */
export function reported(
  sets: readonly ReplicaSet[],
  figure: 'replicas' | 'readyReplicas' | 'availableReplicas',
): number {
  return sets.reduce((sum, { status }) => sum + (status?.[figure] ?? 0), 0);
}

/**
 * How many Pods of ReplicaSets are available and stay so. What one reports beyond its size was counted before it shrank:
 * those are on their way out, and Kubernetes, which counts them all the same, then takes too many down.
 */
export function lastingOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + Math.min(replicasOf(set), set.status?.availableReplicas ?? 0), 0);
}

/** Whether Pods are replaced little by little, rather than all at once. */
export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'RollingUpdate';
}

/** The budget of a rollout. A surge is rounded up and unavailability down; where that leaves nothing, one Pod may go. */
export function budgetOf(deployment: Deployment): Budget {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = replicasOf(deployment);
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const maxSurge = scaleUp(surge, replicas);
  const maxUnavailable = scaleDown(unavailable, replicas);
  return { maxSurge, maxUnavailable: Math.min(maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable, replicas) };
}
