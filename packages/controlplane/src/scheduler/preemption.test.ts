import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodDisruptionBudget } from '@kruise/api/policy/poddisruptionbudget';
import { seededRandom } from '@kruise/values/random';
import fc from 'fast-check';
import { podInfoOf } from './cluster/pod-info.ts';
import { decide } from './decide.ts';
import { prepareFilters } from './filter.ts';
import { findPreemption, type PreemptionArgs, selectCandidate } from './preemption.ts';
import { clusterOf, nodeIn, nodeOf, type PodTraits, podOf } from './testing/fixtures.ts';
import { profileIn } from './testing/schedule-result.ts';

const now = Date.UTC(2026, 0, 1);

type Scene = {
  readonly pod: Pod;
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly budgets?: readonly PodDisruptionBudget[];
  readonly nominated?: { readonly [node: string]: Pod };
  readonly args?: PreemptionArgs;
};

/** Returns `node: victims`, or why no Pod is preempted. */
function preempt({ pod, nodes, pods, budgets = [], nominated = {}, args = {} }: Scene): string {
  const cluster = clusterOf(nodes, pods);
  const nominations = { onNode: (name: string) => (nominated[name] ? [podInfoOf(nominated[name])] : []) };
  const random = seededRandom(1);
  const { decision } = decide(profileIn(), podInfoOf(pod), { cluster, nominations, random, start: 0 });
  assert.equal(decision.type, 'rejected');
  const state = { cluster, nominations, budgets, random, now };
  const found = findPreemption(podInfoOf(pod), decision.diagnosis, decision.filters, state, args);
  if (found.type === 'none') return found.message;
  const { node, victims } = selectCandidate(found.candidates, now);
  return `${node}: ${victims.map(({ name }) => name).join(', ')}`;
}

const important = (traits: PodTraits = {}) => podOf('important', { priority: 100, requests: { cpu: '3' }, ...traits });
const started = (minute: number): Pod['status'] => ({
  startTime: new Date(now - 3_600_000 + minute * 60_000).toISOString(),
});
const x = (name: string, on: string, cpu: string, traits: PodTraits = {}) =>
  podOf(name, { on, requests: { cpu }, ...traits });
const budget = (app: string, disruptionsAllowed: number, disrupted: readonly string[] = []): PodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: app, namespace: 'default' },
  spec: { selector: { matchLabels: { app } } },
  status: {
    disruptionsAllowed,
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    disruptedPods: Object.fromEntries(disrupted.map((name) => [name, '2026-01-01T00:00:00Z'])),
  },
});
const labelled = (app: string): PodTraits => ({ labels: { app } });

const one = [nodeOf('n')];
const two = [nodeOf('m'), nodeOf('n')];

