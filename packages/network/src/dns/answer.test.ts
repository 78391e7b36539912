import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Namespace } from '@kruise/api/core/namespace';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { answerFromCluster, type ClusterZones, defaultReverseZones } from './answer.ts';
import { clusterReader } from './cluster.ts';
import { clusterResolver } from './lookup.ts';
import { internetClass, parseName, recordType } from './message.ts';
import { describeRecord } from './testing/describe-response.ts';

const metadata = (name: string, namespace = 'default') => ({ name, namespace });
const service = (name: string, spec: Service['spec'], namespace?: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name, namespace),
  ...(spec ? { spec } : {}),
});
const alias = (name: string, externalName: string) => service(name, { type: 'ExternalName', externalName });
const slice = (
  name: string,
  of: string,
  endpoints: NonNullable<EndpointSlice['endpoints']>,
  ports: EndpointSlice['ports'] = [{ name: 'sql', port: 5432, protocol: 'TCP' }],
): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { ...metadata(name), labels: { 'kubernetes.io/service-name': of } },
  addressType: endpoints[0]?.addresses[0]?.includes(':') ? 'IPv6' : 'IPv4',
  endpoints,
  ports,
});

const none = { clusterIP: 'None', clusterIPs: ['None'] };
const services = [
  service('web', {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7', 'fd00:96::7'],
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  }),
  service('db', { ...none, ports: [{ name: 'sql', port: 5432, protocol: 'TCP' }] }),
  service('bare', none),
  service('idle', { ...none, ports: [{ name: 'sql', port: 1, protocol: 'TCP' }] }),
  service('kube-dns', {
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10'],
    ports: [{ name: 'dns', port: 53, protocol: 'UDP' }],
  }),
  alias('docs', 'docs.example.org'),
  alias('site', 'web.default.svc.cluster.local'),
  alias('chain', 'site.default.svc.cluster.local'),
  alias('gone', 'missing.default.svc.cluster.local'),
  alias('itself', 'itself.default.svc.cluster.local'),
  alias('ping', 'pong.default.svc.cluster.local'),
  alias('pong', 'ping.default.svc.cluster.local'),
  alias('number', '192.0.2.1'),
];
const slices = [
  slice(
    'web-1',
    'web',
    [{ addresses: ['10.244.0.2'], conditions: { ready: true } }],
    [{ name: 'http', port: 8080, protocol: 'TCP' }],
  ),
  slice('db-1', 'db', [
    { addresses: ['10.244.0.5'], hostname: 'db-0', conditions: { ready: true } },
    { addresses: ['10.244.0.6'], hostname: 'db-1' },
    { addresses: ['10.244.0.7'], hostname: 'db-2', conditions: { ready: false } },
  ]),
  slice('db-2', 'db', [{ addresses: ['fd00:244::5'], conditions: { ready: true } }]),
  slice('bare-1', 'bare', [{ addresses: ['10.244.0.9'] }], []),
  slice('dns-1', 'kube-dns', [{ addresses: ['10.244.0.53'] }], [{ name: 'dns', port: 53, protocol: 'UDP' }]),
];

function reader(given: { readonly slices: readonly EndpointSlice[] } = { slices }) {
  const stores = {
    services: createObjectStore<Service>(),
    slices: createObjectStore<EndpointSlice>(),
    namespaces: createObjectStore<Namespace>(),
  };
  for (const each of services) stores.services.set(keyOf(each), each);
  for (const each of given.slices) stores.slices.set(keyOf(each), each);
  for (const name of ['default', 'empty']) {
    const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    stores.namespaces.set(keyOf(namespace), namespace);
  }
  return clusterReader(stores.services, stores.slices, stores.namespaces);
}

const zones: ClusterZones = {
  domains: [parseName('cluster.local'), parseName('second.test')],
  reverseZones: defaultReverseZones,
  ttlSeconds: 30,
  localAddresses: [],
};

/** Returns the answer in a short form: the code and authority if there is no record, then the records and the name to follow. */
function ask(name: string, type: keyof typeof recordType, given = zones): readonly string[] {
  const question = { name: parseName(name), type: recordType[type], class: internetClass };
  const outcome = answerFromCluster(question, reader(), given, 42);
  if (outcome.outcome !== 'answer') return [outcome.outcome];
  const short = (text: string) => text.replace(/^(\S+) 1 /, '$1 ');
  const { code, answers, authority, additional, follow } = outcome;
  return [
    ...(code === 3 ? ['NXDOMAIN'] : answers.length === 0 ? ['no data'] : []),
    ...answers.map((each) => short(describeRecord(each))),
    ...authority.map(({ type: kind }) => (kind === recordType.SOA ? 'SOA' : 'other')),
    ...additional.map((each) => `+ ${short(describeRecord(each))}`),
    ...(follow ? [`follow ${follow.name.join('.')}`] : []),
  ];
}

