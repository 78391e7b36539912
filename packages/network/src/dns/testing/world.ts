/** Generated clusters and questions, for property tests and for the comparison with CoreDNS. */
import type { Namespace } from '@kruise/api/core/namespace';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { pick, type Random } from '@kruise/values/random';
import { recordType } from '../message.ts';

export type World = {
  readonly namespaces: readonly Namespace[];
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
};

const chance = (random: Random, probability: number) => random.next() < probability;
const below = (random: Random, limit: number) => Math.floor(random.next() * limit);

const namespaceNames = ['default', 'kube-system', 'team-a', 'team-b', 'svc', 'pod', 'com', 'empty'];
const portNames = ['http', 'https', 'dns', 'metrics', 'a', '9090-tcp'];
const protocols: readonly ('TCP' | 'UDP' | 'SCTP')[] = ['TCP', 'UDP', 'SCTP'];

/** Generates a cluster. Cluster IPs are left to the API server unless `withAddresses` is set. */
export function generateWorld(
  random: Random,
  { count, withAddresses }: { readonly count: number; readonly withAddresses: boolean },
): World {
  const namespaces = namespaceNames.map(
    (name): Namespace => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  );
  const services: Service[] = [];
  const slices: EndpointSlice[] = [];
  for (let index = 0; index < count; index++) {
    const namespace = pick(random, namespaceNames.slice(0, -1));
    const name = pick(random, [
      `web-${index}`,
      `db-${index}`,
      `s${index}`,
      index < 6 ? ['com', 'svc', 'pod', 'ns', 'dns', 'http'][index]! : `x-${index}`,
    ]);
    if (services.some(({ metadata }) => metadata.name === name && metadata.namespace === namespace)) continue;
    const kind = pick(random, [
      'cluster',
      'cluster',
      'headless',
      'headless',
      'headless-without-ports',
      'alias',
    ] as const);
    const made = service(random, { namespace, name, kind, index, withAddresses, services });
    services.push(made);
    if (kind !== 'alias') slices.push(...slicesOf(random, made, index));
  }
  return { namespaces, services, slices };
}

function service(
  random: Random,
  given: {
    readonly namespace: string;
    readonly name: string;
    readonly kind: 'cluster' | 'headless' | 'headless-without-ports' | 'alias';
    readonly index: number;
    readonly withAddresses: boolean;
    readonly services: readonly Service[];
  },
): Service {
  const { namespace, name, kind, index, withAddresses, services } = given;
  const base = { apiVersion: 'v1' as const, kind: 'Service' as const, metadata: { name, namespace } };
  if (kind === 'alias') {
    const other = services.length === 0 ? undefined : pick(random, services).metadata;
    const externalName = pick(random, [
      `host-${index}.example.org`,
      `alias-${index}.example.net`,
      other ? `${other.name}.${other.namespace}.svc.cluster.local` : 'none.default.svc.cluster.local',
      other ? `${other.name}.${other.namespace}.svc.cluster.local` : 'cluster.local',
      other ? `${other.name}.${other.namespace}.svc.second.test` : 'second.test',
      `${name}.${namespace}.svc.cluster.local`,
      'missing.default.svc.cluster.local',
      '192.0.2.7',
    ]);
    return { ...base, spec: { type: 'ExternalName', externalName } };
  }
  const ports = Array.from({ length: 1 + below(random, 3) }, (_, port) => ({
    name: `${pick(random, portNames)}${port}`,
    port: 80 + 10 * port + below(random, 9),
    protocol: pick(random, protocols) as (typeof protocols)[number],
  }));
  if (kind !== 'cluster') {
    const withPorts = kind === 'headless' ? { ports } : {};
    return { ...base, spec: { clusterIP: 'None', clusterIPs: ['None'], ...withPorts } };
  }
  const addresses = [
    `10.96.${index >> 8}.${index & 255}`,
    ...(chance(random, 0.4) ? [`fd00:96::${(index + 1).toString(16)}`] : []),
  ];
  return { ...base, spec: { ports, ...(withAddresses ? { clusterIP: addresses[0]!, clusterIPs: addresses } : {}) } };
}

