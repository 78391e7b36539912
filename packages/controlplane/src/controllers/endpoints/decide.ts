import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from '@kruise/api/core/endpoints';
import type { Pod } from '@kruise/api/core/pod';
import type { Service, ServicePort } from '@kruise/api/core/service';
import { type Action, create, remove, update, withOutcomeEvents } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import type { Key } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { isPodReady } from '@kruise/machinery/pods';
import { compareStrings } from '@kruise/values/go-syntax';
import { reconcileIntervalFor } from '@kruise/workload-kit/reconcile-interval';
import { addressesOf, hasAddress, hostnameOf, isPublishable, portNumberOf } from '../service-endpoints/pod-endpoint.ts';
import { withTriggerTime } from '../service-endpoints/trigger-times.ts';

export type Observed = {
  readonly key: Key;
  readonly service: Service | undefined;
  readonly pods: readonly Pod[];
  readonly endpoints: Endpoints | undefined;
  readonly triggerTime: string | undefined;
};

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const managedBy = 'endpoint-controller';
const headlessLabel = 'service.kubernetes.io/headless';
const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
/** Maximum number of addresses in one object, because every change is sent to every node. */
const maxAddresses = 1000;

export function decide({ key, service, pods, endpoints, triggerTime }: Observed): Decision<Service['status']> {
  if (!service) return { actions: endpoints ? [remove(endpoints)] : [] };
  const { subsets, isTruncated } = truncate(subsetsOf(service, pods));
  const labels = labelsOf(service);
  const present = endpoints?.metadata;
  const wasTruncated = present?.annotations?.[overCapacityAnnotation] !== undefined;
  const isUpToDate =
    endpoints !== undefined &&
    isSame(withoutVersions(endpoints.subsets ?? []), subsets) &&
    isSame(present?.labels ?? {}, labels) &&
    wasTruncated === isTruncated;
  const minIntervalMs = reconcileIntervalFor(pods.length);
  if (isUpToDate) return { actions: [], minIntervalMs };

  const { [overCapacityAnnotation]: _, ...others } = withTriggerTime(present?.annotations, triggerTime);
  const annotations = isTruncated ? { ...others, [overCapacityAnnotation]: 'truncated' } : others;
  const metadata = endpoints
    ? { ...endpoints.metadata, labels, annotations }
    : { name: service.metadata.name ?? '', namespace: service.metadata.namespace ?? '', labels, annotations };
  const wanted: Endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: [...subsets] };
  return { actions: [write(wanted, key, endpoints !== undefined)], minIntervalMs };
}

function write(wanted: Endpoints, key: Key, isPresent: boolean): Action {
  return isPresent
    ? withOutcomeEvents(update(wanted), {
        about: wanted,
        failed: { reason: 'FailedToUpdateEndpoint', message: `Failed to update endpoint ${key}: {error}` },
      })
    : withOutcomeEvents(create(wanted), {
        about: wanted,
        failed: { reason: 'FailedToCreateEndpoint', message: `Failed to create endpoint for service ${key}: {error}` },
      });
}

function labelsOf(service: Service): Readonly<Record<string, string>> {
  const { [headlessLabel]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(hasAddress(service) ? {} : { [headlessLabel]: '' }), [managedByLabel]: managedBy };
}

type Published = { readonly address: EndpointAddress; readonly isReady: boolean; readonly pod: Pod };

/** Groups the addresses of Pods by port: ports with the same addresses form one subset. The order is deterministic. */
export function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const published = publishedOf(service, pods);
  const ports = service.spec?.ports ?? [];
  if (ports.length === 0) {
    return published.length > 0 && service.spec?.clusterIP === 'None' ? [subsetOf(published, [])] : [];
  }
  const byMembers = new Map<string, { readonly members: readonly Published[]; readonly ports: EndpointPort[] }>();
  for (const [port, members] of membersByPort(ports, published)) {
    const id = members.length === published.length ? '*' : members.map(({ pod }) => pod.metadata.uid).join();
    const group = byMembers.get(id);
    if (group) group.ports.push(port);
    else byMembers.set(id, { members, ports: [port] });
  }
  const subsets = [...byMembers.values()].map((group) => subsetOf(group.members, group.ports.toSorted(comparePorts)));
  return subsets.toSorted((a, b) => comparePorts(a.ports![0]!, b.ports![0]!));
}

