/** What has a budget looked at again (protection.md §A9). */
import type { Pod } from '@kruise/api/core/pod';
import { type PodUnavailableBudget, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { controllerOf, type OwnerReference } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { isAtHand, isForLabels, isForPod, isSameWorkload, knownKindOf, ownersOf } from '../../budget/association.ts';
import { isAvailable } from '../../budget/availability.ts';
import { budgetNameOf } from '../../budget/pod-unavailable-budget.ts';
import type { FeatureGates } from '../../feature-gates.ts';

/** The budgets that a Pod counts for from now on, or did, where it counts otherwise than before. */
export function budgetsOfPod(gates: FeatureGates) {
  return ({ type, object, previous, cause }: Change<Pod>, caches: Caches): readonly Key[] => {
    // At the start every budget looks at all its Pods.
    if (cause === 'initial') return [];
    const budgets = budgetsBeside(object, caches);
    if (budgets.length === 0) return [];
    if (type === 'updated' && previous && !countsOtherwise(previous, object, gates)) return [];
    const states = (previous ? [previous, object] : [object]).map((pod) => ({ pod, owners: ownersOf(pod, caches) }));
    return budgets
      .filter((budget) => states.some(({ pod, owners }) => concerns(budget, pod, owners) || mayConcern(budget, owners)))
      .map(keyOf);

    /** Who the last known owner of a Pod belongs to may not have come into sight yet, or never will. */
    function mayConcern({ spec: { targetRef } }: PodUnavailableBudget, owners: readonly OwnerReference[]): boolean {
      const last = owners.at(-1);
      if (!targetRef || !last) return false;
      return knownKindOf(last)
        ? !isAtHand(caches, last, object.metadata.namespace ?? '')
        : knownKindOf(targetRef) === undefined;
    }
  };
}

function concerns(budget: PodUnavailableBudget, pod: Pod, owners: readonly OwnerReference[]): boolean {
  return budgetNameOf(pod) === budget.metadata.name || isForPod(budget, pod, owners);
}

function countsOtherwise(previous: Pod, current: Pod, gates: FeatureGates): boolean {
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

/** The budgets of a workload that comes, goes, or is to have another size. */
export function budgetsOfWorkload(change: Change<unknown>, caches: Caches): readonly Key[] {
  // Only kinds of workloads are followed.
  const { type, object, previous, cause } = change as Change<Workload>;
  if (cause === 'initial') return [];
  const budgets = budgetsBeside(object, caches);
  if (budgets.length === 0) return [];
  if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
  const { apiVersion, kind, metadata, spec } = object;
  const reference = { apiVersion, kind, name: metadata.name ?? '' };
  const labels = spec?.template?.metadata?.labels;
  return budgets
    .filter((budget) => {
      const { targetRef } = budget.spec;
      return targetRef ? isSameWorkload(targetRef, reference) : isForLabels(budget, labels);
    })
    .map(keyOf);
}

/** A workload that is being deleted wants no Pods any more, whatever it says. */
function relevant(workload: Workload) {
  return [workload.spec?.replicas, isBeingDeleted(workload)];
}

function budgetsBeside({ metadata }: KubernetesObject, caches: Caches): readonly PodUnavailableBudget[] {
  const budgets = caches.of(podUnavailableBudget);
  // Where nobody has a budget, nobody pays for budgets.
  return budgets.size === 0 ? [] : budgets.list({ namespace: metadata.namespace ?? '' });
}
