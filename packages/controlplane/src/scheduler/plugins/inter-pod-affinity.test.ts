import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Affinity, PodAffinityTerm } from '@kruise/api/core/affinity';
import type { Pod } from '@kruise/api/core/pod';
import { clusterOf, nodeIn, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { feasibleFor, scheduleResult, scoresBy } from '../testing/schedule-result.ts';

const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';
const term = (topologyKey: string, app = 'web', more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey,
  labelSelector: { matchLabels: { app } },
  ...more,
});
const near = (...terms: PodAffinityTerm[]): Affinity => ({
  podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});
const far = (...terms: PodAffinityTerm[]): Affinity => ({
  podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms },
});
const web = (on: string, more: PodTraits = {}) => podOf(`web-on-${on}`, { on, labels: { app: 'web' }, ...more });
const nodes = [nodeIn('a', 'a1'), nodeIn('a', 'a2'), nodeIn('b', 'b1')];
const namespaces = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { team: 'x' } } },
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other', labels: { team: 'y' } } },
] as const;

type Row = readonly [name: string, pod: PodTraits, pods: readonly Pod[], feasible: readonly string[]];
const all = ['a1', 'b1', 'a2'];
const rows: Row[] = [
  ['in the zone of another', { affinity: near(term(zone)) }, [web('a1')], ['a1', 'a2']],
  ['on the node of another', { affinity: near(term(hostname)) }, [web('a1')], ['a1']],
  ['nowhere, if no Pod matches', { affinity: near(term(zone)) }, [], []],
  ['anywhere, if it is the first of its group', { affinity: near(term(zone)), labels: { app: 'web' } }, [], all],
  [
    'near its group, if it is not the first',
    { affinity: near(term(zone)), labels: { app: 'web' } },
    [web('b1')],
    ['b1'],
  ],
  [
    'near a Pod that matches all terms',
    { affinity: near(term(zone), term(hostname, 'db')) },
    [web('a1'), web('a2', { labels: { app: 'db' } })],
    [],
  ],
  ['near no Pod of another namespace', { affinity: near(term(zone)) }, [web('a1', { namespace: 'other' })], []],
  [
    'near a Pod of a listed namespace',
    { affinity: near(term(zone, 'web', { namespaces: ['other'] })) },
    [web('a1', { namespace: 'other' })],
    ['a1', 'a2'],
  ],
  [
    'near a Pod of a selected namespace',
    { affinity: near(term(zone, 'web', { namespaceSelector: { matchLabels: { team: 'y' } } })) },
    [web('a1', { namespace: 'other' })],
    ['a1', 'a2'],
  ],
  [
    'near no Pod of a namespace that is not selected',
    { affinity: near(term(zone, 'web', { namespaceSelector: { matchLabels: { team: 'y' } } })) },
    [web('a1')],
    [],
  ],
  [
    'near a Pod of any namespace',
    { affinity: near(term(zone, 'web', { namespaceSelector: {} })) },
    [web('a1', { namespace: 'other' })],
    ['a1', 'a2'],
  ],
  [
    'on nodes with all topology keys, if it is the first of its group',
    { affinity: near(term(zone), term('rack')), labels: { app: 'web' } },
    [],
    [],
  ],
  ['near no Pod, by a term without a selector', { affinity: near({ topologyKey: zone }) }, [web('a1')], []],
  ['on no node without the topology key', { affinity: near(term('rack')) }, [web('a1')], []],
  [
    'away from Pods of every anti-affinity term',
    { affinity: far(term(hostname), term(hostname, 'db')) },
    [web('a1'), web('a2', { labels: { app: 'db' } })],
    ['b1'],
  ],
  ['on a node without the topology key of the anti-affinity', { affinity: far(term('rack')) }, [web('a1')], all],
  ['outside of the zone of another', { affinity: far(term(zone)) }, [web('a1')], ['b1']],
  ['not on the node of another', { affinity: far(term(hostname)) }, [web('a1')], ['b1', 'a2']],
  ['anywhere, if no Pod matches the anti-affinity', { affinity: far(term(zone)) }, [], all],
  [
    'where an existing Pod has no anti-affinity to it',
    { labels: { app: 'db' } },
    [web('a1', { affinity: far(term(zone, 'db')) })],
    ['b1'],
  ],
  [
    'where an existing Pod has an anti-affinity to others only',
    { labels: { app: 'cache' } },
    [web('a1', { affinity: far(term(zone, 'db')) })],
    all,
  ],
  [
    'where the anti-affinity of an existing Pod is limited to its namespace',
    { labels: { app: 'db' } },
    [
      web('a1', {
        namespace: 'other',
        affinity: far(term(zone, 'db', { namespaceSelector: { matchLabels: { team: 'x' } } })),
      }),
    ],
    ['b1'],
  ],
];
for (const [name, pod, pods, feasible] of rows) {
  test(`a Pod is placed ${name}`, () => {
    assert.deepEqual(
      feasibleFor(podOf('p', pod), { cluster: clusterOf(nodes, pods), world: { namespaces } }),
      feasible,
    );
  });
}

