import { endpoints } from '@kruise/api/core/endpoints';
import { pod } from '@kruise/api/core/pod';
import { service } from '@kruise/api/core/service';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import type { Caches } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { hasSelector, podsOf, servicesAffectedBy } from '../service-endpoints/membership.ts';
import { createTriggerTimes } from '../service-endpoints/trigger-times.ts';
import { decide, type Observed } from './decide.ts';

/** Annotation of leader election records in Endpoints, which have no Service and are not managed by this controller. */
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';

/** Endpoints controller: maintains the Endpoints of each Service with a selector. */
export function endpointsController(): Controller {
  const triggerTimes = createTriggerTimes();

  function observe(caches: Caches, key: Key): Observed | undefined {
    const found = caches.of(service).get(key);
    const present = caches.of(endpoints).get(key);
    if (!found) {
      triggerTimes.forget(key);
      const isOurs = present && present.metadata.annotations?.[leaderAnnotation] === undefined;
      return isOurs ? { key, service: undefined, pods: [], endpoints: present, triggerTime: undefined } : undefined;
    }
    if (found.spec?.type === 'ExternalName' || !hasSelector(found)) return undefined;
    const pods = podsOf(caches, found);
    return { key, service: found, pods, endpoints: present, triggerTime: triggerTimes.update(found, pods) };
  }

  return defineController({
    name: 'endpoint',
    for: service,
    watches: [
      watch(pod, servicesAffectedBy),
      // Enqueues Endpoints whose Service was deleted while the controller did not run, and Endpoints that were deleted
      // by another client.
      watch(endpoints, ({ object, type, cause }) => (type === 'deleted' || cause === 'initial' ? [keyOf(object)] : [])),
    ],
    observe,
    decide,
  });
}
