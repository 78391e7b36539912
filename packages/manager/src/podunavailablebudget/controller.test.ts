/** PodUnavailableBudgets on a real API server: their status, and the operations they block. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSet } from '@kruise/api/apps/daemonset';
import { deployment } from '@kruise/api/apps/deployment';
import { replicaSet } from '@kruise/api/apps/replicaset';
import { event } from '@kruise/api/core/event';
import { type Pod, pod } from '@kruise/api/core/pod';
import { replicationController } from '@kruise/api/core/replicationcontroller';
import { cloneSet } from '@kruise/api/kruise/cloneset';
import {
  type PodUnavailableBudgetSpec,
  podUnavailableBudget,
  podUnavailableBudgetV1alpha1,
} from '@kruise/api/kruise/podunavailablebudget';
import { evict } from '@kruise/client/subresources';
import { controllerReference, type Owner } from '@kruise/machinery/owner-references';
import { StatusError } from '@kruise/machinery/status';
import { startTestCluster, type TestCluster } from '../testing/test-cluster.ts';

const namespace = 'default';
const reference = { name: 'pub', namespace };
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = {
  metadata: { labels },
  spec: {
    containers: [{ name: 'main', image: 'app:v1', resources: { requests: { cpu: '100m' } } }],
    terminationGracePeriodSeconds: 0,
  },
};
const ofCloneSet = { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'web' };
const spent = /podunavailablebudget\.policy\.kruise\.io "pub" is forbidden: pub unavailable allowed is negative/;

async function makeBudget({ client, pass }: TestCluster, spec: PodUnavailableBudgetSpec) {
  await client.create(podUnavailableBudget, { metadata: reference, spec });
  await pass(1);
}

async function makeCloneSet(cluster: TestCluster, replicas: number, rollingUpdate = {}) {
  const spec = { replicas, selector, template, updateStrategy: { rollingUpdate } };
  await cluster.client.create(cloneSet, { metadata: { name: 'web', namespace }, spec });
  await settle(cluster);
}

async function makePods(cluster: TestCluster, count: number, owner?: Owner, prefix = 'pod') {
  const ownerReferences = owner ? [controllerReference(owner)] : [];
  for (let index = 0; index < count; index++) {
    const metadata = { name: `${prefix}-${index}`, namespace, labels, ownerReferences };
    await cluster.client.create(pod, { metadata, spec: template.spec });
  }
  await settle(cluster);
}

/** Runs kubelets and the manager until neither changes anything any more. */
async function settle(cluster: TestCluster): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await cluster.runPods();
}

/** Advances the clock until some work is done: repeated conflicts wait for a moment. */
async function during<T>({ pass }: TestCluster, work: Promise<T>): Promise<T> {
  let isDone = false;
  const settle = () => {
    isDone = true;
  };
  work.then(settle, settle);
  while (!isDone) await pass(0.1);
  return work;
}

const podsOf = async ({ client }: TestCluster): Promise<readonly Pod[]> =>
  (await client.list(pod, { namespace })).items;
const nameOf = ({ metadata }: Pod) => ({ name: metadata.name ?? '', namespace });

/** Formats the status: allowed, current, desired, total; and the pending disruptions. */
async function figuresOf({ client }: TestCluster): Promise<string> {
  const { status } = await client.get(podUnavailableBudget, reference);
  const { unavailableAllowed, currentAvailable, desiredAvailable, totalReplicas } = status ?? {};
  const records = (of: object = {}) => (Object.keys(of).length > 0 ? [Object.keys(of).length] : []);
  const going = records(status?.disruptedPods).map((count) => `, ${count} to go`);
  const changing = records(status?.unavailablePods).map((count) => `, ${count} to change`);
  return [unavailableAllowed, currentAvailable, desiredAvailable, totalReplicas].join('/') + going + changing;
}

const refusedWith = (code: number, reason: string) => (error: unknown) => {
  assert.ok(error instanceof StatusError, String(error));
  assert.match(error.message, spent);
  assert.deepEqual([error.status.code, error.status.reason], [code, reason]);
  return true;
};

