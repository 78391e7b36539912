import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { daemonSet as advancedDaemonSet } from '@kruise/api/kruise/daemonset';
import {
  type StatefulSet as AdvancedStatefulSet,
  statefulSet as advancedStatefulSet,
} from '@kruise/api/kruise/statefulset';
import { lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodReady, readySince } from '@kruise/machinery/pods';
import { scaleUp } from '@kruise/values/int-or-string';
import type { Instant } from '@kruise/values/time';
import { type NodeSet, updateBudget } from '@kruise/workload-kit/daemonset/state';
import type { View } from '../view.ts';
import { type Invariant, invariant } from './invariant.ts';
import { effectiveSpecs, ordinalOf, ordinalsOf } from './kruise.ts';
import { activeByOwner, ceiling } from './limits.ts';
import { managerClockLagMs, maxStalenessMs } from './staleness.ts';
import { trackUnreachableNodes } from './unreachable-nodes.ts';

const nameOf = ({ metadata }: Pod) => `${metadata.namespace}/${metadata.name}`;

export const deploymentsRespectMaxSurge: Invariant = {
  name: 'the ReplicaSets of a Deployment respect maxSurge',
  observe() {
    const limitOf = ceiling();
    const observedLimits = new Map<string, number>();
    return (view) => {
      const sets = Map.groupBy(view.list(replicaSet), (set) => controllerOf(set)?.uid);
      for (const { metadata, spec, status } of view.list(deployment)) {
        const uid = metadata.uid ?? '';
        const replicas = spec?.replicas ?? 1;
        const surge = scaleUp(spec?.strategy?.rollingUpdate?.maxSurge ?? 0, replicas);
        const isObserved = status?.observedGeneration === metadata.generation;
        const allowed = isObserved ? replicas + surge : Math.max(replicas + surge, observedLimits.get(uid) ?? 0);
        observedLimits.set(uid, allowed);
        const wanted = (sets.get(uid) ?? []).reduce((sum, set) => sum + (set.spec?.replicas ?? 1), 0);
        const limit = limitOf(uid, allowed, wanted);
        if (wanted > limit) return `${metadata.name} may have ${limit} replicas and has ${wanted}`;
      }
      return undefined;
    };
  },
};

export const replicaSetsRespectReplicas: Invariant = {
  name: 'a ReplicaSet has no more active Pods than replicas',
  observe() {
    const limitOf = ceiling();
    const observedLimits = new Map<string, number>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const { metadata, spec, status } of view.list(replicaSet)) {
        const uid = metadata.uid ?? '';
        const pods = active.get(uid) ?? [];
        const replicas = spec?.replicas ?? 1;
        // Until the controller has observed the smaller number of replicas, it may act on the previous one.
        const isObserved = status?.observedGeneration === metadata.generation;
        const wanted = isObserved ? replicas : Math.max(replicas, observedLimits.get(uid) ?? 0);
        observedLimits.set(uid, wanted);
        const limit = limitOf(uid, wanted, pods.length);
        if (pods.length > limit)
          return `${metadata.name} has ${limit} replicas and the Pods ${pods.map(nameOf).join(', ')}`;
      }
      return undefined;
    };
  },
};

export const cloneSetsRespectMaxSurge: Invariant = {
  name: 'a CloneSet respects maxSurge',
  observe() {
    const limitOf = ceiling();
    const observedLimits = new Map<string, number>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const { metadata, spec, status } of view.list(cloneSet)) {
        const uid = metadata.uid ?? '';
        const replicas = spec.replicas ?? 1;
        const surge = scaleUp(spec.updateStrategy?.rollingUpdate?.maxSurge ?? 0, replicas);
        const pods = active.get(uid) ?? [];
        const isObserved = status?.observedGeneration === metadata.generation;
        const wanted = isObserved ? replicas + surge : Math.max(replicas + surge, observedLimits.get(uid) ?? 0);
        observedLimits.set(uid, wanted);
        const limit = limitOf(uid, wanted, pods.length);
        if (pods.length > limit)
          return `${metadata.name} may have ${limit} Pods and has ${pods.map(nameOf).join(', ')}`;
      }
      return undefined;
    };
  },
};

export const oneDaemonPodPerNode = invariant('a DaemonSet has at most one active Pod on a node', (view) => {
  const active = activeByOwner(view.list(pod));
  const surging = ({ spec }: { readonly spec?: NodeSet['spec'] }) => spec?.updateStrategy?.rollingUpdate?.maxSurge || 0;
  // With a surge, the new Pod may be created before the old one is deleted.
  const sets = [...view.list(daemonSet), ...view.list(advancedDaemonSet)].filter((set) => surging(set) === 0);
  for (const { metadata } of sets) {
    const nodes = new Set<string>();
    for (const each of active.get(metadata.uid ?? '') ?? []) {
      const node = each.spec?.nodeName;
      if (node === undefined) continue;
      if (nodes.has(node)) return `${metadata.name} has two on ${node}`;
      nodes.add(node);
    }
  }
  return undefined;
});

/**
 * Tracks since when Pods have been ready, as far as the server knows: the status of a slow node arrives seconds later.
 * A short time of not being ready, for example after a power failure, may show only in the transition time of the
 * condition.
 */
