/** The budgets and the order that each kind of workload promises. */
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
import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { updateBudget } from '@kruise/controlplane/controllers/daemonset/situation';
import { isConditionFalse } from '@kruise/machinery/conditions';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodReady, readySince } from '@kruise/machinery/pods';
import { maxUnavailableOf } from '@kruise/manager/controllers/statefulset/numbers';
import type { Kind, ObjectOf } from '@kruise/schema/kind';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import { activeByOwner, ceiling, floor } from './amounts.ts';
import type { Invariant } from './invariant.ts';
import { knownAfterMs, managerBehindMs } from './knowledge.ts';
import { numberOf, numbersOf, specsInForce } from './kruise.ts';
import { watchUnfitNodes } from './unfit-nodes.ts';

export const deploymentsStayLarge: Invariant = {
  name: 'the ReplicaSets of a Deployment want no fewer Pods together than it may be short of',
  begin() {
    const limitOf = floor();
    const heardOf = new Map<string, number>();
    return (view) => {
      const sets = Map.groupBy(view.list(replicaSet), (set) => controllerOf(set)?.uid);
      for (const { metadata, spec, status } of view.list(deployment)) {
        const uid = metadata.uid ?? '';
        const replicas = spec?.replicas ?? 1;
        const { maxUnavailable = 0, maxSurge = 0 } = spec?.strategy?.rollingUpdate ?? {};
        const surge = scaleUp(maxSurge, replicas);
        const missing = Math.max(scaleDown(maxUnavailable, replicas), surge === 0 ? 1 : 0);
        const least = Math.max(0, replicas - missing);
        // Until its controller has heard that it wants more, it may act on what it wanted before.
        const isHeard = status?.observedGeneration === metadata.generation;
        const allowed = isHeard ? least : Math.min(least, heardOf.get(uid) ?? 0);
        heardOf.set(uid, allowed);
        if (metadata.deletionTimestamp) continue;
        const wanted = (sets.get(uid) ?? []).reduce((sum, set) => sum + (set.spec?.replicas ?? 1), 0);
        const limit = limitOf(uid, allowed, wanted);
        if (wanted < limit) return `${metadata.name} must keep ${limit} and wants ${wanted}`;
      }
      return undefined;
    };
  },
};

/** Pods of sets that start in order are made only after those before them were ready. */
function startsInOrder<S>(
  kind: typeof statefulSet | typeof advancedStatefulSet,
  numbersOf: (spec: S) => readonly number[],
): Invariant['begin'] {
  return () => {
    const ready = new Map<string, Set<number>>();
    const judged = new Set<string>();
    const specsOf = specsInForce<S>();
    return (view) => {
      const pods = Map.groupBy(view.list(pod), (each) => controllerOf(each)?.uid);
      for (const set of view.list(kind)) {
        const { metadata, spec } = set;
        if (spec?.podManagementPolicy === 'Parallel') continue;
        const uid = metadata.uid ?? '';
        const known = ready.get(uid) ?? new Set();
        ready.set(uid, known);
        const present = pods.get(uid) ?? [];
        for (const each of present) if (isPodReady(each)) known.add(numberOf(each));
        // A set of either kind has a spec of its kind.
        const specs = specsOf(set as Parameters<typeof specsOf>[0]);
        for (const each of present) {
          if (judged.has(each.metadata.uid ?? '')) continue;
          judged.add(each.metadata.uid ?? '');
          const early = specs.map((wanted) =>
            numbersOf(wanted).find((number) => number < numberOf(each) && !known.has(number)),
          );
          if (early.every((number) => number !== undefined)) {
            return `${each.metadata.name} is there, and ${metadata.name}-${early[0]} never was ready`;
          }
        }
      }
      return undefined;
    };
  };
}

export const statefulSetsStartInOrder: Invariant = {
  name: 'a Pod of an ordered StatefulSet is made only after those before it were ready',
  begin: startsInOrder<StatefulSet['spec']>(statefulSet, (spec) =>
    Array.from({ length: spec?.replicas ?? 1 }, (_, index) => index),
  ),
};

export const advancedStatefulSetsStartInOrder: Invariant = {
  name: "a Pod of an ordered StatefulSet of Kruise's is made only after those before it were ready",
  begin: startsInOrder<AdvancedStatefulSet['spec']>(advancedStatefulSet, (spec) => numbersOf({ spec })),
};

export const jobsCountWhatWas: Invariant = {
  name: 'a Job counts no more successes than there were, and runs no more Pods at a time than it may',
  begin() {
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
        if (counted > were) return `${metadata.name} counts ${counted} successes of ${were}`;
        const running = active.get(uid)?.length ?? 0;
        const limit = limitOf(uid, spec?.parallelism ?? 1, running);
        if (running > limit) return `${metadata.name} runs ${running} Pods at a time, and may run ${limit}`;
      }
      return undefined;
    };
  },
};

/** A workload takes no more Pods down that were ready than may be unavailable, as far as it updates them in place. */
function staysAvailable<K extends Kind>(
  kind: K,
  mostOf: (workload: ObjectOf<K>, pods: number) => number,
): Invariant['begin'] {
  return ({ faults }) => {
    const sureAfterMs = managerBehindMs(faults) + knownAfterMs(faults, 'manager');
    const unfit = watchUnfitNodes();
    const isCounted = (each: Pod, workload: ObjectOf<K>, now: number) => {
      if (kind === advancedDaemonSet) return !unfit.has(targetNodeOf(each), now);
      // Nobody misses a Pod with a number that is not wanted any more. The kind says which of them it is.
      return kind !== advancedStatefulSet || numbersOf(workload as AdvancedStatefulSet).includes(numberOf(each));
    };
    const wasReady = new Map<string, boolean>();
    const taken = new Set<string>();
    const limitOf = ceiling();
    return (view) => {
      unfit.look(view);
      const active = activeByOwner(view.list(pod));
      for (const workload of view.list(kind)) {
        // An object of a kind has what every object has.
        const { metadata } = workload as { readonly metadata: ObjectMeta };
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
          (each) => taken.has(each.metadata.uid ?? '') && isCounted(each, workload, view.now),
        ).length;
        const limit = limitOf(metadata.uid ?? '', mostOf(workload, pods.length), down);
        if (down > limit) return `${metadata.name} took down ${down} and may take ${limit}`;
      }
      return undefined;
    };
  };
}

export const cloneSetsStayAvailable: Invariant = {
  name: 'a CloneSet takes no more ready Pods down to update them in place than may be unavailable',
  begin: staysAvailable(cloneSet, ({ spec }, pods) => {
    const replicas = spec.replicas ?? 1;
    const { maxUnavailable = '20%', maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
    const surge = scaleUp(maxSurge, replicas);
    const missing = (surge > 0 ? scaleDown : scaleUp)(maxUnavailable, replicas);
    // Nobody misses those that are there beyond the replicas, be it that they have yet to go (cloneset.md §8.1).
    return Math.max(1, missing + Math.max(surge, pods - replicas));
  }),
};

export const advancedStatefulSetsStayAvailable: Invariant = {
  name: "a StatefulSet of Kruise's takes no more ready Pods down to update them in place than may be unavailable",
  begin: staysAvailable(advancedStatefulSet, maxUnavailableOf),
};

export const advancedDaemonSetsStayAvailable: Invariant = {
  name: "a DaemonSet of Kruise's takes no more ready Pods down to update them in place than may be unavailable",
  begin: staysAvailable(advancedDaemonSet, (set) => {
    const desired = set.status?.desiredNumberScheduled ?? 0;
    return Math.max(1, updateBudget(set, desired).maxUnavailable);
  }),
};
