/**
 * Decides what cluster DNS answers: a pure function of a question and of the objects of the cluster, by the Kubernetes
 * DNS specification (1.1.0), and by CoreDNS where the specification leaves it open.
 */
import type { Service } from '@kruise/api/core/service';
import { addressBytes, addressLabel, podAddress, reverseAddress } from './address.ts';
import {
  type ClusterReader,
  clusterAddresses,
  type Endpoint,
  isHeadless,
  publishedEndpoints,
  serviceNameOf,
} from './cluster.ts';
import {
  internetClass,
  isInZone,
  isSameName,
  lowerCaseName,
  type Name,
  noRecords,
  parseName,
  type Question,
  type ResourceRecord,
  recordType,
  responseCode,
  type Sections,
} from './message.ts';

/** Settings of the zones of a cluster. */
export type ClusterZones = {
  /** Cluster domains. PTR records point into the first. */
  readonly domains: readonly Name[];
  /** Zones with the PTR records of Services and endpoints. */
  readonly reverseZones: readonly Name[];
  readonly ttlSeconds: number;
  /** Addresses of this server, for the NS records of the zones. */
  readonly localAddresses: readonly string[];
};

export type ClusterAnswer = Sections & {
  readonly outcome: 'answer';
  readonly code: number;
  /** Name outside of the zone at the end of a CNAME chain. Its records are appended to the answer. */
  readonly follow?: { readonly name: Name; readonly type: number };
  readonly dependsOn: Dependency;
};

/**
 * Objects that an answer is made from. It holds until one of them changes: no object, the set of Namespaces, the objects
 * of one Namespace, or any object.
 */
export type Dependency =
  | { readonly scope: 'nothing' }
  | { readonly scope: 'namespaces' }
  | { readonly scope: 'namespace'; readonly namespace: string }
  | { readonly scope: 'cluster' };

/**
 * An answer, a refusal (zone transfers), or nothing: the name is in no zone, or in a reverse zone without a record of
 * it, so that other servers may know it.
 */
export type ClusterOutcome = ClusterAnswer | { readonly outcome: 'refuse' } | { readonly outcome: 'pass' };

export const defaultReverseZones: readonly Name[] = [
  ['in-addr', 'arpa'],
  ['ip6', 'arpa'],
];

/** Name of the servers of a zone that are no endpoints of a Service. */
const serverLabels: Name = ['ns', 'dns'];
const dnsVersion = '1.1.0';
const dnsVersionTtlSeconds = 28_800;
/** Maximum length of a chain of ExternalName Services. */
const maxAliases = 11;

/** Answers a question from the objects of a cluster. `serial` is the serial number of the zones. */
export function answerFromCluster(
  question: Question,
  cluster: ClusterReader,
  zones: ClusterZones,
  serial: number,
): ClusterOutcome {
  const name = lowerCaseName(question.name);
  const zoneKey = findZone(name, zones);
  if (!zoneKey) return { outcome: 'pass' };
  const { type } = question;
  if (type === recordType.AXFR || type === recordType.IXFR) return { outcome: 'refuse' };

  // The zone as it is written in the question: records keep its case.
  const zone = question.name.slice(question.name.length - zoneKey.length);
  const scope: Scope = { cluster, zones, zone, zoneKey };
  const found = recordsOf(scope, question, name, serial);
  if (found === 'missing') {
    if (zones.reverseZones.some((each) => isSameName(each, zoneKey))) return { outcome: 'pass' };
    return { ...denial(scope, responseCode.nameError, serial), dependsOn: dependencyOf(scope, name, type) };
  }
  if (found.answers.length === 0) {
    return { ...denial(scope, responseCode.success, serial), dependsOn: dependencyOf(scope, name, type) };
  }
  return {
    outcome: 'answer',
    code: responseCode.success,
    ...noRecords,
    ...found,
    dependsOn: dependencyOf(scope, name, type),
  };
}

type Scope = {
  readonly cluster: ClusterReader;
  readonly zones: ClusterZones;
  /** The zone as written in the question, and in lower case. */
  readonly zone: Name;
  readonly zoneKey: Name;
};

