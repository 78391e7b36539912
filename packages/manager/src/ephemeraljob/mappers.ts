import type { Pod } from '@kruise/api/core/pod';
import { ephemeralJob } from '@kruise/api/kruise/ephemeraljob';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOf } from '@kruise/machinery/label-selector';
import { isPodActive } from '@kruise/machinery/pods';

/** Returns the jobs to enqueue for a Pod change: the selector matches the new or the old labels. */
export function jobsOfPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
  const { namespace = '' } = object.metadata;
  return caches
    .of(ephemeralJob)
    .list({ namespace })
    .filter(({ spec }) => {
      const selector = selectorOf(spec.selector);
      return selector.matches(object.metadata.labels) || (previous && selector.matches(previous.metadata.labels));
    })
    .map(keyOf);
}

function relevant(pod: Pod) {
  const { metadata, spec, status } = pod;
  return [metadata.labels, spec?.ephemeralContainers, status?.ephemeralContainerStatuses, isPodActive(pod)];
}
