import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '@kruise/api/core/container';
import type { Service } from '@kruise/api/core/service';
import { makeContainer, makePod } from '../fixtures.ts';
import { environmentOf } from './environment.ts';

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
  const pod = makePod({ metadata: { namespace: 'team', labels: { app: 'web' } }, enableServiceLinks });
  return environmentOf(pod, makeContainer('c', container), facts, {
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
    name: 'all keys of a ConfigMap',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }] },
    variable: 'COLOUR',
    value: 'red',
  },
  {
    name: 'keys that are not valid variable names',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }] },
    variable: 'a.b',
    value: 'c',
  },
  {
    name: 'all keys of a Secret with a prefix',
    container: { envFrom: [{ prefix: 'DB_', secretRef: { name: 'login' } }] },
    variable: 'DB_PASSWORD',
    value: 'hush',
  },
  {
    name: 'its own value instead of that of a ConfigMap',
    container: { envFrom: [{ configMapRef: { name: 'settings' } }], env: [{ name: 'COLOUR', value: 'blue' }] },
    variable: 'COLOUR',
    value: 'blue',
  },
  {
    name: 'references to earlier variables expanded',
    container: own({ name: 'A', value: '1' }, { name: 'B', value: '$(A)2' }),
    variable: 'B',
    value: '12',
  },
  {
    name: 'references to later variables unexpanded',
    container: own({ name: 'B', value: '$(A)2' }, { name: 'A', value: '1' }),
    variable: 'B',
    value: '$(A)2',
  },
  {
    name: 'a dollar sign for an escaped one',
    container: own({ name: 'A', value: '$$(B)' }),
    variable: 'A',
    value: '$(B)',
  },
  {
    name: 'references to service variables expanded',
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
    name: 'no variable for a missing optional key',
    container: own({ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'SIZE', optional: true } } }),
    variable: 'A',
    value: undefined,
  },
  {
    name: 'no variable for a missing optional Secret',
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
    name: 'all IPs of its Pod',
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
    name: 'the node allocatable for a missing limit',
    container: own({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } }),
    variable: 'A',
    value: '1024',
  },
  { name: 'the host of a service', container: {}, variable: 'MY_DB_SERVICE_HOST', value: '10.96.0.2' },
  { name: 'the first port of a service', container: {}, variable: 'MY_DB_SERVICE_PORT', value: '80' },
  { name: 'a named port of a service', container: {}, variable: 'MY_DB_SERVICE_PORT_DNS_UDP', value: '53' },
  {
    name: 'the Docker link variables of a service',
    container: {},
    variable: 'MY_DB_PORT_53_UDP',
    value: 'udp://10.96.0.2:53',
  },
  {
    name: 'no variables of a headless service',
    container: {},
    variable: 'HEADLESS_SERVICE_HOST',
    value: undefined,
  },
  { name: 'the host of the API server', container: {}, variable: 'KUBERNETES_SERVICE_HOST', value: '10.96.0.1' },
];
for (const { name, container, variable, value } of rows) {
  test(`the environment of a container contains ${name}`, () =>
    assert.equal(environment(container).get(variable), value));
}

test('a Pod without service links gets only the variables of the API server', () => {
  const found = environment({}, false);
  assert.equal(found.get('MY_DB_SERVICE_HOST'), undefined);
  assert.equal(found.get('KUBERNETES_SERVICE_HOST'), '10.96.0.1');
});

const failures: readonly (readonly [name: string, container: Partial<Container>, message: string])[] = [
  ['a required ConfigMap', { envFrom: [{ configMapRef: { name: 'other' } }] }, 'configmap "other" not found'],
  [
    'a required Secret',
    own({ name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } }),
    'secret "other" not found',
  ],
  [
    'a required key',
    own({ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'SIZE' } } }),
    "couldn't find key SIZE in ConfigMap team/settings",
  ],
  [
    'a required key of a Secret',
    own({ name: 'A', valueFrom: { secretKeyRef: { name: 'login', key: 'k' } } }),
    "couldn't find key k in Secret team/login",
  ],
];
for (const [name, container, message] of failures) {
  test(`a container does not start without ${name}`, () => assert.throws(() => environment(container), { message }));
}
