/** Partitions of Kruise's workloads keep Pods at the revision they are of. */
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
import { isSpecifiedDelete } from '@kruise/manager/specified-delete';
import { scaleDown, scaleUp } from '@kruise/values/int-or-string';
import type { View } from '../view.ts';
import { activeByOwner, ceiling } from './amounts.ts';
import type { Invariant } from './invariant.ts';
import { isOfManager, numberOf, numbersOf, specsInForce } from './kruise.ts';
import { watchLosses } from './losses.ts';

const revisionOf = ({ metadata }: Pod) => metadata.labels?.[podRevisionLabel];

export const cloneSetsKeepToPartitions: Invariant = {
  name: 'a CloneSet updates no more Pods than its partition leaves',
  begin() {
    const limitOf = ceiling();
    const heardOf = new Map<string, number>();
    const named = new Set<string>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const { metadata, spec, status } of view.list(cloneSet)) {
        const { uid = '', generation, deletionTimestamp } = metadata;
        // Of one that is deleted revisions go as Pods do: what is made before the manager has heard of it is of the one left.
        if (deletionTimestamp != null) continue;
        const { currentRevision, updateRevision, observedGeneration } = status ?? {};
        const replicas = spec.replicas ?? 1;
        const { partition = 0, maxSurge = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
        const own = active.get(uid) ?? [];
        // Those that have yet to go after it was scaled in are updated as others are: what is kept is counted in old ones.
        const surplus = Math.max(0, own.length - replicas - scaleUp(maxSurge, replicas));
        const wanted = Math.max(0, replicas - scaleUp(partition, replicas)) + surplus;
        const allowedBefore = heardOf.get(uid) ?? replicas;
        const allowed = observedGeneration === generation ? wanted : Math.max(wanted, allowedBefore);
        heardOf.set(uid, allowed);
        // Where all are of one revision, there is nothing to keep back.
        if (updateRevision === undefined || currentRevision === updateRevision) continue;
        const hash = updateRevision.split('-').at(-1)!;
        const present = own.filter((each) => revisionOf(each)?.endsWith(hash));
        // Whoever is about to go may have one in its place already, and may be kept after all.
        const updated = present.filter((each) => isUntouched(each) && !isSpecifiedDelete(each)).length;
        // Whoever was of a revision before the set says that it goes to it has become so by what was asked for before.
        const id = `${uid} ${updateRevision}`;
        const limit = limitOf(id, named.has(id) ? allowed : Math.max(allowed, allowedBefore), present.length);
        named.add(id);
        if (updated > limit) return `${metadata.name} may update ${limit} and has updated ${updated}`;
      }
      return undefined;
    };
  },
};

export const advancedStatefulSetsKeepToPartitions: Invariant = {
  name: "a StatefulSet of Kruise's brings no Pod to a revision that its partition keeps from it",
  begin() {
    /** Which Pods are of which revisions by right. */
    const settled = new Set<string>();
    const specsOf = specsInForce<StatefulSet['spec']>();
    return (view) => {
      const active = activeByOwner(view.list(pod));
      for (const set of view.list(statefulSet)) {
        const specs = specsOf(set);
        const { currentRevision, updateRevision } = set.status ?? {};
        const revision = newestOf(view, set);
        for (const each of active.get(set.metadata.uid ?? '') ?? []) {
          const id = `${each.metadata.uid} ${revisionOf(each)}`;
          if (settled.has(id)) continue;
          // Whoever is of a revision that is not the newest has been since it was, and is so still if it becomes it again.
          const isNewest = revisionOf(each) === revision;
          // Until the set says which revision it goes to, and from which, there is nothing to judge by.
          if (isNewest && (revision !== updateRevision || currentRevision === updateRevision)) continue;
          settled.add(id);
          if (isNewest && specs.every((spec) => isKept({ spec }, each)))
            return `${each.metadata.name} is of ${revision}`;
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

/** Whether a Pod has one of the first numbers, as many as stay at the revision they are of. */
function isKept(set: Pick<StatefulSet, 'spec'>, found: Pod): boolean {
  const place = numbersOf(set).indexOf(numberOf(found));
  return place >= 0 && place < (set.spec.updateStrategy?.rollingUpdate?.partition ?? 0);
}

/** Nodes without a Pod get one of the newest revision in any case: only what is taken from others is judged. */
export const advancedDaemonSetsKeepToPartitions: Invariant = {
  name: "a DaemonSet of Kruise's takes no Pod for an update that its partition keeps from it",
  begin(scene) {
    let broken: string | undefined;
    const losses = watchLosses(scene);
    const specsOf = specsInForce<DaemonSet['spec']>();
    scene.onRequest((heard) => {
      if (!isOfManager(heard) || !isTaking(heard.request)) return undefined;
      const found = scene.view()?.at(pod, heard.request.path);
      if (!found || !isUntouched(found)) return undefined;
      return () => {
        const view = scene.view();
        const set = view?.list(daemonSet).find(({ metadata }) => metadata.uid === controllerOf(found)?.uid);
        // What is old and what is new is known only from one who has heard of the newest template.
        if (!view || !set || set.status?.observedGeneration !== set.metadata.generation) return;
        losses.look(view);
        const isOld = (each: Pod) => revisionOf(each) !== set.status?.updateRevision;
        // Whoever others ended a moment ago may still be there for all the manager knows, in place of an old one or as one.
        const known = [...view.list(pod).filter(isUntouched), ...losses.recent(view.now)];
        const own = known.filter((each) => controllerOf(each)?.uid === set.metadata.uid);
        const isSurged = own.some(
          (each) => !isOld(each) && each !== found && targetNodeOf(each) === targetNodeOf(found),
        );
        if (!isOld(found) || isSurged) return;
        const left = new Set(own.filter(isOld).map(targetNodeOf)).size;
        const nodes = view.list(node).length;
        const least = Math.min(nodes, ...specsOf(set).map((spec) => partitionOf(spec, nodes)));
        if (left < least) broken ??= `${found.metadata.name} was taken, and ${left} of ${least} are left`;
      };
    });
    return (view) => {
      losses.look(view);
      for (const set of view.list(daemonSet)) specsOf(set);
      return broken;
    };
  },
};

/** Whether a request takes a Pod from its node, or has it wait for that, or changes what it is of. */
function isTaking({ method, body }: ApiRequest): boolean {
  const { labels = {} } = ((body ?? {}) as Partial<Pod>).metadata ?? {};
  return method === 'DELETE' || labels[lifecycleStateLabel] === 'PreparingDelete' || podRevisionLabel in labels;
}

function isUntouched(each: Pod): boolean {
  return isPodActive(each) && each.metadata.labels?.[lifecycleStateLabel] !== 'PreparingDelete';
}

function partitionOf({ updateStrategy }: DaemonSet['spec'], nodes: number): number {
  return scaleDown(updateStrategy?.rollingUpdate?.partition ?? 0, nodes);
}
