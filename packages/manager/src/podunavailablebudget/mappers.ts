/** Event filters: PodUnavailableBudgets to enqueue when a Pod or a workload changes. */
import type { Pod } from '@kruise/api/core/pod';
import { type PodUnavailableBudget, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import type { FeatureGates } from '../configuration/feature-gates.ts';
import { appliesToPod, isCached, isSameWorkload, knownKindOf, ownersOf, selectsLabels } from './association.ts';
import { isAvailable } from './availability.ts';
import { budgetNameOf } from './pod-unavailable-budget.ts';

/** Returns the budgets that protect or protected a Pod, where a change affects their counts. */
export function budgetsOfPod(gates: FeatureGates) {
  return ({ type, object, previous, cause }: Change<Pod>, caches: Caches): readonly Key[] => {
    // At startup every budget is reconciled with all its Pods.
    if (cause === 'initial') return [];
    const budgets = budgetsInNamespace(object, caches);
    if (budgets.length === 0) return [];
    if (type === 'updated' && previous && !affectsCounts(previous, object, gates)) return [];
    const states = (previous ? [previous, object] : [object]).map((pod) => ({ pod, owners: ownersOf(pod, caches) }));
    return budgets
      .filter((budget) => states.some(({ pod, owners }) => protects(budget, pod, owners) || mayProtect(budget, owners)))
      .map(keyOf);

    /**
     * Reports whether a budget may protect the Pod: the owner of the last known owner may not be cached yet, or never
     * will be.
     */
    function mayProtect({ spec: { targetRef } }: PodUnavailableBudget, owners: readonly OwnerReference[]): boolean {
      const last = owners.at(-1);
      if (!targetRef || !last) return false;
      return knownKindOf(last)
        ? !isCached(caches, last, object.metadata.namespace ?? '')
        : knownKindOf(targetRef) === undefined;
    }
  };
}

function protects(budget: PodUnavailableBudget, pod: Pod, owners: readonly OwnerReference[]): boolean {
  return budgetNameOf(pod) === budget.metadata.name || appliesToPod(budget, pod, owners);
}

function affectsCounts(previous: Pod, current: Pod, gates: FeatureGates): boolean {
  return (
    isPodActive(previous) !== isPodActive(current) ||
    isAvailable(previous, gates) !== isAvailable(current, gates) ||
    budgetNameOf(previous) !== budgetNameOf(current) ||
    !isSame(previous.metadata.labels, current.metadata.labels) ||
    !isSame(controllerOf(previous), controllerOf(current))
  );
}

type Workload = KubernetesObject & {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly metadata?: { readonly labels?: { readonly [key: string]: string } } };
  };
};

/** Returns the budgets of a workload that is created, deleted or scaled. */
export function budgetsOfWorkload(change: Change<Workload>, caches: Caches): readonly Key[] {
  const { type, object, previous, cause } = change;
  if (cause === 'initial') return [];
  const budgets = budgetsInNamespace(object, caches);
  if (budgets.length === 0) return [];
  if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
  const { apiVersion, kind, metadata, spec } = object;
  const reference = { apiVersion, kind, name: metadata.name ?? '' };
  const labels = spec?.template?.metadata?.labels;
  return budgets
    .filter((budget) => {
      const { targetRef } = budget.spec;
      return targetRef ? isSameWorkload(targetRef, reference) : selectsLabels(budget, labels);
    })
    .map(keyOf);
}

/** Returns the fields that affect budgets. A terminating workload counts with no replicas. */
function relevant(workload: Workload) {
  return [workload.spec?.replicas, isBeingDeleted(workload)];
}

function budgetsInNamespace({ metadata }: KubernetesObject, caches: Caches): readonly PodUnavailableBudget[] {
  const budgets = caches.of(podUnavailableBudget);
  // Without budgets in the cluster, this check is all that a change costs.
  return budgets.size === 0 ? [] : budgets.list({ namespace: metadata.namespace ?? '' });
}
