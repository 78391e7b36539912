import { controllerRevision } from '@kruise/api/apps/controllerrevision';
import { type DaemonSet, daemonSet } from '@kruise/api/apps/daemonset';
import { node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { candidatesFor, mapToAdopters } from '@kruise/client/adoption';
import { type Backoff, createBackoff } from '@kruise/client/backoff';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { type Key, referenceOf } from '@kruise/client/object-key';
import { placementOf } from '@kruise/machinery/daemon-pods';
import { selectorOf } from '@kruise/machinery/label-selector';
import { failureEffects } from '@kruise/workload-kit/daemonset/ended-pods';
import { mapNodeToSets, mapRevisionToSets } from '@kruise/workload-kit/daemonset/mappers';
import { decide, type Observed } from './decide.ts';

/**
 * DaemonSet controller: keeps one Pod on every eligible node. The only state kept between reconciles is the backoff for
 * failed Pods, because deleted Pods leave no trace. After a restart, the controller retries immediately.
 */
export function daemonSetController(): Controller {
  const backOff = createBackoff({ initialMs: 1000, maxMs: 15 * 60_000 });
  const selector = ({ spec }: DaemonSet) => selectorOf(spec?.selector);
  return defineController({
    name: 'daemonset',
    for: daemonSet,
    owns: [pod],
    watches: [
      watch(pod, mapToAdopters(daemonSet, selector)),
      watch(controllerRevision, mapToAdopters(daemonSet, selector)),
      watch(controllerRevision, mapRevisionToSets(daemonSet)),
      watch(
        node,
        mapNodeToSets(daemonSet, ({ spec }) => placementOf(spec?.template?.spec)),
      ),
    ],
    observe: (caches, key) => observe(caches, key, backOff),
    decide,
    effects: failureEffects(backOff),
    workers: 2,
  });
}

function observe(caches: Caches, key: Key, backOff: Backoff): Observed | undefined {
  const set = caches.of(daemonSet).get(key);
  if (!set) return undefined;
  const { namespace } = referenceOf(key);
  const revisions = caches.of(controllerRevision);
  return {
    set,
    nodes: caches.of(node).list(),
    candidates: candidatesFor(caches.of(pod), set),
    revisions: candidatesFor(revisions, set),
    findRevision: (name) => revisions.get(namespace === undefined ? { name } : { namespace, name }),
    remainingBackOffMs: backOff.remainingMs,
  };
}
