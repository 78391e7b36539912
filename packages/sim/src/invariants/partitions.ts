/** Partitions of Kruise workloads keep Pods at their current revision. */
import { type ControllerRevision, controllerRevision } from '@kruise/api/apps/controllerrevision';
import { node } from '@kruise/api/core/node';
import { type Pod, pod } from '@kruise/api/core/pod';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import { type DaemonSet, daemonSet } from '@kruise/api/kruise/daemonset';
import { type StatefulSet, statefulSet } from '@kruise/api/kruise/statefulset';
import { lifecycleStateLabel } from '@kruise/api/kruise/well-known';
import type { ApiRequest } from '@kruise/client/transport';
import { podRevisionLabel } from '@kruise/machinery/controller-revision';
import { targetNodeOf } from '@kruise/machinery/daemon-pods';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { isSpecifiedDelete } from '@kruise/manager/workload/specified-delete';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import type { View } from '../view.ts';
import type { Invariant } from './invariant.ts';
import { effectiveSpecs, isFromManager, ordinalOf, ordinalsOf } from './kruise.ts';
import { activeByOwner, ceiling } from './limits.ts';
import { trackLostPods } from './lost-pods.ts';

const revisionOf = ({ metadata }: Pod) => metadata.labels?.[podRevisionLabel];

export const cloneSetsRespectPartition: Invariant = {
  name: 'a CloneSet respects its partition',
  observe() {
    const limitOf = ceiling();
    const observedLimits = new Map<string, number>();
    const named = new Set<string>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const { metadata, spec, status } of view.list(cloneSet)) {
        const { uid = '', generation, deletionTimestamp } = metadata;
        // The revisions of a terminating CloneSet are deleted like its Pods: a Pod that is created before the manager
        // observes the deletion gets the remaining revision.
        if (deletionTimestamp != null) continue;
        const { currentRevision, updateRevision, observedGeneration } = status ?? {};
        const replicas = spec.replicas ?? 1;
        const { partition = 0, maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
        const own = active.get(uid) ?? [];
        // Surplus Pods after a scale-in are updated like others: the partition counts Pods at the old revision.
        const surplus = Math.max(0, own.length - replicas - scaleUp(maxSurge, replicas));
        const wanted = Math.max(0, replicas - scaleUp(partition, replicas)) + surplus;
        const allowedBefore = observedLimits.get(uid) ?? replicas;
        const allowed = observedGeneration === generation ? wanted : Math.max(wanted, allowedBefore);
        observedLimits.set(uid, allowed);
        // If all Pods are at one revision, the partition keeps nothing.
        if (updateRevision === undefined || currentRevision === updateRevision) continue;
        const hash = updateRevision.split('-').at(-1)!;
        const present = own.filter((each) => revisionOf(each)?.endsWith(hash));
        // A Pod that is about to be deleted may already have a replacement, and may be kept after all.
        const updated = present.filter((each) => isNotDisrupted(each) && !isSpecifiedDelete(each)).length;
        // Pods that reached a revision before the status names it as updateRevision were updated by the previous spec.
        const id = `${uid} ${updateRevision}`;
        const limit = limitOf(id, named.has(id) ? allowed : Math.max(allowed, allowedBefore), present.length);
        named.add(id);
        if (updated > limit) return `${metadata.name} may update ${limit} and has updated ${updated}`;
      }
      return undefined;
    };
  },
};

export const advancedStatefulSetsRespectPartition: Invariant = {
  name: 'an Advanced StatefulSet respects its partition',
  observe() {
    /** Pods that are rightly at a revision. */
    const settled = new Set<string>();
    const specsOf = effectiveSpecs<StatefulSet['spec']>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const set of view.list(statefulSet)) {
        const specs = specsOf(set);
        const { currentRevision, updateRevision } = set.status ?? {};
        const revision = newestOf(view, set);
        for (const each of active.get(set.metadata.uid ?? '') ?? []) {
          const id = `${each.metadata.uid} ${revisionOf(each)}`;
          if (settled.has(id)) continue;
          // A Pod that is not at the newest revision was at that revision when it was the newest, and keeps it if it
          // becomes the newest again.
          const isNewest = revisionOf(each) === revision;
          // Until the status has both revisions, there is nothing to judge.
          if (isNewest && (revision !== updateRevision || currentRevision === updateRevision)) continue;
          settled.add(id);
          if (isNewest && specs.every((spec) => isKept({ spec }, each)))
            return `${each.metadata.name} is at ${revision}`;
        }
      }
      return undefined;
    };
  },
};

