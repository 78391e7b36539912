/** Desired state of a Deployment's ReplicaSets. */
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { PodTemplateSpec } from '@kruise/api/core/pod-template';
import { isSame } from '@kruise/machinery/json-value';
import { templateHashLabel } from '@kruise/machinery/template-hash';
import { compareStrings } from '@kruise/values/go-syntax';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import { parseTime } from '@kruise/values/time';

/** ReplicaSets of a Deployment, split into the new one and the old ones. */
export type ReplicaSets = {
  /** ReplicaSet of the current template. */
  readonly newSet: ReplicaSet | undefined;
  /** All other ReplicaSets, oldest first. */
  readonly oldSets: readonly ReplicaSet[];
};

/** New size of a ReplicaSet. */
export type Resize = { readonly set: ReplicaSet; readonly replicas: number };

/** Maximum surge and maximum number of unavailable Pods during a rollout, as absolute numbers. */
export type Budget = { readonly maxSurge: number; readonly maxUnavailable: number };

/** Returns the desired number of replicas. */
export function replicasOf({ spec }: Deployment | ReplicaSet): number {
  return spec?.replicas ?? 1;
}

/**
 * Splits ReplicaSets into the one of the current template and the others. If several match the template, the oldest is
 * the new ReplicaSet.
 */
export function sortByTemplate({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSets {
  const sorted = sets.toSorted(compareAges);
  const newSet = sorted.find((set) => isSameTemplate(set.spec?.template, spec?.template));
  return { newSet, oldSets: sorted.filter((set) => set !== newSet) };
}

/** Reports whether two templates are equal, ignoring the pod-template-hash label. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return isSame(withoutHash(a), withoutHash(b));
}

/** Returns a template without the pod-template-hash label. */
export function withoutHash(template: PodTemplateSpec | undefined): PodTemplateSpec | undefined {
  const labels = template?.metadata?.labels;
  if (labels?.[templateHashLabel] === undefined) return template;
  const { [templateHashLabel]: _, ...others } = labels;
  return { ...template, metadata: { ...template?.metadata, labels: others } };
}

/** Orders by creation time, then by name. */
export function compareAges(a: ReplicaSet, b: ReplicaSet): number {
  return madeAt(a) - madeAt(b) || compareStrings(a.metadata.name ?? '', b.metadata.name ?? '');
}

function madeAt({ metadata: { creationTimestamp } }: ReplicaSet): number {
  return creationTimestamp ? parseTime(creationTimestamp) : 0;
}

/** Returns all ReplicaSets, the new one last. */
export function allOf({ newSet, oldSets }: ReplicaSets): readonly ReplicaSet[] {
  return newSet ? [...oldSets, newSet] : oldSets;
}

/** Returns the ReplicaSets with desired replicas. */
export function activeOf(sets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return sets.filter((set) => replicasOf(set) > 0);
}

/** Returns the sum of the desired replicas. */
export function totalOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + replicasOf(set), 0);
}

/** Returns the sum of a status field of the ReplicaSets. */
export function sumOfStatus(
  sets: readonly ReplicaSet[],
  figure: 'replicas' | 'readyReplicas' | 'availableReplicas',
): number {
  return sets.reduce((sum, { status }) => sum + (status?.[figure] ?? 0), 0);
}

/**
 * Returns the number of available Pods that remain available. Available Pods above the desired size of a ReplicaSet
 * were counted before it scaled down and are terminating. Kubernetes counts them, and then takes down too many.
 */
export function lastingAvailableOf(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + Math.min(replicasOf(set), set.status?.availableReplicas ?? 0), 0);
}

/** Reports whether the strategy is RollingUpdate rather than Recreate. */
export function isRolling({ spec }: Deployment): boolean {
  return spec?.strategy?.type === 'RollingUpdate';
}

/**
 * Returns the budget of a rollout. maxSurge is rounded up and maxUnavailable down; if both are 0, one Pod may be
 * unavailable.
 */
export function budgetOf(deployment: Deployment): Budget {
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const replicas = replicasOf(deployment);
  const { maxSurge: surge = 0, maxUnavailable: unavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {};
  const maxSurge = scaleUp(surge, replicas);
  const maxUnavailable = scaleDown(unavailable, replicas);
  return { maxSurge, maxUnavailable: Math.min(maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable, replicas) };
}
