import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { seededRandom } from '@kruise/values/random';
import type { NetworkTarget } from '../cri/runtime.ts';
import { serviceRoutes } from './service-routes.ts';

const metadata = (name: string) => ({ name, namespace: 'default' });
const web: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('web'),
  spec: {
    clusterIP: '10.96.0.7',
    clusterIPs: ['10.96.0.7'],
    ports: [
      { name: 'http', port: 80, targetPort: 8080, nodePort: 30080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
  },
};
const headless: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('db'),
  spec: { clusterIP: 'None', clusterIPs: ['None'], ports: [{ port: 5432 }] },
};

const alias: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('alias'),
  spec: { type: 'ExternalName', externalName: 'web.default.svc.cluster.local' },
};
const sticky: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('sticky'),
  spec: { clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'], ports: [{ port: 80 }], sessionAffinity: 'ClientIP' },
};

const local: Service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('local'),
  spec: {
    clusterIP: '10.96.0.11',
    clusterIPs: ['10.96.0.11'],
    ports: [{ port: 80 }],
    internalTrafficPolicy: 'Local',
  },
};

function slice(service: string, fields: Pick<EndpointSlice, 'endpoints' | 'ports'>): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata(`${service}-abc`), labels: { 'kubernetes.io/service-name': service } },
    addressType: 'IPv4',
    ...fields,
  };
}

function routes(...slices: readonly EndpointSlice[]) {
  const services = createObjectStore<Service>();
  for (const service of [web, headless, alias, sticky, local]) services.set(keyOf(service), service);
  const store = createObjectStore<EndpointSlice>();
  for (const each of slices) store.set(keyOf(each), each);
  const node = { name: 'node-1', address: '172.18.0.2' };
  const findNode = (address: string) => (address === node.address ? node : undefined);
  const findNodeOfPod = (address: string) => (address.startsWith('10.244.') ? node : undefined);
  const made = serviceRoutes({
    services,
    slices: store,
    random: seededRandom(1),
    now: () => 0,
    findNode,
    findNodeOfPod,
  });
  return {
    resolve: made.resolve,
    records: made.records,
    route: (target: NetworkTarget, from: Partial<Parameters<typeof made.route>[1]> = {}) =>
      made.route(target, { transport: 'TCP', clientAddress: '10.244.0.9', ...from }),
  };
}

const ports = [{ name: 'http', port: 8080, protocol: 'TCP' as const }];
const endpoint = (address: string, ready?: boolean) => ({
  addresses: [address],
  ...(ready === undefined ? {} : { conditions: { ready } }),
});

