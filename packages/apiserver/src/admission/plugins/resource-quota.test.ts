import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { configMap } from '@kruise/api/core/configmap';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod } from '@kruise/api/core/pod';
import { type ResourceQuota, resourceQuota } from '@kruise/api/core/resourcequota';
import { service } from '@kruise/api/core/service';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { conflict } from '@kruise/machinery/status';
import type { Kind } from '@kruise/schema/kind';
import { admit, lookupOf, writeOf } from '../../testing/admission.ts';
import { startTestServer } from '../../testing/test-server.ts';
import { resourceQuotas } from './resource-quota.ts';

const quotaOf = (hard: { [name: string]: string }, used: { [name: string]: string } = {}, spec: object = {}) =>
  ({
    metadata: { name: 'q', namespace: 'default' },
    spec: { hard, ...spec },
    status: { hard, used: { ...Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])), ...used } },
  }) as unknown as ResourceQuota;
const container = (requests: object = {}, limits: object = {}) => ({ name: 'c', resources: { requests, limits } });
const podOf = (spec: object = {}) => ({ metadata: { name: 'o' }, spec: { containers: [container()], ...spec } });
const claimOf = (storage: string, storageClassName?: string) => ({
  metadata: { name: 'o' },
  spec: { ...(storageClassName ? { storageClassName } : {}), resources: { requests: { storage } } },
});
const serviceOf = (spec: object) => ({ metadata: { name: 'o' }, spec });

type Row = {
  readonly name: string;
  readonly quota: ResourceQuota;
  readonly kind: Kind;
  readonly object: object;
  readonly old?: object;
  /** Expected usage; undefined if no status is written. */
  readonly used?: { readonly [name: string]: string } | undefined;
  readonly why?: string;
};
const rows: Row[] = [
  {
    name: 'counts a Pod',
    quota: quotaOf({ pods: '2' }, { pods: '1' }),
    kind: pod,
    object: podOf(),
    used: { pods: '2' },
  },
  {
    name: 'denies a Pod beyond the limit',
    quota: quotaOf({ pods: '1' }, { pods: '1' }),
    kind: pod,
    object: podOf(),
    why: 'exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
  },
  {
    name: 'sums the requests of containers',
    quota: quotaOf({ 'requests.cpu': '1', 'limits.memory': '1Gi' }, { 'requests.cpu': '100m' }),
    kind: pod,
    object: podOf({ containers: [container({ cpu: '600m' }, { memory: '512Mi' })] }),
    used: { 'requests.cpu': '700m', 'limits.memory': '512Mi' },
  },
  {
    name: 'reports only the exceeded resources',
    quota: quotaOf({ cpu: '1', memory: '1Gi' }, { cpu: '600m' }),
    kind: pod,
    object: podOf({ containers: [container({ cpu: '600m', memory: '1Mi' })] }),
    why: 'exceeded quota: q, requested: cpu=600m, used: cpu=600m, limited: cpu=1',
  },
  {
    name: 'requires that a Pod sets the limited resources',
    quota: quotaOf({ 'limits.cpu': '2', memory: '1Gi' }),
    kind: pod,
    object: podOf(),
    why: 'failed quota: q: must specify limits.cpu for: c; memory for: c',
  },
  {
    name: 'denies writes until the usage is known',
    quota: { ...quotaOf({ pods: '1' }), status: { hard: { pods: '1' } } } as ResourceQuota,
    kind: pod,
    object: podOf(),
    why: 'status unknown for quota: q, resources: pods',
  },
  {
    name: 'counts extended resources',
    quota: quotaOf({ 'requests.example.com/gpu': '2' }),
    kind: pod,
    object: podOf({ containers: [container({ 'example.com/gpu': '2' })] }),
    used: { 'requests.example.com/gpu': '2' },
  },
  {
    name: 'counts objects of any kind',
    quota: quotaOf({ 'count/deployments.apps': '0' }),
    kind: deployment,
    object: { metadata: { name: 'o' } },
    why: 'exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0',
  },
  {
    name: 'counts some resources by their short names',
    quota: quotaOf({ configmaps: '1' }),
    kind: configMap,
    object: { metadata: { name: 'o' } },
    used: { configmaps: '1' },
  },
  {
    name: 'counts node ports',
    quota: quotaOf({ services: '5', 'services.nodeports': '1' }),
    kind: service,
    object: serviceOf({ type: 'NodePort', ports: [{ port: 1 }, { port: 2 }] }),
    why: 'exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
  },
  {
    name: 'counts the increase of an update',
    quota: quotaOf({ services: '5', 'services.nodeports': '2' }, { services: '1' }),
    kind: service,
    object: serviceOf({ type: 'NodePort', ports: [{ port: 1 }] }),
    old: serviceOf({ type: 'ClusterIP', ports: [{ port: 1 }] }),
    used: { services: '1', 'services.nodeports': '1' },
  },
  {
    name: 'ignores an update without an increase',
    quota: quotaOf({ services: '0' }, { services: '1' }),
    kind: service,
    object: serviceOf({ ports: [{ port: 2 }] }),
    old: serviceOf({ ports: [{ port: 1 }] }),
  },
  {
    name: 'counts storage by class',
    quota: quotaOf({ 'requests.storage': '5Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '1Gi' }),
    kind: persistentVolumeClaim,
    object: claimOf('2Gi', 'gold'),
    why: 'exceeded quota: q, requested: gold.storageclass.storage.k8s.io/requests.storage=2Gi, used: gold.storageclass.storage.k8s.io/requests.storage=0, limited: gold.storageclass.storage.k8s.io/requests.storage=1Gi',
  },
  {
    name: 'counts storage of any class',
    quota: quotaOf({ 'requests.storage': '5Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '1Gi' }),
    kind: persistentVolumeClaim,
    object: claimOf('2Gi'),
    used: { 'requests.storage': '2Gi', 'gold.storageclass.storage.k8s.io/requests.storage': '0' },
  },
  {
    name: 'ignores Pods outside of its scope',
    quota: quotaOf({ pods: '0' }, {}, { scopes: ['BestEffort'] }),
    kind: pod,
    object: podOf({ containers: [container({ cpu: '1' })] }),
  },
  {
    name: 'counts Pods in its scope',
    quota: quotaOf({ pods: '0' }, {}, { scopes: ['Terminating'] }),
    kind: pod,
    object: podOf({ activeDeadlineSeconds: 5 }),
    why: 'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  },
  {
    name: 'counts Pods with a PriorityClass',
    quota: quotaOf(
      { pods: '0' },
      {},
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
    ),
    kind: pod,
    object: podOf({ priorityClassName: 'high' }),
    why: 'exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0',
  },
  {
    name: 'ignores Pods with another PriorityClass',
    quota: quotaOf(
      { pods: '0' },
      {},
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] }] } },
    ),
    kind: pod,
    object: podOf({ priorityClassName: 'high' }),
  },
];
for (const { name, quota, kind, object, old, used, why } of rows) {
  test(`a quota ${name}`, async () => {
    const written: ResourceQuota[] = [];
    const plugin = resourceQuotas(
      lookupOf({ kind: resourceQuota, objects: [quota] }),
      async (each) => void written.push(each),
    );
    const write = writeOf(kind, object, old ? { operation: 'UPDATE', oldObject: old as never } : {});
    const refusal = why && `${kind.plural}${kind.group ? `.${kind.group}` : ''} "o" is forbidden: ${why}`;
    assert.deepEqual(await admit(plugin, write), refusal ?? object);
    assert.deepEqual(written[0]?.status?.used, used);
  });
}

