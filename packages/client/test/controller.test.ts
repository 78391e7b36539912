import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { type ConfigMap, configMap } from '@kruise/api/core/configmap';
import { event } from '@kruise/api/core/event';
import { type Service, service } from '@kruise/api/core/service';
import { serviceAccount } from '@kruise/api/core/serviceaccount';
import {
  addFinalizer,
  create,
  hasFinalizer,
  isBeingDeleted,
  parallel,
  patch,
  remove,
  removeFinalizer,
  withOutcomeEvents,
} from '@kruise/client/actions';
import { type Client, createClient } from '@kruise/client/client';
import { type Controller, type Decision, defineController, watch } from '@kruise/client/controller';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { TransportError } from '@kruise/client/http-transport';
import type { Caches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { LeadershipLostError, runControllers } from '@kruise/client/manager';
import { createMetrics } from '@kruise/client/metrics';
import { type Key, keyOf } from '@kruise/client/object-key';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import { withCondition } from '@kruise/machinery/conditions';
import { controllerReference } from '@kruise/machinery/owner-references';
import { conflict, internalError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { pick, seededRandom } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import fc from 'fast-check';
import { type Cluster, startCluster } from './cluster.ts';

/** A set of ConfigMaps with the number of members in its Service; each difference is one create or delete. */
type Observed = { readonly set: Service; readonly members: readonly ConfigMap[] };

const wantedOf = ({ metadata }: Service) => Number(metadata.annotations?.['members'] ?? 0);

const counted = (members: readonly ConfigMap[]) => ({
  type: 'Counted',
  status: 'True',
  reason: 'Counted',
  message: `There are ${members.length}`,
});

function decide({ set, members }: Observed, now: Instant): Decision<Service['status']> {
  const missing = Math.max(0, wantedOf(set) - members.length);
  const surplus = members.slice(wantedOf(set));
  return {
    actions: [
      ...parallel(Array.from({ length: missing }, () => withOutcomeEvents(create(memberOf(set)), announcement(set)))),
      ...parallel(surplus.map(remove)),
    ],
    status: { ...set.status, conditions: withCondition(set.status?.conditions, counted(members), now) },
  };
}

const announcement = (set: Service) => ({
  about: set,
  done: { reason: 'SuccessfulCreate', message: 'Created member: {name}' },
  failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
});

function memberOf(set: Service): ConfigMap {
  const { name = '', namespace = '', uid = '' } = set.metadata;
  const owner = controllerReference({ apiVersion: 'v1', kind: 'Service', metadata: { name, uid } });
  const metadata = { generateName: `${name}-`, namespace, ownerReferences: [owner] };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

function observe(caches: Caches, key: Key): Observed | undefined {
  const set = caches.of(service).get(key);
  if (!set || wantedOf(set) === 0) return undefined;
  return { set, members: caches.of(configMap).controlledBy(set) };
}

const members = defineController({ name: 'members', for: service, owns: [configMap], observe, decide });

const makeSet = (name: string, count: number): Partial<Service> => ({
  metadata: { name, namespace: 'default', annotations: { members: String(count) } },
  spec: { clusterIP: 'None', ports: [{ port: 80 }] },
});

function run(
  cluster: Cluster,
  controllers: readonly Controller[],
  options: { client?: Client; clock?: Clock; log?: Log } = {},
) {
  const stop = new AbortController();
  const { client, clock, random } = cluster;
  const done = runControllers(controllers, { client, clock, random, ...options }, stop.signal);
  return {
    async stop() {
      stop.abort();
      await cluster.advance(0);
      await done;
    },
  };
}

async function membersIn({ client }: Cluster): Promise<readonly ConfigMap[]> {
  const { items } = await client.list(configMap, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.ownerReferences);
}

const pauses = [
  {
    name: 'a throttled key coalesces consecutive changes, including the last',
    pause: { minIntervalMs: 1000 },
    sees: ['0 at 0', '3 at 1000'],
  },
  {
    name: 'a delayed key sees all changes of the delay',
    pause: { delayMs: 1000 },
    sees: ['3 at 1000'],
  },
];
for (const { name, pause, sees } of pauses) {
  test(name, async () => {
    const cluster = await startCluster();
    const seen: string[] = [];
    const pausing = defineController({
      name: 'pausing',
      for: configMap,
      ...pause,
      observe: (caches, key) => (key === 'default/one' ? caches.of(configMap).get(key) : undefined),
      decide(found) {
        seen.push(`${found.data?.['n']} at ${cluster.clock.now() - start}`);
        return { actions: [] };
      },
    });
    const running = run(cluster, [pausing]);
    await cluster.advance(1);
    const start = cluster.clock.now();
    const reference = { namespace: 'default', name: 'one' };
    await cluster.client.create(configMap, { metadata: reference, data: { n: '0' } });
    for (const n of ['1', '2', '3']) {
      await cluster.advance(0.1);
      await cluster.client.patch(configMap, reference, { data: { n } }, { type: 'merge' });
    }
    await cluster.advance(5);
    assert.deepEqual(seen, sees);
    await running.stop();
    await cluster.close();
  });
}

test('a key is not throttled longer if the clock is set back', async () => {
  const cluster = await startCluster();
  let aheadMs = 0;
  const clock = { ...cluster.clock, now: () => cluster.clock.now() + aheadMs };
  const seen: string[] = [];
  const resting = defineController({
    name: 'resting',
    for: configMap,
    minIntervalMs: 1000,
    observe: (caches, key) => (key === 'default/one' ? caches.of(configMap).get(key) : undefined),
    decide(found) {
      seen.push(`${found.data?.['n']} at ${cluster.clock.now() - start}`);
      return { actions: [] };
    },
  });
  const running = run(cluster, [resting], { clock });
  await cluster.advance(1);
  const start = cluster.clock.now();
  const reference = { namespace: 'default', name: 'one' };
  await cluster.client.create(configMap, { metadata: reference, data: { n: '0' } });
  await cluster.advance(0.1);
  aheadMs = -60_000;
  await cluster.client.patch(configMap, reference, { data: { n: '1' } }, { type: 'merge' });
  await cluster.advance(5);
  assert.deepEqual(seen, ['0 at 0', '1 at 1000']);
  await running.stop();
  await cluster.close();
});

test('a decision can set the minimum interval of its key', async () => {
  const cluster = await startCluster();
  const seen: number[] = [];
  const resting = defineController({
    name: 'resting',
    for: configMap,
    observe: (caches, key) => (key === 'default/one' ? caches.of(configMap).get(key) : undefined),
    decide(found) {
      seen.push(cluster.clock.now() - start);
      return { actions: [], minIntervalMs: Number(found.data?.['minIntervalMs']) };
    },
  });
  const running = run(cluster, [resting]);
  await cluster.advance(1);
  const start = cluster.clock.now();
  const reference = { namespace: 'default', name: 'one' };
  await cluster.client.create(configMap, { metadata: reference, data: { minIntervalMs: '500' } });
  for (const minIntervalMs of ['0', '0', '0']) {
    await cluster.advance(0.3);
    await cluster.client.patch(
      configMap,
      reference,
      { data: { minIntervalMs }, metadata: { labels: { at: String(cluster.clock.now()) } } },
      { type: 'merge' },
    );
  }
  await cluster.advance(5);
  assert.deepEqual(seen, [0, 500, 600, 900]);
  await running.stop();
  await cluster.close();
});

test('events are recorded after the writes that they are about', async () => {
  const cluster = await startCluster();
  await cluster.client.create(service, makeSet('web', 1));
  let refusals = 2;
  const { transport } = cluster.client;
  const client = createClient({
    ...transport,
    request(request) {
      if (request.method === 'PUT' && refusals-- > 0) throw internalError('no');
      return transport.request(request);
    },
  });
  const counting = defineController({
    name: 'counting',
    for: service,
    observe: (caches, key) => (key === 'default/web' ? caches.of(service).get(key) : undefined),
    decide(set, now): Decision<Service['status']> {
      if (set.status?.conditions) return { actions: [] };
      const event = { about: set, type: 'Normal', reason: 'Counted', message: 'There is one' } as const;
      return { actions: [], status: { conditions: withCondition(undefined, counted([]), now) }, events: [event] };
    },
  });
  const running = run(cluster, [counting], { client });
  await cluster.advance(1);
  const { items } = await cluster.client.list(event, { namespace: 'default' });
  assert.deepEqual(
    items.map(({ reason, count = 1 }) => [reason, count]),
    [['Counted', 1]],
  );
  await running.stop();
  await cluster.close();
});

test('live data is fetched before the decision, and a failed fetch is retried', async () => {
  const cluster = await startCluster();
  let failures = 1;
  const asking = defineController({
    name: 'asking',
    for: configMap,
    observe: (caches, key) => {
      const found = key === 'default/one' ? caches.of(configMap).get(key) : undefined;
      return found && { found, answer: 'none' };
    },
    async fetch(observed, client) {
      if (failures-- > 0) throw new Error('not now');
      const { metadata } = await client.get(configMap, { namespace: 'default', name: 'other' });
      return { ...observed, answer: metadata.name ?? '' };
    },
    decide: ({ found, answer }) => ({
      actions: found.data?.['answer'] === answer ? [] : [patch(found, { data: { answer } })],
    }),
  });
  await cluster.client.create(configMap, { metadata: { namespace: 'default', name: 'other' } });
  await cluster.client.create(configMap, { metadata: { namespace: 'default', name: 'one' } });
  const running = run(cluster, [asking]);
  await cluster.advance(1);
  const { data } = await cluster.client.get(configMap, { namespace: 'default', name: 'one' });
  assert.deepEqual(data, { answer: 'other' });
  await running.stop();
  await cluster.close();
});

test('a controller creates the desired state, reports it, and follows changes', async () => {
  const cluster = await startCluster();
  const { client } = cluster;
  await client.create(service, makeSet('web', 5));
  const running = run(cluster, [members]);
  await cluster.advance(1);
  assert.equal((await membersIn(cluster)).length, 5);
  const reference = { namespace: 'default', name: 'web' };
  const statusOf = async () => (await client.get(service, reference)).status?.conditions?.[0]?.message;
  assert.equal(await statusOf(), 'There are 5');

  await client.delete(configMap, { namespace: 'default', name: (await membersIn(cluster))[0]!.metadata.name! });
  await cluster.advance(1);
  assert.equal((await membersIn(cluster)).length, 5);

  await client.patch(service, reference, { metadata: { annotations: { members: '2' } } }, { type: 'merge' });
  await cluster.advance(1);
  assert.equal((await membersIn(cluster)).length, 2);
  assert.equal(await statusOf(), 'There are 2');

  const { items } = await client.list(event, { namespace: 'default' });
  assert.equal(items.filter(({ reason }) => reason === 'SuccessfulCreate').length, 6);
  assert.match(items[0]?.message ?? '', /^Created member: web-\w{5}$/);
  await running.stop();
  await cluster.close();
});

test('nothing is written if nothing changes', async () => {
  const cluster = await startCluster();
  await cluster.client.create(service, makeSet('web', 3));
  const running = run(cluster, [members]);
  await cluster.advance(1);
  const before = await cluster.core.store.currentRevision();
  await cluster.advance(600);
  assert.equal(await cluster.core.store.currentRevision(), before);
  await running.stop();
  await cluster.close();
});

test('an equivalent status is not written', async () => {
  const cluster = await startCluster();
  await cluster.client.create(service, makeSet('web', 1));
  const wordy = defineController({
    name: 'wordy',
    for: service,
    observe: (caches, key) => caches.of(service).get(key),
    decide: () => ({ actions: [], status: { conditions: [], loadBalancer: { ingress: [] } } }),
  });
  let writes = 0;
  const { transport } = cluster.client;
  const client = createClient({
    ...transport,
    request(request) {
      if (request.method === 'PUT') writes++;
      return transport.request(request);
    },
  });
  const running = run(cluster, [wordy], { client });
  await cluster.advance(1);
  assert.equal(writes, 0);
  await running.stop();
  await cluster.close();
});

/** A transport whose requests fail, are delayed, or lose their response. */
function withFaults(transport: Transport, { clock }: Cluster, seed: number) {
  const random = seededRandom(seed);
  let isCalm = false;
  return {
    calm() {
      isCalm = true;
    },
    watch: transport.watch,
    async request(request: ApiRequest) {
      const trouble =
        isCalm || request.method === 'GET'
          ? 'none'
          : pick(random, ['none', 'none', 'refused', 'cut', 'late', 'conflict']);
      if (trouble === 'refused') throw internalError('no');
      if (trouble === 'conflict') throw conflict({ group: '', plural: 'configmaps' }, 'x', 'modified');
      const answer = await transport.request(request);
      if (trouble === 'cut') throw new Error('the connection broke');
      if (trouble === 'late') await new Promise<void>((resolve) => clock.setTimer(50, resolve));
      return answer;
    },
  };
}

test('a controller converges to the desired state through crashes and failures', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.record({ wanted: fc.integer({ min: 1, max: 12 }), afterMs: fc.nat(300) }), { maxLength: 6 }),
      async (seed, steps) => {
        const cluster = await startCluster();
        await cluster.client.create(service, makeSet('web', 3));
        const transport = withFaults(cluster.client.transport, cluster, seed);
        const client = createClient(transport);
        let running = run(cluster, [members], { client });
        for (const { wanted, afterMs } of steps) {
          await cluster.advance(afterMs / 1000);
          const annotations = { members: String(wanted) };
          await cluster.client.patch(
            service,
            { namespace: 'default', name: 'web' },
            { metadata: { annotations } },
            { type: 'merge' },
          );
          // A simulated crash: the controller stops at its current action.
          void running.stop();
          running = run(cluster, [members], { client });
        }
        transport.calm();
        await cluster.advance(60);
        const wanted = steps.at(-1)?.wanted ?? 3;
        assert.equal((await membersIn(cluster)).length, wanted);
        await running.stop();
        await cluster.close();
      },
    ),
    { numRuns: 15 },
  );
});

