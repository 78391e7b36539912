import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { type Pod, pod } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { startTestServer, type TestServer } from '../testing/test-server.ts';
import type { Attributes } from './authorizer.ts';

let server: TestServer;

const n1 = { username: 'system:node:n1', groups: ['system:nodes'] };

const spec = (nodeName: string): NonNullable<Pod['spec']> => ({
  nodeName,
  serviceAccountName: 'robot',
  imagePullSecrets: [{ name: 'pull' }],
  containers: [
    {
      name: 'c',
      image: 'i',
      env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'of-env', key: 'k' } } }],
      envFrom: [{ configMapRef: { name: 'settings' } }],
    },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'claim' } },
    { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: claimSpec } } },
  ],
});
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } as const;

before(async () => {
  server = await startTestServer({ admission: [] });
  const { client } = server;
  await client.create(serviceAccount, { metadata: { name: 'robot', namespace: 'default' } });
  await client.create(pod, { metadata: { name: 'p', namespace: 'default' }, spec: spec('n1') });
  await client.create(pod, {
    metadata: { name: 'mirror', namespace: 'default', annotations: { 'kubernetes.io/config.mirror': 'x' } },
    spec: { nodeName: 'n1', imagePullSecrets: [{ name: 'of-mirror' }], containers: [{ name: 'c', image: 'i' }] },
  });
  await client.create(persistentVolume, {
    metadata: { name: 'volume' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'default', name: 'claim' },
      csi: {
        driver: 'd.example.com',
        volumeHandle: 'h',
        nodePublishSecretRef: { name: 'publish', namespace: 'storage' },
        controllerPublishSecretRef: { name: 'control', namespace: 'storage' },
      },
    },
  });
  await server.core.feed.waitForCurrent();
});
after(() => server.close());

type Where = { readonly namespace?: string; readonly name?: string; readonly fieldSelector?: string };

async function decide(verb: string, resource: string, where: Where, user = n1): Promise<string> {
  const [whole = '', subresource = ''] = resource.split('/');
  const [plural = '', ...group] = whole.split('.');
  const attributes: Attributes = {
    user,
    verb,
    resource: true,
    group: group.join('.'),
    version: 'v1',
    plural,
    subresource,
    namespace: '',
    name: '',
    ...where,
  };
  const { verdict, reason } = await server.core.authorizer.authorize(attributes);
  return verdict === 'allow' ? 'allowed' : reason;
}

const inDefault = (name: string) => ({ namespace: 'default', name });
const unrelated = "no relationship found between node 'n1' and this object";

const cases: readonly [name: string, verb: string, resource: string, where: Where, answer: string][] = [
  ['reads an image pull Secret of its Pods', 'get', 'secrets', inDefault('pull'), 'allowed'],
  ['watches a Secret of an environment variable by name', 'watch', 'secrets', inDefault('of-env'), 'allowed'],
  ['reads settings', 'get', 'configmaps', inDefault('settings'), 'allowed'],
  ['reads no other Secret', 'get', 'secrets', inDefault('other'), unrelated],
  [
    'reads no Secret with the same name in another namespace',
    'get',
    'secrets',
    { namespace: 'x', name: 'pull' },
    unrelated,
  ],
  ['lists no Secrets', 'list', 'secrets', { namespace: 'default' }, 'No Object name found'],
  ['writes no Secrets', 'update', 'secrets', inDefault('pull'), 'can only read resources of this type'],
  ['gets no access through mirror Pods', 'get', 'secrets', inDefault('of-mirror'), unrelated],
  ['reads a PVC', 'get', 'persistentvolumeclaims', inDefault('claim'), 'allowed'],
  ['reads an ephemeral PVC of a Pod', 'get', 'persistentvolumeclaims', inDefault('p-scratch'), 'allowed'],
  ['reads the PersistentVolume of a PVC', 'get', 'persistentvolumes', { name: 'volume' }, 'allowed'],
  ['reads a Secret for mounting a volume', 'get', 'secrets', { namespace: 'storage', name: 'publish' }, 'allowed'],
  [
    'reads no Secret that only controllers need',
    'get',
    'secrets',
    { namespace: 'storage', name: 'control' },
    unrelated,
  ],
  [
    'requests tokens for the ServiceAccounts of its Pods',
    'create',
    'serviceaccounts/token',
    inDefault('robot'),
    'allowed',
  ],
  ['requests no tokens for other ServiceAccounts', 'create', 'serviceaccounts/token', inDefault('default'), unrelated],
  ['gets its own Pods', 'get', 'pods', inDefault('p'), 'allowed'],
  ['gets no other Pods', 'get', 'pods', inDefault('q'), unrelated],
  ['lists its own Pods', 'list', 'pods', { fieldSelector: 'spec.nodeName=n1' }, 'allowed'],
  [
    'lists no other Pods',
    'list',
    'pods',
    { fieldSelector: 'spec.nodeName!=n2' },
    'can only list/watch pods with spec.nodeName field selector',
  ],
  ['reads itself', 'get', 'nodes', { name: 'n1' }, 'allowed'],
  ['reads no other Node', 'get', 'nodes', { name: 'n2' }, "node 'n1' cannot read 'n2', only its own Node object"],
  ['lists no Nodes', 'list', 'nodes', {}, "node 'n1' cannot read all nodes, only its own Node object"],
  [
    'renews its own Lease',
    'update',
    'leases.coordination.k8s.io',
    { namespace: 'kube-node-lease', name: 'n1' },
    'allowed',
  ],
  [
    'renews no other Lease',
    'update',
    'leases.coordination.k8s.io',
    { namespace: 'kube-node-lease', name: 'n2' },
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'creates no Lease in another namespace',
    'get',
    'leases.coordination.k8s.io',
    { namespace: 'kube-system', name: 'n1' },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['has the permissions of its role', 'create', 'events', { namespace: 'default' }, 'allowed'],
  ['has no other permissions', 'create', 'deployments.apps', { namespace: 'default' }, ''],
];

for (const [name, verb, resource, where, answer] of cases) {
  test(`a node ${name}`, async () => assert.equal(await decide(verb, resource, where), answer));
}

test('a user outside of system:nodes is no node', async () => {
  assert.equal(await decide('get', 'secrets', inDefault('pull'), { username: 'system:node:n1', groups: [] }), '');
});

test('a node user without a node name is denied', async () => {
  const nameless = { username: 'system:node:', groups: ['system:nodes'] };
  assert.equal(await decide('get', 'nodes', { name: 'n1' }, nameless), 'unknown node for user "system:node:"');
});

test('access ends when the Pod is deleted', async () => {
  const { client, core } = server;
  const metadata = { name: 'brief', namespace: 'default' };
  const brief = { nodeName: 'n1', imagePullSecrets: [{ name: 'brief' }], containers: [{ name: 'c', image: 'i' }] };
  await client.create(pod, { metadata, spec: brief });
  await core.feed.waitForCurrent();
  assert.equal(await decide('get', 'secrets', inDefault('brief')), 'allowed');
  await client.delete(pod, metadata, { gracePeriodSeconds: 0 });
  await core.feed.waitForCurrent();
  assert.equal(await decide('get', 'secrets', inDefault('brief')), unrelated);
});
