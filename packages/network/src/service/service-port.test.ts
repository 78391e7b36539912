import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '@kruise/api/core/service';
import type { Endpoint, EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { countLocalReady, type IPFamily, servicePortsOf } from './service-port.ts';

const node = { name: 'node-1', zone: 'zone-a' };

function service(spec: Partial<NonNullable<Service['spec']>> = {}, more: Partial<Service> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop', ...more.metadata },
    spec: { clusterIP: '10.96.0.7', clusterIPs: ['10.96.0.7'], ports: [{ name: 'http', port: 80 }], ...spec },
    ...(more.status ? { status: more.status } : {}),
  };
}

function slice(endpoints: readonly Endpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints,
    ...more,
  };
}

/** Describes an endpoint in a word: `ready`, `unready`, `serving` and `gone` (both terminating); `@2` is on node-2. */
function endpoint(number: number, text: string, zones: readonly string[] = []): Endpoint {
  const [state = '', place = '1'] = text.split('@');
  const isTerminating = state === 'serving' || state === 'gone';
  return {
    addresses: [`10.244.0.${number}`],
    conditions: {
      ready: state === 'ready',
      serving: state === 'ready' || state === 'serving',
      terminating: isTerminating,
    },
    nodeName: `node-${place}`,
    ...(zones.length > 0 ? { hints: { forZones: zones.map((name) => ({ name })) } } : {}),
  };
}

const numbers = (endpoints: readonly { readonly address: string }[]) =>
  endpoints.map(({ address }) => Number(address.split('.').at(-1)));

describe('endpoints of a service port', () => {
  const local = { internalTrafficPolicy: 'Local' } as const;
  const externalLocal = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } as const;
  const nodePort = [{ name: 'http', port: 80, nodePort: 30080 }];
  for (const { title, spec = {}, endpoints, cluster, own = [] } of [
    { title: 'are the ready ones', endpoints: ['ready', 'unready', 'ready@2'], cluster: [1, 3] },
    { title: 'are terminating ones if none is ready', endpoints: ['serving', 'gone', 'unready'], cluster: [1] },
    { title: 'are not terminating ones if one is ready', endpoints: ['serving', 'ready@2'], cluster: [2] },
    {
      title: 'are those of the node with the policy Local',
      spec: local,
      endpoints: ['ready', 'ready@2'],
      cluster: [],
      own: [1],
    },
    {
      title: 'are local terminating ones if no local one is ready',
      spec: local,
      endpoints: ['serving', 'ready@2'],
      cluster: [],
      own: [1],
    },
    {
      title: 'are none with the policy Local and only remote ones',
      spec: local,
      endpoints: ['ready@2'],
      cluster: [],
      own: [],
    },
    {
      title: 'are both lists with the external policy Local and a node port',
      spec: { ...externalLocal, ports: nodePort },
      endpoints: ['ready', 'ready@2'],
      cluster: [1, 2],
      own: [1],
    },
    {
      title: 'have no local list with the external policy Local and no external address',
      spec: externalLocal,
      endpoints: ['ready', 'ready@2'],
      cluster: [1, 2],
    },
  ] as const) {
    test(title, () => {
      const all = endpoints.map((each, index) => endpoint(index + 1, each));
      const [port] = servicePortsOf(service(spec), [slice(all)], node, 'IPv4');
      assert.ok(port);
      assert.deepEqual([numbers(port.cluster), numbers(port.local)], [cluster, own]);
    });
  }

  for (const { title, zones, expected } of [
    { title: 'follow zone hints', zones: [['zone-a'], ['zone-b'], ['zone-b', 'zone-a']], expected: [1, 3] },
    { title: 'ignore hints if one endpoint has none', zones: [['zone-a'], [], ['zone-b']], expected: [1, 2, 3] },
    { title: 'ignore hints if none is for the zone', zones: [['zone-b'], ['zone-c']], expected: [1, 2] },
  ] as const) {
    test(title, () => {
      const all = zones.map((each, index) => endpoint(index + 1, 'ready', each));
      const [port] = servicePortsOf(service(), [slice(all)], node, 'IPv4');
      assert.deepEqual(numbers(port?.cluster ?? []), expected);
      const [outside] = servicePortsOf(service(), [slice(all)], { name: 'node-1' }, 'IPv4');
      assert.equal(outside?.cluster.length, zones.length, 'a node without a zone uses all endpoints');
    });
  }

  test('are not filtered by hints of endpoints that are not ready', () => {
    const all = [endpoint(1, 'ready', ['zone-a']), endpoint(2, 'unready'), endpoint(3, 'ready', ['zone-b'])];
    const [port] = servicePortsOf(service(), [slice(all)], node, 'IPv4');
    assert.deepEqual(numbers(port?.cluster ?? []), [1]);
  });

  test('match by the name and protocol of the port, in several slices', () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53 },
    ];
    const slices = [
      slice([endpoint(1, 'ready')], { ports: [{ name: 'dns', port: 5353, protocol: 'UDP' }] }),
      slice([endpoint(2, 'ready')], {
        ports: [
          { name: 'dns', port: 5354, protocol: 'UDP' },
          { name: 'dns-tcp', port: 5355 },
        ],
      }),
      slice([endpoint(3, 'ready')], { ports: [{ name: 'dns' }] }),
      slice([endpoint(4, 'ready')], { addressType: 'IPv6' }),
    ];
    const found = servicePortsOf(service({ ports }), slices, node, 'IPv4');
    assert.deepEqual(
      found.map(({ protocol, cluster }) => [protocol, cluster.map(({ address, port }) => `${address}:${port}`)]),
      [
        ['UDP', ['10.244.0.1:5353', '10.244.0.2:5354']],
        ['TCP', ['10.244.0.2:5355']],
      ],
    );
  });

  test('are counted once when two slices have them, and as local', () => {
    const remote = slice([endpoint(1, 'ready@2')]);
    const own = slice([endpoint(1, 'ready')], { metadata: { ...remote.metadata, name: 'web-2' } });
    const [port] = servicePortsOf(service({ internalTrafficPolicy: 'Local' }), [own, remote], node, 'IPv4');
    assert.deepEqual(numbers(port?.local ?? []), [1]);
  });

  test('use the first address only', () => {
    const one = { ...endpoint(1, 'ready'), addresses: ['10.244.0.1', '10.244.0.9'] };
    const [port] = servicePortsOf(service(), [slice([one])], node, 'IPv4');
    assert.deepEqual(numbers(port?.cluster ?? []), [1]);
  });
});

