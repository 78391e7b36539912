import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { pod as podKind } from '@kruise/api/core/pod';
import { event as eventKind } from '@kruise/api/events/event';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { priorityClass } from '@kruise/api/scheduling/priorityclass';
import { storageClass } from '@kruise/api/storage/storageclass';
import type { Client } from '@kruise/client/client';
import { bind } from '@kruise/client/subresources';
import type { Transport } from '@kruise/client/transport';
import { defaultConfiguration } from './configuration.ts';
import type { Post } from './extenders/extender.ts';
import {
  addNode,
  addPod,
  condition,
  isPlaced,
  isRejected,
  namespace,
  startCluster,
} from './testing/scheduled-cluster.ts';

const big = { requests: { cpu: '3' } };

test('a Pod is bound to a node with room, and an event is emitted', async (t) => {
  const { client, until, eventsOf } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p');
  const pod = await until('p', isPlaced);
  assert.equal(pod.spec?.nodeName, 'n');
  assert.equal(condition(pod)?.status, 'True');
  assert.deepEqual(await eventsOf('p'), ['Normal Scheduled Binding: Successfully assigned default/p to n']);
  const [event] = (await client.list(eventKind, { namespace })).items;
  assert.equal(event?.reportingController, 'default-scheduler');
  assert.equal(event?.reportingInstance, 'default-scheduler-here');
});

test('an unschedulable Pod gets the reason, and is bound when a node has the requested resources', async (t) => {
  const { client, until, eventsOf } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p', { nodeSelector: { disk: 'ssd' } });
  const message =
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. " +
    'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
  assert.equal(condition(await until('p', isRejected))?.message, message);
  await client.patch(nodeKind, { name: 'n' }, { metadata: { labels: { disk: 'ssd' } } }, { type: 'merge' });
  await until('p', isPlaced, 10);
  assert.deepEqual(await eventsOf('p'), [
    `Warning FailedScheduling Scheduling: ${message}`,
    'Normal Scheduled Binding: Successfully assigned default/p to n',
  ]);
});

test('a Pod waits while there are no nodes, and is bound within ten seconds of the first', async (t) => {
  const { client, pass, until } = await startCluster(t);
  await addPod(client, 'p');
  assert.equal(condition(await until('p', isRejected))?.message, 'no nodes available to schedule pods');
  await pass(60);
  await addNode(client, 'n');
  await until('p', isPlaced, 11);
});

test('a Pod is not bound before its rejection is written', async (t) => {
  const held: (() => void)[] = [];
  const middleware = (transport: Transport): Transport => ({
    ...transport,
    async request(request) {
      if (request.path.endsWith('/p/status')) await new Promise<void>((resolve) => held.push(resolve));
      return transport.request(request);
    },
  });
  const { client, pass, read, until } = await startCluster(t, { middleware });
  await addPod(client, 'p');
  await pass(1);
  assert.equal(held.length, 1);
  await addNode(client, 'n');
  await pass(30);
  assert.equal(isPlaced(await read('p')), false);
  held[0]?.();
  await until('p', isPlaced);
  await pass(1);
  assert.equal(condition(await read('p'))?.status, 'True');
});

test('of two Pods that wait for one place, the one with higher priority gets it, even if it came later', async (t) => {
  const { client, until, read } = await startCluster(t);
  await addPod(client, 'first', { ...big, priorityClassName: 'low' });
  await addPod(client, 'second', { ...big, priorityClassName: 'high' });
  await until('second', isRejected);
  await addNode(client, 'n');
  await until('second', isPlaced);
  assert.equal(isPlaced(await read('first')), false);
});

