/** Mapping between Services and Pods in both directions, by indexes. */
import type { Pod } from '@kruise/api/core/pod';
import { type Service, service } from '@kruise/api/core/service';
import type { Caches, Change } from '@kruise/client/informer';
import { type Key, keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { selectorOfLabels } from '@kruise/machinery/label-selector';
import { isPodReady } from '@kruise/machinery/pods';
import { memoizeByObject } from '@kruise/values/memoize';
import { labelId, podsMatching } from '@kruise/workload-kit/pod-indexes';

/** Reports whether a Service has a selector; otherwise its endpoints are managed by users. */
export function hasSelector({ spec }: Service): boolean {
  return spec?.selector !== undefined && Object.keys(spec.selector).length > 0;
}

/** Returns the Pods that a Service selects. */
export function podsOf(caches: Caches, found: Service): readonly Pod[] {
  return podsMatching(caches, found.metadata.namespace ?? '', selectorOfService(found));
}

const selectorOfService = memoizeByObject(({ spec }: Service) => selectorOfLabels(spec?.selector));

/** Indexes Services by the first label of their selector: a Pod without that label does not match. */
function byFirstLabel(found: Service): readonly string[] {
  if (!hasSelector(found)) return [];
  const [first] = selectorOfService(found).requirements;
  return first ? [labelId(found.metadata.namespace ?? '', first.key, first.values[0] ?? '')] : [];
}

/** Returns the Services that select a Pod. */
export function servicesOf(caches: Caches, { metadata: { namespace = '', labels = {} } }: Pod): readonly Service[] {
  const services = caches.of(service);
  return Object.entries(labels).flatMap(([key, value]) =>
    services
      .byIndex(byFirstLabel, labelId(namespace, key, value))
      .filter((candidate) => selectorOfService(candidate).matches(labels)),
  );
}

/** Returns the Services whose endpoints may change with a Pod. */
export function servicesAffectedBy({ type, object, previous }: Change<Pod>, caches: Caches): readonly Key[] {
  const current = servicesOf(caches, object).map(keyOf);
  if (type !== 'updated' || !previous) return current;
  const isEndpointChanged = isEndpointDifferent(previous, object);
  const isMembershipChanged =
    !isSame(previous.metadata.labels, object.metadata.labels) ||
    previous.spec?.hostname !== object.spec?.hostname ||
    previous.spec?.subdomain !== object.spec?.subdomain;
  if (!isMembershipChanged) return isEndpointChanged ? current : [];
  return [...new Set([...current, ...servicesOf(caches, previous).map(keyOf)])];
}

function isEndpointDifferent(previous: Pod, current: Pod): boolean {
  return (
    previous.metadata.deletionTimestamp !== current.metadata.deletionTimestamp ||
    isPodReady(previous) !== isPodReady(current) ||
    previous.status?.phase !== current.status?.phase ||
    !isSame(previous.status?.podIPs, current.status?.podIPs)
  );
}