type Found = {
  readonly answers: readonly ResourceRecord[];
  readonly additional?: readonly ResourceRecord[];
  readonly follow?: { readonly name: Name; readonly type: number };
};

function findZone(name: Name, { domains, reverseZones }: ClusterZones): Name | undefined {
  let longest: Name | undefined;
  for (const zone of domains) if (isInZone(name, zone) && zone.length > (longest?.length ?? -1)) longest = zone;
  for (const zone of reverseZones) if (isInZone(name, zone) && zone.length > (longest?.length ?? -1)) longest = zone;
  return longest;
}

/**
 * Names below a Namespace depend on its objects. ExternalName chains and the records of servers depend on all objects.
 */
function dependencyOf({ cluster, zoneKey }: Scope, name: Name, type: number): Dependency {
  const labels = name.slice(0, name.length - zoneKey.length);
  const kind = labels.at(-1);
  const namespace = labels.at(-2);
  const serviceName = labels.at(-3);
  if (type === recordType.NS || type === recordType.PTR || kind === undefined || kind === serverLabels.at(-1)) {
    return { scope: 'cluster' };
  }
  if ((kind !== 'svc' && kind !== 'pod') || namespace === undefined) return { scope: 'nothing' };
  if (!cluster.hasNamespace(namespace)) return { scope: 'namespaces' };
  const isAlias = serviceName !== undefined && cluster.service(namespace, serviceName)?.spec?.type === 'ExternalName';
  return isAlias ? { scope: 'cluster' } : { scope: 'namespace', namespace };
}

function recordsOf(scope: Scope, question: Question, name: Name, serial: number): Found | 'missing' {
  const isApex = name.length === scope.zoneKey.length;
  // As in CoreDNS, the records of the servers are found only by the spelling in lower case.
  const isPlain = scope.zone.every((label, index) => label === scope.zoneKey[index]);
  const { type } = question;
  switch (type) {
    case recordType.A:
    case recordType.AAAA:
      return addressRecords(scope, question, [], isPlain);
    case recordType.TXT:
      return textRecords(scope, question, name);
    case recordType.CNAME:
      return aliasRecords(scope, question, name, isPlain);
    case recordType.PTR:
      return pointerRecords(scope, question, name);
    case recordType.SRV:
      return serviceRecords(scope, question, name, isPlain);
    case recordType.MX:
      return targetsOf(scope, name, recordType.MX, isPlain) === 'missing' ? 'missing' : nothing;
    case recordType.SOA:
      return isApex ? { answers: [soaRecord(scope, serial)] } : nothing;
    case recordType.NS:
      if (isApex && isPlain) return serverRecords(scope, question);
      return addressRecords(scope, { ...question, type: recordType.A }, [], isPlain) === 'missing'
        ? 'missing'
        : nothing;
    default:
      return addressRecords(scope, { ...question, type: recordType.A }, [], isPlain) === 'missing'
        ? 'missing'
        : nothing;
  }
}

const nothing: Found = { answers: [] };

/** A host that a name stands for. */
type Target =
  | { readonly kind: 'address'; readonly address: string; readonly port: number; readonly owner: Name }
  | { readonly kind: 'alias'; readonly name: Name };

/** Port of Services and endpoints without ports. They have no SRV record. */
const noPort = -1;

