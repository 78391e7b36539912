import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterOf, nodeOf, podOf } from '../testing/fixtures.ts';
import { scoresBy } from '../testing/schedule-result.ts';
import { balance } from './resource-scores.ts';

const mebibyte = 1024 * 1024;

const fits: readonly [cpu: string, memory: string, score: number][] = [
  ['1', '2Gi', 75],
  ['3', '1Gi', 56],
  ['4', '8Gi', 0],
  ['0', '0', 100],
];
for (const [cpu, memory, score] of fits) {
  test(`LeastAllocated: with ${cpu} of 4 CPUs and ${memory} of 8Gi requested a node scores ${score}`, () => {
    const cluster = clusterOf([nodeOf('n')]);
    assert.deepEqual(scoresBy('NodeResourcesFit', podOf('p', { requests: { cpu, memory } }), { cluster }), {
      n: score,
    });
  });
}

test('a Pod without requests counts as 100m and 200Mi', () => {
  const cluster = clusterOf([nodeOf('n', { allocatable: { cpu: '1', memory: '1000Mi' } })], [podOf('x', { on: 'n' })]);
  assert.deepEqual(scoresBy('NodeResourcesFit', podOf('p'), { cluster }), { n: Math.trunc((80 + 60) / 2) });
});

test('MostAllocated prefers fuller nodes', () => {
  const scoringStrategy = { type: 'MostAllocated' as const };
  const setting = {
    cluster: clusterOf([nodeOf('n')]),
    profile: { pluginConfig: { NodeResourcesFit: { scoringStrategy } } },
  };
  assert.deepEqual(scoresBy('NodeResourcesFit', podOf('p', { requests: { cpu: '3', memory: '1Gi' } }), setting), {
    n: Math.trunc((75 + 12) / 2),
  });
});

test('RequestedToCapacityRatio scores by a shape', () => {
  const shape = [
    { utilization: 0, score: 0 },
    { utilization: 100, score: 10 },
  ];
  const resources = [{ name: 'cpu', weight: 1 }];
  const scoringStrategy = { type: 'RequestedToCapacityRatio' as const, resources, requestedToCapacityRatio: { shape } };
  const setting = {
    cluster: clusterOf([nodeOf('n')]),
    profile: { pluginConfig: { NodeResourcesFit: { scoringStrategy } } },
  };
  assert.deepEqual(scoresBy('NodeResourcesFit', podOf('p', { requests: { cpu: '1' } }), setting), { n: 25 });
});

test('an insufficient resource scores 0', () => {
  const cluster = clusterOf([nodeOf('n')], [podOf('x', { on: 'n', requests: { cpu: '4', memory: '4Gi' } })]);
  assert.deepEqual(scoresBy('NodeResourcesFit', podOf('p', { requests: { cpu: '1', memory: '0' } }), { cluster }), {
    n: Math.trunc((0 + 50) / 2),
  });
});

const threeResources = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
  { name: 'example.com/gpu', weight: 2 },
];

test('devices count only for Pods that request them, by their weight', () => {
  const scoringStrategy = { type: 'LeastAllocated' as const, resources: threeResources };
  const setting = {
    cluster: clusterOf([nodeOf('n', { allocatable: { 'example.com/gpu': '4' } })]),
    profile: { pluginConfig: { NodeResourcesFit: { scoringStrategy } } },
  };
  const scoreOf = (requests: { readonly [name: string]: string }) =>
    scoresBy('NodeResourcesFit', podOf('p', { requests }), setting)?.n;
  const usual = { cpu: '1', memory: '2Gi' };
  assert.equal(scoreOf(usual), 75);
  assert.equal(scoreOf({ ...usual, 'example.com/gpu': '3' }), Math.trunc((75 + 75 + 2 * 25) / 4));
});

test('three resources are balanced by their standard deviation', () => {
  const setting = {
    cluster: clusterOf([nodeOf('n', { allocatable: { 'example.com/gpu': '4' } })]),
    profile: { pluginConfig: { NodeResourcesBalancedAllocation: { resources: threeResources } } },
  };
  const requests = { cpu: '1', memory: '4Gi', 'example.com/gpu': '3' };
  assert.deepEqual(scoresBy('NodeResourcesBalancedAllocation', podOf('p', { requests }), setting), {
    n: balance([0.25, 0.5, 0.75]),
  });
});

const balances: readonly [fractions: readonly number[], score: number][] = [
  [[0.75, 0.125], 68],
  [[0.5, 0.5], 100],
  [[1, 0], 50],
  [[0.3], 100],
  [[], 100],
  [[0.1, 0.5, 0.9], 67],
];
for (const [fractions, score] of balances) {
  test(`fractions of ${fractions.join(', ') || 'nothing'} have a balance of ${score}`, () => {
    assert.equal(balance(fractions), score);
  });
}

