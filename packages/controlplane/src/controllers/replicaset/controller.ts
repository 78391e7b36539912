import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { decide, type Observed } from './decide.ts';

/** ReplicaSet controller: maintains the desired number of Pods of each ReplicaSet. */
export const replicaSetController = defineController({
  name: 'replicaset',
  for: replicaSet,
  owns: [pod],
  watches: [
    watch(
      pod,
      mapToAdopters(replicaSet, ({ spec }) => selectorOf(spec?.selector)),
    ),
  ],
  observe,
  decide,
});

function observe(caches: Caches, key: Key): Observed | undefined {
  const set = caches.of(replicaSet).get(key);
  if (!set) return undefined;
  const candidates = candidatesFor(caches.of(pod), set);
  const isTooMany = candidates.length > (set.spec?.replicas ?? 1);
  return { set, candidates, siblings: isTooMany ? siblingsOf(caches, set) : [] };
}

/** Returns the active Pods of all ReplicaSets of the same Deployment; empty for a standalone ReplicaSet. */
function siblingsOf(caches: Caches, set: ReplicaSet): readonly Pod[] {
  const uid = controllerOf(set)?.uid;
  if (uid === undefined) return [];
  const sets = caches.of(replicaSet).controlledBy({ metadata: { uid } });
  return sets.flatMap((each) => caches.of(pod).controlledBy(each).filter(isPodActive));
}
