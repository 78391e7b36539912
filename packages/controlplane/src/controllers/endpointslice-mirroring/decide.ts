import type { EndpointPort as AddressPort, EndpointAddress, Endpoints } from '@kruise/api/core/endpoints';
import type { Service } from '@kruise/api/core/service';
import type { Endpoint, EndpointPort, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import {
  type Action,
  create,
  isBeingDeleted,
  type NewEvent,
  parallel,
  parallelByKind,
  record,
  remove,
  update,
} from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { isSame } from '@kruise/machinery/json-value';
import { controllerReference } from '@kruise/machinery/owner-references';
import { formatAddress, parseLegacyAddress, unmap } from '@kruise/values/address';
import {
  endpointsOf,
  idOf,
  managedByLabel,
  portsId,
  serviceNameLabel,
  sliceNamePrefix,
} from '../endpointslice/slice-set.ts';
import { hasSelector } from '../service-endpoints/membership.ts';
import { triggerTimeAnnotation } from '../service-endpoints/trigger-times.ts';
import { regroup } from './regroup.ts';

export type Observed = {
  readonly endpoints: Endpoints | undefined;
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
};

export const managedBy = 'endpointslicemirroring-controller.k8s.io';
const maxPerSubset = 1000;
const unmirrored = [triggerTimeAnnotation, 'kubectl.kubernetes.io/last-applied-configuration'];

/** Creates one slice per set of ports and address family of custom Endpoints, for clients that only read slices. */
export function decide({ endpoints, service, slices }: Observed): Decision<Endpoints['metadata']> {
  if (!endpoints || !service || !isMirrored(endpoints, service)) return { actions: parallel(slices.map(remove)) };
  const { mirrors, events } = mirrorsOf(endpoints);
  const left = [...slices];
  const takeWhere = (matches: (slice: EndpointSlice) => boolean) => {
    const index = left.findIndex(matches);
    return index < 0 ? undefined : left.splice(index, 1)[0];
  };
  const matched = mirrors.map((mirror) => ({ mirror, existing: takeWhere((slice) => isSameShape(slice, mirror)) }));
  const actions: Action[] = [];
  for (const { mirror, existing } of matched) {
    // Reuses an obsolete slice instead of creating a new one.
    const place = existing ?? takeWhere(({ addressType }) => addressType === mirror.addressType);
    const wanted = sliceOf(endpoints, mirror, place);
    if (!place) actions.push(...(isBeingDeleted(endpoints) ? [] : [create(wanted)]));
    else if (!isUpToDate(place, wanted)) actions.push(update(wanted));
  }
  return { actions: [...parallelByKind(actions), ...parallel(left.map(remove)), ...events.map(record)] };
}

function isMirrored({ metadata }: Endpoints, service: Service): boolean {
  return (
    !hasSelector(service) &&
    metadata.labels?.['endpointslice.kubernetes.io/skip-mirror'] !== 'true' &&
    metadata.annotations?.['control-plane.alpha.kubernetes.io/leader'] === undefined
  );
}

type Mirror = {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Map<string, Endpoint>;
};

function mirrorsOf(endpoints: Endpoints): {
  readonly mirrors: readonly Mirror[];
  readonly events: readonly NewEvent[];
} {
  const mirrors = new Map<string, Mirror>();
  let invalid = 0;
  let skipped = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of regroup(endpoints.subsets ?? [])) {
    const mirrored = ports.map(mirroredPort);
    let room = maxPerSubset;
    const add = (address: EndpointAddress, ready: boolean) => {
      const parsed = parseLegacyAddress(address.ip);
      if (!parsed) invalid++;
      if (!parsed || room === 0) {
        skipped++;
        return;
      }
      room--;
      const ip = unmap(parsed);
      const addressType = ip.family === 6 ? 'IPv6' : 'IPv4';
      const id = `${addressType} ${portsId(mirrored)}`;
      let mirror = mirrors.get(id);
      if (!mirror) mirrors.set(id, (mirror = { addressType, ports: mirrored, endpoints: new Map() }));
      const endpoint = mirroredEndpoint(address, formatAddress(ip), ready);
      mirror.endpoints.set(idOf(endpoint), endpoint);
    };
    for (const address of addresses) add(address, true);
    for (const address of notReadyAddresses) add(address, false);
  }
  const warn = (reason: string, message: string): NewEvent => ({ about: endpoints, type: 'Warning', reason, message });
  const events: NewEvent[] = [];
  if (invalid > 0) {
    events.push(warn('InvalidIPAddress', `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`));
  }
  if (skipped > invalid) {
    const limit = `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset.`;
    events.push(warn('TooManyAddressesToMirror', `${limit} ${skipped} addresses were skipped`));
  }
  return { mirrors: [...mirrors.values()], events };
}

function mirroredPort({ name = '', port, protocol = 'TCP', appProtocol }: AddressPort): EndpointPort {
  return { name, port, protocol, ...(appProtocol == null ? {} : { appProtocol }) };
}

function mirroredEndpoint({ hostname, nodeName, targetRef }: EndpointAddress, ip: string, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname ? { hostname } : {}),
    ...(targetRef ? { targetRef } : {}),
    ...(nodeName == null ? {} : { nodeName }),
  };
}

function isSameShape({ addressType, ports }: EndpointSlice, mirror: Mirror): boolean {
  return addressType === mirror.addressType && portsId(ports) === portsId(mirror.ports);
}

function sliceOf(endpoints: Endpoints, mirror: Mirror, place: EndpointSlice | undefined): EndpointSlice {
  const { name = '', namespace = '', uid = '', labels, annotations = {} } = endpoints.metadata;
  const identity = place ? place.metadata : { generateName: sliceNamePrefix(name), namespace };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...identity,
      labels: { ...labels, [serviceNameLabel]: name, [managedByLabel]: managedBy },
      annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !unmirrored.includes(key))),
      ownerReferences: [controllerReference({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name, uid } })],
    },
    addressType: mirror.addressType,
    endpoints: [...mirror.endpoints.values()],
    ports: [...mirror.ports],
  };
}

function isUpToDate(present: EndpointSlice, wanted: EndpointSlice): boolean {
  const pickMetadata = ({ metadata }: EndpointSlice) => [
    metadata.labels ?? {},
    metadata.annotations ?? {},
    metadata.ownerReferences,
  ];
  return (
    isSame(pickMetadata(present), pickMetadata(wanted)) &&
    portsId(present.ports) === portsId(wanted.ports) &&
    isSame(endpointsOf(present), endpointsOf(wanted))
  );
}