const rows: readonly (readonly [name: string, scene: Scene, outcome: string])[] = [
  ['a Pod of lower priority is preempted', { pod: important(), nodes: one, pods: [x('a', 'n', '4')] }, 'n: a'],
  [
    'no Pod of equal priority is preempted',
    { pod: important(), nodes: one, pods: [x('a', 'n', '4', { priority: 100 })] },
    '0/1 nodes are available: 1 No preemption victims found for incoming pod.',
  ],
  [
    'no Pod is preempted if that does not help',
    { pod: important({ requests: { cpu: '5' } }), nodes: one, pods: [x('a', 'n', '4')] },
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
  [
    'no Pod is preempted on a node that is infeasible without it, too',
    { pod: important({ nodeSelector: { disk: 'ssd' } }), nodes: two, pods: [x('a', 'n', '4')] },
    '0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
  ],
  [
    'rejections are counted by reason',
    {
      pod: important(),
      nodes: [nodeOf('m', { unschedulable: true }), nodeOf('n'), nodeOf('o')],
      pods: [x('a', 'n', '4', { priority: 100 }), x('b', 'o', '4', { priority: 100 })],
    },
    '0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.',
  ],
  [
    'a Pod with preemptionPolicy Never does not preempt',
    { pod: important({ preemptionPolicy: 'Never' }), nodes: one, pods: [x('a', 'n', '4')] },
    'not eligible due to preemptionPolicy=Never.',
  ],
  [
    'as few Pods as possible are preempted',
    { pod: important(), nodes: one, pods: [x('a', 'n', '1'), x('b', 'n', '3')] },
    'n: b',
  ],
  [
    'Pods of higher priority are reprieved',
    {
      pod: important(),
      nodes: one,
      pods: [x('a', 'n', '2', { priority: 1 }), x('b', 'n', '1', { priority: 2 }), x('c', 'n', '1', { priority: 3 })],
    },
    'n: b, a',
  ],
  [
    'of two Pods with equal priority, the earlier one is reprieved',
    {
      pod: important({ requests: { cpu: '2' } }),
      nodes: one,
      pods: [x('late', 'n', '2', { status: started(9) }), x('early', 'n', '2', { status: started(1) })],
    },
    'n: late',
  ],
  [
    'a Pod without a budget is preempted rather than one with a budget',
    {
      pod: important(),
      nodes: two,
      pods: [x('a', 'm', '4', labelled('db')), x('b', 'n', '4')],
      budgets: [budget('db', 0)],
    },
    'n: b',
  ],
  [
    'Pods with a budget are reprieved first on one node, too',
    {
      pod: important({ requests: { cpu: '2' } }),
      nodes: one,
      pods: [x('a', 'n', '2', { ...labelled('db'), priority: 1 }), x('b', 'n', '2', { priority: 2 })],
      budgets: [budget('db', 0)],
    },
    'n: b',
  ],
  [
    'budgets are violated if there is no other way',
    { pod: important(), nodes: one, pods: [x('a', 'n', '4', labelled('db'))], budgets: [budget('db', 0)] },
    'n: a',
  ],
  [
    'a budget covers as many Pods as it allows',
    {
      pod: important(),
      nodes: two,
      pods: [x('a', 'm', '2', labelled('db')), x('b', 'm', '2', labelled('db')), x('c', 'n', '4')],
      budgets: [budget('db', 1)],
    },
    'n: c',
  ],
  [
    'a terminating Pod does not use a budget',
    { pod: important(), nodes: one, pods: [x('a', 'n', '4', labelled('db'))], budgets: [budget('db', 0, ['a'])] },
    'n: a',
  ],
  [
    'the node with the lowest highest-priority victim is selected',
    {
      pod: important(),
      nodes: two,
      pods: [x('a', 'm', '4', { priority: 10 }), x('b', 'n', '2', { priority: 9 }), x('c', 'n', '2', { priority: 9 })],
    },
    'n: b, c',
  ],
  [
    'then the node with the lowest sum of priorities',
    {
      pod: important({ requests: { cpu: '4' } }),
      nodes: two,
      pods: [
        x('a', 'm', '2', { priority: 9 }),
        x('b', 'm', '2', { priority: 9 }),
        x('c', 'n', '2', { priority: 9 }),
        x('d', 'n', '2', { priority: 1 }),
      ],
    },
    'n: c, d',
  ],
  [
    'then the node with fewer victims, since each counts more than any priority',
    {
      pod: important({ requests: { cpu: '4' } }),
      nodes: two,
      pods: [x('a', 'm', '1', { priority: 9 }), x('b', 'm', '3', { priority: -5 }), x('c', 'n', '4', { priority: 9 })],
    },
    'n: c',
  ],
  [
    'then the node whose victim started last',
    {
      pod: important(),
      nodes: two,
      pods: [x('a', 'm', '4', { status: started(1) }), x('b', 'n', '4', { status: started(9) })],
    },
    'n: b',
  ],
  [
    'a Pod with an anti-affinity to the preemptor is preempted',
    {
      pod: important({ requests: {}, labels: { app: 'web' } }),
      nodes: one,
      pods: [
        podOf('a', {
          on: 'n',
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
              ],
            },
          },
        }),
        podOf('b', { on: 'n' }),
      ],
    },
    'n: a',
  ],
  [
    'no Pod is preempted on one node for another node',
    {
      pod: important({
        requests: {},
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: { app: 'db' } } },
            ],
          },
        },
      }),
      nodes: [nodeIn('a', 'm'), nodeIn('a', 'n')],
      pods: [podOf('a', { on: 'm', ...labelled('db') }), podOf('b', { on: 'n', ...labelled('db') })],
    },
    "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
  ],
  [
    'a Pod is preempted to satisfy topology spread',
    {
      pod: important({
        requests: {},
        labels: { app: 'web' },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'web' } },
          },
        ],
      }),
      nodes: [nodeOf('m'), nodeOf('n', { unschedulable: true })],
      pods: [podOf('a', { on: 'm', ...labelled('web') })],
    },
    'm: a',
  ],
  [
    'nominated Pods count on their node',
    {
      pod: important(),
      nodes: one,
      pods: [x('a', 'n', '4')],
      nominated: { n: podOf('coming', { priority: 200, requests: { cpu: '2' } }) },
    },
    '0/1 nodes are available: 1 Insufficient cpu.',
  ],
];
for (const [name, scene, outcome] of rows) test(name, () => assert.equal(preempt(scene), outcome));