test('Pods have their budget from creation on, and it limits deletions', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { targetRef: ofCloneSet, maxUnavailable: 1 });
  assert.equal(await figuresOf(cluster), '0/0/0/0');
  await makeCloneSet(cluster, 3);
  assert.equal(await figuresOf(cluster), '1/3/2/3');
  const [first, second, third] = (await podsOf(cluster)).map(nameOf);
  for (const { metadata } of await podsOf(cluster)) {
    assert.equal(metadata.annotations?.['pub.kruise.io/related-pub'], 'pub');
    assert.equal(metadata.annotations?.['kruise.io/related-pub'], 'pub');
  }
  await client.delete(pod, first!);
  await assert.rejects(client.delete(pod, second!), refusedWith(403, 'Forbidden'));
  await assert.rejects(evict(client, third!), refusedWith(429, 'TooManyRequests'));
  await settle(cluster);
  assert.equal(await figuresOf(cluster), '1/3/2/3');
  const { items } = await client.list(event, { namespace });
  const warnings = items.filter(({ reason }) => reason === 'PubPreventPodDeletion');
  assert.deepEqual(
    warnings.map(({ type, message, source }) => [type, message, source?.component]),
    Array.from({ length: 2 }, () => ['Warning', 'openkruise pub prevents pod deletion', 'pub-controller']),
  );
});

test('a dry run charges no budget, however it is requested', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { selector, maxUnavailable: 1 });
  await makeCloneSet(cluster, 2);
  const [first, second] = (await podsOf(cluster)).map(nameOf);
  await client.delete(pod, first!, { dryRun: true });
  await evict(client, first!, { dryRun: true });
  await client.patch(
    pod,
    first!,
    { spec: { containers: [{ name: 'main', image: 'app:v2' }] } },
    { type: 'strategic', dryRun: true },
  );
  assert.equal(await figuresOf(cluster), '1/2/1/2');
  await evict(client, first!);
  await assert.rejects(client.delete(pod, second!, { dryRun: true }), spent);
});

test('of many concurrent deletions no more succeed than allowed', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { selector, maxUnavailable: '30%' });
  await makeCloneSet(cluster, 10);
  assert.equal(await figuresOf(cluster), '3/10/7/10');
  const pods = await podsOf(cluster);
  const deletions = pods.map((each) => client.delete(pod, nameOf(each)));
  const outcomes = await during(cluster, Promise.allSettled(deletions));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3);
  await settle(cluster);
  assert.equal(await figuresOf(cluster), '3/10/7/10');
});

test('existing Pods are annotated with a new budget', async () => {
  await using cluster = await startTestCluster();
  await makePods(cluster, 2);
  await makeBudget(cluster, { selector, minAvailable: 2 });
  assert.equal(await figuresOf(cluster), '0/2/2/0');
  const [first] = await podsOf(cluster);
  assert.equal(first?.metadata.annotations?.['pub.kruise.io/related-pub'], 'pub');
  await assert.rejects(cluster.client.delete(pod, nameOf(first!)), spent);
});

test('a new image is charged, a new label is not, the label of an unavailable Pod is', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, { selector, minAvailable: 2 });
  await makePods(cluster, 3);
  const [first, second, third] = (await podsOf(cluster)).map(nameOf);
  const setImage = (name: typeof first, image: string) =>
    client.patch(pod, name!, { spec: { containers: [{ name: 'main', image }] } }, { type: 'strategic' });
  const mark = { metadata: { labels: { 'unavailable-pod.kruise.io/drained': 'yes' } } };
  await setImage(first, 'app:v2');
  await pass(1);
  assert.equal(await figuresOf(cluster), '0/2/2/0, 1 to change');
  await setImage(first, 'app:v3');
  await client.patch(pod, second!, { metadata: { labels: { tier: 'a' } } }, { type: 'merge' });
  await assert.rejects(setImage(second, 'app:v2'), refusedWith(403, 'Forbidden'));
  await assert.rejects(client.patch(pod, second!, mark, { type: 'merge' }), refusedWith(403, 'Forbidden'));
  await pass(11);
  assert.equal(await figuresOf(cluster), '1/3/2/0');
  await client.patch(pod, second!, mark, { type: 'merge' });
  await setImage(second, 'app:v2');
  await assert.rejects(client.delete(pod, third!), spent);
  await pass(11);
  assert.equal(await figuresOf(cluster), '0/2/2/0');
});

