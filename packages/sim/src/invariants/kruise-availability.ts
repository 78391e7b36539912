/**
 * Kruise workloads disrupt Pods to update them, to scale in, or because a user marked them. Whatever the reason,
 * maxUnavailable is respected. Only actions of kruise-manager are judged, by what it can know: a Pod that failed or was
 * deleted by others a moment ago counts as available.
 */
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { DaemonSet } from '@kruise/api/kruise/daemonset';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { inPlaceUpdateReadyCondition, lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import type { ApiRequest } from '@kruise/client/transport';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, readySince } from '@kruise/machinery/pods';
import { maxUnavailableOf } from '@kruise/manager/statefulset/numbers';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';
import {
  effectiveSpecs,
  isFromManager,
  type KruiseWorkload,
  kruiseOwnerOf,
  kruiseWorkloads,
  ordinalOf,
  ordinalsOf,
} from './kruise.ts';
import { trackLostPods } from './lost-pods.ts';
import { managerClockLagMs, maxStalenessMs } from './staleness.ts';
import { trackUnreachableNodes, type UnreachableNodes } from './unreachable-nodes.ts';

export const kruiseWorkloadsRespectMaxUnavailable: Invariant = {
  name: 'Kruise workloads respect maxUnavailable',
  observe(scene) {
    let broken: string | undefined;
    const losses = trackLostPods(scene);
    const unfit = trackUnreachableNodes();
    const specsOf = effectiveSpecs<KruiseWorkload['spec']>();
    const ready = new Map<string, { readonly since: number; readonly seenAt: number }>();
    const proven = new Set<string>();
    // Kubelets set the time since when a Pod is ready, and kruise-manager compares it with its own clock.
    const areClocksRight = !scene.faults.some(
      ({ kind, target }) =>
        kind === 'has a wrong clock' && (target.startsWith('manager') || target.startsWith('node-')),
    );

    /** Records the Pods that have been available at least once. */
    const update = (view: View) => {
      losses.update(view);
      unfit.update(view);
      const workloads = new Map(kruiseWorkloads(view).map((each) => [each.metadata.uid, each]));
      for (const each of view.list(pod)) {
        const uid = each.metadata.uid ?? '';
        const workload = workloads.get(controllerOf(each)?.uid);
        if (!workload) continue;
        const before = ready.get(uid);
        // Times have whole seconds, so a Pod may look a second older than it is. With a wrong clock, the ready time of
        // a Pod may be in the future.
        const proofMs = Math.max(0, minReadySecondsOf(workload) * 1000 - 1000);
        if (before && (!areClocksRight || before.since + proofMs <= view.now)) proven.add(uid);
        const since = readySince(each);
        if (since === undefined) ready.delete(uid);
        else ready.set(uid, { since, seenAt: before?.seenAt ?? view.now });
      }
    };
    const knownMs = maxStalenessMs(scene.faults, 'manager');
    // As in OpenKruise, disrupting Pods that are not available yet costs nothing, and availability depends on the
    // clock.
    const behindMs = managerClockLagMs(scene.faults);
    const mayCountAsUnavailable = (view: View, found: Pod) => {
      const workload = kruiseOwnerOf(view, found);
      const proofMs = workload ? minReadySecondsOf(workload) * 1000 : 0;
      return proofMs > 0 && (readySince(found) ?? view.now) + proofMs > view.now - behindMs - knownMs;
    };
    const isAvailable = (each: Pod) => proven.has(each.metadata.uid ?? '') && isPodActive(each) && !isDisrupted(each);

    scene.onRequest((observed) => {
      const before = isFromManager(observed) && isDisruption(observed.request) ? scene.view() : undefined;
      const found = before?.at(pod, observed.request.path);
      if (!before || !found) return undefined;
      update(before);
      const { seenAt = before.now } = ready.get(found.metadata.uid ?? '') ?? {};
      if (!isAvailable(found) || before.now - seenAt < knownMs || mayCountAsUnavailable(before, found))
        return undefined;
      return () => {
        const view = scene.view();
        const workload = view && kruiseOwnerOf(view, found);
        if (!workload || workload.metadata.deletionTimestamp != null) return;
        update(view);
        const others = [...view.list(pod).filter(isAvailable), ...losses.recent(view.now)].filter(
          ({ metadata }) => metadata.uid !== found.metadata.uid,
        );
        const own = others.filter((each) => controllerOf(each)?.uid === workload.metadata.uid);
        const lacks = specsOf(workload).map((spec) =>
          shortageOf({ ...workload, spec } as KruiseWorkload, found, own, { view, unfit }),
        );
        if (lacks.every((lack) => lack !== undefined)) broken ??= `${found.metadata.name}: ${lacks.join(', ')}`;
      };
    });
    return (view) => {
      update(view);
      for (const workload of kruiseWorkloads(view)) specsOf(workload);
      return broken;
    };
  },
};

