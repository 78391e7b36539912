import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lease } from '@kruise/api/coordination/lease';
import { createClient } from '@kruise/client/client';
import { type LeadershipEnd, runAsLeader } from '@kruise/client/leader-election';
import type { ApiRequest, Transport } from '@kruise/client/transport';
import { internalError } from '@kruise/machinery/status';
import type { Clock } from '@kruise/values/clock';
import { pick, seededRandom } from '@kruise/values/random';
import fc from 'fast-check';
import { type Cluster, startCluster } from './cluster.ts';

const reference = { namespace: 'default', name: 'the-lease' };

/** A candidate with its log and its end. */
function candidate(
  cluster: Cluster,
  identity: string,
  { transport, clock }: { transport?: Transport; clock?: Clock } = {},
) {
  const stop = new AbortController();
  const log: string[] = [];
  const client = transport ? createClient(transport) : cluster.client;
  let finish = () => {};
  let end: LeadershipEnd | undefined;
  let isLeading = false;
  const done = runAsLeader(
    client,
    clock ?? cluster.clock,
    seededRandom(identity),
    { ...reference, identity, onNewLeader: (leader) => log.push(`sees ${leader}`) },
    async (signal) => {
      isLeading = true;
      log.push('leads');
      await new Promise<void>((resolve) => {
        finish = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      isLeading = false;
    },
    stop.signal,
  ).then((ended) => {
    end = ended;
    log.push(ended);
  });
  return {
    log,
    done,
    stop: () => stop.abort(),
    finish: () => finish(),
    isLeading: () => isLeading,
    end: () => end,
  };
}

test('one of two candidates leads, and the other takes over immediately after a graceful stop', async () => {
  const cluster = await startCluster();
  const first = candidate(cluster, 'first');
  await cluster.advance(1);
  const second = candidate(cluster, 'second');
  await cluster.advance(60);
  assert.deepEqual([first.isLeading(), second.isLeading()], [true, false]);
  assert.deepEqual(second.log, ['sees first']);
  first.stop();
  await cluster.advance(0);
  assert.equal((await cluster.client.get(lease, reference)).spec?.holderIdentity, '');
  await cluster.advance(5);
  assert.deepEqual(first.log, ['sees first', 'leads', 'stopped']);
  assert.deepEqual([first.isLeading(), second.isLeading()], [false, true]);
  const { spec } = await cluster.client.get(lease, reference);
  assert.equal(spec?.holderIdentity, 'second');
  assert.equal(spec?.leaseTransitions, 1);
  assert.equal(spec?.leaseDurationSeconds, 15);
  second.stop();
  await cluster.advance(0);
  await cluster.close();
});

test('a lease is renewed as long as its holder leads', async () => {
  const cluster = await startCluster();
  const only = candidate(cluster, 'only');
  await cluster.advance(600);
  const { spec } = await cluster.client.get(lease, reference);
  assert.equal(spec?.acquireTime, '2026-01-01T00:00:00.000000Z');
  assert.ok(Date.parse(spec?.renewTime ?? '') >= cluster.clock.now() - 3000);
  assert.equal(spec?.leaseTransitions, 0);
  only.stop();
  await cluster.advance(0);
  await cluster.close();
});

/** A transport with a partition switch: requests then hang forever, regardless of their signal. */
function withPartition(transport: Transport) {
  let isCut = false;
  return {
    cut: () => {
      isCut = true;
    },
    watch: transport.watch,
    request: (request: ApiRequest) => (isCut ? new Promise<never>(() => {}) : transport.request(request)),
  };
}

test('a leader that cannot reach the server stops before another takes over', async () => {
  const cluster = await startCluster();
  const transport = withPartition(cluster.client.transport);
  const first = candidate(cluster, 'first', { transport });
  await cluster.advance(1);
  const second = candidate(cluster, 'second');
  transport.cut();
  await cluster.advance(10);
  assert.deepEqual([first.end(), second.isLeading()], ['lost', false]);
  await cluster.advance(15);
  assert.equal(second.isLeading(), true);
  second.stop();
  await cluster.advance(0);
  await cluster.close();
});

test('a leader that loses its lease stops', async () => {
  const cluster = await startCluster();
  const first = candidate(cluster, 'first');
  await cluster.advance(1);
  await cluster.client.patch(lease, reference, { spec: { holderIdentity: 'thief' } }, { type: 'merge' });
  await cluster.advance(3);
  assert.deepEqual(first.log, ['sees first', 'leads', 'sees thief', 'lost']);
  assert.equal((await cluster.client.get(lease, reference)).spec?.holderIdentity, 'thief');
  await cluster.close();
});

test('work that ends by itself releases the lease', async () => {
  const cluster = await startCluster();
  const first = candidate(cluster, 'first');
  await cluster.advance(1);
  first.finish();
  await first.done;
  assert.equal(first.end(), 'stopped');
  assert.equal((await cluster.client.get(lease, reference)).spec?.holderIdentity, '');
  await cluster.close();
});

test('a leader that stops slowly keeps the lease until it has stopped', async () => {
  const cluster = await startCluster();
  const stop = new AbortController();
  let finish = () => {};
  const ended = runAsLeader(
    cluster.client,
    cluster.clock,
    cluster.random,
    { ...reference, identity: 'slow' },
    () => new Promise<void>((resolve) => (finish = resolve)),
    stop.signal,
  );
  await cluster.advance(1);
  const second = candidate(cluster, 'second');
  stop.abort();
  await cluster.advance(60);
  assert.equal(second.isLeading(), false);
  finish();
  await cluster.advance(10);
  assert.equal(await ended, 'stopped');
  assert.equal(second.isLeading(), true);
  second.stop();
  await cluster.advance(0);
  await cluster.close();
});

test('invalid lease durations are rejected', async () => {
  const cluster = await startCluster();
  const impossible = { ...reference, identity: 'a', leaseDurationSeconds: 5, renewDeadlineSeconds: 10 };
  await assert.rejects(
    runAsLeader(
      cluster.client,
      cluster.clock,
      cluster.random,
      impossible,
      async () => {},
      new AbortController().signal,
    ),
    RangeError,
  );
  await cluster.close();
});

test('a clock that is set forward acquires no lease early', async () => {
  const cluster = await startCluster();
  const transport = withPartition(cluster.client.transport);
  const first = candidate(cluster, 'first', { transport });
  await cluster.advance(1);
  let aheadMs = 0;
  const clock = { ...cluster.clock, now: () => cluster.clock.now() + aheadMs };
  const second = candidate(cluster, 'second', { clock });
  await cluster.advance(0);
  transport.cut();
  aheadMs = 3_600_000;
  await cluster.advance(5);
  assert.deepEqual([first.isLeading(), second.isLeading()], [true, false]);
  await cluster.advance(20);
  assert.deepEqual([first.isLeading(), second.isLeading()], [false, true]);
  second.stop();
  await cluster.advance(0);
  await cluster.close();
});

test('at most one candidate leads, regardless of clocks and faults', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.integer({ min: -1e9, max: 1e9 }), { minLength: 2, maxLength: 4 }),
      async (seed, offsets) => {
        const cluster = await startCluster();
        const random = seededRandom(seed);
        const transport: Transport = {
          watch: cluster.client.transport.watch,
          async request(request) {
            const trouble = pick(random, ['none', 'none', 'none', 'refused', 'cut', 'late', 'hang']);
            if (trouble === 'refused') throw internalError('no');
            if (trouble === 'hang') return new Promise(() => {});
            const delayMs = random.next() * 8000;
            if (trouble === 'late') await new Promise<void>((resolve) => cluster.clock.setTimer(delayMs, resolve));
            const answer = await cluster.client.transport.request(request);
            if (trouble === 'late') await new Promise<void>((resolve) => cluster.clock.setTimer(delayMs, resolve));
            if (trouble === 'cut') throw new Error('the connection broke');
            return answer;
          },
        };
        const running = new Map<number, ReturnType<typeof candidate>>();
        const aheadMs = [...offsets];
        const start = (index: number) => {
          const clock = { ...cluster.clock, now: () => cluster.clock.now() + aheadMs[index]! };
          running.set(index, candidate(cluster, `candidate-${index}`, { transport, clock }));
        };
        for (const index of offsets.keys()) start(index);
        let ledSeconds = 0;
        for (let second = 0; second < 300; second++) {
          // Clocks are adjusted at random times.
          if (second % 7 === 0) aheadMs[Math.floor(random.next() * offsets.length)] = pick(random, offsets);
          await cluster.advance(1);
          const leading = [...running.values()].filter((each) => each.isLeading());
          assert.ok(leading.length <= 1, `${leading.length} lead in second ${second}`);
          ledSeconds += leading.length;
          for (const [index, each] of running) if (each.end()) start(index);
        }
        assert.ok(ledSeconds > 0);
        for (const each of running.values()) each.stop();
        await cluster.advance(0);
        await cluster.close();
      },
    ),
    { numRuns: 10 },
  );
});
