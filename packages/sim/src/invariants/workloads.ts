/** Availability and ordering guarantees of each kind of workload. */
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { type StatefulSet, statefulSet } from '@kruise/api/apps/statefulset';
import { job } from '@kruise/api/batch/job';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import {
  type StatefulSet as AdvancedStatefulSet,
  statefulSet as advancedStatefulSet,
} from '@kruise/api/kruise/statefulset';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodReady, readySince } from '@kruise/machinery/pods';
import { maxUnavailableOf } from '@kruise/manager/statefulset/numbers';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import { updateBudget } from '@kruise/workload-kit/daemonset/state';
import type { Invariant } from './invariant.ts';
import { effectiveSpecs, ordinalOf, ordinalsOf } from './kruise.ts';
import { activeByOwner, ceiling, floor } from './limits.ts';
import { managerClockLagMs, maxStalenessMs } from './staleness.ts';
import { trackUnreachableNodes } from './unreachable-nodes.ts';

export const deploymentsRespectMaxUnavailable: Invariant = {
  name: 'the ReplicaSets of a Deployment respect maxUnavailable',
  observe() {
    const limitOf = floor();
    const observedLimits = new Map<string, number>();
    return (view) => {
      const sets = Map.groupBy(view.list(replicaSet), (set) => controllerOf(set)?.uid);
      for (const { metadata, spec, status } of view.list(deployment)) {
        const uid = metadata.uid ?? '';
        const replicas = spec?.replicas ?? 1;
        const { maxUnavailable = 0, maxSurge = 0 } = spec?.strategy?.rollingUpdate ?? {};
        const surge = scaleUp(maxSurge, replicas);
        const missing = Math.max(scaleDown(maxUnavailable, replicas), surge === 0 ? 1 : 0);
        const least = Math.max(0, replicas - missing);
        // Until the controller has observed the larger number of replicas, it may act on the previous one.
        const isObserved = status?.observedGeneration === metadata.generation;
        const allowed = isObserved ? least : Math.min(least, observedLimits.get(uid) ?? 0);
        observedLimits.set(uid, allowed);
        if (metadata.deletionTimestamp) continue;
        const wanted = (sets.get(uid) ?? []).reduce((sum, set) => sum + (set.spec?.replicas ?? 1), 0);
        const limit = limitOf(uid, allowed, wanted);
        if (wanted < limit) return `${metadata.name} must keep ${limit} and wants ${wanted}`;
      }
      return undefined;
    };
  },
};

/** Checks that Pods of ordered StatefulSets are created only after their predecessors were ready. */
function startsInOrder<S>(
  kind: typeof statefulSet | typeof advancedStatefulSet,
  numbersOf: (spec: S) => readonly number[],
): Invariant['observe'] {
  return () => {
    const ready = new Map<string, Set<number>>();
    const judged = new Set<string>();
    const specsOf = effectiveSpecs<S>();
    return (view) => {
      const pods = Map.groupBy(view.list(pod), (each) => controllerOf(each)?.uid);
      for (const set of view.list(kind)) {
        const { metadata, spec } = set;
        if (spec?.podManagementPolicy === 'Parallel') continue;
        const uid = metadata.uid ?? '';
        const known = ready.get(uid) ?? new Set();
        ready.set(uid, known);
        const present = pods.get(uid) ?? [];
        for (const each of present) if (isPodReady(each)) known.add(ordinalOf(each));
        // A StatefulSet of either kind has the spec of its kind.
        const specs = specsOf(set as Parameters<typeof specsOf>[0]);
        for (const each of present) {
          if (judged.has(each.metadata.uid ?? '')) continue;
          judged.add(each.metadata.uid ?? '');
          const early = specs.map((wanted) =>
            numbersOf(wanted).find((number) => number < ordinalOf(each) && !known.has(number)),
          );
          if (early.every((number) => number !== undefined)) {
            return `${each.metadata.name} exists although ${metadata.name}-${early[0]} was never ready`;
          }
        }
      }
      return undefined;
    };
  };
}

export const statefulSetsStartInOrder: Invariant = {
  name: 'an ordered StatefulSet creates a Pod only after its predecessors were ready',
  observe: startsInOrder<StatefulSet['spec']>(statefulSet, (spec) =>
    Array.from({ length: spec?.replicas ?? 1 }, (_, index) => index),
  ),
};

export const advancedStatefulSetsStartInOrder: Invariant = {
  name: 'an ordered Advanced StatefulSet creates a Pod only after its predecessors were ready',
  observe: startsInOrder<AdvancedStatefulSet['spec']>(advancedStatefulSet, (spec) => ordinalsOf({ spec })),
};