function watchReadyPods() {
  let readyTimes = new Map<string, Instant>();
  const since = (each: Pod) => {
    const first = readyTimes.get(each.metadata.uid ?? '');
    return first && Math.max(first, readySince(each) ?? first);
  };
  return {
    since,
    update(view: View): void {
      const ready = view.list(pod).filter(isPodReady);
      readyTimes = new Map(ready.map((each) => [each.metadata.uid ?? '', since(each) ?? view.now]));
    },
  };
}

/**
 * On nodes with an available Pod, at most maxSurge may have a second one; an unavailable Pod does not block its
 * replacement.
 */
export const daemonSetsRespectMaxSurge: Invariant = {
  name: 'an Advanced DaemonSet respects maxSurge',
  observe({ faults }) {
    const behindMs = managerClockLagMs(faults);
    const knownMs = maxStalenessMs(faults, 'manager');
    const known = new Set<string>();
    const surging = new Set<string>();
    const unfit = trackUnreachableNodes();
    const ready = watchReadyPods();
    return (view) => {
      unfit.update(view);
      ready.update(view);
      const active = activeByOwner(view.list(pod));
      const nodes = view.list(node).length;
      for (const set of view.list(advancedDaemonSet)) {
        const { maxSurge } = updateBudget(set, nodes);
        // With a clock that is behind, Pods with minReadySeconds do not count as available yet.
        const now = view.now - (set.spec.minReadySeconds ? behindMs : 0);
        const isServing = (each: Pod) => now - (ready.since(each) ?? now) > knownMs;
        const byNode = Map.groupBy(
          (active.get(set.metadata.uid ?? '') ?? []).filter(isNotPreparingDelete),
          targetNodeOf,
        );
        for (const each of [...byNode.values()].flat()) {
          const uid = each.metadata.uid ?? '';
          const others = (byNode.get(targetNodeOf(each)) ?? []).filter((other) => other !== each);
          // A Pod that outlives its predecessor does not surge any more: the next Pod is created beside it. On an
          // unreachable node no Pod is waited for.
          if (others.length === 0 || unfit.has(targetNodeOf(each), view.now)) surging.delete(uid);
          else if (!known.has(uid) && others.some(isServing)) surging.add(uid);
          known.add(uid);
        }
        const crowded = [...byNode.values()].filter(
          (pods) => pods.length > 1 && pods.some(({ metadata }) => surging.has(metadata.uid ?? '')),
        );
        if (maxSurge > 0 && crowded.length > maxSurge) {
          return `${set.metadata.name} has ${crowded.flat().map(nameOf).join(', ')}`;
        }
      }
      return undefined;
    };
  },
};

/** Returns whether a Pod is not waiting for its preDelete hook. A Pod that waits counts as deleted. */
function isNotPreparingDelete({ metadata }: Pod): boolean {
  return metadata.labels?.[lifecycleStateLabel] !== 'PreparingDelete';
}

/** No Pod gets an ordinal that is reserved, or out of the desired range. */
export const reservedOrdinalsAreRespected: Invariant = {
  name: 'an Advanced StatefulSet creates no Pod with an ordinal that is reserved or out of range',
  observe() {
    const known = new Set<string>();
    const specsOf = effectiveSpecs<AdvancedStatefulSet['spec']>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const set of view.list(advancedStatefulSet)) {
        const wanted = new Set(specsOf(set).flatMap((spec) => ordinalsOf({ spec })));
        for (const each of active.get(set.metadata.uid ?? '') ?? []) {
          const own = each.metadata.uid ?? '';
          if (known.has(own)) continue;
          known.add(own);
          if (!wanted.has(ordinalOf(each)))
            return `${nameOf(each)} was created, desired ordinals are ${[...wanted].join(', ')}`;
        }
      }
      return undefined;
    };
  },
};

/** Transitions of a Pod that must not be reverted. */
export const podPhaseIsMonotonic: Invariant = {
  name: 'a finished Pod keeps its phase and a bound Pod keeps its node',
  observe() {
    const last = new Map<string, { readonly phase: string; readonly node: string }>();
    return (view) => {
      for (const each of view.list(pod)) {
        const { uid = '' } = each.metadata;
        const phase = each.status?.phase ?? '';
        const node = each.spec?.nodeName ?? '';
        const before = last.get(uid);
        if (before) {
          const wasOver = before.phase === 'Succeeded' || before.phase === 'Failed';
          if (wasOver && phase !== before.phase) return `${nameOf(each)} was ${before.phase} and is ${phase}`;
          if (before.node !== '' && node !== before.node) return `${nameOf(each)} was on ${before.node}, is on ${node}`;
        }
        last.set(uid, { phase, node });
      }
      return undefined;
    };
  },
};

/** Pods with stable names, as in StatefulSets, depend on running only once. */
export const podNamesAreUnique: Invariant = {
  name: 'no two Pods with one name run at the same time',
  observe({ machines }) {
    return () => {
      const running = new Map<string, string>();
      for (const { machine, pod: name, uid } of machines.running()) {
        const other = running.get(name);
        if (other !== undefined && other !== uid) return `${name} runs twice, once on ${machine}`;
        running.set(name, uid);
      }
      return undefined;
    };
  },
};
