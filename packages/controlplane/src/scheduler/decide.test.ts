import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity } from '@kruise/api/core/affinity';
import type { Pod } from '@kruise/api/core/pod';
import { seededRandom } from '@kruise/values/random';
import fc from 'fast-check';
import { podInfoOf } from './cluster/pod-info.ts';
import { decide, feasibleNodesToFind } from './decide.ts';
import { rejectionOf } from './diagnosis.ts';
import { createEquivalenceCache } from './equivalence-cache.ts';
import { clusterOf, type NodeTraits, nodeIn, nodeOf, type PodTraits, podOf } from './testing/fixtures.ts';
import { feasibleFor, profileIn, scheduleResult } from './testing/schedule-result.ts';

const hostname = 'kubernetes.io/hostname';
const unavailable = (count: number, reasons: string) => `0/${count} nodes are available: ${reasons}.`;

test('without nodes, none is selected', () => {
  assert.equal(scheduleResult(podOf('p'), { cluster: clusterOf([]) }), 'no nodes');
});

test('reasons are counted by node and sorted as text, and a node can have several', () => {
  const cluster = clusterOf([
    nodeOf('control', { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] }),
    nodeOf('small', { allocatable: { cpu: '1', memory: '1Gi' } }),
    nodeOf('full', { allocatable: { cpu: '1', pods: '0' } }),
  ]);
  assert.equal(
    scheduleResult(podOf('p', { requests: { cpu: '2', memory: '2Gi' } }), { cluster }),
    unavailable(
      3,
      '1 Insufficient memory, 1 Too many pods, ' +
        '1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient cpu',
    ),
  );
});

test('the first filter that rejects a node is reported', () => {
  const cluster = clusterOf([nodeOf('n', { unschedulable: true, allocatable: { cpu: '1' } })]);
  assert.equal(
    scheduleResult(podOf('p', { requests: { cpu: '2' } }), { cluster }),
    unavailable(1, '1 node(s) were unschedulable'),
  );
});

const named = (...names: readonly string[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: names.map((name) => ({
          matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: [name] }],
        })),
      },
    },
  },
});

