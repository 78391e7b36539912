import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TopologySpreadConstraint } from '@kruise/api/core/pod-spec';
import { clusterOf, nodeIn, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { feasibleFor, scheduleResult, scoresBy } from '../testing/schedule-result.ts';

const zone = 'topology.kubernetes.io/zone';
const web = { matchLabels: { app: 'web' } };
const labels = { app: 'web' };
const hard = (more: Partial<TopologySpreadConstraint> = {}): PodTraits => ({
  labels,
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web, ...more },
  ],
});
const soft = (more: Partial<TopologySpreadConstraint> = {}): PodTraits =>
  hard({ whenUnsatisfiable: 'ScheduleAnyway', ...more });

const nodes = [nodeIn('a', 'a1'), nodeIn('a', 'a2'), nodeIn('b', 'b1'), nodeIn('c', 'c1')];
/** Returns `web` Pods on the given nodes. */
const on = (...names: readonly string[]) => names.map((name, index) => podOf(`x${index}`, { on: name, labels }));

type Row = readonly [name: string, pod: PodTraits, pods: ReturnType<typeof on>, feasible: readonly string[]];
const rows: Row[] = [
  ['anywhere, if there are none', hard(), [], ['a1', 'b1', 'c1', 'a2']],
  ['where there are fewest', hard(), on('a1', 'b1'), ['c1']],
  ['up to the allowed skew', hard({ maxSkew: 2 }), on('a1', 'b1'), ['a1', 'b1', 'c1', 'a2']],
  ['within the allowed skew', hard({ maxSkew: 2 }), on('a1', 'a2', 'b1'), ['b1', 'c1']],
  [
    'without counting other Pods',
    hard(),
    on('a1').map((pod) => ({ ...pod, metadata: { ...pod.metadata, labels: { app: 'db' } } })),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  [
    'without counting other namespaces',
    hard(),
    on('a1').map((pod) => ({ ...pod, metadata: { ...pod.metadata, namespace: 'other' } })),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  [
    'without counting terminating Pods',
    hard(),
    on('a1', 'b1').map((pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } })),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  [
    'anywhere, if it does not match its own selector',
    { ...hard(), labels: { app: 'db' } },
    on('a1', 'b1', 'c1'),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  [
    'without counting Pods of another revision',
    { ...hard({ matchLabelKeys: ['hash'] }), labels: { app: 'web', hash: '2' } },
    on('a1', 'b1'),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  [
    'anywhere, by a selector that matches none',
    hard({ labelSelector: undefined as never }),
    on('a1', 'b1'),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  ['up to the allowed skew, with fewer than minDomains', hard({ minDomains: 4 }), on('a1', 'b1', 'c1'), []],
  [
    'where there are fewest, with enough domains',
    hard({ minDomains: 3 }),
    on('a1', 'b1', 'c1'),
    ['a1', 'b1', 'c1', 'a2'],
  ],
  ['among the nodes it selects', { ...hard(), nodeSelector: { [zone]: 'a' } }, on('a1'), ['a1', 'a2']],
  [
    'among all nodes, if it ignores its affinity',
    { ...hard({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { [zone]: 'a' } },
    on('a1'),
    [],
  ],
  ['by node', hard({ topologyKey: 'kubernetes.io/hostname' }), on('a1', 'b1', 'c1'), ['a2']],
];
for (const [name, pod, pods, feasible] of rows) {
  test(`a Pod is spread ${name}`, () => {
    assert.deepEqual(feasibleFor(podOf('p', pod), { cluster: clusterOf(nodes, pods) }), feasible);
  });
}

test('an uneven spread and nodes without the label are reported', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeOf('none'), nodeIn('b', 'b1', { unschedulable: true })], on('a1'));
  assert.equal(
    scheduleResult(podOf('p', hard()), { cluster }),
    "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, " +
      "1 node(s) didn't match pod topology spread constraints (missing required label), 1 node(s) were unschedulable.",
  );
});

test('nodes with untolerated taints do not count on request', () => {
  const tainted = nodeIn('b', 'b1', { taints: [{ key: 'k', effect: 'NoSchedule' }] });
  const cluster = clusterOf([nodeIn('a', 'a1'), tainted], on('a1'));
  assert.deepEqual(feasibleFor(podOf('p', hard()), { cluster }), []);
  assert.deepEqual(feasibleFor(podOf('p', hard({ nodeTaintsPolicy: 'Honor' })), { cluster }), ['a1']);
});

test('all constraints must hold', () => {
  const both = {
    ...hard(),
    topologySpreadConstraints: [
      ...(hard().topologySpreadConstraints ?? []),
      ...(hard({ topologyKey: 'kubernetes.io/hostname' }).topologySpreadConstraints ?? []),
    ],
  };
  assert.deepEqual(feasibleFor(podOf('p', both), { cluster: clusterOf(nodes, on('a1', 'b1', 'c1')) }), ['a2']);
});

test('nodes without the label of any constraint do not count for the others either', () => {
  const both = (more: Partial<TopologySpreadConstraint> = {}): PodTraits => ({
    labels,
    topologySpreadConstraints: [
      ...(hard().topologySpreadConstraints ?? []),
      ...(hard({ topologyKey: 'rack', maxSkew: 9, ...more }).topologySpreadConstraints ?? []),
    ],
  });
  const cluster = clusterOf([nodeIn('a', 'a1', { labels: { rack: '1' } }), nodeIn('b', 'b1')], on('a1'));
  assert.deepEqual(
    feasibleFor(podOf('p', both()), { cluster }),
    ['a1'],
    'the zone of the excluded node does not count',
  );
  assert.deepEqual(feasibleFor(podOf('p', hard()), { cluster }), ['b1']);
});

test('domains with fewer Pods score higher with ScheduleAnyway', () => {
  const three = [nodeIn('a', 'a1'), nodeIn('b', 'b1'), nodeIn('c', 'c1')];
  const cluster = clusterOf(three, on('a1', 'a1', 'a1', 'b1'));
  assert.deepEqual(scoresBy('PodTopologySpread', podOf('p', soft()), { cluster }), { a1: 0, b1: 60, c1: 100 });
});

test('without matching Pods, all nodes have the same score', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeIn('b', 'b1')]);
  assert.deepEqual(scoresBy('PodTopologySpread', podOf('p', soft()), { cluster }), { a1: 100, b1: 100 });
});

