import { node } from '@kruise/api/core/node';
import { type Controller, defineController } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import type { Instances } from '../provider.ts';
import { decide, isUninitialized, type Observed } from './decide.ts';

/** Cloud node controller: initializes nodes with the metadata of their cloud instance. */
export function cloudNodeController(instances: Instances): Controller {
  return defineController({
    name: 'cloud-node',
    for: node,
    // Heartbeats do not enqueue the node.
    predicate: ({ type, object, previous }) =>
      type !== 'updated' ||
      isUninitialized(object) ||
      !isSame(object.metadata.labels, previous?.metadata.labels) ||
      !isSame(object.status?.addresses, previous?.status?.addresses),
    observe(caches, key): Observed | undefined {
      const found = caches.of(node).get(key);
      return found && { node: found, metadata: undefined };
    },
    fetch: async (observed, _client, signal) => ({
      ...observed,
      metadata: await instances.metadata(observed.node, signal),
    }),
    decide,
  });
}
