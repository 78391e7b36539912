import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import type { NodePodProbe, PodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { nodePodProbeCleanupFinalizer } from '@kruise/api/kruise/well-known';
import type { PatchAction, UpdateAction } from '@kruise/client/actions';
import { summarizeActions } from '@kruise/workload-kit/testing/summarize-actions';
import { decide, type Observed } from './decide.ts';

const probe = { exec: { command: ['true'] } };
const idle: PodContainerProbe = { name: 'idle', containerName: 'main', probe, podConditionType: 'example.com/idle' };

const markerOf = (
  probes: readonly PodContainerProbe[] = [idle],
  metadata: PodProbeMarker['metadata'] = {},
): PodProbeMarker => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'PodProbeMarker',
  metadata: {
    name: 'marker',
    namespace: 'default',
    generation: 2,
    finalizers: [nodePodProbeCleanupFinalizer],
    ...metadata,
  },
  spec: { selector: { matchLabels: { app: 'web' } }, probes },
});

const podOf = (name: string, nodeName = 'a'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { nodeName, containers: [{ name: 'main', image: 'app', ports: [{ name: 'web', containerPort: 8080 }] }] },
  status: { podIP: '10.0.0.1' },
});
const entryOf = (name: string, ...probes: readonly string[]): PodProbe => ({
  name,
  namespace: 'default',
  uid: `uid-${name}`,
  IP: '10.0.0.1',
  probes: probes.map((each) => ({ name: each, containerName: 'main', probe })),
});
const updated = (name: string, ...podProbes: readonly PodProbe[]): NodePodProbe => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'NodePodProbe',
  metadata: { name },
  spec: podProbes.length > 0 ? { podProbes } : {},
});

function decided(
  marker: PodProbeMarker,
  pods: readonly Pod[],
  nodePodProbes: readonly NodePodProbe[],
  virtualPods: readonly Pod[] = [],
) {
  const observed: Observed = { marker, pods, nodePodProbes, virtualPods, marksVirtualPods: true };
  const { actions, status } = decide(observed);
  const entries = (actions.filter(({ type }) => type === 'update') as readonly UpdateAction[]).flatMap(
    ({ object }) => (object as NodePodProbe).spec.podProbes ?? [],
  );
  return { does: summarizeActions(actions), entries, status };
}

test("the NodePodProbes of Pods' nodes get the probes", () => {
  const { does, entries, status } = decided(
    markerOf(),
    [podOf('p'), podOf('q', 'b')],
    [updated('a'), updated('b'), updated('c')],
    [podOf('v')],
  );
  assert.deepEqual(does, ['update a', 'update b']);
  assert.deepEqual(entries, [entryOf('p', 'marker#idle'), entryOf('q', 'marker#idle')]);
  assert.deepEqual(status, { observedGeneration: 2, matchedPods: 3 });
});

test('probes of other markers stay, and removed probes of this marker do not', () => {
  const before = updated('a', entryOf('x', 'other#y'), entryOf('p', 'other#z', 'marker#gone', 'marker#idle'));
  assert.deepEqual(decided(markerOf(), [podOf('p')], [before]).entries, [
    entryOf('x', 'other#y'),
    entryOf('p', 'other#z', 'marker#idle'),
  ]);
});

test('an up-to-date NodePodProbe is not changed', () => {
  assert.deepEqual(decided(markerOf(), [podOf('p')], [updated('a', entryOf('p', 'marker#idle'))]).does, []);
});

test('a named port is resolved to its number, and a probe with an unknown port is left out', () => {
  const port = (port: string) => ({ ...idle, name: port, probe: { tcpSocket: { port } } });
  const { entries } = decided(markerOf([port('web'), port('81'), port('none')]), [podOf('p')], [updated('a')]);
  assert.deepEqual(
    entries[0]?.probes?.map((each) => [each.name, each.probe.tcpSocket?.port]),
    [
      ['marker#web', 8080],
      ['marker#81', 81],
    ],
  );
});

test('a marker has a finalizer until its probes are removed from the nodes', () => {
  const { finalizers: _, ...metadata } = markerOf().metadata;
  assert.deepEqual(decided({ ...markerOf(), metadata }, [], []).does, ['patch marker']);
  const leaving = markerOf([idle], { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const elsewhere = { ...entryOf('p', 'marker#idle'), namespace: 'other', uid: 'else' };
  const before = updated('a', entryOf('p', 'marker#idle'), entryOf('q', 'marker#idle', 'marker-2#idle'), elsewhere);
  const { does, entries } = decided(leaving, [], [before, updated('b')]);
  assert.deepEqual(does, ['update a', 'patch marker']);
  assert.deepEqual(entries, [entryOf('q', 'marker-2#idle'), elsewhere]);
});

const policies: PodContainerProbe['markerPolicy'] = [
  { state: 'Succeeded', labels: { idle: 'yes' }, annotations: { cost: '-10' } },
  { state: 'Failed', labels: { idle: 'no' } },
  { state: 'Unknown', annotations: { cost: '0' } },
];
const marking: readonly {
  readonly is: string;
  readonly status?: string;
  readonly labels?: { readonly [key: string]: string };
  readonly patch?: object;
}[] = [
  { is: 'without conditions' },
  { is: 'that is idle', status: 'True', patch: { labels: { idle: 'yes' }, annotations: { cost: '-10' } } },
  { is: 'with some of the labels', status: 'True', labels: { idle: 'yes' }, patch: { annotations: { cost: '-10' } } },
  { is: 'that is not idle', status: 'False', labels: { idle: 'yes', app: 'x' }, patch: { labels: { idle: 'no' } } },
  { is: 'with all labels', status: 'False', labels: { idle: 'no' } },
  { is: 'with an unknown condition', status: 'Unknown', patch: { annotations: { cost: '0' } } },
];
for (const { is, status, labels = {}, patch } of marking) {
  test(`a Pod of a virtual node ${is} is marked with ${patch ? JSON.stringify(patch) : 'nothing'}`, () => {
    const conditions = status ? [{ type: 'example.com/idle', status }] : [];
    const { metadata } = podOf('v');
    const pod: Pod = { ...podOf('v'), metadata: { ...metadata, labels }, status: { conditions } };
    const marker = markerOf([{ ...idle, markerPolicy: policies }]);
    const observed: Observed = { marker, pods: [], nodePodProbes: [], virtualPods: [pod], marksVirtualPods: true };
    const patches = decide(observed).actions as readonly PatchAction[];
    assert.deepEqual(
      patches.map((action) => action.patch),
      patch ? [{ metadata: patch }] : [],
    );
    assert.deepEqual(decide({ ...observed, marksVirtualPods: false }).actions, []);
  });
}