/** Returns the hosts of a name in lower case. No host means that the name exists without records of its own. */
function targetsOf(scope: Scope, name: Name, type: number, isPlain: boolean): readonly Target[] | 'missing' {
  const { cluster, zones, zone, zoneKey } = scope;
  const labels = name.slice(0, name.length - zoneKey.length);
  if (isPlain && isSameName(labels, serverLabels)) {
    const size = type === recordType.A ? 4 : type === recordType.AAAA ? 16 : 0;
    return serversOf(scope).filter(({ address }) => addressBytes(address)?.length === size);
  }
  const kind = labels.at(-1);
  if (kind === undefined) return [];
  if ((kind !== 'svc' && kind !== 'pod') || labels.length > 5) return 'missing';
  const [namespace, serviceName, endpointOrProtocol, port] = labels.slice(0, -1).reverse();
  if (namespace === undefined) return [];
  if (zones.reverseZones.some((each) => isSameName(each, zoneKey)) || !cluster.hasNamespace(namespace)) {
    return 'missing';
  }
  if (serviceName === undefined) return [];
  if (kind === 'pod') {
    const address = podAddress(serviceName);
    if (!addressBytes(address)) return 'missing';
    return [{ kind: 'address', address, port: 0, owner: [serviceName, namespace, 'pod', ...zone] }];
  }
  const service = cluster.service(namespace, serviceName);
  if (!service) return 'missing';
  const owner: Name = [serviceName, namespace, 'svc', ...zone];
  const wanted: Wanted =
    port === undefined
      ? { ...(endpointOrProtocol === undefined ? {} : { hostname: endpointOrProtocol }) }
      : { port: withoutUnderscore(port), protocol: withoutUnderscore(endpointOrProtocol!) };
  return targetsOfService(cluster, service, owner, wanted);
}

/** Part of a name below the Service: the hostname of an endpoint, or a port and a protocol, where empty means any. */
type Wanted = { readonly hostname?: string; readonly port?: string; readonly protocol?: string };

function targetsOfService(
  cluster: ClusterReader,
  service: Service,
  owner: Name,
  wanted: Wanted,
): readonly Target[] | 'missing' {
  const { spec, metadata } = service;
  if (spec?.type === 'ExternalName') {
    // An address is no name: there is no record for it.
    const isUsable = Object.keys(wanted).length === 0 && addressBytes(spec.externalName ?? '') === undefined;
    return isUsable ? [{ kind: 'alias', name: parseName(spec.externalName ?? '') }] : 'missing';
  }
  const targets: Target[] = [];
  if (isHeadless(service) || wanted.hostname !== undefined) {
    for (const slice of cluster.slicesOf(metadata.namespace!, metadata.name!)) {
      const ports = matchingPorts(slice.ports, wanted);
      if (ports.length === 0) continue;
      for (const endpoint of publishedEndpoints(slice)) {
        for (const address of endpoint.addresses) {
          const hostname = hostnameOf(endpoint, address);
          if (wanted.hostname !== undefined && wanted.hostname !== hostname.toLowerCase()) continue;
          for (const port of ports) {
            targets.push({ kind: 'address', address, port, owner: hostname === '' ? owner : [hostname, ...owner] });
          }
        }
      }
    }
    return targets.length === 0 ? 'missing' : targets;
  }
  const ports = matchingPorts(spec?.ports, wanted);
  if (ports.length === 0) return 'missing';
  for (const port of ports) {
    for (const address of clusterAddresses(service)) targets.push({ kind: 'address', address, port, owner });
  }
  return targets;
}

type PortLike = { readonly name?: string; readonly protocol?: string; readonly port?: number };

/** Returns the numbers of the ports with a name and a protocol. Without any port, one without number and name counts. */
function matchingPorts(ports: readonly PortLike[] | null | undefined, wanted: Wanted): readonly number[] {
  // The list of an EndpointSlice without ports is null in JSON.
  if (!ports || ports.length === 0) return wanted.port || wanted.protocol ? [] : [noPort];
  return ports
    .filter(
      ({ name = '', protocol = 'TCP' }) =>
        (!wanted.port || wanted.port === name.toLowerCase()) &&
        (!wanted.protocol || wanted.protocol === protocol.toLowerCase()),
    )
    .map(({ port = noPort }) => port);
}

function withoutUnderscore(label: string): string {
  return label.startsWith('_') ? label.slice(1) : label;
}

/** Returns the label of an endpoint: its hostname, or its address with dashes. */
function hostnameOf({ hostname }: Endpoint, address: string): string {
  return hostname === undefined || hostname === '' ? addressLabel(address) : hostname;
}

