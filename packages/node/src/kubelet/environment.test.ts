import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Service } from '@kruise/api/core/service';
import { environmentOf } from './environment.ts';
import { aContainer, aPod } from './fixtures.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const configMaps = new Map([
  ['settings', { apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: { COLOUR: 'red', 'a.b': 'c' } }],
]);
const secrets = new Map([
  ['login', { apiVersion: 'v1', kind: 'Secret', metadata: {}, data: { PASSWORD: base64('hush') } }],
]);
const facts = { podIPs: ['10.0.0.1', 'fd00::1'], hostIPs: ['172.18.0.2'], allocatable: { cpu: '4', memory: '1Gi' } };

function service(name: string, namespace: string, clusterIP: string): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: {
      clusterIP,
      ports: [
        { name: 'http', port: 80, protocol: 'TCP' },
        { name: 'dns-udp', port: 53, protocol: 'UDP' },
      ],
    },
  };
}

const services = [
  service('kubernetes', 'default', '10.96.0.1'),
  service('my-db', 'team', '10.96.0.2'),
  service('headless', 'team', 'None'),
];

function environment(container: Partial<Container>, enableServiceLinks = true) {
  const pod = aPod({ metadata: { namespace: 'team', labels: { app: 'web' } }, enableServiceLinks });
  return environmentOf(pod, aContainer('c', container), facts, {
    configMap: (name) => configMaps.get(name),
    secret: (name) => secrets.get(name),
    services,
  });
}

type Row = {
  readonly name: string;
  readonly container: Partial<Container>;
  readonly variable: string;
  readonly value: string | undefined;
};
const own = (...env: NonNullable<Container['env']>): Partial<Container> => ({ env });

const rows: Row[] = [
  {
    name: 'all of a ConfigMap',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }] },
    variable: 'COLOUR',
    value: 'red',
  },
  {
    name: 'keys that are no names of variables',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }] },
    variable: 'a.b',
    value: 'c',
  },
  {
    name: 'all of a Secret behind a prefix',
    container: { envFrom: [{ prefix: 'DB_', secretRef: { name: 'login' } }] },
    variable: 'DB_PASSWORD',
    value: 'hush',
  },
  {
    name: 'its own word over that of a ConfigMap',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }], env: [{ name: 'COLOUR', value: 'blue' }] },
    variable: 'COLOUR',
    value: 'blue',
  },
  {
    name: 'what comes before in a value',
    container: own({ name: 'A', value: '1' }, { name: 'B', value: '$(A)2' }),
    variable: 'B',
    value: '12',
  },
  {
    name: 'what comes after as it is written',
    container: own({ name: 'B', value: '$(A)2' }, { name: 'A', value: '1' }),
    variable: 'B',
    value: '$(A)2',
  },
  { name: 'a dollar sign for two', container: own({ name: 'A', value: '$$(B)' }), variable: 'A', value: '$(B)' },
  {
    name: 'a service in a value',
    container: own({ name: 'A', value: '$(MY_DB_SERVICE_HOST)' }),
    variable: 'A',
    value: '10.96.0.2',
  },
  {
    name: 'a key of a ConfigMap',
    container: own({ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'COLOUR' } } }),
    variable: 'A',
    value: 'red',
  },
  {
    name: 'nothing of a key that may be missing',
    container: own({ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'SIZE', optional: true } } }),
    variable: 'A',
    value: undefined,
  },
  {
    name: 'nothing of a Secret that may be missing',
    container: { envFrom: [{ secretRef: { name: 'other', optional: true } }] },
    variable: 'PASSWORD',
    value: undefined,
  },
  {
    name: 'a label of its Pod',
    container: own({ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }),
    variable: 'A',
    value: 'web',
  },
  {
    name: 'all addresses of its Pod',
    container: own({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }),
    variable: 'A',
    value: '10.0.0.1,fd00::1',
  },
  {
    name: 'its limit, rounded up',
    container: {
      resources: { limits: { cpu: '1500m' } },
      env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } }],
    },
    variable: 'A',
    value: '2',
  },
  {
    name: 'what the node has where it has no limit',
    container: own({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } }),
    variable: 'A',
    value: '1024',
  },
  { name: 'where a service is', container: {}, variable: 'MY_DB_SERVICE_HOST', value: '10.96.0.2' },
  { name: 'the first port of a service', container: {}, variable: 'MY_DB_SERVICE_PORT', value: '80' },
  { name: 'a port of a service by name', container: {}, variable: 'MY_DB_SERVICE_PORT_DNS_UDP', value: '53' },
  {
    name: 'a port of a service as Docker had it',
    container: {},
    variable: 'MY_DB_PORT_53_UDP',
    value: 'udp://10.96.0.2:53',
  },
  {
    name: 'nothing of a service without an address',
    container: {},
    variable: 'HEADLESS_SERVICE_HOST',
    value: undefined,
  },
  { name: 'where the API server is', container: {}, variable: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1' },
];
for (const { name, container, variable, value } of rows) {
  test(`a container is told ${name}`, () => assert.equal(environment(container).get(variable), value));
}

test('a Pod that wants no links is told of the API server alone', () => {
  const found = environment({}, false);
  assert.equal(found.get('MY_DB_SERVICE_HOST'), undefined);
  assert.equal(found.get('KUBERNETES_SERVICE_HOST'), '10.96.0.1');
});

const failures: readonly (readonly [name: string, container: Partial<Container>, message: string])[] = [
  ['a ConfigMap that is missing', { envFrom: [{ configMapRef: { name: 'other' } }] }, 'configmap "other" not found'],
  [
    'a Secret that is missing',
    own({ name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }),
    'secret "other" not found',
  ],
  [
    'a key that is missing',
    own({ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'SIZE' } } }),
    "couldn't find key SIZE in ConfigMap team/settings",
  ],
  [
    'a key of a Secret that is missing',
    own({ name: 'A', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }),
    "couldn't find key k in Secret team/login",
  ],
];
for (const [name, container, message] of failures) {
  test(`a container does not start without ${name}`, () => assert.throws(() => environment(container), { message }));
}
