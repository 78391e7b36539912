import type { Pod } from '@kruise/api/core/pod';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { recreatePodUidLabel } from '@kruise/api/kruise/well-known';
import { isBeingDeleted } from '@kruise/client/actions';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';

/** Returns the active requests to enqueue when the containers of their Pod change, or the Pod is deleted. */
export function requestsOfPod({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  if (type === 'updated' && previous && isSame(relevant(previous), relevant(object))) return [];
  const { namespace = '', uid } = object.metadata;
  return caches
    .of(containerRecreateRequest)
    .list({ namespace })
    .filter(({ metadata, status }) => metadata.labels?.[recreatePodUidLabel] === uid && status?.completionTime == null)
    .map(keyOf);
}

function relevant(pod: Pod) {
  return [pod.status?.containerStatuses, isBeingDeleted(pod)];
}