describe('a service port', () => {
  const families = (found: Service): readonly IPFamily[] =>
    (['IPv4', 'IPv6'] as const).filter((family) => servicePortsOf(found, [], node, family).length > 0);

  for (const { title, object, expected } of [
    { title: 'has the family of the cluster IP', object: service(), expected: ['IPv4'] },
    {
      title: 'exists in both families of a dual-stack Service',
      object: service({ clusterIPs: ['10.96.0.7', 'fd96::7'] }),
      expected: ['IPv4', 'IPv6'],
    },
    {
      title: 'does not exist for a headless Service',
      object: service({ clusterIP: 'None', clusterIPs: ['None'] }),
      expected: [],
    },
    { title: 'does not exist without a cluster IP', object: service({ clusterIP: '', clusterIPs: [] }), expected: [] },
    { title: 'does not exist for an ExternalName', object: service({ type: 'ExternalName' }), expected: [] },
    {
      title: 'does not exist for a Service of another proxy',
      object: service(
        {},
        { metadata: { name: 'web', namespace: 'shop', labels: { 'service.kubernetes.io/service-proxy-name': 'x' } } },
      ),
      expected: [],
    },
    {
      title: 'does not exist for a Service with the headless label',
      object: service(
        {},
        { metadata: { name: 'web', namespace: 'shop', labels: { 'service.kubernetes.io/headless': '' } } },
      ),
      expected: [],
    },
    {
      title: 'does not exist for a name that cannot be part of a rule',
      object: service({}, { metadata: { name: 'web" drop', namespace: 'shop' } }),
      expected: [],
    },
  ] as const) {
    test(title, () => assert.deepEqual(families(object), expected));
  }

  test('has the addresses and source ranges of its family', () => {
    const object = service(
      {
        type: 'LoadBalancer',
        clusterIPs: ['10.96.0.7', 'fd96::7'],
        externalIPs: ['203.0.113.1', 'FD03::0001'],
        loadBalancerSourceRanges: [' 192.0.2.7/24', 'fd20::/64'],
        sessionAffinity: 'ClientIP',
      },
      {
        status: {
          loadBalancer: {
            ingress: [
              { ip: '198.51.100.1' },
              { ip: '198.51.100.2', ipMode: 'Proxy' },
              { hostname: 'lb.example.com' },
              { ip: 'fd51::1' },
            ],
          },
        },
      },
    );
    const facts = (family: IPFamily) =>
      servicePortsOf(object, [], node, family).map((port) => [
        port.clusterIP,
        port.externalIPs,
        port.loadBalancerIPs,
        port.sourceRanges,
        port.affinitySeconds,
      ]);
    assert.deepEqual(facts('IPv4'), [['10.96.0.7', ['203.0.113.1'], ['198.51.100.1'], ['192.0.2.0/24'], 10_800]]);
    assert.deepEqual(facts('IPv6'), [['fd96::7', ['fd03::1'], ['fd51::1'], ['fd20::/64'], 10_800]]);
  });
});

test('the ready addresses of the node are counted for health checks', () => {
  const ports = [
    { name: 'a', port: 1 },
    { name: 'b', port: 2 },
  ];
  const all = [endpoint(1, 'ready'), endpoint(2, 'serving'), endpoint(3, 'ready@2'), endpoint(4, 'ready')];
  assert.equal(countLocalReady([slice(all, { ports }), slice(all.slice(0, 1))], node), 2);
});