/** A transport with delayed watch events of members. */
function withDelayedWatches({ request, watch }: Transport, { clock }: Cluster): Transport {
  return {
    request,
    async *watch(asked) {
      for await (const each of watch(asked)) {
        if (asked.path.endsWith('/configmaps')) await new Promise<void>((resolve) => clock.setTimer(700, resolve));
        yield each;
      }
    },
  };
}

/** Returns the maximum number of members within a minute through a transport. */
async function maxMembers(wanted: number, reach: (transport: Transport, cluster: Cluster) => Transport) {
  const cluster = await startCluster();
  let most = 0;
  await cluster.client.create(service, makeSet('web', wanted));
  const running = run(cluster, [members], { client: createClient(reach(cluster.client.transport, cluster)) });
  for (let look = 0; look < 300; look++) {
    await cluster.advance(0.2);
    most = Math.max(most, (await membersIn(cluster)).length);
  }
  await running.stop();
  await cluster.close();
  return most;
}

test('a controller with slow caches creates no more than desired', async () => {
  assert.equal(await maxMembers(8, withDelayedWatches), 8);
});

/** A transport that loses every other response to a create. */
function withLostResponses({ request, watch }: Transport): Transport {
  let creations = 0;
  return {
    watch,
    async request(asked) {
      const answer = await request(asked);
      const isCreation = asked.method === 'POST' && asked.path.endsWith('/configmaps');
      if (isCreation && creations++ % 2 === 0) throw new TransportError('no answer', { wasSent: true });
      return answer;
    },
  };
}

