import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import { pod } from '@kruise/api/core/pod';
import { type ReplicationController, replicationController } from '@kruise/api/core/replicationcontroller';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { defineController, watch } from '@kruise/client/controller';
import { selectorOfLabels } from '@kruise/machinery/label-selector';
import { decide } from '../replicaset/decide.ts';

/**
 * ReplicationController controller: maintains the Pods of each ReplicationController with the ReplicaSet reconciler.
 */
export const replicationControllerController = defineController({
  name: 'replicationmanager',
  component: 'replication-controller',
  for: replicationController,
  owns: [pod],
  watches: [
    watch(
      pod,
      mapToAdopters(replicationController, ({ spec }) => selectorOfLabels(spec?.selector)),
    ),
  ],
  observe(caches, key) {
    const found = caches.of(replicationController).get(key);
    if (!found) return undefined;
    return { set: asReplicaSet(found), candidates: candidatesFor(caches.of(pod), found), siblings: [] };
  },
  decide,
});

/** Converts a ReplicationController to a ReplicaSet; only the selector differs. */
export function asReplicaSet(controller: ReplicationController): ReplicaSet {
  const { selector = {}, ...spec } = controller.spec ?? {};
  return { ...controller, spec: { ...spec, selector: { matchLabels: selector } } };
}