test('for a Pod with an affinity to one node, such as a daemon Pod, only that node is evaluated', () => {
  const cluster = clusterOf([nodeOf('a'), nodeOf('b', { unschedulable: true }), nodeOf('c')]);
  assert.equal(scheduleResult(podOf('p', named('c')), { cluster }), 'c');
  assert.equal(
    scheduleResult(podOf('p', named('b')), { cluster }),
    unavailable(3, "1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
  );
  assert.equal(
    scheduleResult(podOf('p', named('gone')), { cluster }),
    unavailable(3, "3 node(s) didn't satisfy plugin(s) [NodeAffinity]"),
  );
});

test('a Pod that requires two nodes at once is rejected without evaluating any', () => {
  const matchFields = ['a', 'b'].map((name) => ({ key: 'metadata.name', operator: 'In' as const, values: [name] }));
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  assert.equal(
    scheduleResult(podOf('p', { affinity }), { cluster: clusterOf([nodeOf('a'), nodeOf('b')]) }),
    unavailable(2, 'pod affinity terms conflict'),
  );
});

test('the node with the highest score is selected', () => {
  const cluster = clusterOf(
    [nodeOf('a'), nodeOf('b'), nodeOf('c')],
    [
      podOf('x', { on: 'a', requests: { cpu: '3', memory: '6Gi' } }),
      podOf('y', { on: 'c', requests: { cpu: '1', memory: '2Gi' } }),
    ],
  );
  assert.equal(scheduleResult(podOf('p', { requests: { cpu: '500m', memory: '1Gi' } }), { cluster }), 'b');
});

test('nodes with equal scores are selected at random', () => {
  const cluster = clusterOf([nodeOf('a'), nodeOf('b'), nodeOf('c')]);
  const chosen = new Map<string, number>();
  const random = seededRandom(1);
  for (let round = 0; round < 300; round++) {
    const state = { cluster, nominations: { onNode: () => [] }, random, start: 0 };
    const { decision } = decide(profileIn(), podInfoOf(podOf('p')), state);
    assert.equal(decision.type, 'placed');
    chosen.set(decision.node.name, (chosen.get(decision.node.name) ?? 0) + 1);
  }
  assert.equal(chosen.size, 3);
  for (const count of chosen.values()) assert.ok(count > 60, `a node was selected ${count} of 300 times`);
});

test('a feasible nominated node is selected regardless of scores', () => {
  const nodes = [nodeOf('good'), nodeOf('cleared', { taints: [{ key: 'slow', effect: 'PreferNoSchedule' }] })];
  const pod = podOf('p', { status: { nominatedNodeName: 'cleared' } });
  assert.equal(scheduleResult(pod, { cluster: clusterOf(nodes) }), 'cleared');
  const full = podOf('x', { on: 'cleared', requests: { cpu: '4' } });
  const wanting = podOf('p', { requests: { cpu: '1' }, status: { nominatedNodeName: 'cleared' } });
  assert.equal(scheduleResult(wanting, { cluster: clusterOf(nodes, [full]) }), 'good');
});

const wide = { requests: { cpu: '3' } };
const nominations = (on: string, pod: Pod) => ({ onNode: (name: string) => (name === on ? [podInfoOf(pod)] : []) });

test('the place of a nominated Pod is not taken by a Pod of equal or lower priority', () => {
  const cluster = clusterOf([nodeOf('n')]);
  const coming = podOf('coming', { ...wide, priority: 10 });
  for (const [priority, outcome] of [
    [5, unavailable(1, '1 Insufficient cpu')],
    [10, unavailable(1, '1 Insufficient cpu')],
    [11, 'n'],
  ] as const) {
    assert.equal(
      scheduleResult(podOf('p', { ...wide, priority }), { cluster, nominations: nominations('n', coming) }),
      outcome,
    );
  }
  assert.equal(scheduleResult(coming, { cluster, nominations: nominations('n', coming) }), 'n');
});

test('affinity to a nominated Pod is not sufficient', () => {
  const cluster = clusterOf([nodeOf('n')]);
  const coming = podOf('coming', { labels: { app: 'db' }, priority: 10 });
  const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  assert.equal(
    scheduleResult(podOf('p', { affinity }), { cluster, nominations: nominations('n', coming) }),
    unavailable(1, "1 node(s) didn't match pod affinity rules"),
  );
});

const wanted: readonly [nodes: number, percentage: number, expected: number][] = [
  [10, 0, 10],
  [99, 10, 99],
  [100, 0, 100],
  [1000, 0, 420],
  [6000, 0, 300],
  [10_000, 0, 500],
  [1000, 30, 300],
  [1000, 5, 100],
  [1000, 100, 1000],
];
for (const [nodes, percentageOfNodesToScore, expected] of wanted) {
  test(`of ${nodes} nodes, ${expected} feasible ones are enough at ${percentageOfNodesToScore || 'the default'} percent`, () => {
    assert.equal(feasibleNodesToFind({ ...profileIn(), percentageOfNodesToScore }, nodes), expected);
  });
}

const tainted = { taints: [{ key: 'k', effect: 'NoSchedule' as const }] };
const other: Pod = podOf('x', {
  on: 'n',
  labels: { app: 'web' },
  hostPorts: [{ hostPort: 80 }],
  volumes: [{ name: 'v', awsElasticBlockStore: { volumeID: 'v' } }],
});
const selector = { labelSelector: { matchLabels: { app: 'web' } } };
const antiAffinity = (term: object): Affinity => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: hostname, ...selector, ...term }],
  },
});
const spreadBy = (topologyKey: string): PodTraits => ({
  labels: { app: 'web' },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', minDomains: 2, ...selector },
  ],
});
const helps: readonly [plugin: string, pod: PodTraits, node: NodeTraits, isPreemptable: boolean][] = [
  ['NodeUnschedulable', {}, { unschedulable: true }, false],
  ['NodeName', { nodeName: 'other' }, {}, false],
  ['TaintToleration', {}, tainted, false],
  ['NodeAffinity', { nodeSelector: { a: 'b' } }, {}, false],
  ['NodePorts', { hostPorts: [{ hostPort: 80 }] }, {}, true],
  ['NodeResourcesFit', { requests: { cpu: '100' } }, {}, true],
  ['VolumeRestrictions', { volumes: [{ name: 'v', awsElasticBlockStore: { volumeID: 'v' } }] }, {}, true],
  ['VolumeBinding', { volumes: [{ name: 'v', ephemeral: {} }] }, {}, false],
  ['PodTopologySpread', spreadBy(hostname), {}, true],
  ['PodTopologySpread', spreadBy('rack'), {}, false],
  ['InterPodAffinity', { affinity: antiAffinity({}) }, {}, true],
  [
    'InterPodAffinity',
    {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack', ...selector }],
        },
      },
    },
    {},
    false,
  ],
];
for (const [plugin, pod, node, isPreemptable] of helps) {
  test(`the rejection by ${plugin} of ${JSON.stringify(pod)} ${isPreemptable ? 'may' : 'does not'} depend on other Pods`, () => {
    const cluster = clusterOf([nodeOf('n', node)], [other]);
    const state = { cluster, nominations: { onNode: () => [] }, random: seededRandom(1), start: 0 };
    const { decision } = decide(profileIn(), podInfoOf(podOf('p', pod)), state);
    assert.equal(decision.type, 'rejected');
    const rejection = rejectionOf(decision.diagnosis, 'n');
    assert.deepEqual([rejection.plugin, rejection.isPreemptable], [plugin, isPreemptable]);
  });
}