test('a resize is charged only where it is protected', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, { selector, minAvailable: 2 });
  await makePods(cluster, 2);
  const [first] = (await podsOf(cluster)).map(nameOf);
  const resize = (cpu: string) => {
    const containers = [{ name: 'main', resources: { requests: { cpu } } }];
    return client.patch(pod, first!, { spec: { containers } }, { type: 'strategic', subresource: 'resize' });
  };
  await resize('200m');
  await client.patch(podUnavailableBudget, reference, { spec: { protectOperations: ['RESIZE'] } }, { type: 'merge' });
  await pass(1);
  await assert.rejects(resize('300m'), refusedWith(403, 'Forbidden'));
  await client.patch(podUnavailableBudget, reference, { spec: { minAvailable: 1 } }, { type: 'merge' });
  await pass(1);
  await resize('300m');
  assert.match(await figuresOf(cluster), /^0.*, 1 to go$/);
});

test('unprotected Pods are deleted', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, { selector, minAvailable: 3, ignoredPodSelector: { matchLabels: { tier: 'test' } } });
  await makePods(cluster, 3);
  const [first, second, third] = (await podsOf(cluster)).map(nameOf);
  await client.patch(
    pod,
    first!,
    { metadata: { annotations: { 'pub.kruise.io/no-protect': 'true' } } },
    { type: 'merge' },
  );
  await client.delete(pod, first!);
  await client.patch(pod, second!, { metadata: { labels: { tier: 'test' } } }, { type: 'merge' });
  await client.delete(pod, second!);
  await assert.rejects(client.delete(pod, third!), spent);
  await client.delete(podUnavailableBudget, reference);
  await pass(1);
  await client.delete(pod, third!);
});

test('each Deployment of the Pods counts once, and follows its replicas', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, { selector, maxUnavailable: '25%' });
  const spec = { replicas: 5, selector, template };
  for (const name of ['a', 'b']) {
    const made = await client.create(deployment, { metadata: { name, namespace }, spec });
    // During an update there are two ReplicaSets.
    for (const revision of ['old', 'new']) {
      const metadata = { name: `${name}-${revision}`, namespace, labels, ownerReferences: [controllerReference(made)] };
      const set = await client.create(replicaSet, { metadata, spec: { ...spec, replicas: 3 } });
      await makePods(cluster, 3, set, `${name}-${revision}`);
    }
  }
  assert.equal(await figuresOf(cluster), '5/12/7/10');
  await client.patch(deployment, { name: 'a', namespace }, { spec: { replicas: 0 } }, { type: 'merge' });
  await pass(1);
  assert.equal(await figuresOf(cluster), '9/12/3/5');
  await client.delete(deployment, { name: 'b', namespace }, { propagationPolicy: 'Foreground' });
  await pass(1);
  assert.equal(await figuresOf(cluster), '12/12/0/0');
});

test('the Pods of a Deployment are those of its ReplicaSets, and none with 0 replicas', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, {
    targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
    maxUnavailable: '30%',
  });
  const spec = { replicas: 3, selector, template };
  const made = await client.create(deployment, { metadata: { name: 'a', namespace }, spec });
  for (const [revision, replicas] of [
    ['old', 0],
    ['new', 3],
  ] as const) {
    const metadata = { name: `a-${revision}`, namespace, labels, ownerReferences: [controllerReference(made)] };
    const set = await client.create(replicaSet, { metadata, spec: { ...spec, replicas } });
    await makePods(cluster, 2, set, `a-${revision}`);
  }
  assert.equal(await figuresOf(cluster), '2/4/2/3');
  await client.patch(deployment, { name: 'a', namespace }, { spec: { replicas: 0 } }, { type: 'merge' });
  await pass(1);
  assert.equal(await figuresOf(cluster), '0/0/0/0');
});

