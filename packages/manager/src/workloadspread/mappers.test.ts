import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Deployment } from '@kruise/api/apps/deployment';
import type { ReplicaSet } from '@kruise/api/apps/replicaset';
import type { Job } from '@kruise/api/batch/job';
import type { Pod } from '@kruise/api/core/pod';
import type { CloneSet } from '@kruise/api/kruise/cloneset';
import type { WorkloadSpread } from '@kruise/api/kruise/workloadspread';
import type { Caches, Change } from '@kruise/client/informer';
import { type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { podOf, spreadOf } from './fixtures.ts';
import { spreadOfCloneSet, spreadOfDeployment, spreadOfJob, spreadOfPod, spreadOfReplicaSet } from './mappers.ts';

/** Returns caches with WorkloadSpreads only. */
function cachesOf(...spreads: readonly WorkloadSpread[]): Caches {
  const store = createObjectStore<WorkloadSpread>();
  for (const spread of spreads) store.set(keyOf(spread), spread);
  return { of: () => store } as unknown as Caches;
}

const isFor = (apiVersion: string, kind: string, name = 'web', metadata = {}): WorkloadSpread => {
  const spread = spreadOf();
  return {
    ...spread,
    metadata: { ...spread.metadata, name: `ws-${kind}`, ...metadata },
    spec: { ...spread.spec, targetRef: { apiVersion, kind, name } },
  };
};
const added = <T>(object: T): Change<T> => ({ type: 'added', object, cause: 'event' });
const deleted = <T>(object: T): Change<T> => ({ type: 'deleted', object, cause: 'event' });
const updated = <T>(previous: T, object: T): Change<T> => ({ type: 'updated', object, previous, cause: 'event' });

const sent = podOf('x', { in: 'a' });
const lost = podOf('x');
const stuck = podOf('x', { in: 'a', isStuck: true });
const relabelled = podOf('x', { in: 'a', version: 'new' });
const podRows: { when: string; change: Change<Pod>; patience?: number; enqueues: boolean }[] = [
  { when: 'is created', change: added(sent), enqueues: true },
  { when: 'is deleted', change: deleted(sent), enqueues: true },
  { when: 'fails', change: updated(sent, podOf('x', { in: 'a', phase: 'Failed' })), enqueues: true },
  { when: 'is terminating', change: updated(sent, podOf('x', { in: 'a', isDeleted: true })), enqueues: true },
  { when: 'has another version', change: updated(podOf('x', { in: 'a', version: 'old' }), relabelled), enqueues: true },
  { when: 'becomes ready', change: updated(podOf('x', { in: 'a', isReady: false }), sent), enqueues: false },
  {
    when: 'is unschedulable, with rescheduling',
    change: updated(podOf('x', { in: 'a', phase: 'Pending' }), stuck),
    patience: 5,
    enqueues: true,
  },
  {
    when: 'is unschedulable, without rescheduling',
    change: updated(podOf('x', { in: 'a', phase: 'Pending' }), stuck),
    enqueues: false,
  },
  { when: 'stays unschedulable', change: updated(stuck, stuck), patience: 5, enqueues: false },
  { when: 'is created without a placement', change: added(lost), enqueues: false },
  { when: 'is deleted without a placement', change: deleted(lost), enqueues: false },
];
for (const { when, change, patience, enqueues } of podRows) {
  test(`a Pod that ${when} ${enqueues ? 'enqueues its WorkloadSpread' : 'enqueues nothing'}`, () => {
    const caches = cachesOf(spreadOf(patience === undefined ? {} : { patience }));
    assert.deepEqual(spreadOfPod(change, caches), enqueues ? ['default/ws'] : []);
  });
}

const metadata = { name: 'web', namespace: 'default' };
const template = {};
const cloneSet = (replicas: number, updateRevision = 'r1', currentRevision = 'r1'): CloneSet =>
  // Other fields of the CloneSet are not read.
  ({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'CloneSet',
    metadata,
    spec: { replicas, selector: {}, template },
    status: { updateRevision, currentRevision },
  }) as unknown as CloneSet;
const deployment = (replicas: number, revision: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...metadata, annotations: { 'deployment.kubernetes.io/revision': revision } },
  spec: { replicas, selector: {}, template },
});
const job = (parallelism: number): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata,
  spec: { parallelism, template },
});
const replicaSet = (replicas: number, owner?: string): ReplicaSet => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: {
    ...metadata,
    name: owner ? `${owner}-7d` : 'web',
    ...(owner
      ? { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid: 'u', controller: true }] }
      : {}),
  },
  spec: { replicas, selector: {} },
});