test('the Pod fits without its victims, and does not if any of them stays', () => {
  const cpus = fc.constantFrom('250m', '500m', '1', '2');
  const arbitraryPod = fc.record({
    cpu: cpus,
    priority: fc.integer({ min: 0, max: 120 }),
    on: fc.constantFrom('m', 'n'),
  });
  fc.assert(
    fc.property(fc.array(arbitraryPod, { minLength: 1, maxLength: 12 }), cpus, (others, cpu) => {
      const pods = others.map(({ priority, on, ...each }, index) => x(`x${index}`, on, each.cpu, { priority }));
      const cluster = clusterOf(two, pods);
      const pod = podInfoOf(important({ requests: { cpu } }));
      const random = seededRandom(1);
      const nominations = { onNode: () => [] };
      const { decision } = decide(profileIn(), pod, { cluster, nominations, random, start: 0 });
      if (decision.type !== 'rejected') return;
      const found = findPreemption(pod, decision.diagnosis, decision.filters, {
        cluster,
        nominations,
        budgets: [],
        random,
        now,
      });
      if (found.type !== 'found') return;
      for (const { node, victims } of found.candidates) {
        const fitsWithout = (gone: readonly string[]) => {
          const left = clusterOf(
            two,
            pods.filter(({ metadata }) => !gone.includes(metadata.uid ?? '')),
          );
          const { filters } = prepareFilters(profileIn().filters, pod, left);
          return filters.check(left.node(node)!) === undefined;
        };
        const uids = victims.map(({ uid }) => uid);
        assert.equal(fitsWithout(uids), true);
        for (const uid of uids) assert.equal(fitsWithout(uids.filter((other) => other !== uid)), false);
        for (const { priority } of victims) assert.ok(priority < pod.priority);
      }
    }),
  );
});

test('the number of candidate nodes is limited', () => {
  const many = Array.from({ length: 2000 }, (_, index) => nodeOf(`n${index}`));
  const pods = many.map(({ metadata }) => x(`x-${metadata.name}`, metadata.name!, '4'));
  const pod = podInfoOf(important());
  const cluster = clusterOf(many, pods);
  const nominations = { onNode: () => [] };
  const found = (seed: number, count: number) => {
    const random = seededRandom(seed);
    const part = clusterOf(many.slice(0, count), pods.slice(0, count));
    const world = count === many.length ? cluster : part;
    const { decision } = decide(profileIn(), pod, { cluster: world, nominations, random, start: 0 });
    assert.equal(decision.type, 'rejected');
    const state = { cluster: world, nominations, budgets: [], random, now };
    const preemption = findPreemption(pod, decision.diagnosis, decision.filters, state);
    assert.equal(preemption.type, 'found');
    return preemption.candidates.map(({ node }) => node);
  };
  assert.equal(found(1, 50).length, 50, 'all of a few nodes');
  assert.equal(found(1, 500).length, 100, 'a hundred of more nodes');
  assert.equal(found(1, 2000).length, 200, 'a tenth of many nodes');
  assert.notEqual(found(1, 2000)[0], found(2, 2000)[0], 'the selection is random');
});

const leaving = (name: string, reason = 'PreemptionByScheduler') =>
  podOf(name, {
    on: 'n',
    requests: { cpu: '4' },
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
    status: { conditions: [{ type: 'DisruptionTarget', status: 'True', reason }] },
  });

test('no further Pods are preempted while victims are terminating', () => {
  const pod = important({ status: { nominatedNodeName: 'n' } });
  assert.equal(
    preempt({ pod, nodes: two, pods: [leaving('a'), x('b', 'm', '4')] }),
    'not eligible due to a terminating pod on the nominated node.',
  );
  assert.equal(
    preempt({ pod, nodes: two, pods: [leaving('a', 'DeletionByTaintManager'), x('b', 'm', '4')] }).includes(': '),
    true,
  );
});

test('other Pods are preempted if the nominated node becomes infeasible', () => {
  const pod = important({ status: { nominatedNodeName: 'n' } });
  const nodes = [nodeOf('m'), nodeOf('n', { unschedulable: true })];
  assert.equal(preempt({ pod, nodes, pods: [leaving('a'), x('b', 'm', '4')] }), 'm: b');
});