test('a controller with lost responses and slow caches creates no more than desired', async () => {
  for (const wanted of [1, 5]) {
    const most = await maxMembers(wanted, (transport, cluster) =>
      withDelayedWatches(withLostResponses(transport), cluster),
    );
    assert.equal(most, wanted);
  }
});

test('a finalizer keeps an object until the controller has cleaned up', async () => {
  const finalizer = 'example.com/tidy';
  const cleaned: string[] = [];
  const tidy = defineController({
    name: 'tidy',
    for: configMap,
    observe: (caches, key) => caches.of(configMap).get(key),
    decide(found) {
      if (!found.metadata.labels?.['tidy']) return { actions: [] };
      if (!isBeingDeleted(found))
        return { actions: hasFinalizer(found, finalizer) ? [] : [addFinalizer(found, finalizer)] };
      if (!hasFinalizer(found, finalizer)) return { actions: [] };
      cleaned.push(keyOf(found));
      return { actions: [removeFinalizer(found, finalizer)] };
    },
  });
  const cluster = await startCluster();
  const { client } = cluster;
  const reference = { namespace: 'default', name: 'kept' };
  await client.create(configMap, { metadata: { ...reference, labels: { tidy: 'yes' } } });
  const running = run(cluster, [tidy]);
  await cluster.advance(1);
  assert.deepEqual((await client.get(configMap, reference)).metadata.finalizers, [finalizer]);
  await client.delete(configMap, reference);
  await cluster.advance(1);
  assert.deepEqual(cleaned, ['default/kept']);
  await assert.rejects(client.get(configMap, reference), { code: 404 });
  await running.stop();
  await cluster.close();
});

