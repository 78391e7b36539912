import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import type { Pod } from '@kruise/api/core/pod';
import { type PodUnavailableBudgetSpec, podUnavailableBudget } from '@kruise/api/kruise/podunavailablebudget';
import type { Caches, Change } from '@kruise/client/informer';
import { type KubernetesObject, keyOf } from '@kruise/client/object-key';
import { createObjectStore } from '@kruise/client/object-store';
import { apiVersionOf, type Kind } from '@kruise/schema/kind';
import { featureGates } from '../configuration/feature-gates.ts';
import { budgetsOfPod, budgetsOfWorkload } from './mappers.ts';

const labels = { app: 'web' };
const objectOf = (kind: Kind, name: string, more: object = {}): KubernetesObject => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata: { name, namespace: 'default', uid: `uid of ${name}` },
  ...more,
});
const budgetOf = (name: string, spec: PodUnavailableBudgetSpec) => objectOf(podUnavailableBudget, name, { spec });
const owned = (
  object: KubernetesObject,
  { apiVersion, kind, name }: { apiVersion: string; kind: string; name: string },
) => ({
  ...object,
  metadata: {
    ...object.metadata,
    ownerReferences: [{ apiVersion, kind, name, uid: `uid of ${name}`, controller: true }],
  },
});
const reference = (kind: string, name: string, apiVersion = 'apps/v1') => ({ apiVersion, kind, name });

const ofLabels = budgetOf('labels', { selector: { matchLabels: labels } });
const ofDeployment = budgetOf('deployment', { targetRef: reference('Deployment', 'web') });
const ofRollout = budgetOf('rollout', { targetRef: reference('Rollout', 'web', 'argoproj.io/v1alpha1') });
const set = owned(objectOf(replicaSet, 'web-1'), reference('Deployment', 'web'));
const rolled = owned(objectOf(replicaSet, 'web-2'), reference('Rollout', 'web', 'argoproj.io/v1alpha1'));

function cachesWith(...objects: readonly KubernetesObject[]): Caches {
  const storeOf = (kind: Kind) => {
    const store = createObjectStore<KubernetesObject>();
    for (const each of objects) if (each.kind === kind.kind) store.set(keyOf(each), each);
    return store;
  };
  // The mappers read only these kinds.
  return { of: storeOf } as unknown as Caches;
}

type Traits = {
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly image?: string;
  readonly isReady?: boolean;
  readonly isLeaving?: boolean;
  readonly owner?: string;
};

function podOf({
  labels: given = {},
  annotations = {},
  image = 'app:v1',
  isReady = true,
  isLeaving = false,
  owner,
}: Traits): Pod {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      namespace: 'default',
      labels: given,
      annotations,
      ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [{ name: 'main', image }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
  return owner === undefined ? pod : (owned(pod, reference('ReplicaSet', owner)) as Pod);
}

const all = [ofLabels, ofDeployment, ofRollout, objectOf(deployment, 'web'), set, rolled];
const keysFor = (change: Partial<Change<Pod>> & Pick<Change<Pod>, 'object'>) =>
  budgetsOfPod(featureGates())({ type: 'updated', cause: 'event', ...change }, cachesWith(...all)).map((key) =>
    key.replace('default/', ''),
  );

const related = (name: string) => ({ annotations: { 'pub.kruise.io/related-pub': name } });
const cases: readonly {
  name: string;
  before?: Traits;
  after: Traits;
  type?: Change<Pod>['type'];
  enqueues: readonly string[];
}[] = [
  { name: 'a new Pod with matching labels', type: 'added', after: { labels }, enqueues: ['labels'] },
  { name: 'a new Pod without labels', type: 'added', after: {}, enqueues: [] },
  { name: 'a new Pod of a Deployment', type: 'added', after: { owner: 'web-1' }, enqueues: ['deployment'] },
  {
    name: 'a new Pod of another workload with ReplicaSets',
    type: 'added',
    after: { owner: 'web-2' },
    enqueues: ['rollout'],
  },
  {
    name: 'a new Pod of a ReplicaSet that is not cached yet',
    type: 'added',
    after: { owner: 'web-3' },
    enqueues: ['deployment', 'rollout'],
  },
  {
    name: 'a Pod that becomes ready',
    before: { ...related('labels'), isReady: false },
    after: related('labels'),
    enqueues: ['labels'],
  },
  {
    name: 'a Pod with a new image',
    before: related('labels'),
    after: { ...related('labels'), image: 'app:v2' },
    enqueues: [],
  },
  { name: 'a Pod with a changed label', before: { labels }, after: {}, enqueues: ['labels'] },
  { name: 'a terminating Pod', before: { labels }, after: { labels, isLeaving: true }, enqueues: ['labels'] },
  {
    name: 'a terminating Pod that is not ready any more',
    before: { labels, isLeaving: true },
    after: { labels, isLeaving: true, isReady: false },
    enqueues: [],
  },
  { name: 'a deleted Pod', type: 'deleted', after: { labels }, enqueues: ['labels'] },
  { name: 'a Pod of another budget', before: { ...related('x'), isReady: false }, after: related('x'), enqueues: [] },
];
for (const { name, before, after, type = 'updated', enqueues } of cases) {
  test(`${name} enqueues [${enqueues.join(' ')}]`, () => {
    assert.deepEqual(keysFor({ type, object: podOf(after), ...(before ? { previous: podOf(before) } : {}) }), enqueues);
  });
}

test('initial objects enqueue nothing', () => {
  assert.deepEqual(keysFor({ type: 'added', object: podOf({ labels }), cause: 'initial' }), []);
});

const webOf = (replicas: number | undefined, more: object = {}) =>
  objectOf(deployment, 'web', {
    spec: { ...(replicas === undefined ? {} : { replicas }), template: { metadata: { labels } } },
    ...more,
  });
const leaving = webOf(3, {
  metadata: { name: 'web', namespace: 'default', deletionTimestamp: '2026-01-01T00:00:00Z' },
});
const workloads: readonly (readonly [
  is: string,
  previous: KubernetesObject | undefined,
  object: KubernetesObject,
  enqueued: number,
])[] = [
  ['is created', undefined, webOf(3), 2],
  ['is scaled', webOf(3), webOf(4), 2],
  ['has no replicas', webOf(undefined), webOf(undefined), 0],
  ['has another change', webOf(3), webOf(3, { status: { replicas: 3 } }), 0],
  ['is terminating', webOf(3), leaving, 2],
];
for (const [is, previous, object, enqueues] of workloads) {
  test(`a Deployment that ${is} enqueues ${enqueues} budgets`, () => {
    const change = { type: previous ? 'updated' : 'added', object, ...(previous ? { previous } : {}) } as const;
    const keys = budgetsOfWorkload({ ...change, cause: 'event' }, cachesWith(...all));
    assert.deepEqual(keys, enqueues === 0 ? [] : ['default/labels', 'default/deployment']);
  });
}
