import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { Service } from '@kruise/api/core/service';
import type { Endpoint, EndpointPort, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import {
  type Action,
  create,
  isBeingDeleted,
  parallelByKind,
  record,
  remove,
  type Step,
  update,
  withOutcomeEvents,
} from '@kruise/client/actions';
import { keyOf } from '@kruise/client/object-key';
import { isSame } from '@kruise/machinery/json-value';
import { controllerReference } from '@kruise/machinery/owner-references';
import { isPodReady } from '@kruise/machinery/pods';
import {
  addressesOf,
  hasAddress,
  hostnameOf,
  type IpFamily,
  isPublishable,
  portNumberOf,
} from '../service-endpoints/pod-endpoint.ts';
import { withTriggerTime } from '../service-endpoints/trigger-times.ts';
import {
  type Draft,
  endpointsOf,
  idOf,
  managedByLabel,
  pack,
  portsId,
  serviceNameLabel,
  sliceNamePrefix,
} from './slice-set.ts';
import { hintByShare, hintByZone, withoutHints } from './topology-hints.ts';

export type Observed = {
  readonly service: Service;
  readonly pods: readonly Pod[];
  /** Slices of the Service that this controller manages and that are not terminating. */
  readonly slices: readonly EndpointSlice[];
  readonly findNode: (name: string) => Node | undefined;
  /** Share of CPUs of each zone; computed only if topology hints need it. */
  readonly zoneShares: () => ReadonlyMap<string, number> | undefined;
  /** Address families whose slices have hints by CPU share. */
  readonly hintedFamilies: ReadonlySet<string>;
  readonly triggerTime: string | undefined;
  readonly maxPerSlice: number;
};

export type Plan = { readonly actions: readonly Step[]; readonly hintedFamilies: ReadonlySet<string> };

export const managedBy = 'endpointslice-controller.k8s.io';
const headlessLabel = 'service.kubernetes.io/headless';
const reservedLabels: readonly string[] = [serviceNameLabel, managedByLabel, headlessLabel];
const topologyModes = ['service.kubernetes.io/topology-aware-hints', 'service.kubernetes.io/topology-mode'];
/** Maximum number of endpoints in one object, because every change is sent to every node. */
export const defaultPerSlice = 100;

export function decide(observed: Observed): Plan {
  const { service, slices } = observed;
  const families = familiesOf(service);
  const plans = families.map((family) => planFamily(observed, family));
  const missing = missingNodesOf(observed);
  const foreign = slices.filter(({ addressType }) => !families.some((family) => family === addressType));
  return {
    actions: parallelByKind([
      ...plans.flatMap(({ actions }) => actions),
      ...foreign.map((slice) => removal(slice, service)),
      ...(missing.length > 0 ? [failureEvent(service, aggregate(missing))] : []),
    ]),
    hintedFamilies: new Set(plans.filter(({ isHinted }) => isHinted).map(({ family }) => family)),
  };
}

/** Reports whether hints are allocated by the CPU share of each zone. */
export function usesCpuShares({ metadata: { annotations } }: Service): boolean {
  const mode = topologyModes.map((name) => annotations?.[name]).find((value) => value !== undefined);
  return mode === 'Auto' || mode === 'auto';
}

function familiesOf({ spec }: Service): readonly IpFamily[] {
  const families = (spec?.ipFamilies ?? []).filter((family) => family === 'IPv4' || family === 'IPv6');
  if (families.length > 0) return families;
  if (spec?.clusterIP && spec.clusterIP !== 'None') return [spec.clusterIP.includes(':') ? 'IPv6' : 'IPv4'];
  return ['IPv4', 'IPv6'];
}

function planFamily(observed: Observed, family: IpFamily) {
  const { service, slices, triggerTime, maxPerSlice } = observed;
  const labels = labelsOf(service);
  const present = slices.filter(({ addressType }) => addressType === family);
  const own = present.filter((slice) => isOwned(slice, service));
  const wanted = wantedEndpoints(observed, family);
  const byPorts = Map.groupBy(own, ({ ports }) => portsId(ports));
  const obsolete: EndpointSlice[] = present.filter((slice) => !own.includes(slice));
  const packed: Draft[] = [];
  const isOutdated = (slice: EndpointSlice) => !isSame(slice.metadata.labels ?? {}, labels);
  for (const [id, { ports, endpoints }] of wanted) {
    const shape = { addressType: family, ports };
    const packing = pack(shape, byPorts.get(id) ?? [], endpoints, { maxPerSlice, isOutdated });
    packed.push(...packing.drafts);
    obsolete.push(...packing.obsolete);
  }
  for (const [id, others] of byPorts) if (!wanted.has(id)) obsolete.push(...others);
  // Clients must be able to distinguish a Service without endpoints from one that was not reconciled yet.
  if (packed.length === 0)
    packed.push(placeholder(family, obsolete, (slice) => own.includes(slice) && !isOutdated(slice)));

  const { drafts, isHinted, events } = hinted(observed, family, packed);
  const actions = actionsOf(service, drafts, obsolete, { labels, triggerTime });
  return { family, isHinted, actions: [...actions, ...events] };
}

/** Returns the desired endpoints by their ports, and each by its ID. */
function wantedEndpoints(observed: Observed, family: IpFamily) {
  const { service, pods, findNode } = observed;
  type Group = { readonly ports: readonly EndpointPort[]; readonly endpoints: Map<string, Endpoint> };
  const wanted = new Map<string, Group>();
  const groupOf = (pod: Pod): Group => {
    const ports = portsOf(service, pod);
    const id = portsId(ports);
    let group = wanted.get(id);
    if (!group) wanted.set(id, (group = { ports, endpoints: new Map() }));
    return group;
  };
  // Without named ports, all Pods have the same ports; there may be thousands of Pods.
  const hasNames = service.spec?.ports?.some(({ targetPort }) => typeof targetPort === 'string') ?? false;
  let group: Group | undefined;
  for (const pod of pods) {
    if (!isPublishable(pod, { includesTerminating: true })) continue;
    if (!group || hasNames) group = groupOf(pod);
    const node = findNode(pod.spec?.nodeName ?? '');
    if (!node && !service.spec?.publishNotReadyAddresses) continue;
    const endpoint = endpointOf(service, pod, node, family);
    if (endpoint.addresses.length > 0) group.endpoints.set(idOf(endpoint), endpoint);
  }
  return wanted;
}

function portsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  const ports: EndpointPort[] = [];
  for (const servicePort of spec?.ports ?? []) {
    const port = portNumberOf(pod, servicePort);
    if (port === undefined) continue;
    const { name = '', protocol = 'TCP', appProtocol } = servicePort;
    // A Service has the same protocols.
    const known = protocol as NonNullable<EndpointPort['protocol']>;
    ports.push({ name, port, protocol: known, ...(appProtocol == null ? {} : { appProtocol }) });
  }
  return ports;
}

