import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { selectorOfLabels } from '@kruise/machinery/label-selector';
import fc from 'fast-check';
import { clusterOf, nodeOf, podOf } from '../testing/fixtures.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { podInfoOf } from './pod-info.ts';
import { type PodQuery, termRoles } from './tally.ts';

const query: PodQuery = { id: 'web', namespaces: new Set(['default']), matches: ({ labels }) => labels?.app === 'web' };
const selector = selectorOfLabels({ app: 'web' });
const bySelector: PodQuery = {
  id: 'selected',
  namespaces: 'all',
  selector,
  matches: ({ labels }) => selector.matches(labels),
};
const zone = 'topology.kubernetes.io/zone';

const plain = <K, V>(map: ReadonlyMap<K, V>) => [...map].sort().filter(([, value]) => value !== 0);

/** Returns everything that a cycle can query, in a comparable form. */
function summary(cluster: Cluster) {
  const tally = cluster.tallies.of(query);
  return {
    nodes: cluster.nodes
      .map(({ name, requested, nonZeroRequested, usedPorts, usedClaims, pods, priorities, images }) => ({
        name,
        requested: { ...requested, others: plain(requested.others) },
        nonZeroRequested,
        ports: [...usedPorts].map(([port, addresses]) => [port, ...plain(addresses)]).sort(),
        claims: plain(usedClaims),
        priorities: plain(priorities),
        pods: [...pods.keys()].sort(),
        images: [...images].map(([image, { nodes }]) => [image, ...[...nodes].sort()]).sort(),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    web: plain(tally.byNode),
    selected: plain(cluster.tallies.of(bySelector).byNode),
    webByZone: plain(tally.byDomain(zone)),
    zones: plain(cluster.domains(zone)),
    terms: termRoles.map((role) =>
      [...cluster.tallies.carried(role)]
        .map(({ term, weight, tally: at }) => [term.id, weight, plain(at.byNode), plain(at.byDomain(term.topologyKey))])
        .sort(),
    ),
  };
}

const arbitraryNode = fc
  .record({ name: fc.constantFrom('a', 'b', 'c'), zone: fc.constantFrom('x', 'y', undefined), image: fc.boolean() })
  .map(
    ({ name, zone: value, image }): Node =>
      nodeOf(name, {
        labels: value ? { [zone]: value } : {},
        images: image ? [{ names: ['app:latest'], sizeBytes: 1 }] : [],
      }),
  );
const term = { topologyKey: zone, labelSelector: { matchLabels: { app: 'web' } } };
const arbitraryPod = fc
  .record({
    name: fc.constantFrom('p', 'q', 'r', 's'),
    on: fc.constantFrom('a', 'b', 'c'),
    app: fc.constantFrom('web', 'db'),
    cpu: fc.constantFrom('0', '1', '250m'),
    hasPort: fc.boolean(),
    avoids: fc.boolean(),
  })
  .map(
    ({ name, on, app, cpu, hasPort, avoids }): Pod =>
      podOf(name, {
        on,
        labels: { app },
        requests: cpu === '0' ? {} : { cpu, 'example.com/gpu': '1' },
        hostPorts: hasPort ? [{ hostPort: 80 }] : [],
        volumes: hasPort ? [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] : [],
        affinity: avoids
          ? {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [term],
                preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 3, podAffinityTerm: term }],
              },
            }
          : {},
      }),
  );

