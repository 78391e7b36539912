import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { persistentVolume } from '@kruise/api/core/persistentvolume';
import { persistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import { type Pod, pod as podKind } from '@kruise/api/core/pod';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import { event as eventKind } from '@kruise/api/events/event';
import { podDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { priorityClass } from '@kruise/api/scheduling/priorityclass';
import { storageClass } from '@kruise/api/storage/storageclass';
import { startTestServer } from '@kruise/apiserver/testing/test-server';
import { type Client, createClient } from '@kruise/client/client';
import { bind } from '@kruise/client/subresources';
import type { Transport } from '@kruise/client/transport';
import { seededRandom } from '@kruise/values/random';
import { instantOf } from '@kruise/values/time';
import { virtualClock } from '@kruise/values/virtual-clock';
import { defaultConfiguration, type SchedulerConfiguration } from './configuration.ts';
import type { Post } from './extenders/extender.ts';
import { runScheduler } from './scheduler.ts';
import { type NodeTraits, nodeOf, type PodTraits, podOf } from './testing/fixtures.ts';

const namespace = 'default';

type ClusterOptions = {
  readonly configuration: SchedulerConfiguration;
  /** How extenders are asked. */
  readonly post: Post;
  /** Puts into the cluster what is there before the scheduler is. */
  readonly prepare: (client: Client) => Promise<unknown>;
  /** What comes between the scheduler and the server. */
  readonly through: (transport: Transport) => Transport;
};

/** A server, and a scheduler with no more rights than its own, on a time that passes when it is told to. */
async function startCluster(t: TestContext, options: Partial<ClusterOptions> = {}) {
  const { configuration = defaultConfiguration, post, through = (transport) => transport } = options;
  const clock = virtualClock(instantOf(2026, 1, 1));
  const random = seededRandom(1);
  const server = await startTestServer({ clock, random });
  const { client } = server;
  await client.create(serviceAccount, { metadata: { name: 'default', namespace } });
  for (const [name, value] of [
    ['low', 1],
    ['high', 100],
  ] as const) {
    await client.create(priorityClass, { metadata: { name }, value });
  }
  await options.prepare?.(client);
  const complaints: unknown[] = [];
  const complain = (fields: object, message: string) => void complaints.push({ message, ...fields });
  const stop = new AbortController();
  const user = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };
  const log = { info() {}, warn: complain, error: complain };
  const own = createClient(through(server.clientOf(user).transport));
  const parts = { client: own, clock, random, log, host: 'here', configuration, ...(post ? { post } : {}) };
  const done = runScheduler(parts, stop.signal);
  t.after(async () => {
    stop.abort();
    await clock.advanceAsync(1000);
    await done;
    await server.close();
    assert.deepEqual(complaints, []);
  });

  const pass = (seconds: number) => clock.advanceAsync(seconds * 1000);
  const read = (name: string) => client.get(podKind, { name, namespace });
  return {
    client,
    pass,
    read,
    stop: () => stop.abort(),
    /** The Pod, as soon as something holds for it, which may take some seconds. */
    async until(name: string, holds: (pod: Pod) => boolean, seconds = 30): Promise<Pod> {
      for (let tenth = 0; tenth < seconds * 10; tenth++) {
        const pod = await read(name);
        if (holds(pod)) return pod;
        await pass(0.1);
      }
      throw new Error(`it has not come about: ${JSON.stringify((await read(name)).status)}`);
    },
    /** What was told of a Pod, in order. */
    async told(name: string): Promise<readonly string[]> {
      await pass(0.1);
      const { items } = await client.list(eventKind, { namespace });
      return items
        .filter(({ regarding }) => regarding?.name === name)
        .sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
        .map(({ type, reason, action, note }) => `${type} ${reason} ${action}: ${note}`);
    },
  };
}

async function addNode(client: Client, name: string, traits: NodeTraits = {}): Promise<void> {
  const { status, ...node } = nodeOf(name, traits);
  const created = await client.create(nodeKind, node);
  // The server taints new nodes as not ready, which is for others to undo.
  const ready = await client.update(nodeKind, {
    ...created,
    spec: { ...created.spec, taints: node.spec?.taints ?? [] },
  });
  await client.update(nodeKind, { ...ready, status: { ...ready.status, ...status } }, { subresource: 'status' });
}

async function addPod(client: Client, name: string, traits: PodTraits = {}): Promise<Pod> {
  const { metadata, ...pod } = podOf(name, traits);
  const { uid: _, ...rest } = metadata;
  return client.create(podKind, { ...pod, metadata: rest });
}

const isPlaced = ({ spec }: Pod) => Boolean(spec?.nodeName);
const condition = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'PodScheduled');
const isRejected = (pod: Pod) => condition(pod)?.reason === 'Unschedulable';
const big = { requests: { cpu: '3' } };

test('a Pod is bound to a node with room, and an event tells of it', async (t) => {
  const { client, until, told } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p');
  const pod = await until('p', isPlaced);
  assert.equal(pod.spec?.nodeName, 'n');
  assert.equal(condition(pod)?.status, 'True');
  assert.deepEqual(await told('p'), ['Normal Scheduled Binding: Successfully assigned default/p to n']);
  const [event] = (await client.list(eventKind, { namespace })).items;
  assert.equal(event?.reportingController, 'default-scheduler');
  assert.equal(event?.reportingInstance, 'default-scheduler-here');
});