test('a dry run is checked but consumes no quota', async () => {
  const written: ResourceQuota[] = [];
  const lookup = lookupOf({ kind: resourceQuota, objects: [quotaOf({ pods: '1' })] });
  const plugin = resourceQuotas(lookup, async (each) => void written.push(each));
  assert.deepEqual(await admit(plugin, writeOf(pod, podOf(), { dryRun: true })), podOf());
  assert.deepEqual(written, []);
});

test('usage is recomputed after a conflict', async () => {
  const objects = [quotaOf({ pods: '2' })];
  let tries = 0;
  const plugin = resourceQuotas(lookupOf({ kind: resourceQuota, objects }), async (each) => {
    tries++;
    if (tries > 1) return void (objects[0] = each);
    objects[0] = quotaOf({ pods: '2' }, { pods: '1' });
    throw conflict(resourceQuota, 'q', 'the object has been modified');
  });
  await admit(plugin, writeOf(pod, podOf()));
  assert.equal(objects[0]?.status?.used?.['pods'], '2');
  assert.equal(
    await admit(plugin, writeOf(pod, podOf())),
    'pods "o" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
  );
});

test('concurrent Pods do not exceed the quota', async () => {
  await using server = await startTestServer();
  const { client } = server;
  const namespace = 'default';
  await client.create(serviceAccount, { metadata: { name: 'default', namespace } } as never);
  const quota = await client.create(resourceQuota, {
    metadata: { name: 'q', namespace },
    spec: { hard: { pods: '5' } },
  } as never);
  const status = { hard: { pods: '5' }, used: { pods: '0' } };
  await client.update(resourceQuota, { ...quota, status } as never, { subresource: 'status' });
  const made = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      client.create(pod, {
        metadata: { name: `p${index}`, namespace },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      } as never),
    ),
  );
  assert.equal(made.filter(({ status: each }) => each === 'fulfilled').length, 5);
  const after = await client.get(resourceQuota, { name: 'q', namespace });
  assert.equal(after.status?.used?.['pods'], '5');
});
