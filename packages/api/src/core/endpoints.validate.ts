import type { Draft } from '@kruise/schema/draft';
import { type Cause, required } from '@kruise/schema/field-error';
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePortNumber,
  validateQualifiedName,
} from '@kruise/values/names';
import { validateEndpointIP, validateLegacyIP } from '../meta/address.validate.ts';
import { choice } from '../meta/choice.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { refusals } from '../meta/value.validate.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from './endpoints.ts';
import { addressWarnings } from './pod.warnings.ts';

export const protocols = ['SCTP', 'TCP', 'UDP'];

export function defaultEndpoints({ subsets }: Draft<Endpoints>): void {
  for (const { ports } of subsets ?? []) for (const port of ports ?? []) port.protocol ||= 'TCP';
}

/**
 * Canonical form of Endpoints as Kubernetes stores them: subsets with the same ports are merged, addresses are sorted
 * and unique. The result does not depend on how a client groups them.
 */
export function validateEndpoints(object: Endpoints): Generator<Cause> {
  return validate(object, undefined);
}

export function* validateEndpointsUpdate(object: Endpoints, old: Endpoints): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  yield* validate(object, old);
}

function* validate({ metadata, subsets = [] }: Endpoints, old: Endpoints | undefined): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  const faults = subsets.flatMap((subset, index) => [...validateSubset(subset, `subsets[${index}]`)]);
  // Invalid subsets that are already stored are tolerated while they do not change.
  if (faults.length > 0 && !(old && isSame(old.subsets ?? [], subsets))) yield* faults;
}

function* validateSubset(subset: EndpointSubset, path: string): Generator<Cause> {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    yield required(path, 'must specify `addresses` or `notReadyAddresses`');
  }
  for (const [index, address] of addresses.entries()) yield* validateAddress(address, `${path}.addresses[${index}]`);
  for (const [index, address] of notReadyAddresses.entries()) {
    yield* validateAddress(address, `${path}.notReadyAddresses[${index}]`);
  }
  for (const [index, port] of ports.entries()) yield* validatePort(port, ports.length > 1, `${path}.ports[${index}]`);
}

function* validateAddress({ ip, hostname, nodeName }: EndpointAddress, path: string): Generator<Cause> {
  yield* validateLegacyIP(ip, `${path}.ip`);
  if (hostname) yield* refusals(`${path}.hostname`, hostname, validateDns1123Label(hostname));
  if (nodeName !== undefined) yield* refusals(`${path}.nodeName`, nodeName, validateDns1123Subdomain(nodeName));
  yield* validateEndpointIP(ip, `${path}.ip`);
}

function* validatePort(port: EndpointPort, isNameRequired: boolean, path: string): Generator<Cause> {
  const { name, protocol, appProtocol } = port;
  if (name) yield* refusals(`${path}.name`, name, validateDns1123Label(name));
  else if (isNameRequired) yield required(`${path}.name`);
  yield* refusals(`${path}.port`, port.port, validatePortNumber(port.port));
  yield* choice(`${path}.protocol`, protocol, protocols);
  if (appProtocol !== undefined) {
    yield* refusals(`${path}.appProtocol`, appProtocol, validateQualifiedName(appProtocol));
  }
}

const managedBy = 'endpoints.kubernetes.io/managed-by';

export function* endpointsWarnings({ metadata, subsets = [] }: Endpoints): Generator<string> {
  if (metadata.labels?.[managedBy] === 'endpoint-controller') return;
  for (const [index, subset] of subsets.entries()) {
    for (const field of ['addresses', 'notReadyAddresses'] as const) {
      for (const [at, { ip }] of (subset[field] ?? []).entries()) {
        yield* addressWarnings(ip, `subsets[${index}].${field}[${at}].ip`);
      }
    }
  }
}