test('a Pod that fits nowhere is told why, and bound when a node gets what it asks for', async (t) => {
  const { client, until, told } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p', { nodeSelector: { disk: 'ssd' } });
  const message =
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. " +
    'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
  assert.equal(condition(await until('p', isRejected))?.message, message);
  await client.patch(nodeKind, { name: 'n' }, { metadata: { labels: { disk: 'ssd' } } }, { type: 'merge' });
  await until('p', isPlaced, 10);
  assert.deepEqual(await told('p'), [
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

test('a Pod is not bound before the server has heard that it could not be', async (t) => {
  const held: (() => void)[] = [];
  const through = (transport: Transport): Transport => ({
    ...transport,
    async request(request) {
      if (request.path.endsWith('/p/status')) await new Promise<void>((resolve) => held.push(resolve));
      return transport.request(request);
    },
  });
  const { client, pass, read, until } = await startCluster(t, { through });
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

test('of two Pods that wait for one place the more important gets it, though it came later', async (t) => {
  const { client, until, read } = await startCluster(t);
  await addPod(client, 'first', { ...big, priorityClassName: 'low' });
  await addPod(client, 'second', { ...big, priorityClassName: 'high' });
  await until('second', isRejected);
  await addNode(client, 'n');
  await until('second', isPlaced);
  assert.equal(isPlaced(await read('first')), false);
});

test('a Pod of less importance leaves gracefully, and nobody of less importance takes its place meanwhile', async (t) => {
  const { client, pass, until, told, read } = await startCluster(t);
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
    (await told('victim')).at(-1),
    `Normal Preempted Preempting: Preempted by pod ${metadata.uid} on node n`,
  );

  await addPod(client, 'small', { requests: { cpu: '2' }, priorityClassName: 'low' });
  await until('small', isRejected);
  // The node has stopped it.
  await client.delete(podKind, { name: 'victim', namespace }, { gracePeriodSeconds: 0 });
  assert.equal((await until('urgent', isPlaced)).spec?.nodeName, 'n');
  await pass(20);
  assert.equal(isPlaced(await read('small')), false);
});

test('one leaves whom no budget protects, rather than one whom a budget does', async (t) => {
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

test('a Pod behind a gate is neither tried nor told anything, until the gate is gone', async (t) => {
  const { client, pass, until, told } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'p', { schedulingGates: [{ name: 'example.com/wait' }] });
  await pass(400);
  const gated = await until('p', () => true);
  assert.deepEqual([condition(gated)?.reason, isPlaced(gated)], ['SchedulingGated', false]);
  assert.deepEqual(await told('p'), []);
  await client.patch(podKind, { name: 'p', namespace }, { spec: { schedulingGates: null } }, { type: 'merge' });
  await until('p', isPlaced, 1);
});

test('Pods of other schedulers, and those with a node, are left alone', async (t) => {
  const { client, pass, read, told } = await startCluster(t);
  await addNode(client, 'n');
  await addPod(client, 'foreign', { schedulerName: 'someone-else' });
  await addPod(client, 'bound', { on: 'gone' });
  await pass(60);
  assert.deepEqual([isPlaced(await read('foreign')), condition(await read('foreign'))], [false, undefined]);
  assert.equal((await read('bound')).spec?.nodeName, 'gone');
  assert.deepEqual([await told('foreign'), await told('bound')], [[], []]);
});

test('a scheduler can have several names, each with rules of its own', async (t) => {
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

test('an extender decides where a Pod goes, and what happens meanwhile is not missed', async (t) => {
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
  // While the extender thinks, the node that it wants comes.
  await addNode(client, 'wanted');
  await pass(1);
  answers.shift()?.();
  await until('p', isRejected);
  await pass(3);
  answers.shift()?.();
  assert.equal((await until('p', isPlaced)).spec?.nodeName, 'wanted');
});

test('a Pod that is on its way out is not placed, and that is told', async (t) => {
  const { client, pass, read, told } = await startCluster(t);
  await addPod(client, 'p', { metadata: { finalizers: ['example.com/keep'] } });
  await client.delete(podKind, { name: 'p', namespace });
  await addNode(client, 'n');
  await pass(30);
  assert.equal(isPlaced(await read('p')), false);
  assert.ok((await told('p')).includes('Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p'));
  await client.patch(podKind, { name: 'p', namespace }, { metadata: { finalizers: null } }, { type: 'merge' });
});

test('a Pod that gets a node from someone else is left there', async (t) => {
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
/** A node, a claim that waits for a Pod, and the Pod, which waits for its volume. */
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

test('a claim that waits for a Pod is given its node, and the Pod follows when the volume is there', async (t) => {
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

test('a claim for which no volume can be made after all is given up, and the Pod is tried again', async (t) => {
  const { client, pass, until, told } = await startCluster(t);
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
  const [why] = await told('p');
  assert.equal(why, 'Warning FailedScheduling Scheduling: binding volumes: provisioning failed for PVC "data"');
  await pass(5);
  const claim = await client.get(persistentVolumeClaim, { name: 'data', namespace });
  assert.equal(claim.metadata.annotations?.['volume.kubernetes.io/selected-node'], 'n');
});

test('a scheduler that is told to stop says nothing of Pods that wait for their volumes', async (t) => {
  const { client, pass, told, stop } = await startCluster(t);
  await addWaitingPod(client, 'example.com/driver');
  await pass(2);
  stop();
  await pass(2);
  assert.deepEqual(await told('p'), []);
});

test('a scheduler starts among volumes that are there already', async (t) => {
  const { client, until } = await startCluster(t, {
    prepare: (first) => first.create(persistentVolume, { metadata: { name: 'v' }, spec: volumeSpec }),
  });
  await addNode(client, 'n');
  await addPod(client, 'p');
  assert.equal((await until('p', isPlaced)).spec?.nodeName, 'n');
});

test('a volume that exists is bound to a claim that waits for a Pod', async (t) => {
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

test('many Pods are placed on few nodes without any node being given too many', async (t) => {
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