/** Returns the A or AAAA records of a name, through ExternalName Services. `previous` are the aliases on the way. */
function addressRecords(
  scope: Scope,
  { name, type }: Pick<Question, 'name' | 'type'>,
  previous: readonly Name[],
  isPlain: boolean,
): Found | 'missing' {
  const key = lowerCaseName(name);
  const targets = targetsOf(scope, key, type, isPlain);
  if (targets === 'missing') return 'missing';
  const answers: ResourceRecord[] = [];
  const seen = new Set<string>();
  for (const target of targets) {
    if (target.kind === 'alias') return followAlias(scope, { name, type }, target.name, previous, isPlain);
    if (seen.has(target.address)) continue;
    const bytes = addressBytes(target.address);
    if (bytes?.length !== (type === recordType.A ? 4 : 16)) continue;
    seen.add(target.address);
    answers.push(record(scope, name, type, { kind: 'bytes', bytes }));
  }
  return { answers };
}

/** Returns the CNAME record of an ExternalName Service with the records of its target. */
function followAlias(
  scope: Scope,
  { name, type }: Pick<Question, 'name' | 'type'>,
  target: Name,
  previous: readonly Name[],
  isPlain: boolean,
): Found {
  const key = lowerCaseName(target);
  const isCircular = isInZone(key, lowerCaseName(name)) || previous.some((each) => isSameName(each, target));
  if (isCircular || previous.length >= maxAliases) return nothing;
  const alias = record(scope, name, recordType.CNAME, { kind: 'name', name: target });
  if (!isInZone(key, scope.zoneKey)) return { answers: [alias], follow: { name: target, type } };
  const next = addressRecords(scope, { name: target, type }, [...previous, target], isPlain);
  if (next === 'missing' || next.answers.length === 0) return nothing;
  return { ...next, answers: [alias, ...next.answers] };
}

function aliasRecords(scope: Scope, question: Question, name: Name, isPlain: boolean): Found | 'missing' {
  const targets = targetsOf(scope, name, recordType.CNAME, isPlain);
  if (targets === 'missing') return 'missing';
  const [first] = targets;
  if (first?.kind !== 'alias') return nothing;
  return { answers: [record(scope, question.name, recordType.CNAME, { kind: 'name', name: first.name })] };
}

/** Returns the version of the specification. As in CoreDNS, only names with hosts exist for this type. */
function textRecords(scope: Scope, question: Question, name: Name): Found | 'missing' {
  if (name.length === scope.zoneKey.length + 1 && name[0] === 'dns-version') {
    const bytes = Uint8Array.from([dnsVersion.length, ...Buffer.from(dnsVersion)]);
    const text = record(scope, question.name, recordType.TXT, { kind: 'bytes', bytes });
    return { answers: [{ ...text, ttl: dnsVersionTtlSeconds }] };
  }
  const targets = targetsOf(scope, name, recordType.TXT, false);
  return targets === 'missing' || targets.length === 0 ? 'missing' : nothing;
}

/** Returns the SRV records of the hosts of a name, with their addresses. */
function serviceRecords(scope: Scope, question: Question, name: Name, isPlain: boolean): Found | 'missing' {
  const targets = targetsOf(scope, name, recordType.SRV, isPlain);
  if (targets === 'missing') return 'missing';
  const hosts = targets.filter((each) => each.kind === 'address');
  // The weights of all hosts add up to 100, in whole numbers from 1.
  const weight = Math.max(1, Math.floor((100 / (100 * hosts.length)) * 100));
  const answers: ResourceRecord[] = [];
  const additional: ResourceRecord[] = [];
  const seen = new Set<string>();
  const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined;
  for (const { address, port, owner } of hosts) {
    const bytes = addressBytes(address);
    if (port === noPort || !bytes) continue;
    if (isNew(`${owner[0]} ${port}`)) {
      answers.push(
        record(scope, question.name, recordType.SRV, { kind: 'srv', priority: 0, weight, port, target: owner }),
      );
    }
    if (isNew(`${owner[0]} ${address}`)) additional.push(addressRecord(scope, owner, bytes));
  }
  return { answers, additional };
}