test('a single feasible node is selected without scoring', () => {
  const cluster = clusterOf([nodeOf('a', { unschedulable: true }), nodeOf('b')]);
  const profile = profileIn();
  const scorers = profile.scorers.map(({ weight, plugin }) => {
    const score = () => assert.fail('nobody asks');
    return { weight, plugin: { ...plugin, score } };
  });
  const state = { cluster, nominations: { onNode: () => [] }, random: seededRandom(1), start: 0 };
  const { decision } = decide({ ...profile, scorers }, podInfoOf(podOf('p')), state);
  assert.deepEqual([decision.type, decision.type === 'placed' && decision.node.name], ['placed', 'b']);
});

test('a search starts where the last one ended', () => {
  const cluster = clusterOf(Array.from({ length: 200 }, (_, index) => nodeOf(`n${index}`)));
  const random = seededRandom(1);
  const seen = new Set<number>();
  let start = 0;
  for (let round = 0; round < 4; round++) {
    const state = { cluster, nominations: { onNode: () => [] }, random, start };
    const { decision, nextStart } = decide(profileIn(), podInfoOf(podOf('p')), state);
    assert.equal(decision.type, 'placed');
    seen.add(start);
    start = nextStart;
  }
  assert.deepEqual([...seen], [0, 100]);
});

test('nodes are evaluated round robin over zones', () => {
  const cluster = clusterOf([
    nodeIn('a', 'a1'),
    nodeIn('a', 'a2'),
    nodeIn('a', 'a3'),
    nodeIn('b', 'b1'),
    nodeOf('none'),
  ]);
  assert.deepEqual(
    cluster.nodes.map(({ name }) => name),
    ['a1', 'b1', 'none', 'a2', 'a3'],
  );
});

test('zones of the same name in two regions are distinct', () => {
  const nodeAt = (region: string, name: string) =>
    nodeIn('a', name, { labels: { 'topology.kubernetes.io/region': region } });
  const cluster = clusterOf([nodeAt('x', 'x1'), nodeAt('x', 'x2'), nodeAt('y', 'y1')]);
  assert.deepEqual(
    cluster.nodes.map(({ name }) => name),
    ['x1', 'y1', 'x2'],
  );
});

test('a Pod is only placed on a node that passes every filter', () => {
  const arbitraryNode = fc.record({
    zone: fc.constantFrom('a', 'b', undefined),
    cpu: fc.constantFrom('1', '2', '4'),
    pods: fc.constantFrom('1', '3'),
    isClosed: fc.boolean(),
    taint: fc.constantFrom('NoSchedule', 'PreferNoSchedule', undefined),
  });
  const arbitraryPod = fc.record({
    app: fc.constantFrom('web', 'db'),
    cpu: fc.constantFrom('0', '500m', '1', '3'),
    spreads: fc.boolean(),
    avoids: fc.boolean(),
    tolerates: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(arbitraryNode, { minLength: 1, maxLength: 6 }),
      fc.array(arbitraryPod, { maxLength: 12 }),
      (nodes, pods) => {
        const cluster = clusterOf(
          nodes.map(({ zone, cpu, pods: count, isClosed, taint }, index) => {
            const taints = taint ? [{ key: 'k', effect: taint }] : [];
            const traits = { allocatable: { cpu, pods: count }, unschedulable: isClosed, taints };
            return zone ? nodeIn(zone, `n${index}`, traits) : nodeOf(`n${index}`, traits);
          }),
        );
        const memory = createEquivalenceCache();
        for (const [index, { app, cpu, spreads, avoids, tolerates }] of pods.entries()) {
          const labelSelector = { matchLabels: { app } };
          const pod = podOf(`p${index}`, {
            labels: { app },
            requests: { cpu },
            tolerations: tolerates ? [{ operator: 'Exists' }] : [],
            topologySpreadConstraints: spreads
              ? [
                  {
                    maxSkew: 1,
                    topologyKey: 'topology.kubernetes.io/zone',
                    whenUnsatisfiable: 'DoNotSchedule',
                    labelSelector,
                  },
                ]
              : [],
            affinity: avoids
              ? {
                  podAntiAffinity: {
                    requiredDuringSchedulingIgnoredDuringExecution: [
                      { topologyKey: 'kubernetes.io/hostname', labelSelector },
                    ],
                  },
                }
              : {},
          });
          const feasible = feasibleFor(pod, { cluster });
          const outcome = scheduleResult(pod, { cluster });
          assert.equal(scheduleResult(pod, { cluster, memory }), outcome, 'memoized results are unchanged');
          assert.equal(feasible.includes(outcome), feasible.length > 0, `${outcome} of ${feasible}`);
          if (feasible.length > 0) cluster.assume(podInfoOf(pod), outcome);
        }
      },
    ),
  );
});