function publishedOf(service: Service, pods: readonly Pod[]): readonly Published[] {
  const publishesAll = service.spec?.publishNotReadyAddresses ?? false;
  const family = service.spec?.ipFamilies?.[0] === 'IPv6' ? 'IPv6' : 'IPv4';
  const published: Published[] = [];
  for (const pod of pods) {
    if (!isPublishable(pod, { includesTerminating: publishesAll })) continue;
    const [ip] = addressesOf(pod, family);
    if (ip === undefined) continue;
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const hostname = hostnameOf(pod, service);
    const address: EndpointAddress = {
      ip,
      ...(hostname ? { hostname } : {}),
      // A Pod that reports an IP without a node must not prevent the publication of all others.
      ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
      targetRef: { kind: 'Pod', namespace, name, uid },
    };
    published.push({ address, isReady: publishesAll || isPodReady(pod), pod });
  }
  return published.sort(
    (a, b) =>
      compareStrings(a.address.ip, b.address.ip) ||
      compareStrings(a.address.targetRef?.uid ?? '', b.address.targetRef?.uid ?? ''),
  );
}

/** Yields the members of each port. A named port may have different numbers in different Pods. */
function* membersByPort(
  ports: readonly ServicePort[],
  published: readonly Published[],
): Generator<readonly [EndpointPort, readonly Published[]]> {
  for (const servicePort of ports) {
    const byNumber = new Map<number, Published[]>();
    for (const each of published) {
      const number = portNumberOf(each.pod, servicePort);
      if (number === undefined) continue;
      const members = byNumber.get(number);
      if (members) members.push(each);
      else byNumber.set(number, [each]);
    }
    for (const [port, members] of byNumber) {
      yield [endpointPort(servicePort, port), members];
    }
  }
}

function endpointPort({ name, protocol, appProtocol }: ServicePort, port: number): EndpointPort {
  return {
    ...(name ? { name } : {}),
    port,
    // A Service has the same protocols.
    ...(protocol ? { protocol: protocol as NonNullable<EndpointPort['protocol']> } : {}),
    ...(appProtocol ? { appProtocol } : {}),
  };
}

function subsetOf(members: readonly Published[], ports: readonly EndpointPort[]): EndpointSubset {
  const addressesWhere = (wanted: boolean) =>
    members.filter(({ isReady }) => isReady === wanted).map(({ address }) => address);
  return compact({ addresses: addressesWhere(true), notReadyAddresses: addressesWhere(false), ports });
}

/** Returns a subset without empty lists, as it is stored. */
function compact({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset): EndpointSubset {
  return {
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(notReadyAddresses.length > 0 ? { notReadyAddresses } : {}),
    ...(ports.length > 0 ? { ports } : {}),
  };
}

function comparePorts(a: EndpointPort, b: EndpointPort): number {
  return (
    compareStrings(a.name ?? '', b.name ?? '') || a.port - b.port || compareStrings(a.protocol ?? '', b.protocol ?? '')
  );
}

/** Truncates to the maximum number of addresses of one object: proportionally per subset, ready addresses first. */
export function truncate(subsets: readonly EndpointSubset[]): {
  readonly subsets: readonly EndpointSubset[];
  readonly isTruncated: boolean;
} {
  const total = (field: 'addresses' | 'notReadyAddresses') =>
    subsets.reduce((sum, subset) => sum + (subset[field]?.length ?? 0), 0);
  const ready = total('addresses');
  const notReady = total('notReadyAddresses');
  if (ready + notReady <= maxAddresses) return { subsets, isTruncated: false };

  const field = ready > maxAddresses ? 'addresses' : 'notReadyAddresses';
  const room = field === 'addresses' ? maxAddresses : maxAddresses - ready;
  const candidates = field === 'addresses' ? ready : notReady;
  let left = room;
  const shares = subsets.map((subset) => {
    const present = subset[field] ?? [];
    const kept = present.slice(0, Math.min(left, Math.ceil((present.length / candidates) * room)));
    left -= kept.length;
    const shown = field === 'addresses' ? { addresses: kept, notReadyAddresses: [] } : { notReadyAddresses: kept };
    return compact({ ...subset, ...shown });
  });
  return { subsets: shares, isTruncated: true };
}

/** Other writers may set the resourceVersion of a target; it does not affect the endpoint. */
function withoutVersions(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] {
  const hasVersion = ({ targetRef }: EndpointAddress) => targetRef?.resourceVersion !== undefined;
  const strip = (address: EndpointAddress): EndpointAddress => {
    if (!address.targetRef) return address;
    const { resourceVersion: _, ...targetRef } = address.targetRef;
    return { ...address, targetRef };
  };
  return subsets.map((subset) => {
    const all = [...(subset.addresses ?? []), ...(subset.notReadyAddresses ?? [])];
    if (!all.some(hasVersion)) return subset;
    return {
      ...subset,
      ...(subset.addresses ? { addresses: subset.addresses.map(strip) } : {}),
      ...(subset.notReadyAddresses ? { notReadyAddresses: subset.notReadyAddresses.map(strip) } : {}),
    };
  });
}