test('a workload of an uncached kind is read live', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const metadata = { name: 'web', namespace };
  const made = await client.create(replicationController, {
    metadata,
    spec: { replicas: 4, selector: labels, template },
  });
  await makePods(cluster, 3, made);
  await makeBudget(cluster, {
    targetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' },
    maxUnavailable: '50%',
  });
  assert.equal(await figuresOf(cluster), '1/3/2/4');
  await client.patch(replicationController, metadata, { spec: { replicas: 6 } }, { type: 'merge' });
  await pass(31);
  assert.equal(await figuresOf(cluster), '0/3/3/6');
});

test('a workload without a number of replicas has Pods all the same', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const made = await client.create(daemonSet, { metadata: { name: 'web', namespace }, spec: { selector, template } });
  await makePods(cluster, 3, made);
  await makeBudget(cluster, { targetRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web' }, minAvailable: 2 });
  assert.equal(await figuresOf(cluster), '1/3/2/-1');
});

test('Pods of a workload of an unknown kind are protected by their labels', async () => {
  await using cluster = await startTestCluster();
  await makeBudget(cluster, { selector, minAvailable: 2 });
  const owner = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'x', uid: 'of no kind' } };
  await makePods(cluster, 2, owner);
  assert.equal(await figuresOf(cluster), '0/2/2/0');
  const [first] = (await podsOf(cluster)).map(nameOf);
  await assert.rejects(cluster.client.delete(pod, first!), spent);
});

test("Pods of ReplicaSets of another workload belong to that workload's budget", async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  const metadata = { name: 'web', namespace };
  const spec = { replicas: 2, selector: labels, template };
  // Any workload with a scale subresource works.
  const above = await client.create(replicationController, { metadata, spec });
  await makeBudget(cluster, {
    targetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'web' },
    maxUnavailable: 1,
  });
  const set = await client.create(replicaSet, {
    metadata: { name: 'web-1', namespace, labels, ownerReferences: [controllerReference(above)] },
    spec: { replicas: 2, selector, template },
  });
  await cluster.pass(1);
  await makePods(cluster, 2, set);
  const pods = await podsOf(cluster);
  assert.deepEqual(
    pods.map(({ metadata: { annotations } }) => annotations?.['pub.kruise.io/related-pub']),
    ['pub', 'pub'],
  );
  assert.equal(await figuresOf(cluster), '1/2/1/2');
});

test('a charge by another process is not granted again', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  await makeBudget(cluster, { selector, minAvailable: 2 });
  await makePods(cluster, 3);
  const [first, second, third] = (await podsOf(cluster)).map(nameOf);
  const budget = await client.get(podUnavailableBudget, reference);
  const disruptedPods = { [first!.name]: '2026-01-01T00:00:00Z' };
  const status = { ...budget.status!, unavailableAllowed: 0, disruptedPods };
  // Concurrently, so that no cache has observed it yet.
  const attempts = [
    client.update(podUnavailableBudget, { ...budget, status }, { subresource: 'status' }),
    client.delete(pod, second!),
    client.delete(pod, third!),
  ];
  const outcomes = await during(cluster, Promise.allSettled(attempts));
  assert.equal(outcomes.filter((outcome) => outcome.status === 'fulfilled').length, 1);
  await pass(1);
});

test('a Pod is deleted while its budget is deleted concurrently', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { selector, minAvailable: 1 });
  await makePods(cluster, 3);
  const [first, second] = (await podsOf(cluster)).map(nameOf);
  const deletions = [
    client.delete(podUnavailableBudget, reference),
    client.delete(pod, first!),
    client.delete(pod, second!),
  ];
  await during(cluster, Promise.all(deletions));
  assert.equal((await podsOf(cluster)).length, 1);
});

