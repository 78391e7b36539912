import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { makeContainer, makePod } from '../fixtures.ts';
import { startTestNode } from '../testing/test-node.ts';
import { defaultThresholds, diskViolation, rankForEviction, shortagesOf } from './eviction.ts';

const mebibytes = (count: number) => count * 2 ** 20;

const shortageRows: readonly (readonly [name: string, threshold: string, available: number, isShort: boolean])[] = [
  ['an amount below the threshold is a shortage', '100Mi', mebibytes(99), true],
  ['an amount at the threshold is enough', '100Mi', mebibytes(100), false],
  ['a share below the threshold is a shortage', '10%', mebibytes(99), true],
  ['a share at the threshold is enough', '10%', mebibytes(100), false],
];
for (const [name, value, available, isShort] of shortageRows) {
  test(name, () => {
    const supplies = { 'memory.available': { available, capacity: mebibytes(1000) } };
    assert.equal(shortagesOf([{ signal: 'memory.available', value }], supplies).length > 0, isShort);
  });
}

test('default thresholds detect shortages', () => {
  assert.deepEqual(
    defaultThresholds.map(({ signal, value }) => `${signal}<${value}`),
    [
      'memory.available<100Mi',
      'nodefs.available<10%',
      'nodefs.inodesFree<5%',
      'imagefs.available<15%',
      'imagefs.inodesFree<5%',
    ],
  );
});

test('memory shortage comes first', () => {
  const short = { available: 0, capacity: 100 };
  const shortages = shortagesOf(
    [
      { signal: 'pid.available', value: '10%' },
      { signal: 'nodefs.available', value: '10%' },
      { signal: 'memory.available', value: '10%' },
    ],
    { 'pid.available': short, 'nodefs.available': short, 'memory.available': short },
  );
  assert.deepEqual(
    shortages.map(({ pressure, resource }) => `${pressure} ${resource}`),
    ['MemoryPressure memory', 'PIDPressure pids', 'DiskPressure ephemeral-storage'],
  );
});

function consumer(name: string, used: number, { request, priority }: { request?: string; priority?: number } = {}) {
  const resources = request === undefined ? {} : { resources: { requests: { memory: request } } };
  const pod = makePod({
    metadata: { name },
    containers: [makeContainer('c', resources)],
    ...(priority === undefined ? {} : { priority }),
  });
  return { pod, usage: new Map([['c', mebibytes(used)]]) };
}

test('Pods above their requests are evicted first, then by priority, then by excess', () => {
  const all = [
    consumer('within', 500, { request: '600Mi' }),
    consumer('weighty', 400, { priority: 10 }),
    consumer('a little above', 100),
    consumer('far above', 300),
    consumer('critical', 900, { priority: 2_000_000_000 }),
  ];
  assert.deepEqual(
    rankForEviction(all, 'memory').map(({ pod }) => pod.metadata.name),
    ['far above', 'a little above', 'weighty', 'within'],
  );
});

const diskRows: readonly (readonly [name: string, used: { c?: number; v?: number }, expected: string | undefined])[] = [
  ['a Pod within its limits is not evicted', { c: 1, v: 1 }, undefined],
  [
    'an emptyDir above its size limit is a violation',
    { v: 3 },
    'Usage of EmptyDir volume "v" exceeds the limit "2Mi". ',
  ],
  [
    'a container above its storage limit is a violation',
    { c: 5 },
    'Container c exceeded its local ephemeral storage limit "4Mi". ',
  ],
  [
    'a Pod above the total limit of its containers is a violation',
    { c: 3, v: 2 },
    'Pod ephemeral local storage usage exceeds the total limit of containers 4Mi. ',
  ],
];
for (const [name, { c = 0, v = 0 }, expected] of diskRows) {
  test(name, () => {
    const pod = makePod({
      volumes: [{ name: 'v', emptyDir: { sizeLimit: '2Mi' } }],
      containers: [makeContainer('c', { resources: { limits: { 'ephemeral-storage': '4Mi' } } })],
    });
    const usage = { containers: new Map([['c', mebibytes(c)]]), emptyDirs: new Map([['v', mebibytes(v)]]) };
    assert.equal(diskViolation(pod, usage), expected);
  });
}

test('under PID pressure Pods are evicted by priority, then by process count', () => {
  const of = (name: string, processes: number, priority = 0) => ({
    pod: makePod({ metadata: { name }, priority }),
    usage: new Map([['', processes]]),
  });
  assert.deepEqual(
    rankForEviction([of('few', 1), of('weighty', 99, 10), of('many', 50)], 'pids').map(({ pod }) => pod.metadata.name),
    ['many', 'few', 'weighty'],
  );
});