test('an event of another kind enqueues the mapped keys, and a key can be requeued after a delay', async () => {
  const passes: string[] = [];
  const cluster = await startCluster();
  const { client, clock } = cluster;
  const start = clock.now();
  const follower = defineController({
    name: 'follower',
    for: service,
    watches: [watch(configMap, ({ object }) => (object.data?.['enqueues'] ? [object.data['enqueues']] : []))],
    observe: (caches, key) => (caches.of(service).get(key)?.metadata.name === 'web' ? key : undefined),
    decide(key, now) {
      passes.push(`${key} at ${Math.round((now - start) / 1000)}`);
      return { actions: [], ...(passes.length === 2 ? { requeueAfterSeconds: 30 } : {}) };
    },
  });
  await client.create(service, makeSet('web', 1));
  const running = run(cluster, [follower]);
  await cluster.advance(5);
  await client.create(configMap, { metadata: { name: 'a', namespace: 'default' }, data: { enqueues: 'default/web' } });
  await cluster.advance(100);
  assert.deepEqual(passes, ['default/web at 0', 'default/web at 5', 'default/web at 35']);
  await running.stop();
  await cluster.close();
});

test('a failed key is retried with backoff, logged and counted', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const errors: string[] = [];
  const log: Log = { info() {}, warn() {}, error: (_fields, message) => errors.push(message) };
  const registry = createMetrics();
  let attempts = 0;
  const faulty = defineController({
    name: 'faulty',
    for: service,
    observe: (caches, key) => (key === 'default/web' ? caches.of(service).get(key) : undefined),
    decide(found) {
      if (++attempts < 4) throw new Error('not yet');
      return {
        actions: found.metadata.labels?.['done'] ? [] : [patch(found, { metadata: { labels: { done: 'yes' } } })],
      };
    },
  });
  await client.create(service, makeSet('web', 1));
  const stop = new AbortController();
  const metrics = createControllerMetrics(registry);
  const done = runControllers([faulty], { client, clock, random, log, metrics }, stop.signal);
  await cluster.advance(1);
  assert.equal((await client.get(service, { namespace: 'default', name: 'web' })).metadata.labels?.['done'], 'yes');
  assert.deepEqual(errors, ['reconcile failed', 'reconcile failed', 'reconcile failed']);
  const text = registry.text();
  assert.match(text, /controller_runtime_reconcile_errors_total\{controller="faulty"\} 3/);
  assert.match(text, /workqueue_retries_total\{name="faulty",controller="faulty"\} 3/);
  assert.match(text, /workqueue_depth\{name="faulty",controller="faulty"\} 0/);
  stop.abort();
  await done;
  await cluster.close();
});

