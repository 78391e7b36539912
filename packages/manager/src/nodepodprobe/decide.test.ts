import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodCondition } from '@kruise/api/core/pod';
import type { ContainerProbeState, NodePodProbe } from '@kruise/api/kruise/nodepodprobe';
import type { PodContainerProbe, PodProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { decide, type Observed } from './decide.ts';

const probe = { exec: { command: ['true'] } };
const marker = (
  probes: readonly Partial<PodContainerProbe>[],
  metadata: PodProbeMarker['metadata'] = {},
): PodProbeMarker => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'PodProbeMarker',
  metadata: { name: 'ppm', namespace: 'default', ...metadata },
  spec: { selector: {}, probes: probes.map((each) => ({ name: 'idle', containerName: 'main', probe, ...each })) },
});
const pod = (metadata: Pod['metadata'] = {}, conditions: readonly PodCondition[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
  spec: { containers: [] },
  status: { phase: 'Running', conditions },
});
const entry = { name: 'web', namespace: 'default', uid: 'u', IP: '' };
const object = (states: readonly Partial<ContainerProbeState>[] = [], podProbes = [entry]): NodePodProbe => ({
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'NodePodProbe',
  metadata: { name: 'node-1' },
  spec: { podProbes },
  status: {
    podProbeStatuses: [
      { ...entry, probeStates: states.map((each) => ({ name: 'ppm#idle', state: 'Succeeded', ...each })) },
    ],
  },
});
const observed = (more: Partial<Observed> = {}): Observed => ({
  name: 'node-1',
  hasNode: true,
  nodePodProbe: object(),
  findPod: () => pod(),
  findMarker: ({ name }) => (name === 'ppm' ? marker([{ podConditionType: 'Idle' }]) : undefined),
  ...more,
});
const formatDecision = (world: Partial<Observed>) => decide(observed(world)).actions.map(({ type }) => type);

const lives: { name: string; world: Partial<Observed>; does: readonly string[] }[] = [
  { name: 'a node gets a NodePodProbe', world: { nodePodProbe: undefined }, does: ['create'] },
  { name: 'the NodePodProbe of a deleted node is deleted', world: { hasNode: false }, does: ['remove'] },
  { name: 'a deleted node gets no NodePodProbe', world: { hasNode: false, nodePodProbe: undefined }, does: [] },
  {
    name: 'a terminating NodePodProbe is not deleted again',
    world: { hasNode: false, nodePodProbe: { ...object(), metadata: { name: 'node-1', deletionTimestamp: 'now' } } },
    does: [],
  },
  { name: 'an existing Pod is probed', world: {}, does: [] },
  { name: 'a deleted Pod is not probed', world: { findPod: () => undefined }, does: ['update'] },
  {
    name: 'a later Pod of the same name is not probed',
    world: { findPod: () => pod({ uid: 'other' }) },
    does: ['update'],
  },
  {
    name: 'a finished Pod is not probed',
    world: { findPod: () => ({ ...pod(), status: { phase: 'Failed' } }) },
    does: ['update'],
  },
];
for (const { name, world, does } of lives) test(name, () => assert.deepEqual(formatDecision(world), does));

test('only active Pods of several stay', () => {
  const podProbes = [entry, { ...entry, name: 'gone' }];
  const findPod = ({ name }: { readonly name: string }) => (name === 'web' ? pod() : undefined);
  const [action] = decide(observed({ nodePodProbe: object([], podProbes), findPod })).actions;
  assert.ok(action?.type === 'update');
  assert.deepEqual((action.object as NodePodProbe).spec, { podProbes: [entry] });
});

const policies = [
  { state: 'Succeeded' as const, labels: { idle: 'yes' }, annotations: { since: 'now' } },
  { state: 'Failed' as const, labels: { idle: 'no', busy: 'yes' } },
];
const idle: PodCondition = { type: 'Idle', status: 'True' };

const results: {
  name: string;
  states: readonly Partial<ContainerProbeState>[];
  probes: readonly Partial<PodContainerProbe>[];
  pod?: Pod;
  writes?: unknown;
}[] = [
  {
    name: 'a probe result sets a condition',
    states: [{ message: 'm', lastProbeTime: 'p', lastTransitionTime: 't' }],
    probes: [{ podConditionType: 'Idle' }],
    writes: {
      metadata: {},
      status: {
        conditions: [{ type: 'Idle', status: 'True', lastProbeTime: 'p', lastTransitionTime: 't', message: 'm' }],
      },
    },
  },
  {
    name: 'an unknown result sets the condition to False',
    states: [{ state: 'Unknown' }],
    probes: [{ podConditionType: 'Idle' }],
    writes: { metadata: {}, status: { conditions: [{ type: 'Idle', status: 'False' }] } },
  },
  {
    name: 'a current result is not written again',
    states: [{}],
    probes: [{ podConditionType: 'Idle' }],
    pod: pod({}, [idle]),
  },
  {
    name: 'a new message is written',
    states: [{ message: 'm' }],
    probes: [{ podConditionType: 'Idle' }],
    pod: pod({}, [idle]),
    writes: { metadata: {}, status: { conditions: [{ ...idle, message: 'm' }] } },
  },
  {
    name: 'the first of two probes for one condition counts',
    states: [{ state: 'Failed' }, { name: 'ppm#other' }],
    probes: [{ podConditionType: 'Idle' }, { name: 'other', podConditionType: 'Idle' }],
    writes: { metadata: {}, status: { conditions: [{ type: 'Idle', status: 'False' }] } },
  },
  {
    name: 'labels and annotations of the result are set, those of the opposite result are removed',
    states: [{}],
    probes: [{ markerPolicy: policies }],
    pod: pod({ labels: { busy: 'yes', idle: 'no' } }),
    writes: { metadata: { labels: { idle: 'yes', busy: null }, annotations: { since: 'now' } } },
  },
  {
    name: 'missing labels and annotations are not removed',
    states: [{ state: 'Failed' }],
    probes: [{ markerPolicy: policies.slice(0, 1) }],
  },
  {
    name: 'an unknown result removes the labels and annotations of the last policy',
    states: [{ state: 'Unknown' }],
    probes: [{ markerPolicy: policies }],
    pod: pod({ labels: { busy: 'yes' }, annotations: { since: 'now' } }),
    writes: { metadata: { labels: { busy: null } } },
  },
  {
    name: 'a probe without a marker is ignored',
    states: [{ name: 'ppm#other' }],
    probes: [{ podConditionType: 'Idle' }],
  },
  {
    name: 'a probe of a deleted marker is ignored',
    states: [{ name: 'gone#idle' }],
    probes: [{ podConditionType: 'Idle' }],
  },
];
for (const { name, states, probes, pod: of = pod(), writes } of results) {
  test(name, () => {
    const findMarker: Observed['findMarker'] = ({ name: asked }) => (asked === 'ppm' ? marker(probes) : undefined);
    const { actions } = decide(observed({ nodePodProbe: object(states), findPod: () => of, findMarker }));
    const patches = actions.map((action) => (action.type === 'patch' ? action.patch : action.type));
    assert.deepEqual(patches, writes === undefined ? [] : [writes]);
  });
}

test('a terminating marker is ignored', () => {
  const leaving = marker([{ podConditionType: 'Idle' }], { deletionTimestamp: 'now' });
  assert.deepEqual(formatDecision({ nodePodProbe: object([{}]), findMarker: () => leaving }), []);
});