test('by hostname, the weight depends on the number of nodes, and the allowed skew counts', () => {
  const cluster = clusterOf([nodeOf('a'), nodeOf('b')], on('a', 'a', 'b'));
  const byHost = soft({ topologyKey: 'kubernetes.io/hostname', maxSkew: 3 });
  // ln 4 per Pod and 2 for the skew: 4.77 and 3.39, rounded to 5 and 3.
  const score = (raw: number) => Math.trunc((100 * (5 + 3 - raw)) / 5);
  assert.deepEqual(scoresBy('PodTopologySpread', podOf('p', byHost), { cluster }), { a: score(5), b: score(3) });
});

test('a node without the label has the lowest score', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeOf('none')], on('a1'));
  assert.deepEqual(scoresBy('PodTopologySpread', podOf('p', soft()), { cluster }), { a1: 100, none: 0 });
});

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's', namespace: 'default' },
  spec: { selector: labels },
} as const;

test('Pods of a Service are spread by default', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeIn('b', 'b1')], on('a1', 'a1'));
  const world = { services: [service] };
  assert.deepEqual(scoresBy('PodTopologySpread', podOf('p', { labels }), { cluster, world }), { a1: 50, b1: 100 });
  assert.equal(scoresBy('PodTopologySpread', podOf('p', { labels: { app: 'db' } }), { cluster, world }), undefined);
  assert.equal(scoresBy('PodTopologySpread', podOf('p', { labels }), { cluster }), undefined);
});

test('a node without a zone is not penalized by the default constraints', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeOf('none')], on('a1'));
  const scores = scoresBy('PodTopologySpread', podOf('p', { labels }), { cluster, world: { services: [service] } });
  assert.ok(scores && scores.none! > scores.a1!);
});

test('Pods of a workload are spread by default', () => {
  const cluster = clusterOf([nodeIn('a', 'a1'), nodeIn('b', 'b1')], on('a1'));
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true };
  const pod = podOf('p', { labels, metadata: { ownerReferences: [owner] } });
  const world = { workloads: { 'ReplicaSet default/rs': web } };
  const scores = scoresBy('PodTopologySpread', pod, { cluster, world });
  assert.ok(scores && scores.a1! < scores.b1!);
});

test('a profile can have default constraints', () => {
  const defaultConstraints = [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule' as const }];
  const profile = { pluginConfig: { PodTopologySpread: { defaultConstraints, defaultingType: 'List' as const } } };
  const setting = { cluster: clusterOf(nodes, on('a1', 'b1')), world: { services: [service] }, profile };
  assert.deepEqual(feasibleFor(podOf('p', { labels }), setting), ['c1']);
});