function newestOf(view: View, set: StatefulSet): string | undefined {
  const own = view.list(controllerRevision).filter((each) => controllerOf(each)?.uid === set.metadata.uid);
  return own.reduce<ControllerRevision | undefined>(
    (newest, each) => (newest && newest.revision >= each.revision ? newest : each),
    undefined,
  )?.metadata.name;
}

/** Returns whether the partition keeps a Pod: its ordinal is one of the first `partition` ordinals. */
function isKept(set: Pick<StatefulSet, 'spec'>, found: Pod): boolean {
  const place = ordinalsOf(set).indexOf(ordinalOf(found));
  return place >= 0 && place < (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);
}

/** Nodes without a Pod always get a Pod of the newest revision: only Pods that are deleted or updated are judged. */
export const advancedDaemonSetsRespectPartition: Invariant = {
  name: 'an Advanced DaemonSet respects its partition',
  observe(scene) {
    let broken: string | undefined;
    const losses = trackLostPods(scene);
    const specsOf = effectiveSpecs<DaemonSet['spec']>();
    scene.onRequest((observed) => {
      if (!isFromManager(observed) || !isDisruption(observed.request)) return undefined;
      const found = scene.view()?.at(pod, observed.request.path);
      if (!found || !isNotDisrupted(found)) return undefined;
      return () => {
        const view = scene.view();
        const set = view?.list(daemonSet).find(({ metadata }) => metadata.uid === controllerOf(found)?.uid);
        // Old and new Pods can be distinguished only after the manager has observed the newest template.
        if (!view || !set || set.status?.observedGeneration !== set.metadata.generation) return;
        losses.update(view);
        const isOld = (each: Pod) => revisionOf(each) !== set.status?.updateRevision;
        // The manager's cache may still contain Pods that others deleted a moment ago, as old Pods or as their
        // replacements.
        const known = [...view.list(pod).filter(isNotDisrupted), ...losses.recent(view.now)];
        const own = known.filter((each) => controllerOf(each)?.uid === set.metadata.uid);
        const isSurged = own.some(
          (each) => !isOld(each) && each !== found && targetNodeOf(each) === targetNodeOf(found),
        );
        if (!isOld(found) || isSurged) return;
        const left = new Set(own.filter(isOld).map(targetNodeOf)).size;
        const nodes = view.list(node).length;
        const least = Math.min(nodes, ...specsOf(set).map((spec) => partitionOf(spec, nodes)));
        if (left < least)
          broken ??= `${found.metadata.name} was disrupted with ${left} of ${least} left at the old revision`;
      };
    });
    return (view) => {
      losses.update(view);
      for (const set of view.list(daemonSet)) specsOf(set);
      return broken;
    };
  },
};

/** Returns whether a request deletes a Pod, marks it for deletion or changes its revision. */
function isDisruption({ method, body }: ApiRequest): boolean {
  const { labels = {} } = ((body ?? {}) as Partial<Pod>).metadata ?? {};
  return method === 'DELETE' || labels[lifecycleStateLabel] === 'PreparingDelete' || podRevisionLabel in labels;
}

function isNotDisrupted(each: Pod): boolean {
  return isPodActive(each) && each.metadata.labels?.[lifecycleStateLabel] !== 'PreparingDelete';
}

function partitionOf({ updateStrategy }: DaemonSet['spec'], nodes: number): number {
  return scaleDown(updateStrategy?.rollingUpdate?.partition ?? 0, nodes);
}