test('a failing in-place update is blocked by the budget', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { targetRef: ofCloneSet, maxUnavailable: 1 });
  await makeCloneSet(cluster, 3, { podUpdatePolicy: 'InPlaceIfPossible', maxUnavailable: '100%' });
  const containers = [{ name: 'main', image: 'app:v2' }];
  await client.patch(
    cloneSet,
    { name: 'web', namespace },
    { spec: { template: { spec: { containers } } } },
    { type: 'merge' },
  );
  // No kubelet applies the update.
  await cluster.pass(30);
  const images = (await podsOf(cluster)).map(({ spec }) => spec?.containers[0]?.image);
  assert.deepEqual(images.filter((image) => image === 'app:v2').length, 1);
  for (let turn = 0; turn < 40; turn++) await cluster.runPods();
  assert.deepEqual(
    (await podsOf(cluster)).map(({ spec }) => spec?.containers[0]?.image),
    ['app:v2', 'app:v2', 'app:v2'],
  );
});

test('invalid and conflicting budgets are refused', async () => {
  await using cluster = await startTestCluster();
  const { client } = cluster;
  await makeBudget(cluster, { selector, maxUnavailable: 1 });
  const metadata = { name: 'other', namespace };
  const make = (spec: PodUnavailableBudgetSpec) => client.create(podUnavailableBudget, { metadata, spec });
  await assert.rejects(make({ selector, maxUnavailable: 1 }), (error: unknown) => {
    assert.ok(error instanceof StatusError);
    assert.match(
      error.message,
      /^admission webhook "vpodunavailablebudget.kb.io" denied the request: spec.selector: .*in conflict with other PodUnavailableBudget pub$/,
    );
    assert.equal(error.status.code, 400);
    return true;
  });
  const annotations = { 'kruise.io/pub-protect-operations': 'BOGUS' };
  const older = { metadata: { ...metadata, annotations }, spec: { targetRef: ofCloneSet, maxUnavailable: 1 } };
  await assert.rejects(
    client.create(podUnavailableBudgetV1alpha1, older),
    /invalid kruise.io\/pub-protect-operations value "BOGUS"/,
  );
  await client.create(podUnavailableBudget, older);
});

test('with both feature gates disabled there are no budgets', async () => {
  await using cluster = await startTestCluster({
    PodUnavailableBudgetDeleteGate: false,
    PodUnavailableBudgetUpdateGate: false,
  });
  await assert.rejects(
    makeBudget(cluster, { selector, maxUnavailable: 1 }),
    /feature PodUnavailableBudget is invalid, please open via feature-gate\(PodUnavailableBudgetDeleteGate, PodUnavailableBudgetUpdateGate\)/,
  );
});

test('the annotation of a v1alpha1 budget determines the protected operations, whenever it changes', async () => {
  await using cluster = await startTestCluster();
  const { client, pass } = cluster;
  const annotation = 'kruise.io/pub-protect-operations';
  const annotate = async (operations: string | null) => {
    const patch = { metadata: { annotations: { [annotation]: operations } } };
    await client.patch(podUnavailableBudgetV1alpha1, reference, patch, { type: 'merge' });
    await pass(1);
  };
  const change = (image: string) =>
    client.patch(
      pod,
      { name: 'pod-0', namespace },
      { spec: { containers: [{ name: 'main', image }] } },
      { type: 'strategic' },
    );
  const made = await client.create(podUnavailableBudgetV1alpha1, {
    metadata: { ...reference, annotations: { [annotation]: 'DELETE' } },
    spec: { selector, maxUnavailable: 0 },
  });
  assert.equal(made.status?.observedGeneration, 0);
  const owner = await client.create(replicaSet, {
    metadata: { name: 'web', namespace },
    spec: { replicas: 2, selector, template },
  });
  await makePods(cluster, 2, owner);

  await change('app:v2');
  await settle(cluster);
  await assert.rejects(client.delete(pod, { name: 'pod-0', namespace }), refusedWith(403, 'Forbidden'));
  await annotate('UPDATE,EVICT');
  await assert.rejects(change('app:v3'), refusedWith(403, 'Forbidden'));
  await client.delete(pod, { name: 'pod-1', namespace });
  await annotate(null);
  await assert.rejects(client.delete(pod, { name: 'pod-0', namespace }), refusedWith(403, 'Forbidden'));
  await assert.rejects(change('app:v3'), refusedWith(403, 'Forbidden'));
});
