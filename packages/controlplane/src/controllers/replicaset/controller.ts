import { type ReplicaSet, replicaSet } from '@kruise/api/apps/replicaset';
import { type Pod, pod } from '@kruise/api/core/pod';
import { adopters, candidatesFor } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import type { Key } from '@kruise/client/object-key';
import { selectorOf } from '@kruise/machinery/label-selector';
import { controllerOf } from '@kruise/machinery/owner-references';
import { isPodActive } from '@kruise/machinery/pods';
import { decide, type Observed } from './decide.ts';

/** Keeps the Pods of each ReplicaSet as many as they are to be. */
export const replicaSetController = defineController({
  name: 'replicaset',
  for: replicaSet,
  owns: [pod],
  watches: [
    watch(
      pod,
      adopters(replicaSet, ({ spec }) => selectorOf(spec?.selector)),
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

/** The active Pods of all ReplicaSets of a Deployment. A ReplicaSet that is on its own has none to reckon with. */
function siblingsOf(caches: Caches, set: ReplicaSet): readonly Pod[] {
  const uid = controllerOf(set)?.uid;
  if (uid === undefined) return [];
  const sets = caches.of(replicaSet).controlledBy({ metadata: { uid } });
  return sets.flatMap((each) => caches.of(pod).controlledBy(each).filter(isPodActive));
}