/** Returns the names of an address: the Service with this cluster IP, or else the endpoints. */
function pointerRecords(scope: Scope, question: Question, name: Name): Found | 'missing' {
  const { cluster, zones } = scope;
  const address = reverseAddress(name);
  if (address === undefined) return targetsOf(scope, name, recordType.PTR, false) === 'missing' ? 'missing' : nothing;
  const domain = zones.domains[0] ?? [];
  const [service] = cluster.servicesWithAddress(address);
  const owners: Name[] = [];
  if (service) {
    owners.push([service.metadata.name!, service.metadata.namespace!, 'svc', ...domain]);
  } else {
    for (const slice of cluster.slicesWithAddress(address)) {
      for (const endpoint of publishedEndpoints(slice)) {
        if (!endpoint.addresses.includes(address)) continue;
        owners.push([
          hostnameOf(endpoint, address),
          serviceNameOf(slice)!,
          slice.metadata.namespace!,
          'svc',
          ...domain,
        ]);
      }
    }
  }
  if (owners.length === 0) return 'missing';
  const answers = uniqueNames(owners).map((owner) =>
    record(scope, question.name, recordType.PTR, { kind: 'name', name: owner }),
  );
  return { answers };
}

/** Returns the NS records of a zone with the addresses of the servers. */
function serverRecords(scope: Scope, question: Question): Found {
  const servers = serversOf(scope);
  return {
    answers: uniqueNames(servers.map(({ owner }) => owner)).map((owner) =>
      record(scope, question.name, recordType.NS, { kind: 'name', name: owner }),
    ),
    additional: servers.flatMap(({ owner, address }) => {
      const bytes = addressBytes(address);
      return bytes ? [addressRecord(scope, owner, bytes)] : [];
    }),
  };
}

/** Returns the servers of a zone: the Services whose endpoint this server is, or else its own addresses. */
function serversOf({ cluster, zones, zone }: Scope): readonly Extract<Target, { kind: 'address' }>[] {
  const servers: Extract<Target, { kind: 'address' }>[] = [];
  const slices = zones.localAddresses.flatMap((address) => cluster.slicesWithAddress(address));
  for (const slice of slices) {
    const { namespace = '' } = slice.metadata;
    const serviceName = serviceNameOf(slice)!;
    const service = cluster.service(namespace, serviceName);
    if (!service) continue;
    const owner: Name = [serviceName, namespace, 'svc', ...zone];
    if (isHeadless(service)) {
      for (const endpoint of publishedEndpoints(slice)) {
        for (const address of endpoint.addresses) {
          servers.push({ kind: 'address', address, port: 0, owner: [hostnameOf(endpoint, address), ...owner] });
        }
      }
    } else {
      for (const address of clusterAddresses(service)) servers.push({ kind: 'address', address, port: 0, owner });
    }
  }
  if (slices.length > 0) return servers;
  const owner: Name = [...serverLabels, ...zone];
  return zones.localAddresses.map((address) => ({ kind: 'address', address, port: 0, owner }));
}

/** Returns a negative answer. Its SOA record limits the time for which clients may cache it. */
function denial(scope: Scope, code: number, serial: number): Omit<ClusterAnswer, 'dependsOn'> {
  return { outcome: 'answer', code, ...noRecords, authority: [soaRecord(scope, serial)] };
}

function soaRecord(scope: Scope, serial: number): ResourceRecord {
  const { zone, zones } = scope;
  return {
    name: zone,
    type: recordType.SOA,
    class: internetClass,
    ttl: Math.min(zones.ttlSeconds, 300),
    data: {
      kind: 'soa',
      primary: [...serverLabels, ...zone],
      mailbox: ['hostmaster', ...zone],
      serial,
      refresh: 7200,
      retry: 1800,
      expire: 86_400,
      minimum: zones.ttlSeconds,
    },
  };
}

function addressRecord(scope: Scope, name: Name, bytes: Uint8Array): ResourceRecord {
  return record(scope, name, bytes.length === 4 ? recordType.A : recordType.AAAA, { kind: 'bytes', bytes });
}

function record({ zones }: Scope, name: Name, type: number, data: ResourceRecord['data']): ResourceRecord {
  return { name, type, class: internetClass, ttl: zones.ttlSeconds, data };
}

function uniqueNames(names: readonly Name[]): readonly Name[] {
  return [...new Map(names.map((name) => [name.join('.'), name])).values()];
}
