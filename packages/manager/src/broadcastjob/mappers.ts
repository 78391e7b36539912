import type { Node } from '@kruise/api/core/node';
import { type BroadcastJob, broadcastJob } from '@kruise/api/kruise/broadcastjob';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { nodeFilterFor } from './node-fit.ts';

/** Returns the jobs for which a node starts or stops to be eligible, or that a new eligible node affects. */
export function jobsForNode({ type, object, previous, cause }: Change<Node>, caches: Caches): readonly Key[] {
  // At startup every job is reconciled with all nodes; a deleted node needs no Pod.
  if (cause === 'initial' || type === 'deleted') return [];
  if (previous && isSame(relevant(previous), relevant(object))) return [];
  const isAffected = ({ spec }: BroadcastJob) => {
    const fits = nodeFilterFor(spec.template.spec ?? { containers: [] });
    return fits(object) !== (previous !== undefined && fits(previous));
  };
  return caches.of(broadcastJob).list().filter(isAffected).map(keyOf);
}

/**
 * Returns the fields that decide whether Pods fit a node, without the status that a kubelet updates every few seconds.
 */
function relevant({ metadata, spec, status }: Node) {
  return {
    labels: metadata.labels,
    taints: spec?.taints,
    unschedulable: spec?.unschedulable,
    has: status?.allocatable,
  };
}