test('a victim is terminated gracefully, and no Pod of lower priority takes its place meanwhile', async (t) => {
  const { client, pass, until, eventsOf, read } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'victim', { ...big, priorityClassName: 'low' });
  await until('victim', isPlaced);
  const { metadata } = await addPod(client, 'urgent', { ...big, priorityClassName: 'high' });

  const waiting = await until('urgent', ({ status }) => status?.nominatedNodeName === 'n');
  assert.equal(condition(waiting)?.message, '0/1 nodes are available: 1 Insufficient cpu.');
  const victim = await until('victim', (pod) => pod.metadata.deletionTimestamp != null);
  const target = victim.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual(
    [target?.status, target?.reason, target?.message],
    ['True', 'PreemptionByScheduler', 'default-scheduler: preempting to accommodate a higher priority pod'],
  );
  assert.equal(
    (await eventsOf('victim')).at(-1),
    `Normal Preempted Preempting: Preempted by pod ${metadata.uid} on node n`,
  );

  await addPod(client, 'small', { requests: { cpu: '2' }, priorityClassName: 'low' });
  await until('small', isRejected);
  // Simulates the kubelet, which has stopped the Pod.
  await client.delete(podKind, { name: 'victim', namespace }, { gracePeriodSeconds: 0 });
  assert.equal((await until('urgent', isPlaced)).spec?.nodeName, 'n');
  await pass(20);
  assert.equal(isPlaced(await read('small')), false);
});

test('a Pod without a budget is preempted rather than one with a budget', async (t) => {
  const { client, until, read } = await startCluster(t);
  for (const name of ['protected', 'other']) {
    await addNode(client, `node-of-${name}`, { labels: { for: name } });
    await addPod(client, name, {
      ...big,
      priorityClassName: 'low',
      labels: { app: name },
      nodeSelector: { for: name },
    });
    await until(name, isPlaced);
  }
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'protected' } } };
  await client.create(podDisruptionBudget, { metadata: { name: 'b', namespace }, spec });
  await addPod(client, 'urgent', { ...big, priorityClassName: 'high' });
  await until('urgent', ({ status }) => status?.nominatedNodeName === 'node-of-other');
  assert.equal((await read('protected')).metadata.deletionTimestamp, undefined);
});

test('a gated Pod is neither attempted nor gets a status, until its gates are removed', async (t) => {
  const { client, pass, until, eventsOf } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p', { schedulingGates: [{ name: 'example.com/wait' }] });
  await pass(400);
  const gated = await until('p', () => true);
  assert.deepEqual([condition(gated)?.reason, isPlaced(gated)], ['SchedulingGated', false]);
  assert.deepEqual(await eventsOf('p'), []);
  await client.patch(podKind, { name: 'p', namespace }, { spec: { schedulingGates: null } }, { type: 'merge' });
  await until('p', isPlaced, 1);
});

test('Pods of other schedulers, and bound Pods, are ignored', async (t) => {
  const { client, pass, read, eventsOf } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'foreign', { schedulerName: 'someone-else' });
  await addPod(client, 'bound', { on: 'gone' });
  await pass(60);
  assert.deepEqual([isPlaced(await read('foreign')), condition(await read('foreign'))], [false, undefined]);
  assert.equal((await read('bound')).spec?.nodeName, 'gone');
  assert.deepEqual([await eventsOf('foreign'), await eventsOf('bound')], [[], []]);
});

test('a scheduler can have several profiles, each with its own plugins', async (t) => {
  const [profile] = defaultConfiguration.profiles;
  const careless = { filter: { enabled: [], disabled: ['TaintToleration'] } };
  const profiles = [profile!, { ...profile!, schedulerName: 'careless', plugins: careless }];
  const { client, until } = await startCluster(t, { configuration: { ...defaultConfiguration, profiles } });
  await addNode(client, 'n', { taints: [{ key: 'k', effect: 'NoSchedule' }] });
  await addPod(client, 'careful');
  await addPod(client, 'careless', { schedulerName: 'careless' });
  await until('careful', isRejected);
  await until('careless', isPlaced);
});

