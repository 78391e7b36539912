import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PersistentPodState, PersistentPodStateSpec, PodState } from '@kruise/api/kruise/persistentpodstate';
import type { StatefulSet } from '@kruise/api/kruise/statefulset';
import { dynamicKind } from '@kruise/client/dynamic-kind';
import type { Caches } from '@kruise/client/informer';
import * as fc from 'fast-check';
import { featureGates } from '../configuration/feature-gates.ts';
import { decide } from './decide.ts';
import { builtinKinds, customKind, type Workload } from './workloads.ts';

const zone = 'topology.kubernetes.io/zone';
const host = 'kubernetes.io/hostname';
const [kubernetes, advanced] = builtinKinds(featureGates());

/** Returns the workload that a kind finds, with only this object in the cache. */
function found(object: object, kind = advanced!): Workload {
  // The kind reads one object of its own kind.
  const caches = { of: () => ({ get: () => object }) } as unknown as Caches;
  return kind.find(caches, { namespace: 'default', name: 'web' })!;
}
const setOf = (replicas: number, reserveOrdinals: readonly (number | string)[] = []): Workload =>
  found({
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'default', uid: 'u' },
    spec: { replicas, reserveOrdinals } as unknown as StatefulSet['spec'],
  });

const node = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { [zone]: 'north', [host]: name, other: 'x' } },
});
const nodes = new Map(['a', 'b'].map((name) => [name, node(name)]));

type PodFacts = {
  readonly on?: string;
  readonly isReady?: boolean;
  readonly isLeaving?: boolean;
  readonly annotations?: { readonly [key: string]: string };
};
const pod = (
  ordinal: number | string,
  { on = 'a', isReady = true, isLeaving, annotations = {} }: PodFacts = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `web-${ordinal}`,
    annotations,
    ...(isLeaving ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  },
  spec: { nodeName: on, containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
});
const pods = (...ordinals: readonly number[]) => ordinals.map((ordinal) => pod(ordinal));

const spec: PersistentPodStateSpec = {
  targetRef: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web' },
  requiredPersistentTopology: { keys: [zone] },
  preferredPersistentTopology: [{ weight: 100, preference: { keys: [host, zone] } }],
};
const at = (name: string): PodState => ({ nodeName: name, nodeTopologyLabels: { [zone]: 'north', [host]: name } });
const all = (...ordinals: readonly number[]) => Object.fromEntries(ordinals.map((each) => [`web-${each}`, at('a')]));
const upTo = (count: number) => Array.from({ length: count }, (_, ordinal) => ordinal);

function recordedPods(
  workload: Workload | undefined,
  present: readonly Pod[],
  podStates: { readonly [name: string]: PodState } = {},
  change: Partial<PersistentPodStateSpec> = {},
) {
  const state: PersistentPodState = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'PersistentPodState',
    metadata: { name: 'web', namespace: 'default', generation: 3 },
    spec: { ...spec, ...change },
    status: { observedGeneration: 2, podStates },
  };
  const { actions, status } = decide({ state, workload, pods: present, findNode: (name) => nodes.get(name) });
  assert.deepEqual(actions, []);
  // The status does not depend on the outcome of writes.
  return status as PersistentPodState['status'];
}
const podStatesOf = (...given: Parameters<typeof recordedPods>) => recordedPods(...given)?.podStates ?? {};

test('ready Pods are recorded with the labels of their nodes', () => {
  assert.deepEqual(recordedPods(setOf(10), pods(...upTo(10))), { observedGeneration: 3, podStates: all(...upTo(10)) });
});

test('Pods that become ready are added', () => {
  assert.deepEqual(podStatesOf(setOf(10), pods(...upTo(10)), all(...upTo(8))), all(...upTo(10)));
});

const scaledIn: readonly {
  readonly is: string;
  readonly workload: Workload;
  readonly pods: readonly Pod[];
  readonly known: readonly number[];
  readonly kept: readonly number[];
}[] = [
  {
    is: 'that are gone',
    workload: setOf(1),
    pods: pods(0),
    known: upTo(5),
    kept: [0],
  },
  {
    is: 'that are terminating, but not those that still run',
    workload: setOf(8),
    pods: [
      pod(0, { isReady: false, on: 'b' }),
      ...pods(1, 2),
      pod(3, { isReady: false, on: 'b' }),
      ...pods(4, 5, 6, 7, 8),
      pod(9, { isLeaving: true }),
    ],
    known: upTo(10),
    kept: upTo(9),
  },
  {
    is: 'with ordinals beyond the replicas and the reserved ordinals',
    workload: setOf(8, [0, '3-3', 7]),
    pods: [...pods(1, 2, 4, 5, 6, 8, 9, 10, 11), pod(12, { isLeaving: true })],
    known: [1, 2, 4, 5, 6, 8, 9, 10, 11, 12],
    kept: [1, 2, 4, 5, 6, 8, 9, 10, 11],
  },
  { is: 'of a workload with 0 replicas', workload: setOf(0), pods: pods(0, 1), known: [0, 1], kept: [] },
];
for (const { is, workload, pods: present, known, kept } of scaledIn) {
  test(`Pods ${is} lose their records`, () => {
    assert.deepEqual(Object.keys(podStatesOf(workload, present, all(...known))), Object.keys(all(...kept)));
  });
}

