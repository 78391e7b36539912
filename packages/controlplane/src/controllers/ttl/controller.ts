import { node } from '@kruise/api/core/node';
import { defineController, watch } from '@kruise/client/controller';
import { keyOf } from '@kruise/client/object-key';
import { decide, isAtBound, ttlAnnotation } from './decide.ts';

/** TTL controller: sets how long kubelets may cache Secrets and ConfigMaps, depending on the number of nodes. */
export const ttlController = defineController({
  name: 'ttl',
  for: node,
  predicate: ({ type, object, previous }) =>
    type === 'added' ||
    object.metadata.annotations?.[ttlAnnotation] !== previous?.metadata.annotations?.[ttlAnnotation],
  watches: [
    watch(node, ({ type }, caches) =>
      type !== 'updated' && isAtBound(caches.of(node).size) ? caches.of(node).list().map(keyOf) : [],
    ),
  ],
  observe(caches, key) {
    const found = caches.of(node).get(key);
    return found && { node: found, nodeCount: caches.of(node).size };
  },
  decide,
});