test('an extender selects the node of a Pod, and concurrent events are not lost', async (t) => {
  const answers: (() => void)[] = [];
  const post: Post = (_url, body) => {
    const { NodeNames } = body as { readonly NodeNames: readonly string[] };
    const names = NodeNames.filter((name) => name === 'wanted');
    return new Promise((resolve) => answers.push(() => resolve({ code: 200, body: { NodeNames: names } })));
  };
  const extender = { urlPrefix: 'http://e', filterVerb: 'filter', prioritizeVerb: '', preemptVerb: '', bindVerb: '' };
  const rest = { weight: 1, nodeCacheCapable: true, managedResources: [], ignorable: false, httpTimeoutMs: 1000 };
  const { client, pass, until } = await startCluster(t, {
    configuration: { ...defaultConfiguration, extenders: [{ ...extender, ...rest }] },
    post,
  });
  await addNode(client, 'n');
  await addPod(client, 'p');
  await pass(1);
  assert.equal(answers.length, 1);
  // While the extender responds, the node that it selects is added.
  await addNode(client, 'wanted');
  await pass(1);
  answers.shift()?.();
  await until('p', isRejected);
  await pass(3);
  answers.shift()?.();
  assert.equal((await until('p', isPlaced)).spec?.nodeName, 'wanted');
});

test('a terminating Pod is not scheduled, with an event', async (t) => {
  const { client, pass, read, eventsOf } = await startCluster(t);
  await addPod(client, 'p', { metadata: { finalizers: ['example.com/keep'] } });
  await client.delete(podKind, { name: 'p', namespace });
  await addNode(client, 'n');
  await pass(30);
  assert.equal(isPlaced(await read('p')), false);
  assert.ok(
    (await eventsOf('p')).includes('Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p'),
  );
  await client.patch(podKind, { name: 'p', namespace }, { metadata: { finalizers: null } }, { type: 'merge' });
});

test('a Pod that is bound by another client stays there', async (t) => {
  const { client, pass, until } = await startCluster(t);
  await addPod(client, 'p');
  await until('p', isRejected);
  await bind(client, { name: 'p', namespace }, 'elsewhere');
  await addNode(client, 'n');
  await pass(30);
  assert.equal((await until('p', isPlaced)).spec?.nodeName, 'elsewhere');
});

const claimSpec = {
  storageClassName: 'late',
  accessModes: ['ReadWriteOnce' as const],
  resources: { requests: { storage: '1Gi' } },
};
/** Creates a node, a PVC with WaitForFirstConsumer, and a Pod that uses it. */
async function addWaitingPod(client: Client, provisioner: string): Promise<void> {
  await addNode(client, 'n');
  const volumeBindingMode = 'WaitForFirstConsumer';
  await client.create(storageClass, { metadata: { name: 'late' }, provisioner, volumeBindingMode });
  await client.create(persistentVolumeClaim, { metadata: { name: 'data', namespace }, spec: claimSpec });
  await addPod(client, 'p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
}
const volumeSpec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce' as const],
  hostPath: { path: '/x' },
  storageClassName: 'late',
};
const bindCompleted = { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } };

test('a WaitForFirstConsumer PVC gets its selected node, and the Pod is bound when the volume exists', async (t) => {
  const { client, pass, until, read } = await startCluster(t);
  await addWaitingPod(client, 'example.com/driver');
  await pass(2);
  const reference = { name: 'data', namespace };
  const claim = await client.get(persistentVolumeClaim, reference);
  assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'n');
  assert.equal(isPlaced(await read('p')), false);

  await client.create(persistentVolume, { metadata: { name: 'v' }, spec: { ...volumeSpec, claimRef: reference } });
  await client.patch(
    persistentVolumeClaim,
    reference,
    { metadata: bindCompleted, spec: { volumeName: 'v' } },
    { type: 'merge' },
  );
  await until('p', isPlaced, 2);
});

test('a PVC whose provisioning fails loses its selected node, and the Pod is retried', async (t) => {
  const { client, pass, until, eventsOf } = await startCluster(t);
  await addWaitingPod(client, 'example.com/driver');
  await pass(2);
  const annotations = { 'volume.kubernetes.io/selected-node': null, 'example.com/tried': 'yes' };
  await client.patch(
    persistentVolumeClaim,
    { name: 'data', namespace },
    { metadata: { annotations } },
    { type: 'merge' },
  );
  await until('p', (pod) => condition(pod)?.reason === 'SchedulerError');
  const [why] = await eventsOf('p');
  assert.equal(why, 'Warning FailedScheduling Scheduling: binding volumes: provisioning failed for PVC "data"');
  await pass(5);
  const claim = await client.get(persistentVolumeClaim, { name: 'data', namespace });
  assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'n');
});

