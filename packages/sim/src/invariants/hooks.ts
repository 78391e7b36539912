/** Kruise workloads wait for lifecycle hooks, and mark Pods not ready before an in-place update. */
import { type Pod, pod } from '@kruise/api/core/pod';
import type { Lifecycle, LifecycleHook } from '@kruise/api/kruise/lifecycle';
import { inPlaceUpdateReadyCondition, lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { isPodActive } from '@kruise/machinery/pods';
import type { View } from '../view.ts';
import type { ObservedRequest } from '../world.ts';
import type { Invariant } from './invariant.ts';
import { isFromManager, kruiseOwnerOf } from './kruise.ts';

export const preDeleteHooksAreRespected: Invariant = {
  name: 'a Pod with a pending preDelete hook is not deleted by its workload',
  observe: respectsHook(
    ({ request }) => request.method === 'DELETE',
    ({ preDelete }) => preDelete,
  ),
};

export const inPlaceUpdateHooksAreRespected: Invariant = {
  name: 'a Pod with a pending inPlaceUpdate hook is not updated in place',
  observe: respectsHook(
    ({ request }) => statePatched(request.body) === 'Updating',
    ({ inPlaceUpdate }) => inPlaceUpdate,
  ),
};

/** Name of the container of every workload in a simulation. */
const workloadContainer = 'main';

/** Judged by the stored Pod, not by the manager's cache. */
export const podsAreNotReadyDuringInPlaceUpdate: Invariant = {
  name: 'a Pod is not ready before its containers are updated in place',
  observe({ onRequest, view }) {
    let broken: string | undefined;
    onRequest((observed) => {
      const { spec } = (observed.request.body ?? {}) as Partial<Pod>;
      // A SidecarSet updates its own containers without a gate.
      const isOfWorkload = spec?.containers?.some(({ name }) => name === workloadContainer);
      if (observed.request.method !== 'PATCH' || !isFromManager(observed) || !isOfWorkload) return undefined;
      const found = view()?.at(pod, observed.request.path);
      const isGated = found?.spec?.readinessGates?.some(
        ({ conditionType }) => conditionType === inPlaceUpdateReadyCondition,
      );
      if (
        !isGated ||
        !isPodActive(found!) ||
        isConditionFalse(found!.status?.conditions, inPlaceUpdateReadyCondition)
      ) {
        return undefined;
      }
      return () => (broken ??= `${found!.metadata.name} was`);
    });
    return () => broken;
  },
};

function statePatched(body: unknown): string | undefined {
  const { metadata } = (body ?? {}) as { readonly metadata?: Pod['metadata'] };
  return metadata?.labels?.[lifecycleStateLabel];
}

function respectsHook(
  isSkipping: (observed: ObservedRequest) => boolean,
  hookOf: (lifecycle: Lifecycle) => LifecycleHook | undefined,
): Invariant['observe'] {
  return ({ onRequest, view }) => {
    let broken: string | undefined;
    onRequest((observed) => {
      if (!isFromManager(observed) || !isSkipping(observed)) return undefined;
      const seen = view();
      const found = seen?.at(pod, observed.request.path);
      if (!found || !isPodActive(found) || !isHeld(seen!, found, hookOf)) return undefined;
      return () => (broken ??= `${found.metadata.name} was`);
    });
    return () => broken;
  };
}

function isHeld(view: View, found: Pod, hookOf: (lifecycle: Lifecycle) => LifecycleHook | undefined): boolean {
  const { lifecycle = {} } = kruiseOwnerOf(view, found)?.spec ?? {};
  const labels = Object.entries(hookOf(lifecycle)?.labelsHandler ?? {});
  return labels.some(([label, value]) => found.metadata.labels?.[label] === value);
}
