import { type Node, node, type Taint } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import type { Instant } from '@kruise/values/time';
import { byNode } from '@kruise/workload-kit/pod-indexes';
import { decide, type Observed } from './decide.ts';

/**
 * Taint eviction controller: deletes Pods that do not tolerate a NoExecute taint of their node, or only for a limited
 * time.
 */
export function taintEvictionController(): Controller {
  // The eviction time counts from when the Pod and the taint were first seen together, which is only in memory. After a
  // restart, every Pod gets its whole toleration time again.
  const evictions = new Map<Key, { readonly uid: string | undefined; readonly at: Instant }>();

  function observe(caches: Caches, key: Key): Observed | undefined {
    const found = caches.of(pod).get(key);
    if (!found?.spec?.nodeName) {
      evictions.delete(key);
      return undefined;
    }
    const taints = evictingTaintsOf(caches.of(node).get(found.spec.nodeName));
    const planned = evictions.get(key);
    // A later Pod of the same name has its own eviction time.
    const evictAt = planned?.uid === found.metadata.uid ? planned?.at : undefined;
    return taints.length === 0 && evictAt === undefined ? undefined : { pod: found, taints, evictAt };
  }

  return defineController({
    name: 'taint-eviction',
    for: pod,
    predicate: ({ type, object, previous }) =>
      type !== 'updated' ||
      previous?.spec?.nodeName !== object.spec?.nodeName ||
      !isSame(previous?.spec?.tolerations, object.spec?.tolerations),
    watches: [watch(node, podsOnRetaintedNode)],
    workers: 8,
    observe,
    decide(observed, now) {
      const { evictAt, actions } = decide(observed, now);
      const key = keyOf(observed.pod);
      if (evictAt === undefined) evictions.delete(key);
      else evictions.set(key, { uid: observed.pod.metadata.uid, at: evictAt });
      const isAhead = evictAt !== undefined && evictAt > now;
      return { actions, ...(isAhead ? { requeueAfterSeconds: (evictAt - now) / 1000 } : {}) };
    },
  });
}

function podsOnRetaintedNode({ type, object, previous }: Change<Node>, caches: Caches): readonly Key[] {
  if (type === 'updated' && isSame(evictingTaintsOf(previous), evictingTaintsOf(object))) return [];
  if (type === 'added' && evictingTaintsOf(object).length === 0) return [];
  return caches
    .of(pod)
    .byIndex(byNode, object.metadata.name ?? '')
    .map(keyOf);
}

function evictingTaintsOf(found: Node | undefined): readonly Taint[] {
  return found?.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? [];
}