const all = [
  isFor('apps.kruise.io/v1alpha1', 'CloneSet'),
  isFor('apps/v1', 'Deployment'),
  isFor('apps/v1', 'ReplicaSet'),
  isFor('batch/v1', 'Job'),
];
const workloadRows: { when: string; keys: (caches: Caches) => readonly string[]; enqueues?: string }[] = [
  { when: 'a CloneSet is created', keys: (c) => spreadOfCloneSet(added(cloneSet(1)), c), enqueues: 'CloneSet' },
  { when: 'a CloneSet is deleted', keys: (c) => spreadOfCloneSet(deleted(cloneSet(1)), c), enqueues: 'CloneSet' },
  {
    when: 'a CloneSet scales out',
    keys: (c) => spreadOfCloneSet(updated(cloneSet(1), cloneSet(2)), c),
    enqueues: 'CloneSet',
  },
  {
    when: 'a CloneSet is updated',
    keys: (c) => spreadOfCloneSet(updated(cloneSet(1), cloneSet(1, 'r2')), c),
    enqueues: 'CloneSet',
  },
  { when: 'a CloneSet is unchanged', keys: (c) => spreadOfCloneSet(updated(cloneSet(1), cloneSet(1)), c) },
  {
    when: 'a Deployment is updated',
    keys: (c) => spreadOfDeployment(updated(deployment(1, '1'), deployment(1, '2')), c),
    enqueues: 'Deployment',
  },
  {
    when: 'a Deployment scales in',
    keys: (c) => spreadOfDeployment(updated(deployment(2, '1'), deployment(1, '1')), c),
    enqueues: 'Deployment',
  },
  {
    when: 'a Deployment is unchanged',
    keys: (c) => spreadOfDeployment(updated(deployment(1, '1'), deployment(1, '1')), c),
  },
  { when: 'a Job raises its parallelism', keys: (c) => spreadOfJob(updated(job(1), job(2)), c), enqueues: 'Job' },
  { when: 'a Job is unchanged', keys: (c) => spreadOfJob(updated(job(1), job(1)), c) },
  { when: 'a ReplicaSet is created', keys: (c) => spreadOfReplicaSet(added(replicaSet(1)), c), enqueues: 'ReplicaSet' },
  {
    when: 'a ReplicaSet of a Deployment scales out',
    keys: (c) => spreadOfReplicaSet(updated(replicaSet(1, 'web'), replicaSet(2, 'web')), c),
    enqueues: 'Deployment',
  },
  {
    when: 'a ReplicaSet of another Deployment scales out',
    keys: (c) => spreadOfReplicaSet(updated(replicaSet(1, 'api'), replicaSet(2, 'api')), c),
  },
];
for (const { when, keys, enqueues } of workloadRows) {
  test(`when ${when} ${enqueues ? `the WorkloadSpread of the ${enqueues} is enqueued` : 'nothing is enqueued'}`, () => {
    assert.deepEqual(keys(cachesOf(...all)), enqueues ? [`default/ws-${enqueues}`] : []);
  });
}

test('a terminating WorkloadSpread is not enqueued', () => {
  const going = isFor('batch/v1', 'Job', 'web', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  assert.deepEqual(spreadOfJob(added(job(1)), cachesOf(going)), []);
});

test('a workload of another namespace enqueues nothing', () => {
  const elsewhere: KubernetesObject & Job = { ...job(1), metadata: { name: 'web', namespace: 'other' } };
  assert.deepEqual(spreadOfJob(added(elsewhere), cachesOf(...all)), []);
});