test('fallback actions run if the actions had no effect', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const impossible = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'Not A Name', namespace: 'default' } };
  const stubborn = defineController({
    name: 'stubborn',
    for: service,
    uses: [configMap],
    observe: (caches, key) => (key === 'default/web' ? caches.of(service).get(key) : undefined),
    decide: (found) => ({
      actions: [create(impossible)],
      fallbackActions: [patch(found, { metadata: { labels: { tried: 'yes' } } })],
    }),
  });
  await client.create(service, makeSet('web', 1));
  const stop = new AbortController();
  const done = runControllers([stubborn], { client, clock, random }, stop.signal);
  await cluster.advance(1);
  assert.equal((await client.get(service, { namespace: 'default', name: 'web' })).metadata.labels?.['tried'], 'yes');
  stop.abort();
  await done;
  await cluster.close();
});

test('a controller that is killed after any number of requests and restarted completes its work', async () => {
  for (let lives = 0; lives < 14; lives++) {
    const cluster = await startCluster();
    await cluster.client.create(service, makeSet('web', 5));
    const { transport } = cluster.client;
    let left = lives;
    // A killed process sends no requests and receives no responses.
    const dying = createClient({
      watch: transport.watch,
      request: (request) =>
        request.method === 'GET' || left-- > 0 ? transport.request(request) : new Promise(() => {}),
    });
    const stop = new AbortController();
    const { clock, random } = cluster;
    const killed = runControllers([members], { client: dying, clock, random, gracePeriodMs: 0 }, stop.signal);
    await cluster.advance(2);
    stop.abort();
    await cluster.advance(1);
    await killed;
    const running = run(cluster, [members]);
    await cluster.advance(5);
    const { status } = await cluster.client.get(service, { namespace: 'default', name: 'web' });
    assert.deepEqual([(await membersIn(cluster)).length, status?.conditions?.[0]?.message], [5, 'There are 5']);
    await running.stop();
    await cluster.close();
  }
});