/** Returns whether a request deletes a Pod, starts a lifecycle hook or marks the Pod not ready. */
function isDisruption({ method, body }: ApiRequest): boolean {
  const { metadata, status } = (body ?? {}) as Partial<Pod>;
  const state = metadata?.labels?.[lifecycleStateLabel];
  const isHolding = state === 'PreparingDelete' || state === 'PreparingUpdate';
  const isDraining = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return method === 'DELETE' || (method === 'PATCH' && (isHolding || isDraining));
}

const disruptedStates: readonly (string | undefined)[] = ['PreparingDelete', 'PreparingUpdate', 'Updating', 'Updated'];

/** Returns whether kruise-manager itself has disrupted a Pod. */
function isDisrupted({ metadata, status }: Pod): boolean {
  const isDrained = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return isDrained || disruptedStates.includes(metadata.labels?.[lifecycleStateLabel]);
}

function minReadySecondsOf(workload: KruiseWorkload): number {
  // The kind determines the type.
  if (workload.kind !== 'StatefulSet') return (workload as CloneSet | DaemonSet).spec.minReadySeconds ?? 0;
  return (workload as StatefulSet).spec.updateStrategy?.rollingUpdate?.minReadySeconds ?? 0;
}

type ObservedState = { readonly view: View; readonly unfit: UnreachableNodes };

/** Returns the shortage of a workload after the disruption of a Pod; undefined if enough Pods remain. */
function shortageOf(
  workload: KruiseWorkload,
  gone: Pod,
  others: readonly Pod[],
  seen: ObservedState,
): string | undefined {
  const { least, slotOf } = slotsOf(workload, seen);
  const places = new Set(others.map(slotOf).filter((place) => place !== undefined));
  const place = slotOf(gone);
  if (place === undefined || places.has(place) || places.size >= least) return undefined;
  return `${places.size} of ${least} are left`;
}

/** Minimum number of available slots, and the slot that a Pod occupies, if any. */
type Slots = { readonly least: number; slotOf(pod: Pod): string | undefined };

function slotsOf(workload: KruiseWorkload, { view, unfit }: ObservedState): Slots {
  switch (workload.kind) {
    case 'CloneSet':
      return { least: leastOfCloneSet(workload as CloneSet), slotOf: ({ metadata }) => metadata.uid };
    case 'StatefulSet': {
      const set = workload as StatefulSet;
      const wanted = ordinalsOf(set);
      return {
        least: wanted.length - maxUnavailableOf(set),
        slotOf: (each) => (wanted.includes(ordinalOf(each)) ? each.metadata.name : undefined),
      };
    }
    default: {
      const nodes = view.list(node);
      const fit = nodes.filter(({ metadata }) => !unfit.has(metadata.name, view.now));
      // The manager may or may not count nodes that became unreachable a moment ago.
      const budgets = [nodes, fit].map(({ length }) => updateBudget(workload, length).maxUnavailable);
      return {
        least: fit.length - Math.max(...budgets),
        slotOf(each) {
          const name = targetNodeOf(each);
          return unfit.has(name, view.now) ? undefined : name;
        },
      };
    }
  }
}

function leastOfCloneSet({ spec }: CloneSet): number {
  const replicas = spec.replicas ?? 1;
  const { maxUnavailable = '20%', maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const round = scaleUp(maxSurge, replicas) > 0 ? scaleDown : scaleUp;
  return replicas - round(maxUnavailable, replicas);
}
