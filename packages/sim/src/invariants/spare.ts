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
import { updateBudget } from '@kruise/controlplane/controllers/daemonset/situation';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive, readySince } from '@kruise/machinery/pods';
import { maxUnavailableOf } from '@kruise/manager/controllers/statefulset/numbers';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';
import { knownAfterMs, managerBehindMs } from './knowledge.ts';
import {
  isOfManager,
  type KruiseWorkload,
  kruiseOwnerOf,
  kruiseWorkloads,
  numberOf,
  numbersOf,
  specsInForce,
} from './kruise.ts';
import { watchLosses } from './losses.ts';
import { type UnfitNodes, watchUnfitNodes } from './unfit-nodes.ts';

export const podsAreSpared: Invariant = {
  name: 'Kruise workloads respect maxUnavailable',
  begin(scene) {
    let broken: string | undefined;
    const losses = watchLosses(scene);
    const unfit = watchUnfitNodes();
    const specsOf = specsInForce<KruiseWorkload['spec']>();
    const ready = new Map<string, { readonly since: number; readonly seenAt: number }>();
    const proven = new Set<string>();
    // Kubelets set the time since when a Pod is ready, and kruise-manager compares it with its own clock.
    const areClocksRight = !scene.faults.some(
      ({ kind, target }) =>
        kind === 'has a wrong clock' && (target.startsWith('manager') || target.startsWith('node-')),
    );

    /** Records the Pods that have been available at least once. */
    const look = (view: View) => {
      losses.look(view);
      unfit.look(view);
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
    const knownMs = knownAfterMs(scene.faults, 'manager');
    // As in OpenKruise, disrupting Pods that are not available yet costs nothing, and availability depends on the
    // clock.
    const behindMs = managerBehindMs(scene.faults);
    const mayLookNew = (view: View, found: Pod) => {
      const workload = kruiseOwnerOf(view, found);
      const proofMs = workload ? minReadySecondsOf(workload) * 1000 : 0;
      return proofMs > 0 && (readySince(found) ?? view.now) + proofMs > view.now - behindMs - knownMs;
    };
    const isStanding = (each: Pod) => proven.has(each.metadata.uid ?? '') && isPodActive(each) && !isTaken(each);

    scene.onRequest((heard) => {
      const before = isOfManager(heard) && isTaking(heard.request) ? scene.view() : undefined;
      const found = before?.at(pod, heard.request.path);
      if (!before || !found) return undefined;
      look(before);
      const { seenAt = before.now } = ready.get(found.metadata.uid ?? '') ?? {};
      if (!isStanding(found) || before.now - seenAt < knownMs || mayLookNew(before, found)) return undefined;
      return () => {
        const view = scene.view();
        const workload = view && kruiseOwnerOf(view, found);
        if (!workload || workload.metadata.deletionTimestamp != null) return;
        look(view);
        const others = [...view.list(pod).filter(isStanding), ...losses.recent(view.now)].filter(
          ({ metadata }) => metadata.uid !== found.metadata.uid,
        );
        const own = others.filter((each) => controllerOf(each)?.uid === workload.metadata.uid);
        const lacks = specsOf(workload).map((spec) =>
          lackOf({ ...workload, spec } as KruiseWorkload, found, own, { view, unfit }),
        );
        if (lacks.every((lack) => lack !== undefined)) broken ??= `${found.metadata.name}: ${lacks.join(', ')}`;
      };
    });
    return (view) => {
      look(view);
      for (const workload of kruiseWorkloads(view)) specsOf(workload);
      return broken;
    };
  },
};

/** Returns whether a request deletes a Pod, starts a lifecycle hook or marks the Pod not ready. */
function isTaking({ method, body }: ApiRequest): boolean {
  const { metadata, status } = (body ?? {}) as Partial<Pod>;
  const state = metadata?.labels?.[lifecycleStateLabel];
  const isHolding = state === 'PreparingDelete' || state === 'PreparingUpdate';
  const isDraining = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return method === 'DELETE' || (method === 'PATCH' && (isHolding || isDraining));
}

const takenStates: readonly (string | undefined)[] = ['PreparingDelete', 'PreparingUpdate', 'Updating', 'Updated'];

/** Returns whether kruise-manager itself has disrupted a Pod. */
function isTaken({ metadata, status }: Pod): boolean {
  const isDrained = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return isDrained || takenStates.includes(metadata.labels?.[lifecycleStateLabel]);
}

function minReadySecondsOf(workload: KruiseWorkload): number {
  // The kind determines the type.
  if (workload.kind !== 'StatefulSet') return (workload as CloneSet | DaemonSet).spec.minReadySeconds ?? 0;
  return (workload as StatefulSet).spec.updateStrategy?.rollingUpdate?.minReadySeconds ?? 0;
}

type Seen = { readonly view: View; readonly unfit: UnfitNodes };

/** Returns the shortage of a workload after the disruption of a Pod; undefined if enough Pods remain. */
function lackOf(workload: KruiseWorkload, gone: Pod, others: readonly Pod[], seen: Seen): string | undefined {
  const { least, placeOf } = serviceOf(workload, seen);
  const places = new Set(others.map(placeOf).filter((place) => place !== undefined));
  const place = placeOf(gone);
  if (place === undefined || places.has(place) || places.size >= least) return undefined;
  return `${places.size} of ${least} are left`;
}

/** Minimum number of available slots, and the slot that a Pod occupies, if any. */
type Service = { readonly least: number; placeOf(pod: Pod): string | undefined };

function serviceOf(workload: KruiseWorkload, { view, unfit }: Seen): Service {
  switch (workload.kind) {
    case 'CloneSet':
      return { least: leastOfCloneSet(workload as CloneSet), placeOf: ({ metadata }) => metadata.uid };
    case 'StatefulSet': {
      const set = workload as StatefulSet;
      const wanted = numbersOf(set);
      return {
        least: wanted.length - maxUnavailableOf(set),
        placeOf: (each) => (wanted.includes(numberOf(each)) ? each.metadata.name : undefined),
      };
    }
    default: {
      const nodes = view.list(node);
      const fit = nodes.filter(({ metadata }) => !unfit.has(metadata.name, view.now));
      // The manager may or may not count nodes that became unreachable a moment ago.
      const budgets = [nodes, fit].map(({ length }) => updateBudget(workload, length).maxUnavailable);
      return {
        least: fit.length - Math.max(...budgets),
        placeOf(each) {
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