test('one of two replicas works, and the other takes over when it stops', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const registry = createMetrics();
  const replica = (identity: string) => {
    const stop = new AbortController();
    const leaderElection = { namespace: 'default', name: 'members', identity };
    const counted = identity === 'first' ? { metrics: createControllerMetrics(registry) } : {};
    const done = runControllers([members], { client, clock, random, leaderElection, ...counted }, stop.signal);
    return { stop: () => stop.abort(), done };
  };
  const first = replica('first');
  await cluster.advance(1);
  const second = replica('second');
  await client.create(service, makeSet('web', 2));
  await cluster.advance(10);
  assert.equal((await membersIn(cluster)).length, 2);
  assert.match(registry.text(), /leader_election_master_status\{name="members"\} 1/);
  first.stop();
  await cluster.advance(5);
  await first.done;
  assert.match(registry.text(), /leader_election_master_status\{name="members"\} 0/);
  const { items } = await client.list(event, { fieldSelector: 'involvedObject.kind=Lease' });
  assert.deepEqual(
    items.map(({ message, reason }) => `${reason}: ${message}`).sort(),
    ['first became leader', 'first stopped leading', 'second became leader'].map(
      (messages) => `LeaderElection: ${messages}`,
    ),
  );
  await client.create(service, makeSet('other', 2));
  await cluster.advance(1);
  assert.equal((await membersIn(cluster)).length, 4);
  await client.patch(
    lease,
    { namespace: 'default', name: 'members' },
    { spec: { holderIdentity: 'thief' } },
    { type: 'merge' },
  );
  const lost = assert.rejects(second.done, LeadershipLostError);
  await cluster.advance(5);
  await lost;
  await cluster.close();
});

test('a controller stops soon even if its server is unreachable', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const { transport } = client;
  let isGone = false;
  const request: Transport['request'] = (asked) =>
    isGone ? Promise.reject(new Error('connection refused')) : transport.request(asked);
  const stop = new AbortController();
  const leaderElection = { namespace: 'default', name: 'members', identity: 'first' };
  const bereft = createClient({ request, watch: transport.watch });
  const done = runControllers([members], { client: bereft, clock, random, leaderElection }, stop.signal);
  await client.create(service, makeSet('web', 2));
  await cluster.advance(5);
  assert.equal((await membersIn(cluster)).length, 2);
  isGone = true;
  await client.create(service, makeSet('other', 2));
  await cluster.advance(1);
  const stoppedAt = clock.now();
  stop.abort();
  let tookMs: number | undefined;
  void done.then(() => {
    tookMs = clock.now() - stoppedAt;
  });
  await cluster.advance(120);
  await done;
  assert.ok(tookMs !== undefined && tookMs <= 15_000, `it took ${tookMs} ms`);
  await cluster.close();
});