describe('a Service’s address', () => {
  test('routes to the port of a ready Pod', () => {
    const { route } = routes(
      slice('web', { ports, endpoints: [endpoint('10.244.0.2', false), endpoint('10.244.0.3')] }),
    );
    assert.deepEqual(route({ host: '10.96.0.7', port: 80 }), { host: '10.244.0.3', port: 8080 });
  });

  test('balances between Pods', () => {
    const { route } = routes(
      slice('web', { ports, endpoints: [endpoint('10.244.0.2', true), endpoint('10.244.0.3', true)] }),
    );
    const targets = Array.from({ length: 50 }, () => JSON.stringify(route({ host: '10.96.0.7', port: 80 })));
    assert.equal(new Set(targets).size, 2);
  });

  test('refuses connections without Pods and on other ports', () => {
    const { route } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
    assert.equal(routes().route({ host: '10.96.0.7', port: 80 }), 'refuse');
    assert.equal(route({ host: '10.96.0.7', port: 81 }), 'refuse');
    assert.equal(route({ host: '10.96.0.7', port: 53 }), 'refuse');
  });

  test('routes UDP to the UDP port', () => {
    const udp = [...ports, { name: 'dns', port: 5353, protocol: 'UDP' as const }];
    const { route } = routes(slice('web', { ports: udp, endpoints: [endpoint('10.244.0.2')] }));
    const target = { host: '10.96.0.7', port: 53 };
    assert.deepEqual(route(target, { transport: 'UDP' }), { host: '10.244.0.2', port: 5353 });
    assert.equal(route(target), 'refuse');
  });

  test('keeps session affinity if requested', () => {
    const endpoints = ['2', '3', '4', '5'].map((each) => endpoint(`10.244.0.${each}`));
    const { route } = routes(slice('sticky', { ports: [{ name: '', port: 8080 }], endpoints }));
    const ask = (clientAddress: string) => JSON.stringify(route({ host: '10.96.0.9', port: 80 }, { clientAddress }));
    const first = ask('10.244.0.9');
    assert.deepEqual(new Set(Array.from({ length: 20 }, () => ask('10.244.0.9'))), new Set([first]));
    const others = Array.from({ length: 20 }, (_, index) => ask(`10.244.1.${index}`));
    assert.ok(new Set(others).size > 1);
  });

  test('may be a node port', () => {
    const { route } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
    // The reply has to pass the node that has translated the address, so the node replaces the source.
    const target = { host: '10.244.0.2', port: 8080, source: '172.18.0.2' };
    assert.deepEqual(route({ host: '172.18.0.2', port: 30080 }), target);
    assert.equal(route({ host: '172.18.0.2', port: 30081 }), undefined);
    assert.equal(route({ host: '10.244.0.2', port: 30080 }), undefined);
  });

  test('keeps traffic on the node with internalTrafficPolicy Local', () => {
    const ports = [{ name: '', port: 8080 }];
    const on = (nodeName: string) => ({ ...endpoint(nodeName === 'node-1' ? '10.244.0.2' : '10.244.1.2'), nodeName });
    const target = { host: '10.96.0.11', port: 80 };
    const { route } = routes(slice('local', { ports, endpoints: [on('node-2'), on('node-1')] }));
    for (let count = 0; count < 20; count++) assert.deepEqual(route(target), { host: '10.244.0.2', port: 8080 });
    assert.equal(routes(slice('local', { ports, endpoints: [on('node-2')] })).route(target), 'drop');
  });

  test('uses a terminating Pod that serves if no Pod is ready', () => {
    const endpoints = [
      { addresses: ['10.244.0.2'], conditions: { ready: false, serving: true, terminating: true } },
      { addresses: ['10.244.0.3'], conditions: { ready: false, serving: false, terminating: true } },
    ];
    const { route } = routes(slice('web', { ports, endpoints }));
    assert.deepEqual(route({ host: '10.96.0.7', port: 80 }), { host: '10.244.0.2', port: 8080 });
  });

  test('matches no other address', () => {
    const { route } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
    assert.equal(route({ host: '10.96.0.8', port: 80 }), undefined);
  });
});

describe('a DNS name', () => {
  const { resolve } = routes(
    slice('db', {
      ports: [{ name: '', port: 5432 }],
      endpoints: [
        { ...endpoint('10.244.0.5'), hostname: 'db-0' },
        { ...endpoint('10.244.0.6'), hostname: 'db-1' },
        { ...endpoint('10.244.0.7', false), hostname: 'db-2' },
      ],
    }),
  );
  for (const [name, addresses] of [
    ['web.default.svc.cluster.local', ['10.96.0.7']],
    ['web.default.svc.cluster.local.', ['10.96.0.7']],
    ['db.default.svc.cluster.local', ['10.244.0.5', '10.244.0.6']],
    ['db-1.db.default.svc.cluster.local', ['10.244.0.6']],
    ['db-2.db.default.svc.cluster.local', []],
    ['alias.default.svc.cluster.local', ['10.96.0.7']],
    ['x.web.default.svc.cluster.local', []],
    ['none.default.svc.cluster.local', []],
    ['web.other.svc.cluster.local', []],
    ['a.b.c.default.svc.cluster.local', []],
    ['web', []],
    ['example.com', []],
  ] as const) {
    test(`${name} resolves to ${addresses.length === 0 ? 'nothing' : addresses.join(' and ')}`, () => {
      assert.deepEqual(resolve(name), addresses);
    });
  }
});

describe('DNS', () => {
  const { records } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
  for (const [name, type, expected] of [
    ['web.default.svc.cluster.local', 'A', ['10.96.0.7']],
    ['web.default.svc.cluster.local.', 'AAAA', []],
    ['_http._tcp.web.default.svc.cluster.local', 'SRV', ['0 100 80 web.default.svc.cluster.local.']],
    ['_dns._tcp.web.default.svc.cluster.local', 'SRV', []],
    ['alias.default.svc.cluster.local', 'CNAME', ['web.default.svc.cluster.local.']],
    ['web.default.svc.cluster.local', 'CNAME', []],
    ['7.0.96.10.in-addr.arpa.', 'PTR', ['web.default.svc.cluster.local.']],
    ['8.0.96.10.in-addr.arpa.', 'PTR', []],
  ] as const) {
    test(`returns ${expected.join(' and ') || 'nothing'} for ${type} of ${name}`, () => {
      assert.deepEqual(records(name, type), expected);
    });
  }
});