function endpointOf(service: Service, pod: Pod, node: Node | undefined, family: IpFamily): Endpoint {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const serving = isPodReady(pod);
  const terminating = isBeingDeleted(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'];
  const hostname = hostnameOf(pod, service);
  return {
    addresses: [...addressesOf(pod, family)],
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(pod.spec?.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    ...(zone ? { zone } : {}),
  };
}

/**
 * Returns the names of nodes that are not in the cache. Their Pods are left out and retried, because the cache may be
 * stale.
 */
function missingNodesOf({ service, pods, findNode }: Observed): readonly string[] {
  if (service.spec?.publishNotReadyAddresses) return [];
  return pods
    .filter((pod) => isPublishable(pod, { includesTerminating: true }) && !findNode(pod.spec?.nodeName ?? ''))
    .map(
      ({ metadata, spec }) =>
        `skipping Pod ${metadata.name} for Service ${keyOf(service)}: Node ${spec?.nodeName ?? ''} Not Found`,
    );
}

function aggregate(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`;
}

/** Returns a slice without endpoints; an existing one is removed from the obsolete slices. */
function placeholder(family: IpFamily, obsolete: EndpointSlice[], isUsable: (slice: EndpointSlice) => boolean): Draft {
  const [only] = obsolete;
  const isThere =
    obsolete.length === 1 &&
    only !== undefined &&
    endpointsOf(only).length === 0 &&
    portsId(only.ports) === '' &&
    isUsable(only);
  const existing = isThere ? obsolete.pop() : undefined;
  return { addressType: family, ports: [], endpoints: [], existing, isChanged: !existing };
}

function hinted({ service, zoneShares, hintedFamilies }: Observed, family: IpFamily, packed: readonly Draft[]) {
  const wasHinted = hintedFamilies.has(family);
  const hintEvent = (isEnabled: boolean, message: string) =>
    record({
      about: service,
      type: isEnabled ? 'Normal' : 'Warning',
      reason: isEnabled ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled',
      message: `${message}, addressType: ${family}`,
    });
  if (usesCpuShares(service)) {
    const drafts = hintByShare(packed, zoneShares());
    if (typeof drafts === 'string') {
      return { drafts: withoutHints(packed), isHinted: false, events: [hintEvent(false, drafts)] };
    }
    return {
      drafts,
      isHinted: true,
      events: wasHinted ? [] : [hintEvent(true, 'Topology Aware Hints has been enabled')],
    };
  }
  const events = wasHinted ? [hintEvent(false, 'Topology Aware Hints has been disabled')] : [];
  const drafts = service.spec?.trafficDistribution === 'PreferClose' ? hintByZone(packed) : withoutHints(packed);
  return { drafts, isHinted: false, events };
}

function labelsOf(service: Service): Readonly<Record<string, string>> {
  const copied = Object.entries(service.metadata.labels ?? {}).filter(([name]) => !reservedLabels.includes(name));
  return {
    ...Object.fromEntries(copied),
    ...(hasAddress(service) ? {} : { [headlessLabel]: '' }),
    [serviceNameLabel]: service.metadata.name ?? '',
    [managedByLabel]: managedBy,
  };
}

function isOwned({ metadata }: EndpointSlice, service: Service): boolean {
  return (
    metadata.ownerReferences?.some(
      ({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === 'Service' && apiVersion === 'v1',
    ) ?? false
  );
}

/** Reuses obsolete slices instead of creating new ones. */
function actionsOf(
  service: Service,
  drafts: readonly Draft[],
  obsolete: readonly EndpointSlice[],
  {
    labels,
    triggerTime,
  }: { readonly labels: Readonly<Record<string, string>>; readonly triggerTime: string | undefined },
): readonly Action[] {
  const reusable = obsolete.filter((slice) => isOwned(slice, service));
  const actions: Action[] = [];
  const reused = new Set<EndpointSlice>();
  for (const { existing, addressType, ports, endpoints, isChanged } of drafts) {
    if (!isChanged) continue;
    const place = existing ?? reusable.pop();
    if (place) reused.add(place);
    const annotations = withTriggerTime(place?.metadata.annotations, triggerTime);
    const metadata = place ? { ...place.metadata, labels, annotations } : newMetadata(service, labels, annotations);
    const slice: EndpointSlice = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata,
      addressType,
      endpoints: [...endpoints],
      ports: [...ports],
    };
    if (place)
      actions.push(withFailureEvent(update(slice), service, `failed to update ${place.metadata.name} EndpointSlice`));
    // The garbage collector deletes the slices of a terminating Service; creating new ones would interfere.
    else if (!isBeingDeleted(service))
      actions.push(withFailureEvent(create(slice), service, 'failed to create EndpointSlice'));
  }
  // Creations come first, so that endpoints are never missing.
  const order = { create: 0, update: 1 } as const;
  actions.sort((a, b) => order[a.type as 'create' | 'update'] - order[b.type as 'create' | 'update']);
  return [...actions, ...obsolete.filter((slice) => !reused.has(slice)).map((slice) => removal(slice, service))];
}

function newMetadata(
  service: Service,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): EndpointSlice['metadata'] {
  const { name = '', namespace = '', uid = '' } = service.metadata;
  return {
    generateName: sliceNamePrefix(name),
    namespace,
    labels,
    annotations,
    ownerReferences: [controllerReference({ apiVersion: 'v1', kind: 'Service', metadata: { name, uid } })],
  };
}

function removal(slice: EndpointSlice, service: Service): Action {
  return withFailureEvent(remove(slice), service, `failed to delete ${slice.metadata.name} EndpointSlice`);
}

function withFailureEvent<A extends Parameters<typeof withOutcomeEvents>[0]>(
  action: A,
  service: Service,
  failure: string,
): A {
  const { reason, message } = failureEvent(service, `${failure} for Service ${keyOf(service)}: {error}`).event;
  return withOutcomeEvents(action, { about: service, failed: { reason, message } });
}

function failureEvent(service: Service, error: string) {
  return record({
    about: service,
    type: 'Warning',
    reason: 'FailedToUpdateEndpointSlices',
    message: `Error updating Endpoint Slices for Service ${keyOf(service)}: ${error}`,
  });
}
