import type { Draft } from '@kruise/schema/draft';
import { type Cause, duplicate, invalid, required, tooMany } from '@kruise/schema/field-error';
import { parseLegacyAddress, unmap, validateAddress } from '@kruise/values/address';
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validateFullyQualifiedDomainName,
  validateLabelValue,
  validateQualifiedName,
} from '@kruise/values/names';
import { protocols } from '../core/endpoints.validate.ts';
import { addressWarnings } from '../core/pod.warnings.ts';
import { validateEndpointIP, validateLegacyIP } from '../meta/address.validate.ts';
import { choice } from '../meta/choice.validate.ts';
import { validateLabels } from '../meta/labels.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, oneOf, refusals } from '../meta/value.validate.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from './endpointslice.ts';

const maxEndpoints = 1000;
const maxPorts = 20000;
const maxAddresses = 100;
const maxTopologyLabels = 16;
const maxHints = 8;

export function defaultEndpointSlice({ ports }: Draft<EndpointSlice>): void {
  for (const port of ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

/** Drops topology labels of new endpoints, which have fields for the topology now. */
export function prepareEndpointSlice({ endpoints }: Draft<EndpointSlice>, old?: EndpointSlice): void {
  const keepsNodeHints = (old?.endpoints ?? []).some(({ hints }) => hints?.forNodes !== undefined);
  const isChanged = !old || !isSame(endpoints ?? [], old.endpoints ?? []);
  for (const endpoint of endpoints ?? []) {
    if (!keepsNodeHints) delete endpoint.hints?.forNodes;
    if (isChanged) delete endpoint.deprecatedTopology;
  }
}

/** Reports whether a slice has changed, including its labels, by which consumers select slices. */
export function isEndpointSliceChanged(slice: EndpointSlice, old: EndpointSlice): boolean {
  if (!isSame(slice.metadata.labels ?? {}, old.metadata.labels ?? {})) return true;
  return (['addressType', 'endpoints', 'ports'] as const).some(
    (field) => !isSame(slice[field] ?? [], old[field] ?? []),
  );
}

export function validateEndpointSlice(slice: EndpointSlice): Generator<Cause> {
  return validate(slice, undefined);
}

export function* validateEndpointSliceUpdate(slice: EndpointSlice, old: EndpointSlice): Generator<Cause> {
  yield* validate(slice, old);
  if (slice.addressType !== old.addressType) yield invalid('addressType', slice.addressType, isImmutable);
}

function* validate(slice: EndpointSlice, old: EndpointSlice | undefined): Generator<Cause> {
  const { metadata, addressType, ports, endpoints } = slice;
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  yield* choice('addressType', addressType, ['FQDN', 'IPv4', 'IPv6']);
  yield* validatePorts(ports ?? []);
  const faults = [...validateEndpoints(endpoints ?? [], addressType)];
  // Invalid endpoints that are already stored are tolerated while they do not change.
  if (faults.length > 0 && !(old && isSame(old.endpoints ?? [], endpoints ?? []))) yield* faults;
}

function* validatePorts(ports: readonly EndpointPort[]): Generator<Cause> {
  if (ports.length > maxPorts) return yield tooMany('ports', ports.length, maxPorts);
  const names = new Set<string>();
  for (const [index, { name = '', protocol, appProtocol }] of ports.entries()) {
    const path = `ports[${index}]`;
    if (name) yield* refusals(`${path}.name`, name, validateDns1123Label(name));
    if (names.has(name)) yield duplicate(`${path}.name`, name);
    names.add(name);
    if (protocol === undefined) yield required(`${path}.protocol`);
    else yield* oneOf(`${path}.protocol`, protocol, protocols);
    if (appProtocol !== undefined) {
      yield* refusals(`${path}.appProtocol`, appProtocol, validateQualifiedName(appProtocol));
    }
  }
}

function* validateEndpoints(endpoints: readonly Endpoint[], addressType: string): Generator<Cause> {
  if (endpoints.length > maxEndpoints) return yield tooMany('endpoints', endpoints.length, maxEndpoints);
  for (const [index, endpoint] of endpoints.entries()) {
    yield* validateEndpoint(endpoint, addressType, `endpoints[${index}]`);
  }
}

function* validateEndpoint(endpoint: Endpoint, addressType: string, path: string): Generator<Cause> {
  const { nodeName, deprecatedTopology = {}, hostname, hints } = endpoint;
  const addresses = endpoint.addresses ?? [];
  const at = `${path}.addresses`;
  if (addresses.length === 0) yield required(at, 'must contain at least 1 address');
  else if (addresses.length > maxAddresses) yield tooMany(at, addresses.length, maxAddresses);
  for (const [index, address] of addresses.entries()) {
    yield* validateEndpointAddress(address, addressType, at, `${at}[${index}]`);
  }
  if (nodeName !== undefined) yield* refusals(`${path}.nodeName`, nodeName, validateDns1123Subdomain(nodeName));
  const labels = Object.keys(deprecatedTopology).length;
  if (labels > maxTopologyLabels) yield tooMany(`${path}.deprecatedTopology`, labels, maxTopologyLabels);
  yield* validateLabels(deprecatedTopology, `${path}.deprecatedTopology`);
  if (hostname !== undefined) yield* refusals(`${path}.hostname`, hostname, validateDns1123Label(hostname));
  if (hints) yield* validateHints(hints, `${path}.hints`);
}

function* validateEndpointAddress(text: string, type: string, list: string, path: string): Generator<Cause> {
  if (type === 'FQDN') return yield* validateName(text, path);
  if (type !== 'IPv4' && type !== 'IPv6') return;
  const faults = type === 'IPv4' ? [...validateLegacyIP(text, path)] : refusals(path, text, validateAddress(text));
  if (faults.length > 0) return yield* faults;
  const address = parseLegacyAddress(text);
  if (address && unmap(address).family !== (type === 'IPv4' ? 4 : 6)) {
    yield invalid(list, text, `must be an ${type} address`);
  }
  yield* validateEndpointIP(text, path);
}

function* validateName(name: string, path: string): Generator<Cause> {
  if (name === '') yield required(path);
  else yield* refusals(path, name, validateFullyQualifiedDomainName(name));
}

function* validateHints({ forZones = [], forNodes = [] }: EndpointHints, path: string): Generator<Cause> {
  const lists = [
    { at: `${path}.forZones`, hints: forZones, validateName: validateLabelValue },
    { at: `${path}.forNodes`, hints: forNodes, validateName: validateDns1123Subdomain },
  ];
  for (const { at, hints, validateName } of lists) {
    if (hints.length > maxHints) return yield tooMany(at, hints.length, maxHints);
    const names = new Set<string>();
    for (const [index, { name }] of hints.entries()) {
      if (names.has(name)) yield duplicate(`${at}[${index}].name`, name);
      names.add(name);
      yield* refusals(`${at}[${index}].name`, name, validateName(name));
    }
  }
}

const managedBy = 'endpointslice.kubernetes.io/managed-by';
const controllers: readonly (string | undefined)[] = [
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
];

export function* endpointSliceWarnings(slice: EndpointSlice, old: EndpointSlice | undefined): Generator<string> {
  if (!old && slice.addressType === 'FQDN') yield 'spec.addressType: FQDN endpoints are deprecated';
  if (controllers.includes(slice.metadata.labels?.[managedBy])) return;
  for (const [index, { addresses }] of (slice.endpoints ?? []).entries()) {
    for (const [at, address] of (addresses ?? []).entries()) {
      yield* addressWarnings(address, `endpoints[${index}].addresses[${at}]`);
    }
  }
}
