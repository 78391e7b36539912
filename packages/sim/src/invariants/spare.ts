/**
 * Kruise's workloads take Pods out of service to update them, to have fewer, or because somebody chose them: whatever the
 * reason, as many as it takes stay available. Only what kruise-manager does is judged, and by what it can know: a Pod that failed or
 * was deleted by others a moment ago counts as if it still served.
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
  name: 'no workload of Kruise takes a Pod that it cannot spare',
  begin(scene) {
    let broken: string | undefined;
    const losses = watchLosses(scene);
    const unfit = watchUnfitNodes();
    const specsOf = specsInForce<KruiseWorkload['spec']>();
    const ready = new Map<string, { readonly since: number; readonly seenAt: number }>();
    const proven = new Set<string>();
    // Who says since when a Pod is ready, and who goes by it.
    const areClocksRight = !scene.faults.some(
      ({ kind, target }) =>
        kind === 'has a wrong clock' && (target.startsWith('manager') || target.startsWith('node-')),
    );

    /** Remembers which Pods have been available, be it once. */
    const look = (view: View) => {
      losses.look(view);
      unfit.look(view);
      const workloads = new Map(kruiseWorkloads(view).map((each) => [each.metadata.uid, each]));
      for (const each of view.list(pod)) {
        const uid = each.metadata.uid ?? '';
        const workload = workloads.get(controllerOf(each)?.uid);
        if (!workload) continue;
        const before = ready.get(uid);
        // Times are in whole seconds, so that a Pod may look a second older than it is. A clock that is wrong may say of one
        // that is ready that it will be.
        const proofMs = Math.max(0, minReadySecondsOf(workload) * 1000 - 1000);
        if (before && (!areClocksRight || before.since + proofMs <= view.now)) proven.add(uid);
        const since = readySince(each);
        if (since === undefined) ready.delete(uid);
        else ready.set(uid, { since, seenAt: before?.seenAt ?? view.now });
      }
    };
    const knownMs = knownAfterMs(scene.faults, 'manager');
    // Pods that are not available yet cost nothing, in the reference too, and whether they are is said by the clock.
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

/** Whether a request ends a Pod, has it wait for its end or its update, or keeps traffic from it. */
function isTaking({ method, body }: ApiRequest): boolean {
  const { metadata, status } = (body ?? {}) as Partial<Pod>;
  const state = metadata?.labels?.[lifecycleStateLabel];
  const isHolding = state === 'PreparingDelete' || state === 'PreparingUpdate';
  const isDraining = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return method === 'DELETE' || (method === 'PATCH' && (isHolding || isDraining));
}

const takenStates: readonly (string | undefined)[] = ['PreparingDelete', 'PreparingUpdate', 'Updating', 'Updated'];

/** Whether kruise-manager has taken a Pod out of service itself. */
function isTaken({ metadata, status }: Pod): boolean {
  const isDrained = isConditionFalse(status?.conditions, inPlaceUpdateReadyCondition);
  return isDrained || takenStates.includes(metadata.labels?.[lifecycleStateLabel]);
}

function minReadySecondsOf(workload: KruiseWorkload): number {
  // The kind says which of them it is.
  if (workload.kind !== 'StatefulSet') return (workload as CloneSet | DaemonSet).spec.minReadySeconds ?? 0;
  return (workload as StatefulSet).spec.updateStrategy?.rollingUpdate?.minReadySeconds ?? 0;
}

type Seen = { readonly view: View; readonly unfit: UnfitNodes };

/** What a workload lacks when a Pod has gone, and these others are there; nothing if that is enough. */
function lackOf(workload: KruiseWorkload, gone: Pod, others: readonly Pod[], seen: Seen): string | undefined {
  const { least, placeOf } = serviceOf(workload, seen);
  const places = new Set(others.map(placeOf).filter((place) => place !== undefined));
  const place = placeOf(gone);
  if (place === undefined || places.has(place) || places.size >= least) return undefined;
  return `${places.size} are left of ${least}`;
}

/** How many places have to be served at least, and the place that a Pod serves, if it is one of these. */
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
      // Of those that may be taken for unfit it is not known whether they are.
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