test('a soft threshold evicts after its grace period, with the grace period of the Pod', async () => {
  await using node = await startTestNode({
    kubelet: {
      capacity: { memory: '1Gi' },
      evictionSoft: [{ signal: 'memory.available', value: '300Mi', patienceSeconds: 30 }],
      evictionMaxPodGraceSeconds: 20,
    },
  });
  await node.create({ annotations: { 'sim.kruise.io/memory': '800Mi', 'sim.kruise.io/stop-latency': 'never' } });
  await node.waitUntil('web', (found) => found?.status?.phase === 'Running');
  const startedAt = node.clock.now();
  await node.advance(25);
  const { conditions } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
  assert.equal(findCondition(conditions, 'MemoryPressure')?.status, 'True');
  assert.equal((await node.get('web')).status?.phase, 'Running');
  await node.waitUntil('web', (found) => found?.status?.reason === 'Evicted');
  const secondsTaken = (node.clock.now() - startedAt) / 1000;
  assert.ok(secondsTaken >= 50 && secondsTaken <= 62, `${secondsTaken} s`);
  assert.ok((await node.events('node-1')).includes('Warning EvictionThresholdMet: Attempting to reclaim memory'));
});

test('a node under disk pressure removes unused images first', async () => {
  await using node = await startTestNode({
    kubelet: {
      capacity: { 'ephemeral-storage': '150M' },
      evictionHard: [{ signal: 'nodefs.available', value: '20M' }],
    },
  });
  await node.create({});
  await node.waitUntil('web', (found) => found?.status?.phase === 'Running');
  await node.advance(30);
  assert.equal((await node.get('web')).status?.phase, 'Running');
  const { images } = await node.runtime.listImages({});
  assert.deepEqual(
    images.flatMap(({ repoTags }) => repoTags),
    ['docker.io/library/nginx:1.25'],
  );
  assert.ok(
    (await node.events('node-1')).includes('Warning EvictionThresholdMet: Attempting to reclaim ephemeral-storage'),
  );
});

test('a node under memory pressure evicts a Pod and admits no more BestEffort Pods', async () => {
  await using node = await startTestNode({ kubelet: { capacity: { memory: '1Gi' } } });
  await node.create({ annotations: { 'sim.kruise.io/memory': '1000Mi' } });
  const pod = await node.waitUntil('web', (found) => found?.status?.phase === 'Failed');
  assert.equal(pod?.status?.reason, 'Evicted');
  const message =
    'The node was low on resource: memory. Threshold quantity: 100Mi, available: 24Mi. Container c was using 1000Mi, request is 0, has larger consumption of memory. ';
  assert.equal(pod?.status?.message, message);
  const { status, reason } = findCondition(pod?.status?.conditions, 'DisruptionTarget')!;
  assert.deepEqual([status, reason], ['True', 'TerminationByKubelet']);
  assert.ok((await node.events('web')).includes(`Warning Evicted: ${message}`));
  await node.advance(1);
  const pressure = async () =>
    findCondition((await node.server.client.get(nodeKind, { name: 'node-1' })).status?.conditions, 'MemoryPressure');
  assert.deepEqual([(await pressure())?.status, (await pressure())?.reason], ['True', 'KubeletHasInsufficientMemory']);

  await node.create({ name: 'next' });
  const next = await node.waitUntil('next', (found) => found?.status?.phase === 'Failed');
  assert.deepEqual(
    [next?.status?.reason, next?.status?.message],
    ['Evicted', 'Pod was rejected: The node had condition: [MemoryPressure]. '],
  );
  await node.advance(320);
  assert.equal((await pressure())?.status, 'False');
});

test('a Pod whose emptyDir exceeds its size limit is evicted', async () => {
  await using node = await startTestNode();
  await node.create({
    volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Ki' } }],
    containers: [
      {
        name: 'c',
        image: 'busybox:1.36',
        command: ['sh', '-c', 'seq 1 1000 > /v/numbers; sleep infinity'],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
  });
  const pod = await node.waitUntil('web', (found) => found?.status?.phase === 'Failed');
  assert.deepEqual(
    [pod?.status?.reason, pod?.status?.message],
    ['Evicted', 'Usage of EmptyDir volume "v" exceeds the limit "1Ki". '],
  );
  assert.equal(findCondition(pod?.status?.conditions, 'DisruptionTarget'), undefined);
});
