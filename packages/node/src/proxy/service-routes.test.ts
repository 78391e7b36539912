import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Service } from '@kruise/api/core/service';
import type { EndpointSlice } from '@kruise/api/discovery/endpointslice';
import { keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { seededRandom } from '@kruise/values/random';
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
      { name: 'http', port: 80, targetPort: 8080 },
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
  for (const service of [web, headless]) services.set(keyOf(service), service);
  const store = createObjectStore<EndpointSlice>();
  for (const each of slices) store.set(keyOf(each), each);
  return serviceRoutes({ services, slices: store, random: seededRandom(1) });
}

const ports = [{ name: 'http', port: 8080, protocol: 'TCP' as const }];
const endpoint = (address: string, ready?: boolean) => ({
  addresses: [address],
  ...(ready === undefined ? {} : { conditions: { ready } }),
});

describe('a Service’s address', () => {
  test('leads to the port of a Pod that is ready', () => {
    const { route } = routes(
      slice('web', { ports, endpoints: [endpoint('10.244.0.2', false), endpoint('10.244.0.3')] }),
    );
    assert.deepEqual(route({ host: '10.96.0.7', port: 80 }), { host: '10.244.0.3', port: 8080 });
  });

  test('leads to one as well as to another', () => {
    const { route } = routes(
      slice('web', { ports, endpoints: [endpoint('10.244.0.2', true), endpoint('10.244.0.3', true)] }),
    );
    const targets = Array.from({ length: 50 }, () => JSON.stringify(route({ host: '10.96.0.7', port: 80 })));
    assert.equal(new Set(targets).size, 2);
  });

  test('refuses without Pods, and on other ports', () => {
    const { route } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
    assert.equal(routes().route({ host: '10.96.0.7', port: 80 }), 'refuse');
    assert.equal(route({ host: '10.96.0.7', port: 81 }), 'refuse');
    assert.equal(route({ host: '10.96.0.7', port: 53 }), 'refuse');
  });

  test('is no other address', () => {
    const { route } = routes(slice('web', { ports, endpoints: [endpoint('10.244.0.2')] }));
    assert.equal(route({ host: '10.96.0.8', port: 80 }), undefined);
  });
});

describe('a name', () => {
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
    ['x.web.default.svc.cluster.local', []],
    ['none.default.svc.cluster.local', []],
    ['web.other.svc.cluster.local', []],
    ['a.b.c.default.svc.cluster.local', []],
    ['web', []],
    ['example.com', []],
  ] as const) {
    test(`${name} has ${addresses.length === 0 ? 'no address' : addresses.join(' and ')}`, () => {
      assert.deepEqual(resolve(name), addresses);
    });
  }
});