test('a scheduler that shuts down writes no status for Pods that wait for volumes', async (t) => {
  const { client, pass, eventsOf, stop } = await startCluster(t);
  await addWaitingPod(client, 'example.com/driver');
  await pass(2);
  stop();
  await pass(2);
  assert.deepEqual(await eventsOf('p'), []);
});

test('a scheduler starts with existing volumes', async (t) => {
  const { client, until } = await startCluster(t, {
    prepare: (first) => first.create(persistentVolume, { metadata: { name: 'v' }, spec: volumeSpec }),
  });
  await addNode(client, 'n');
  await addPod(client, 'p');
  assert.equal((await until('p', isPlaced)).spec?.nodeName, 'n');
});

test('an existing volume is bound to a WaitForFirstConsumer PVC', async (t) => {
  const { client, pass, until } = await startCluster(t);
  const volume = await client.create(persistentVolume, { metadata: { name: 'v' }, spec: volumeSpec });
  await client.update(persistentVolume, { ...volume, status: { phase: 'Available' } }, { subresource: 'status' });
  await addWaitingPod(client, 'kubernetes.io/no-provisioner');
  await pass(2);
  assert.equal((await client.get(persistentVolume, { name: 'v' })).spec?.claimRef?.name, 'data');
  const patch = { metadata: bindCompleted, spec: { volumeName: 'v' } };
  await client.patch(persistentVolumeClaim, { name: 'data', namespace }, patch, { type: 'merge' });
  await until('p', isPlaced, 2);
});

test('many Pods are scheduled to few nodes without exceeding any node', async (t) => {
  const { client, pass, until } = await startCluster(t);
  for (const name of ['a', 'b', 'c']) await addNode(client, name, { allocatable: { pods: '70' } });
  for (let index = 0; index < 200; index++) await addPod(client, `p${index}`);
  await until('p199', isPlaced);
  await pass(1);
  const { items } = await client.list(podKind, { namespace });
  const counts = Map.groupBy(items, ({ spec }) => spec?.nodeName);
  assert.equal(counts.has(undefined), false);
  assert.deepEqual(
    [...counts.values()].map(({ length }) => length >= 60 && length <= 70),
    [true, true, true],
  );
});

test('a finished Pod uses no resources', async (t) => {
  const { client, until } = await startCluster(t);
  await addNode(client, 'n', { allocatable: { pods: '1' } });
  await addPod(client, 'first');
  await until('first', isPlaced);
  await addPod(client, 'second');
  await until('second', isRejected);
  await client.patch(
    podKind,
    { name: 'first', namespace },
    { status: { phase: 'Succeeded' } },
    { type: 'merge', subresource: 'status' },
  );
  await until('second', isPlaced);
});

test('all kinds that a decision depends on are watched, and finished Pods are not', async (t) => {
  const watched = new Set<string>();
  const middleware = (transport: Transport): Transport => ({
    ...transport,
    watch(request) {
      const { fieldSelector } = request.query ?? {};
      watched.add(`${request.path.split('/').at(-1)}${fieldSelector ? ` ${String(fieldSelector)}` : ''}`);
      return transport.watch(request);
    },
  });
  const { pass } = await startCluster(t, { middleware });
  await pass(1);
  assert.deepEqual([...watched].sort(), [
    'csidrivers',
    'csinodes',
    'csistoragecapacities',
    'namespaces',
    'nodes',
    'persistentvolumeclaims',
    'persistentvolumes',
    'poddisruptionbudgets',
    'pods status.phase!=Succeeded,status.phase!=Failed',
    'replicasets',
    'replicationcontrollers',
    'services',
    'statefulsets',
    'storageclasses',
    'volumeattachments',
  ]);
});