test('the rejection names the violated rules', () => {
  const rejectionOf = (pod: PodTraits, pods: readonly Pod[]) =>
    scheduleResult(podOf('p', pod), { cluster: clusterOf([nodeIn('a', 'a1'), nodeOf('n')], pods) });
  assert.equal(
    rejectionOf({ affinity: near(term(zone)) }, []),
    "0/2 nodes are available: 2 node(s) didn't match pod affinity rules.",
  );
  assert.equal(
    rejectionOf({ affinity: far(term(hostname)) }, [web('a1'), web('n')]),
    "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.",
  );
  assert.equal(
    rejectionOf({ labels: { app: 'web' } }, [
      web('a1', { affinity: far(term(hostname)) }),
      web('n', { affinity: far(term(hostname)) }),
    ]),
    "0/2 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.",
  );
});

test('affinity is reported before anti-affinity, and that before the anti-affinity of existing Pods', () => {
  const minds = web('a1', { affinity: far(term(hostname, 'new')) });
  const rejectionOf = (affinity: Affinity) =>
    scheduleResult(podOf('p', { labels: { app: 'new' }, affinity }), {
      cluster: clusterOf([nodeIn('a', 'a1')], [minds]),
    });
  const wants = { ...near(term(zone, 'db')), ...far(term(zone)) };
  assert.match(rejectionOf(wants), /1 node\(s\) didn't match pod affinity rules/);
  assert.match(rejectionOf(far(term(zone))), /1 node\(s\) didn't match pod anti-affinity rules/);
  assert.match(rejectionOf({}), /1 node\(s\) didn't satisfy existing pods anti-affinity rules/);
});

const prefers = (
  weight: number,
  podAffinityTerm: PodAffinityTerm,
  kind: 'podAffinity' | 'podAntiAffinity',
): Affinity => ({
  [kind]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm }] },
});

type ScoreRow = readonly [name: string, pod: PodTraits, pods: readonly Pod[], scores: object | undefined];
const scoreRows: ScoreRow[] = [
  [
    'near preferred Pods',
    { affinity: prefers(5, term(zone), 'podAffinity') },
    [web('a1')],
    { a1: 100, a2: 100, b1: 0 },
  ],
  [
    'where more preferred Pods are',
    { affinity: prefers(5, term(hostname), 'podAffinity') },
    [web('a1'), web('a2'), podOf('x', { on: 'a2', labels: { app: 'web' } })],
    { a1: 50, a2: 100, b1: 0 },
  ],
  [
    'away from Pods it avoids',
    { affinity: prefers(5, term(zone), 'podAntiAffinity') },
    [web('b1')],
    { a1: 100, a2: 100, b1: 0 },
  ],
  [
    'near Pods that prefer it',
    { labels: { app: 'db' } },
    [web('a1', { affinity: prefers(5, term(hostname, 'db'), 'podAffinity') })],
    { a1: 100, a2: 0, b1: 0 },
  ],
  [
    'away from Pods that avoid it',
    { labels: { app: 'db' } },
    [web('a1', { affinity: prefers(5, term(hostname, 'db'), 'podAntiAffinity') })],
    { a1: 0, a2: 100, b1: 100 },
  ],
  [
    'near Pods that require it',
    { labels: { app: 'db' } },
    [web('a1', { affinity: near(term(hostname, 'db')) })],
    { a1: 100, a2: 0, b1: 0 },
  ],
  ['anywhere, without preferences', {}, [web('a1')], undefined],
];
for (const [name, pod, pods, scores] of scoreRows) {
  test(`a Pod scores higher ${name}`, () => {
    assert.deepEqual(scoresBy('InterPodAffinity', podOf('p', pod), { cluster: clusterOf(nodes, pods) }), scores);
  });
}