/** A transport whose ConfigMap watches send nothing. */
function withSilentWatches({ request, watch }: Transport): Transport {
  async function* silence(signal: AbortSignal | undefined): AsyncGenerator<never> {
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }));
  }
  return { request, watch: (asked) => (asked.path.endsWith('/configmaps') ? silence(asked.signal) : watch(asked)) };
}

test('the first leader lists each kind once, and a standby once more when it becomes leader', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const replica = (identity: string) => {
    const listed: string[] = [];
    const { transport } = client;
    const listening: Transport = {
      ...transport,
      request(request) {
        if (request.method === 'GET' && /\/(?:services|configmaps)$/.test(request.path)) listed.push(request.path);
        return transport.request(request);
      },
    };
    const stop = new AbortController();
    const leaderElection = { namespace: 'default', name: 'members', identity };
    const own = createClient(listening);
    const done = runControllers([members], { client: own, clock, random, leaderElection }, stop.signal);
    return { listed, stop: () => stop.abort(), done };
  };
  const first = replica('first');
  await cluster.advance(1);
  const once = [...new Set(first.listed)];
  assert.equal(once.length, 2);
  assert.deepEqual(first.listed.toSorted(), once.toSorted());
  const second = replica('second');
  await cluster.advance(1);
  assert.deepEqual(second.listed.toSorted(), once.toSorted());
  first.stop();
  await cluster.advance(5);
  await first.done;
  assert.deepEqual(second.listed.toSorted(), [...once, ...once].toSorted());
  second.stop();
  await cluster.advance(1);
  await second.done;
  await cluster.close();
});

test('a new leader does not repeat the writes of the last one, although its watch lags', async () => {
  const cluster = await startCluster();
  const { client, clock, random } = cluster;
  const replica = (identity: string, own: Client) => {
    const stop = new AbortController();
    const leaderElection = { namespace: 'default', name: 'members', identity };
    const done = runControllers([members], { client: own, clock, random, leaderElection }, stop.signal);
    return { stop: () => stop.abort(), done };
  };
  const first = replica('first', client);
  await cluster.advance(1);
  const second = replica('second', createClient(withSilentWatches(client.transport)));
  await cluster.advance(1);
  await client.create(service, makeSet('web', 3));
  await cluster.advance(1);
  first.stop();
  await cluster.advance(30);
  await first.done;
  assert.equal((await client.get(lease, { namespace: 'default', name: 'members' })).spec?.holderIdentity, 'second');
  assert.equal((await membersIn(cluster)).length, 3);
  second.stop();
  await cluster.advance(0);
  await second.done;
  await cluster.close();
});

test('a controller waits for the cache of an undeclared kind', async () => {
  const cluster = await startCluster();
  const seen: number[] = [];
  const curious = defineController({
    name: 'curious',
    for: service,
    observe: (caches) => ({ accounts: caches.of(serviceAccount).list().length }),
    decide({ accounts }) {
      seen.push(accounts);
      return { actions: [] };
    },
  });
  await cluster.client.create(serviceAccount, { metadata: { name: 'someone', namespace: 'default' } });
  await cluster.client.create(service, makeSet('web', 1));
  const running = run(cluster, [curious]);
  await cluster.advance(1);
  assert.deepEqual(seen, [1]);
  await running.stop();
  await cluster.close();
});

test('initial keys are reconciled at the start without an object', async () => {
  const cluster = await startCluster();
  const rounds: number[] = [];
  const collector = defineController({
    name: 'collector',
    for: configMap,
    predicate: () => false,
    initialKeys: ['everything'],
    observe: (caches) => caches.of(configMap).list(),
    decide(found) {
      rounds.push(found.length);
      return { actions: [], requeueAfterSeconds: 20 };
    },
  });
  const running = run(cluster, [collector]);
  await cluster.advance(50);
  assert.equal(rounds.length, 3);
  await running.stop();
  await cluster.close();
});