test('a Pod whose binding failed releases its place, gets a status, and is retried', async (t) => {
  let refusals = 1;
  const middleware = (transport: Transport): Transport => ({
    ...transport,
    async request(request) {
      if (request.path.endsWith('/first/binding') && refusals-- > 0) throw new Error('the store is full');
      return transport.request(request);
    },
  });
  const { client, pass, until, read, eventsOf } = await startCluster(t, { middleware });
  await addNode(client, 'n', { allocatable: { pods: '1' } });
  await addPod(client, 'first');
  const failed = await until('first', (pod) => condition(pod)?.reason === 'SchedulerError');
  assert.equal(condition(failed)?.message, 'the store is full');
  await addPod(client, 'second');
  await until('second', isPlaced);
  await client.delete(podKind, { name: 'second', namespace }, { gracePeriodSeconds: 0 });
  await until('first', isPlaced);
  assert.equal((await eventsOf('first'))[0], 'Warning FailedScheduling Scheduling: the store is full');
  await pass(1);
  assert.equal(condition(await read('first'))?.status, 'True');
});

/** Records the status patches of a scheduler, by Pod. */
function notingPatches() {
  const patches: { readonly pod: string; readonly status: object }[] = [];
  const through = (transport: Transport): Transport => ({
    ...transport,
    request(request) {
      const [, pod] = request.path.match(/pods\/(\w+)\/status$/) ?? [];
      if (pod) patches.push({ pod, status: (request.body as { readonly status: object }).status });
      return transport.request(request);
    },
  });
  return {
    through,
    fieldsOf: (pod: string) => patches.flatMap((each) => (each.pod === pod ? [Object.keys(each.status).sort()] : [])),
  };
}

test('the rejection of a Pod and its nominated node are written at once', async (t) => {
  const { through: middleware, fieldsOf } = notingPatches();
  const { client, until } = await startCluster(t, { middleware });
  await addNode(client, 'n');
  await addPod(client, 'victim', { ...big, priorityClassName: 'low' });
  await until('victim', isPlaced);
  await addPod(client, 'urgent', { ...big, priorityClassName: 'high' });
  await until('urgent', ({ status }) => status?.nominatedNodeName === 'n');
  assert.deepEqual(fieldsOf('urgent'), [['conditions', 'nominatedNodeName']]);
});

test('an unchanged status is not written again', async (t) => {
  const { through: middleware, fieldsOf } = notingPatches();
  const { client, pass, until, eventsOf } = await startCluster(t, { middleware });
  await addNode(client, 'n', { allocatable: { cpu: '1' } });
  await addPod(client, 'p', big);
  await until('p', isRejected);
  // The Pod is retried because resources are freed, but not enough.
  await addPod(client, 'x', { on: 'n' });
  await pass(1);
  await client.delete(podKind, { name: 'x', namespace }, { gracePeriodSeconds: 0 });
  await pass(20);
  assert.deepEqual(fieldsOf('p'), [['conditions']]);
  assert.equal((await eventsOf('p')).length, 2, 'the Pod was retried');
});

test('a Pod of lower priority loses its nominated node to one of higher priority', async (t) => {
  const { client, until } = await startCluster(t);
  await client.create(priorityClass, { metadata: { name: 'middle' }, value: 50 });
  await addNode(client, 'n');
  await addPod(client, 'victim', { ...big, priorityClassName: 'low' });
  await until('victim', isPlaced);
  await addPod(client, 'middle', { ...big, priorityClassName: 'middle' });
  await until('middle', ({ status }) => status?.nominatedNodeName === 'n');
  await addPod(client, 'urgent', { ...big, priorityClassName: 'high' });
  await until('urgent', ({ status }) => status?.nominatedNodeName === 'n');
  await until('middle', ({ status }) => !status?.nominatedNodeName);
});

test('a PVC that is not bound within ten minutes fails the binding', async (t) => {
  const { client, pass, until, eventsOf } = await startCluster(t);
  await addWaitingPod(client, 'example.com/driver');
  await pass(598);
  assert.deepEqual(await eventsOf('p'), []);
  await until('p', (pod) => condition(pod)?.reason === 'SchedulerError');
  assert.deepEqual(await eventsOf('p'), [
    'Warning FailedScheduling Scheduling: binding volumes: context deadline exceeded',
  ]);
});