function slicesOf(random: Random, { metadata, spec }: Service, index: number): EndpointSlice[] {
  const { name = '', namespace = '' } = metadata;
  return Array.from({ length: below(random, 4) }, (_, number): EndpointSlice => {
    const isIPv6 = chance(random, 0.25);
    const size = chance(random, 0.08) ? 60 : below(random, 5);
    const ports = (spec?.ports ?? []).map((port): NonNullable<EndpointSlice['ports']>[number] => ({
      name: port.name ?? '',
      port: 8000 + port.port,
      protocol: port.protocol as (typeof protocols)[number],
    }));
    const endpoints = Array.from({ length: size }, (__, endpoint) => {
      const last = endpoint + 100 * number;
      const address = isIPv6
        ? `fd00:244::${(index + 1).toString(16)}:${(last + 1).toString(16)}`
        : `10.${244 + (index >> 8)}.${index & 255}.${last % 250}`;
      return {
        addresses: [address],
        conditions: { ...(chance(random, 0.8) ? { ready: chance(random, 0.8) } : {}) },
        ...(chance(random, 0.4) ? { hostname: `${name}-${endpoint}` } : {}),
      };
    });
    return {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${name}-${number}`, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: isIPv6 ? 'IPv6' : 'IPv4',
      endpoints,
      ports,
    };
  });
}

const questionTypes = [
  ...Array.from({ length: 6 }, () => recordType.A),
  ...Array.from({ length: 4 }, () => recordType.AAAA),
  ...Array.from({ length: 4 }, () => recordType.SRV),
  recordType.PTR,
  recordType.CNAME,
  recordType.TXT,
  recordType.NS,
  recordType.SOA,
  recordType.MX,
  recordType.HINFO,
  ...[43, 65, 255, 257, 65_280],
];

/** Generates the name and type of a question about a cluster: existing and missing names of all kinds. */
export function generateQuestion(random: Random, world: World): { readonly name: string; readonly type: number } {
  const { metadata, spec } = pick(random, world.services);
  const { name = '', namespace = '' } = metadata;
  const own = world.slices.filter(
    (each) => each.metadata.namespace === namespace && each.metadata.labels?.['kubernetes.io/service-name'] === name,
  );
  const endpoint = own.flatMap(({ endpoints }) => endpoints ?? [])[below(random, 5)];
  const address = endpoint?.addresses[0] ?? '10.244.9.9';
  const port = spec?.ports?.[0];
  const domain = pick(random, ['cluster.local', 'cluster.local', 'cluster.local', 'second.test']);
  const full = `${name}.${namespace}.svc.${domain}`;
  const protocol = (port?.protocol ?? 'TCP').toLowerCase();
  const label = address.replaceAll(/[.:]/g, '-');
  const names = [
    full,
    full,
    full,
    `${endpoint?.hostname ?? label}.${full}`,
    `${label}.${full}`,
    `_${port?.name ?? 'http'}._${protocol}.${full}`,
    `_${port?.name ?? 'http'}._${pick(random, ['tcp', 'udp', 'sctp'])}.${full}`,
    `${port?.name ?? ''}.${protocol}.${full}`,
    `_._${protocol}.${full}`,
    `*.${full}`,
    `*.${namespace}.svc.${domain}`,
    `any.${namespace}.svc.${domain}`,
    `*.*.svc.${domain}`,
    `missing.${namespace}.svc.${domain}`,
    `${name}.missing.svc.${domain}`,
    `a.b.c.${full}`,
    `example.com.${namespace}.svc.${domain}`,
    `example.com.svc.${domain}`,
    `example.com.${domain}`,
    `www.example.com.${namespace}.svc.${domain}`,
    `${namespace}.svc.${domain}`,
    `svc.${domain}`,
    `pod.${domain}`,
    domain,
    `ns.dns.${domain}`,
    `dns-version.${domain}`,
    `dns-version.${namespace}.svc.${domain}`,
    `x.dns.${domain}`,
    `${label}.${namespace}.pod.${domain}`,
    `${label}.missing.pod.${domain}`,
    `x.y.${label}.${namespace}.pod.${domain}`,
    `${pick(random, ['1-2-3', '256-1-1-1', '01-1-1-1', '--1', 'fd00--', '--ffff-102-304', 'no', '1-2-3-4-5', '--'])}.${namespace}.pod.${domain}`,
    `${namespace}.pod.${domain}`,
    reverseName(address),
    reverseName(spec?.clusterIPs?.find((each) => each !== 'None') ?? address),
    reverseName(spec?.clusterIPs?.find((each) => each !== 'None') ?? address),
    `x.${reverseName(address)}`,
    reverseName(address).split('.').slice(1).join('.'),
    'in-addr.arpa',
    'ip6.arpa',
    `${full}.in-addr.arpa`,
    `host-${below(random, 50)}.example.org`,
    `alias-${below(random, 50)}.example.net`,
    `missing-${below(random, 50)}.example.org`,
    `broken-${below(random, 5)}.example.org`,
    `large-${below(random, 5)}.example.org`,
    '',
    'local',
    `${'a'.repeat(63)}.${'b'.repeat(63)}.${full}`,
  ];
  const plain = pick(random, names);
  const mixed = chance(random, 0.15) ? withRandomCase(random, plain) : plain;
  const isReverse = plain.endsWith('.arpa');
  return { name: mixed, type: isReverse && chance(random, 0.7) ? recordType.PTR : pick(random, questionTypes) };
}

/** Returns the name of the PTR record of an address. Of IPv6, only the notation with one `::` is known. */
export function reverseName(address: string): string {
  if (!address.includes(':')) return `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const [head = '', tail = ''] = address.split('::');
  const before = head.split(':').filter((each) => each !== '');
  const after = tail.split(':').filter((each) => each !== '');
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  const digits = groups.map((group) => group.padStart(4, '0')).join('');
  return `${[...digits].reverse().join('.')}.ip6.arpa`;
}

function withRandomCase(random: Random, text: string): string {
  return [...text].map((letter) => (chance(random, 0.5) ? letter.toUpperCase() : letter)).join('');
}

/** Writes a query. Options choose what clients choose: flags, EDNS, class, and forms that are no proper queries. */
export function encodeQuestion(
  random: Random,
  id: number,
  { name, type }: { readonly name: string; readonly type: number },
): Buffer {
  const labels = name === '' ? [] : name.split('.');
  const isRare = chance(random, 0.03);
  const opcode = isRare ? pick(random, [0, 1, 2, 4, 5, 15]) : 0;
  const flags =
    (opcode << 11) |
    (chance(random, 0.8) ? 0x0100 : 0) |
    (chance(random, 0.1) ? 0x0020 : 0) |
    (chance(random, 0.1) ? 0x0010 : 0) |
    (isRare ? pick(random, [0, 0x0400, 0x0200, 0x0080, 0x0040, 0x000f]) : 0);
  const questionCount = isRare && chance(random, 0.1) ? pick(random, [0, 2]) : 1;
  const edns = chance(random, 0.5) ? ednsOf(random, isRare) : Buffer.alloc(0);
  const header = Buffer.alloc(12);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(questionCount, 4);
  header.writeUInt16BE(edns.length === 0 ? 0 : 1, 10);
  const fields = Buffer.alloc(4);
  fields.writeUInt16BE(isRare && chance(random, 0.1) ? pick(random, [251, 252]) : type, 0);
  fields.writeUInt16BE(isRare && chance(random, 0.3) ? pick(random, [3, 255]) : 1, 2);
  const encoded = labels.flatMap((label) => [
    Buffer.from([Math.min(label.length, 63)]),
    Buffer.from(label.slice(0, 63), 'latin1'),
  ]);
  const message = Buffer.concat([header, ...encoded, Buffer.from([0]), fields, edns]);
  if (isRare && chance(random, 0.2)) return message.subarray(0, 12 + below(random, message.length - 12));
  return message;
}

function ednsOf(random: Random, isRare: boolean): Buffer {
  const cookie = Buffer.from([0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]);
  const clientSubnet = Buffer.from([0, 8, 0, 7, 0, 1, 24, 0, 192, 0, 2]);
  const options = chance(random, 0.2)
    ? pick(random, [cookie, clientSubnet, Buffer.concat([cookie, clientSubnet])])
    : Buffer.alloc(0);
  const record = Buffer.alloc(11);
  record.writeUInt16BE(recordType.OPT, 1);
  record.writeUInt16BE(pick(random, [0, 512, 1232, 1232, 4096, 65_535]), 3);
  record.writeUInt8(isRare && chance(random, 0.3) ? 1 : 0, 6);
  record.writeUInt16BE(chance(random, 0.2) ? 0x8000 : 0, 7);
  record.writeUInt16BE(options.length, 9);
  return Buffer.concat([record, options]);
}
