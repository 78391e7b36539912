import { type Node, node } from '@kruise/api/core/node';
import { pod } from '@kruise/api/core/pod';
import { type Service, service } from '@kruise/api/core/service';
import { endpointSlice } from '@kruise/api/discovery/endpointslice';
import { isBeingDeleted } from '@kruise/client/actions';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isConditionTrue } from '@kruise/machinery/conditions';
import { byNode } from '@kruise/workload-kit/pod-indexes';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { hasSelector, podsOf, servicesAffectedBy, servicesOf } from '../service-endpoints/membership.ts';
import { createTriggerTimes } from '../service-endpoints/trigger-times.ts';
import { decide, defaultPerSlice, managedBy, type Observed, usesCpuShares } from './decide.ts';
import { byServiceOf } from './slice-set.ts';
import { zoneShares } from './topology-hints.ts';

const byService = byServiceOf(managedBy);
const noFamilies: ReadonlySet<string> = new Set();

/** EndpointSlice controller: maintains the EndpointSlices of each Service with a selector. */
export function endpointSliceController(maxPerSlice = defaultPerSlice): Controller {
  const triggerTimes = createTriggerTimes();
  const hinted = new Map<Key, ReadonlySet<string>>();

  function observe(caches: Caches, key: Key): Observed | undefined {
    const found = caches.of(service).get(key);
    if (!found) {
      triggerTimes.forget(key);
      hinted.delete(key);
      return undefined;
    }
    if (found.spec?.type === 'ExternalName' || !hasSelector(found)) return undefined;
    const pods = podsOf(caches, found);
    return {
      service: found,
      pods,
      slices: caches
        .of(endpointSlice)
        .byIndex(byService, key)
        .filter((slice) => !isBeingDeleted(slice)),
      findNode: (name) => caches.of(node).get(name),
      zoneShares: () => zoneShares(caches.of(node).list()),
      hintedFamilies: hinted.get(key) ?? noFamilies,
      triggerTime: triggerTimes.update(found, pods),
      maxPerSlice,
    };
  }

  return defineController({
    name: 'endpoint-slice',
    for: service,
    watches: [
      watch(pod, servicesAffectedBy),
      watch(endpointSlice, ({ object, previous }) => [...byService(object), ...(previous ? byService(previous) : [])]),
      watch(node, servicesOnChangedNode),
    ],
    observe,
    decide(observed) {
      const { actions, hintedFamilies } = decide(observed);
      hinted.set(keyOf(observed.service), hintedFamilies);
      return { actions, minIntervalMs: reconcileIntervalFor(observed.pods.length) };
    },
  });
}

function withShares(found: Service): readonly string[] {
  return usesCpuShares(found) ? ['yes'] : [];
}

/**
 * Enqueues the Services with Pods on a node that was added or changed its zone, and the Services whose topology hints
 * depend on the node.
 */
function servicesOnChangedNode({ type, object, previous }: Change<Node>, caches: Caches): readonly Key[] {
  const isMoved = zoneOf(object) !== (previous && zoneOf(previous));
  const isReadinessChanged = isReady(object) !== (previous && isReady(previous));
  if (type === 'updated' && !isMoved && !isReadinessChanged) return [];
  const pods = isMoved ? caches.of(pod).byIndex(byNode, object.metadata.name ?? '') : [];
  const services = new Set(pods.flatMap((each) => servicesOf(caches, each)).map(keyOf));
  for (const found of caches.of(service).byIndex(withShares, 'yes')) services.add(keyOf(found));
  return [...services];
}

function zoneOf({ metadata }: Node): string {
  return metadata.labels?.['topology.kubernetes.io/zone'] ?? '';
}

function isReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready');
}