test('scaled-in Pods keep their records with the workload under WhenDeleted', () => {
  const policy = { persistentPodStateRetentionPolicy: 'WhenDeleted' } as const;
  assert.deepEqual(podStatesOf(setOf(1), pods(0), all(...upTo(5)), policy), all(...upTo(5)));
  assert.deepEqual(recordedPods(undefined, [], all(0), policy), { observedGeneration: 3 });
});

test('a deleted or terminating workload has no records', () => {
  const going = found({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, spec: { replicas: 2 } });
  for (const workload of [undefined, going]) {
    assert.deepEqual(recordedPods(workload, pods(0, 1), all(0, 1)), { observedGeneration: 3 });
  }
});

test('a Pod that is ready on another node gets a new record', () => {
  assert.deepEqual(podStatesOf(setOf(1), [pod(0, { on: 'b' })], all(0)), { 'web-0': at('b') });
});

test('a Pod on an unknown node, or without a node, keeps its record', () => {
  assert.deepEqual(podStatesOf(setOf(2), [pod(0, { on: 'gone' }), pod(1, { on: '' })], all(0)), all(0));
});

test('new keys update the records of all Pods', () => {
  const known = { 'web-0': { nodeName: 'a', nodeTopologyLabels: { [zone]: 'south', [host]: 'a' } } };
  assert.deepEqual(podStatesOf(setOf(1), pods(0), known), known, 'changed node labels do not change a record');
  const change = { requiredPersistentTopology: { keys: [zone, 'other', 'missing'] } };
  assert.deepEqual(podStatesOf(setOf(1), pods(0), known, change), {
    'web-0': { nodeName: 'a', nodeTopologyLabels: { [zone]: 'north', other: 'x', [host]: 'a' } },
  });
});

test('annotations are recorded with their current values', () => {
  const change = { persistentPodAnnotations: [{ key: 'name' }, { key: 'missing' }] };
  const annotated = [pod(0, { annotations: { name: 'new', other: 'x' } })];
  const known = { 'web-0': { ...at('a'), annotations: { name: 'old' } } };
  const current = { 'web-0': { ...at('a'), annotations: { name: 'new' } } };
  assert.deepEqual(podStatesOf(setOf(1), annotated, known, change), current);
  assert.deepEqual(
    podStatesOf(setOf(1), annotated, known),
    { 'web-0': at('a') },
    'records lose annotations that are not listed any more',
  );
});

test('a name without an ordinal keeps its record', () => {
  const known = { first: at('b'), 'web-x': at('b') };
  assert.deepEqual(podStatesOf(setOf(1), pods(0), known), { ...known, ...all(0) });
});

test("Kubernetes' StatefulSet respects its start ordinal", () => {
  const set = { metadata: {}, spec: { replicas: 2, ordinals: { start: 5 } } };
  assert.deepEqual(Object.keys(podStatesOf(found(set, kubernetes), [], all(4, 5, 6, 7))), ['web-5', 'web-6']);
});

test('a custom workload has spec.replicas', () => {
  const games = customKind(
    dynamicKind({ group: 'example.com', version: 'v1', kind: 'Game', plural: 'games', scope: 'Namespaced' }),
  );
  const keptBy = (spec: object) => Object.keys(podStatesOf(found({ metadata: {}, spec }, games), [], all(0, 1, 2)));
  assert.deepEqual(keptBy({ replicas: 2 }), ['web-0', 'web-1']);
  assert.deepEqual([keptBy({}), keptBy({ replicas: 'two' })], [[], []]);
});

test('records are idempotent', () => {
  const anyPod = fc
    .record({
      ordinal: fc.nat(9),
      on: fc.constantFrom('a', 'b', 'gone'),
      isReady: fc.boolean(),
      isLeaving: fc.boolean(),
    })
    .map(({ ordinal, ...facts }) => pod(ordinal, facts));
  const anyPods = fc.uniqueArray(anyPod, { selector: ({ metadata }) => metadata.name, maxLength: 10 });
  const anyKnown = fc.uniqueArray(fc.nat(12)).map((ordinals) => all(...ordinals));
  fc.assert(
    fc.property(fc.nat(10), fc.uniqueArray(fc.nat(5)), anyPods, anyKnown, (replicas, reserved, present, known) => {
      const workload = setOf(replicas, reserved);
      const once = podStatesOf(workload, present, known);
      assert.deepEqual(podStatesOf(workload, present, once), once);
      const lost = present.filter(({ metadata, spec: where, status }) => {
        const isAtWork = !metadata.deletionTimestamp && status?.conditions?.[0]?.status === 'True';
        return isAtWork && replicas > 0 && nodes.has(where?.nodeName ?? '') && !once[metadata.name ?? ''];
      });
      assert.deepEqual(lost, [], 'an active Pod never loses its record');
    }),
  );
});
