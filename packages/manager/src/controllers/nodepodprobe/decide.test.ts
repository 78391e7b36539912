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
  podNamed: () => pod(),
  markerNamed: ({ name }) => (name === 'ppm' ? marker([{ podConditionType: 'Idle' }]) : undefined),
  ...more,
});
const said = (world: Partial<Observed>) => decide(observed(world)).actions.map(({ type }) => type);

const lives: { name: string; world: Partial<Observed>; does: readonly string[] }[] = [
  { name: 'a node has one', world: { nodePodProbe: undefined }, does: ['create'] },
  { name: 'without a node there is none', world: { hasNode: false }, does: ['remove'] },
  { name: 'without a node none is made', world: { hasNode: false, nodePodProbe: undefined }, does: [] },
  {
    name: 'it is removed once',
    world: { hasNode: false, nodePodProbe: { ...object(), metadata: { name: 'node-1', deletionTimestamp: 'now' } } },
    does: [],
  },
  { name: 'a Pod that is there is probed', world: {}, does: [] },
  { name: 'a Pod that is gone is not', world: { podNamed: () => undefined }, does: ['update'] },
  { name: 'nor a later one of its name', world: { podNamed: () => pod({ uid: 'other' }) }, does: ['update'] },
  {
    name: 'nor one that is over',
    world: { podNamed: () => ({ ...pod(), status: { phase: 'Failed' } }) },
    does: ['update'],
  },
];
for (const { name, world, does } of lives) test(name, () => assert.deepEqual(said(world), does));

test('of several Pods those at work stay', () => {
  const podProbes = [entry, { ...entry, name: 'gone' }];
  const podNamed = ({ name }: { readonly name: string }) => (name === 'web' ? pod() : undefined);
  const [action] = decide(observed({ nodePodProbe: object([], podProbes), podNamed })).actions;
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
    name: 'what was found is a condition',
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
    name: 'what is not known is not so',
    states: [{ state: 'Unknown' }],
    probes: [{ podConditionType: 'Idle' }],
    writes: { metadata: {}, status: { conditions: [{ type: 'Idle', status: 'False' }] } },
  },
  {
    name: 'what is shown already is not written',
    states: [{}],
    probes: [{ podConditionType: 'Idle' }],
    pod: pod({}, [idle]),
  },
  {
    name: 'another message is news',
    states: [{ message: 'm' }],
    probes: [{ podConditionType: 'Idle' }],
    pod: pod({}, [idle]),
    writes: { metadata: {}, status: { conditions: [{ ...idle, message: 'm' }] } },
  },
  {
    name: 'of two probes for one condition the first counts',
    states: [{ state: 'Failed' }, { name: 'ppm#other' }],
    probes: [{ podConditionType: 'Idle' }, { name: 'other', podConditionType: 'Idle' }],
    writes: { metadata: {}, status: { conditions: [{ type: 'Idle', status: 'False' }] } },
  },
  {
    name: 'marks of what was found are set, those of the contrary taken away',
    states: [{}],
    probes: [{ markerPolicy: policies }],
    pod: pod({ labels: { busy: 'yes', idle: 'no' } }),
    writes: { metadata: { labels: { idle: 'yes', busy: null }, annotations: { since: 'now' } } },
  },
  {
    name: 'marks that are not there are not taken away',
    states: [{ state: 'Failed' }],
    probes: [{ markerPolicy: policies.slice(0, 1) }],
  },
  {
    name: 'with nothing known the marks of the last policy are taken away',
    states: [{ state: 'Unknown' }],
    probes: [{ markerPolicy: policies }],
    pod: pod({ labels: { busy: 'yes' }, annotations: { since: 'now' } }),
    writes: { metadata: { labels: { busy: null } } },
  },
  {
    name: 'a probe nobody asked for shows nothing',
    states: [{ name: 'ppm#other' }],
    probes: [{ podConditionType: 'Idle' }],
  },
  { name: 'nor one of a marker that is gone', states: [{ name: 'gone#idle' }], probes: [{ podConditionType: 'Idle' }] },
];
for (const { name, states, probes, pod: of = pod(), writes } of results) {
  test(name, () => {
    const markerNamed: Observed['markerNamed'] = ({ name: asked }) => (asked === 'ppm' ? marker(probes) : undefined);
    const { actions } = decide(observed({ nodePodProbe: object(states), podNamed: () => of, markerNamed }));
    const patches = actions.map((action) => (action.type === 'patch' ? action.patch : action.type));
    assert.deepEqual(patches, writes === undefined ? [] : [writes]);
  });
}

test('a marker on its way out shows nothing', () => {
  const leaving = marker([{ podConditionType: 'Idle' }], { deletionTimestamp: 'now' });
  assert.deepEqual(said({ nodePodProbe: object([{}]), markerNamed: () => leaving }), []);
});