export const jobsCountSucceededPods: Invariant = {
  name: 'a Job counts only succeeded Pods and respects parallelism',
  observe() {
    const succeeded = new Map<string, Set<string>>();
    const limitOf = ceiling();
    return (view) => {
      const pods = view.list(pod);
      for (const each of pods) {
        const owner = controllerOf(each);
        if (owner?.kind !== 'Job' || each.status?.phase !== 'Succeeded') continue;
        const known = succeeded.get(owner.uid) ?? new Set();
        succeeded.set(owner.uid, known.add(each.metadata.uid ?? ''));
      }
      const active = activeByOwner(pods);
      for (const { metadata, spec, status } of view.list(job)) {
        const uid = metadata.uid ?? '';
        const counted = status?.succeeded ?? 0;
        const were = succeeded.get(uid)?.size ?? 0;
        if (counted > were) return `${metadata.name} counts ${counted} succeeded Pods of ${were}`;
        const running = active.get(uid)?.length ?? 0;
        const limit = limitOf(uid, spec?.parallelism ?? 1, running);
        if (running > limit) return `${metadata.name} runs ${running} Pods at a time, and may run ${limit}`;
      }
      return undefined;
    };
  },
};

/** Checks that in-place updates disrupt no more ready Pods than maxUnavailable. */
function staysAvailable<K extends Kind>(
  kind: K,
  mostOf: (workload: ObjectOf<K>, pods: number) => number,
  isCounted: (each: Pod, workload: ObjectOf<K>, isNodeUnfit: boolean) => boolean = () => true,
): Invariant['observe'] {
  return ({ faults }) => {
    const sureAfterMs = managerClockLagMs(faults) + maxStalenessMs(faults, 'manager');
    const unfit = trackUnreachableNodes();
    const wasReady = new Map<string, boolean>();
    const taken = new Set<string>();
    const limitOf = ceiling();
    return (view) => {
      unfit.update(view);
      const active = activeByOwner(view.list(pod));
      for (const workload of view.list(kind)) {
        const { metadata } = workload;
        const pods = active.get(metadata.uid ?? '') ?? [];
        for (const each of pods) {
          const uid = each.metadata.uid ?? '';
          const isDrained = isConditionFalse(each.status?.conditions, 'InPlaceUpdateReady');
          if (isDrained && wasReady.get(uid)) taken.add(uid);
          else if (!isDrained) taken.delete(uid);
          const since = readySince(each);
          wasReady.set(uid, since !== undefined && view.now - since > sureAfterMs);
        }
        const down = pods.filter(
          (each) =>
            taken.has(each.metadata.uid ?? '') && isCounted(each, workload, unfit.has(targetNodeOf(each), view.now)),
        ).length;
        const limit = limitOf(metadata.uid ?? '', mostOf(workload, pods.length), down);
        if (down > limit)
          return `${metadata.name} has ${down} Pods unavailable by in-place updates, maxUnavailable is ${limit}`;
      }
      return undefined;
    };
  };
}

export const cloneSetsStayAvailable: Invariant = {
  name: 'in-place updates of a CloneSet respect maxUnavailable',
  observe: staysAvailable(cloneSet, ({ spec }, pods) => {
    const replicas = spec.replicas ?? 1;
    const { maxUnavailable = '20%', maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
    const surge = scaleUp(maxSurge, replicas);
    const missing = (surge > 0 ? scaleDown : scaleUp)(maxUnavailable, replicas);
    // Surplus Pods beyond the replicas, for example Pods that are still to be scaled in, do not count as unavailable.
    return Math.max(1, missing + Math.max(surge, pods - replicas));
  }),
};

export const advancedStatefulSetsStayAvailable: Invariant = {
  name: 'in-place updates of an Advanced StatefulSet respect maxUnavailable',
  // A Pod with an ordinal that is not desired any more is not counted.
  observe: staysAvailable(advancedStatefulSet, maxUnavailableOf, (each, set) =>
    ordinalsOf(set).includes(ordinalOf(each)),
  ),
};

export const advancedDaemonSetsStayAvailable: Invariant = {
  name: 'in-place updates of an Advanced DaemonSet respect maxUnavailable',
  observe: staysAvailable(
    advancedDaemonSet,
    (set) => {
      const desired = set.status?.desiredNumberScheduled ?? 0;
      return Math.max(1, updateBudget(set, desired).maxUnavailable);
    },
    (_, __, isNodeUnfit) => !isNodeUnfit,
  ),
};