const web = 'web.default.svc.cluster.local';
const db = 'db.default.svc.cluster.local';

describe('cluster DNS answers', () => {
  const cases: readonly (readonly [string, string, keyof typeof recordType, readonly string[]])[] = [
    ['a Service with its IPv4 cluster IP', web, 'A', [`${web}. A 0a600007`]],
    ['a Service with its IPv6 cluster IP', web, 'AAAA', [`${web}. AAAA fd000096000000000000000000000007`]],
    [
      'a name with the case of the question',
      'WEB.default.SVC.cluster.local',
      'A',
      ['WEB.default.SVC.cluster.local. A 0a600007'],
    ],
    [
      'a named port with its SRV record',
      `_http._tcp.${web}`,
      'SRV',
      [
        `_http._tcp.${web}. SRV 0 50 80 ${web}.`,
        `+ ${web}. A 0a600007`,
        `+ ${web}. AAAA fd000096000000000000000000000007`,
      ],
    ],
    ['the wrong protocol of a port with NXDOMAIN', `_http._udp.${web}`, 'SRV', ['NXDOMAIN', 'SOA']],
    ['an endpoint of a Service with a cluster IP', `10-244-0-2.${web}`, 'A', [`10-244-0-2.${web}. A 0af40002`]],
    ['a headless Service with its ready endpoints', db, 'A', [`${db}. A 0af40005`, `${db}. A 0af40006`]],
    ['a headless Service with its IPv6 endpoints', db, 'AAAA', [`${db}. AAAA fd000244000000000000000000000005`]],
    ['the hostname of an endpoint', `db-1.${db}`, 'A', [`db-1.${db}. A 0af40006`]],
    ['the hostname of an endpoint that is not ready with NXDOMAIN', `db-2.${db}`, 'A', ['NXDOMAIN', 'SOA']],
    [
      'an endpoint without hostname by its address',
      `fd00-244--5.${db}`,
      'AAAA',
      [`fd00-244--5.${db}. AAAA fd000244000000000000000000000005`],
    ],
    [
      'the SRV records of a headless Service',
      `_sql._tcp.${db}`,
      'SRV',
      [
        `_sql._tcp.${db}. SRV 0 33 5432 db-0.${db}.`,
        `_sql._tcp.${db}. SRV 0 33 5432 db-1.${db}.`,
        `_sql._tcp.${db}. SRV 0 33 5432 fd00-244--5.${db}.`,
        `+ db-0.${db}. A 0af40005`,
        `+ db-1.${db}. A 0af40006`,
        `+ fd00-244--5.${db}. AAAA fd000244000000000000000000000005`,
      ],
    ],
    [
      'a headless Service without ports',
      'bare.default.svc.cluster.local',
      'A',
      ['bare.default.svc.cluster.local. A 0af40009'],
    ],
    [
      'a headless Service without ports with no SRV record',
      'bare.default.svc.cluster.local',
      'SRV',
      ['no data', 'SOA'],
    ],
    ['a headless Service without endpoints with NXDOMAIN', 'idle.default.svc.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    [
      'an external name with a CNAME to follow',
      'docs.default.svc.cluster.local',
      'A',
      ['docs.default.svc.cluster.local. CNAME docs.example.org.', 'follow docs.example.org'],
    ],
    [
      'a CNAME question with the CNAME only',
      'docs.default.svc.cluster.local',
      'CNAME',
      ['docs.default.svc.cluster.local. CNAME docs.example.org.'],
    ],
    [
      'an alias of a Service with both records',
      'site.default.svc.cluster.local',
      'A',
      [`site.default.svc.cluster.local. CNAME ${web}.`, `${web}. A 0a600007`],
    ],
    [
      'a chain of aliases',
      'chain.default.svc.cluster.local',
      'A',
      [
        'chain.default.svc.cluster.local. CNAME site.default.svc.cluster.local.',
        `site.default.svc.cluster.local. CNAME ${web}.`,
        `${web}. A 0a600007`,
      ],
    ],
    ['an alias of a missing Service without data', 'gone.default.svc.cluster.local', 'A', ['no data', 'SOA']],
    ['an alias of itself without data', 'itself.default.svc.cluster.local', 'A', ['no data', 'SOA']],
    ['aliases of each other without data', 'ping.default.svc.cluster.local', 'A', ['no data', 'SOA']],
    ['an external name that is an address with NXDOMAIN', 'number.default.svc.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    [
      'a Pod by its IPv4 address',
      '10-244-0-2.default.pod.cluster.local',
      'A',
      ['10-244-0-2.default.pod.cluster.local. A 0af40002'],
    ],
    [
      'a Pod by its IPv6 address',
      'fd00--2.default.pod.cluster.local',
      'AAAA',
      ['fd00--2.default.pod.cluster.local. AAAA fd000000000000000000000000000002'],
    ],
    ['a Pod of a missing Namespace with NXDOMAIN', '10-244-0-2.none.pod.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    ['a Pod whose label is no address with NXDOMAIN', 'pod-1.default.pod.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    [
      'the cluster IP of a Service with its name',
      '7.0.96.10.in-addr.arpa',
      'PTR',
      [`7.0.96.10.in-addr.arpa. PTR ${web}.`],
    ],
    [
      'the IPv6 cluster IP of a Service with its name',
      '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.9.0.0.0.0.d.f.ip6.arpa',
      'PTR',
      [`7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.9.0.0.0.0.d.f.ip6.arpa. PTR ${web}.`],
    ],
    ['an endpoint with its hostname', '5.0.244.10.in-addr.arpa', 'PTR', [`5.0.244.10.in-addr.arpa. PTR db-0.${db}.`]],
    [
      'an endpoint without hostname with its address',
      '9.0.244.10.in-addr.arpa',
      'PTR',
      ['9.0.244.10.in-addr.arpa. PTR 10-244-0-9.bare.default.svc.cluster.local.'],
    ],
    [
      'the version of the specification',
      'dns-version.cluster.local',
      'TXT',
      ['dns-version.cluster.local. TXT 05312e312e30'],
    ],
    [
      'the zone with its SOA record',
      'cluster.local',
      'SOA',
      ['cluster.local. SOA ns.dns.cluster.local. hostmaster.cluster.local. 7200 1800 86400 30'],
    ],
    ['the zone without addresses', 'cluster.local', 'A', ['no data', 'SOA']],
    ['a Namespace without data', 'empty.svc.cluster.local', 'A', ['no data', 'SOA']],
    ['a missing Namespace with NXDOMAIN', 'none.svc.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    ['a missing Service with NXDOMAIN', 'none.default.svc.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    [
      'a search suffix of another name with NXDOMAIN',
      'example.com.default.svc.cluster.local',
      'A',
      ['NXDOMAIN', 'SOA'],
    ],
    ['a wildcard with NXDOMAIN', '*.default.svc.cluster.local', 'A', ['NXDOMAIN', 'SOA']],
    ['a name with too many labels with NXDOMAIN', `a.b.c.${web}`, 'A', ['NXDOMAIN', 'SOA']],
    ['another type without data', web, 'MX', ['no data', 'SOA']],
    ['a second cluster domain', 'web.default.svc.second.test', 'A', ['web.default.svc.second.test. A 0a600007']],
    ['a zone transfer with a refusal', 'cluster.local', 'AXFR', ['refuse']],
    ['an unknown address not at all', '1.2.0.192.in-addr.arpa', 'PTR', ['pass']],
    ['another domain not at all', 'example.org', 'A', ['pass']],
  ];
  for (const [title, name, type, expected] of cases) {
    test(title, () => {
      assert.deepEqual(ask(name, type), expected);
    });
  }
});

describe('the servers of a zone', () => {
  test('are the Services whose endpoint this server is', () => {
    assert.deepEqual(ask('cluster.local', 'NS', { ...zones, localAddresses: ['10.244.0.53'] }), [
      'cluster.local. NS kube-dns.default.svc.cluster.local.',
      '+ kube-dns.default.svc.cluster.local. A 0a60000a',
    ]);
  });

  test('have a name of their own if no Service has this server', () => {
    const given = { ...zones, localAddresses: ['192.0.2.1', 'fd00::1'] };
    assert.deepEqual(ask('cluster.local', 'NS', given), [
      'cluster.local. NS ns.dns.cluster.local.',
      '+ ns.dns.cluster.local. A c0000201',
      '+ ns.dns.cluster.local. AAAA fd000000000000000000000000000001',
    ]);
    assert.deepEqual(ask('ns.dns.cluster.local', 'A', given), ['ns.dns.cluster.local. A c0000201']);
  });
});

test('an EndpointSlice whose ports are null has endpoints without ports', () => {
  // In JSON, an empty list of ports may be null.
  const without = { ...slice('db-1', 'db', [{ addresses: ['10.244.0.5'] }]), ports: null } as unknown as EndpointSlice;
  const question = { name: parseName(db), type: recordType.A, class: internetClass };
  const outcome = answerFromCluster(question, reader({ slices: [without] }), zones, 0);
  assert.equal(outcome.outcome === 'answer' && outcome.answers.length, 1);
});

test('the resolver of simulated Pods formats the same records', () => {
  const { resolve, records } = clusterResolver(reader());
  assert.deepEqual(resolve(`${web}.`), ['10.96.0.7', 'fd00:96::7']);
  assert.deepEqual(resolve('chain.default.svc.cluster.local'), ['10.96.0.7', 'fd00:96::7']);
  assert.deepEqual(records(`_http._tcp.${web}`, 'SRV'), [`0 50 80 ${web}.`]);
  assert.deepEqual(records('dns-version.cluster.local', 'TXT'), ['"1.1.0"']);
  assert.deepEqual(records(web, 'NAPTR'), []);
});