test('a Pod without requests is not scored for balance', () => {
  assert.equal(
    scoresBy('NodeResourcesBalancedAllocation', podOf('p'), { cluster: clusterOf([nodeOf('n')]) }),
    undefined,
  );
});

test('preferred nodes are scored by the weights of matching terms, relative to the highest', () => {
  const preference = (weight: number, value: string) => ({
    weight,
    preference: { matchExpressions: [{ key: 'disk', operator: 'In' as const, values: [value] }] },
  });
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [preference(80, 'ssd'), preference(20, 'hdd')] },
  };
  const cluster = clusterOf([
    nodeOf('a', { labels: { disk: 'ssd' } }),
    nodeOf('b', { labels: { disk: 'hdd' } }),
    nodeOf('c'),
  ]);
  assert.deepEqual(scoresBy('NodeAffinity', podOf('p', { affinity }), { cluster }), { a: 100, b: 25, c: 0 });
  assert.equal(scoresBy('NodeAffinity', podOf('p'), { cluster }), undefined);
});

test('nodes with fewer PreferNoSchedule taints score higher', () => {
  const taint = (key: string) => ({ key, effect: 'PreferNoSchedule' as const });
  const cluster = clusterOf([
    nodeOf('a'),
    nodeOf('b', { taints: [taint('x')] }),
    nodeOf('c', { taints: [taint('x'), taint('y')] }),
  ]);
  assert.deepEqual(scoresBy('TaintToleration', podOf('p'), { cluster }), { a: 100, b: 50, c: 0 });
  const tolerations = [{ key: 'x', operator: 'Exists' as const }];
  assert.deepEqual(scoresBy('TaintToleration', podOf('p', { tolerations }), { cluster }), { a: 100, b: 100, c: 0 });
  assert.deepEqual(scoresBy('TaintToleration', podOf('p'), { cluster: clusterOf([nodeOf('a')]) }), { a: 100 });
});

test('a node with the image scores higher, more for larger and more widespread images', () => {
  const images = [{ names: ['app:latest'], sizeBytes: 250 * mebibyte }];
  const cluster = clusterOf([nodeOf('a', { images }), nodeOf('b')]);
  assert.deepEqual(scoresBy('ImageLocality', podOf('p', { image: 'app' }), { cluster }), { a: 10, b: 0 });
  assert.deepEqual(scoresBy('ImageLocality', podOf('p', { image: 'app:latest' }), { cluster }), { a: 10, b: 0 });
  assert.equal(scoresBy('ImageLocality', podOf('p', { image: 'app:2' }), { cluster }), undefined);
  cluster.setNode(nodeOf('b', { images }));
  assert.deepEqual(scoresBy('ImageLocality', podOf('p'), { cluster }), { a: 23, b: 23 });
  cluster.removeNode('a');
  assert.deepEqual(scoresBy('ImageLocality', podOf('p'), { cluster }), { b: 23 });
});

const sizes: readonly (readonly [mebibytes: number, containers: number, score: number])[] = [
  [22, 1, 0],
  [23, 1, 0],
  [1000, 1, 100],
  [5000, 1, 100],
  [1000, 2, Math.trunc((100 * (1000 - 23)) / (2000 - 23))],
];
for (const [mebibytes, containers, score] of sizes) {
  test(`an image of ${mebibytes} MiB scores ${score} for a Pod of ${containers} containers`, () => {
    const images = [{ names: ['app:latest'], sizeBytes: mebibytes * mebibyte }];
    const pod = podOf('p');
    const more = Array.from({ length: containers - 1 }, (_, index) => ({ name: `c${index}`, image: 'absent:1' }));
    const spec = { ...pod.spec!, containers: [...pod.spec!.containers, ...more] };
    const cluster = clusterOf([nodeOf('n', { images })]);
    assert.equal(scoresBy('ImageLocality', { ...pod, spec }, { cluster })?.n, score);
  });
}

test('images of init containers count as well, and names without a registry are unchanged', () => {
  const images = [{ names: ['docker.io/library/app:latest', 'tool:1'], sizeBytes: 1000 * mebibyte }];
  const cluster = clusterOf([nodeOf('n', { images })]);
  assert.equal(scoresBy('ImageLocality', podOf('p', { image: 'app' }), { cluster }), undefined);
  const initContainers = [{ name: 'i', image: 'tool:1' }];
  const scores = scoresBy('ImageLocality', podOf('p', { image: 'app', initContainers }), { cluster });
  assert.deepEqual(scores, { n: Math.trunc((100 * (1000 - 23)) / (2000 - 23)) });
});
