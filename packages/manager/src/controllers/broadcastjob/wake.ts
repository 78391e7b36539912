import type { Node } from '@kruise/api/core/node';
import { type BroadcastJob, broadcastJob } from '@kruise/api/kruise/broadcastjob';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { fitnessOf } from './fitness.ts';

/** The jobs to which a node is another than before: one that comes and fits, or that fits now and did not, or did. */
export function jobsThatSeeNodes({ type, object, previous, cause }: Change<Node>, caches: Caches): readonly Key[] {
  // At the start every job looks at all nodes; what is gone needs no Pod.
  if (cause === 'initial' || type === 'deleted') return [];
  if (previous && isSame(relevant(previous), relevant(object))) return [];
  const isConcerned = ({ spec }: BroadcastJob) => {
    const fits = fitnessOf(spec.template.spec ?? { containers: [] });
    return fits(object) !== (previous !== undefined && fits(previous));
  };
  return caches.of(broadcastJob).list().filter(isConcerned).map(keyOf);
}

/** What it depends on whether Pods fit a node: not on what a kubelet says every few seconds. */
function relevant({ metadata, spec, status }: Node) {
  return {
    labels: metadata.labels,
    taints: spec?.taints,
    unschedulable: spec?.unschedulable,
    has: status?.allocatable,
  };
}