type Step = (cluster: Cluster, nodes: Map<string, Node>, pods: Map<string, Pod>) => void;
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  arbitraryNode.map(
    (node): Step =>
      (cluster, nodes) => {
        nodes.set(node.metadata.name!, node);
        cluster.setNode(node);
      },
  ),
  fc.constantFrom('a', 'b', 'c').map(
    (name): Step =>
      (cluster, nodes) => {
        nodes.delete(name);
        cluster.removeNode(name);
      },
  ),
  arbitraryPod.map(
    (pod): Step =>
      (cluster, _nodes, pods) => {
        pods.set(pod.metadata.uid!, pod);
        cluster.setPod(pod);
      },
  ),
  arbitraryPod.map(
    (pod): Step =>
      (cluster, _nodes, pods) => {
        if (pods.has(pod.metadata.uid!)) return;
        cluster.assume(podInfoOf(pod), pod.spec!.nodeName!);
        cluster.forget(pod.metadata.uid!);
      },
  ),
  fc.constantFrom('p', 'q', 'r', 's').map(
    (name): Step =>
      (cluster, _nodes, pods) => {
        pods.delete(`uid-of-${name}`);
        cluster.removePod(`uid-of-${name}`);
      },
  ),
);

test('after any events, all aggregates equal a full recount', () => {
  fc.assert(
    fc.property(fc.array(arbitraryStep, { maxLength: 40 }), fc.nat(40), (steps, asked) => {
      const cluster = createCluster();
      const nodes = new Map<string, Node>();
      const pods = new Map<string, Pod>();
      for (const [index, step] of steps.entries()) {
        step(cluster, nodes, pods);
        // A query from the start is maintained; a query at the end is counted.
        if (index === asked) summary(cluster);
      }
      assert.deepEqual(summary(cluster), summary(clusterOf([...nodes.values()], [...pods.values()])));
    }),
    { numRuns: 300 },
  );
});

test('an assumed Pod counts until it is forgotten, and stays when it is observed', () => {
  const cluster = clusterOf([nodeOf('n')]);
  const count = () => cluster.node('n')?.pods.size;
  cluster.assume(podInfoOf(podOf('p')), 'n');
  assert.deepEqual([cluster.isAssumed('uid-of-p'), count()], [true, 1]);
  cluster.forget('uid-of-p');
  assert.deepEqual([cluster.isAssumed('uid-of-p'), count()], [false, 0]);
  cluster.assume(podInfoOf(podOf('p')), 'n');
  cluster.setPod(podOf('p', { on: 'n' }));
  assert.deepEqual([cluster.isAssumed('uid-of-p'), count()], [false, 1]);
  cluster.forget('uid-of-p');
  assert.equal(count(), 1);
});

test('a Pod observed on another node than assumed is moved there', () => {
  const cluster = clusterOf([nodeOf('m'), nodeOf('n')]);
  cluster.assume(podInfoOf(podOf('p')), 'n');
  cluster.setPod(podOf('p', { on: 'm' }));
  assert.deepEqual([cluster.node('m')?.pods.size, cluster.node('n')?.pods.size], [1, 0]);
});

test('Pods of a node that is not known yet are kept', () => {
  const cluster = clusterOf([], [podOf('p', { on: 'n', requests: { cpu: '1' } })]);
  assert.deepEqual(cluster.nodes, []);
  cluster.setNode(nodeOf('n'));
  assert.equal(cluster.node('n')?.requested.milliCpu, 1000);
});

test('requests are recomputed only when the allocated resources of containers change', () => {
  const cluster = clusterOf([nodeOf('n')]);
  const pod = podOf('p', { on: 'n', requests: { cpu: '1' } });
  const holding = (cpu: string, ready: boolean): Pod => ({
    ...pod,
    status: {
      ...pod.status,
      containerStatuses: pod.spec!.containers!.map(({ name }) => ({
        name,
        image: '',
        imageID: '',
        ready,
        restartCount: 0,
        resources: { requests: { cpu } },
      })),
    },
  });
  const seen = (state: Pod) => {
    cluster.setPod(state);
    return cluster.pod('uid-of-p')?.requests;
  };
  const first = seen(holding('1', false));
  assert.equal(seen(holding('1', true)), first);
  assert.equal(seen(holding('2', true))?.milliCpu, 2000);
  assert.equal(cluster.node('n')?.requested.milliCpu, 2000);
});
