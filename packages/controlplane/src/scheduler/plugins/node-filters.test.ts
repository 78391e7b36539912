import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@kruise/api/core/pod';
import { clusterOf, type NodeTraits, nodeOf, type PodTraits, podOf } from '../testing/fixtures.ts';
import { scheduleResult } from '../testing/schedule-result.ts';

type Row = readonly [name: string, pod: PodTraits, node: NodeTraits, others: readonly PodTraits[], reason: string];

const unschedulable = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' as const }];
const gpu = { key: 'gpu', value: 'a100', effect: 'NoSchedule' as const };
const noPorts = "node(s) didn't have free ports for the requested pod ports";
const notSelected = "node(s) didn't match Pod's node affinity/selector";
const port = (hostPort: number, more: { hostIP?: string; protocol?: 'TCP' | 'UDP' } = {}) => ({
  hostPorts: [{ hostPort, ...more }],
});

const rows: Row[] = [
  ['on a cordoned node', {}, { unschedulable: true }, [], 'node(s) were unschedulable'],
  ['on a cordoned node that it tolerates', { tolerations: unschedulable }, { unschedulable: true }, [], ''],
  ['on a node other than its nodeName', { nodeName: 'other' }, {}, [], "node(s) didn't match the requested node name"],
  ['on a tainted node', {}, { taints: [gpu] }, [], 'node(s) had untolerated taint {gpu: a100}'],
  [
    'on a node with a taint it tolerates',
    { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    { taints: [gpu] },
    [],
    '',
  ],
  [
    'on a node with a NoExecute taint',
    {},
    { taints: [{ key: 'k', effect: 'NoExecute' }] },
    [],
    'node(s) had untolerated taint {k: }',
  ],
  ['on a node with a PreferNoSchedule taint', {}, { taints: [{ key: 'k', effect: 'PreferNoSchedule' }] }, [], ''],
  ['on a node it does not select', { nodeSelector: { disk: 'ssd' } }, {}, [], notSelected],
  ['on a node it selects', { nodeSelector: { disk: 'ssd' } }, { labels: { disk: 'ssd' } }, [], ''],
  ['beside a Pod with its host port', port(80), {}, [port(80)], noPorts],
  ['beside a Pod with its host port of another protocol', port(80), {}, [port(80, { protocol: 'UDP' })], ''],
  [
    'beside a Pod with its host port on another IP',
    port(80, { hostIP: '10.0.0.1' }),
    {},
    [port(80, { hostIP: '10.0.0.2' })],
    '',
  ],
  ['beside a Pod with its host port on all IPs', port(80, { hostIP: '10.0.0.1' }), {}, [port(80)], noPorts],
  ['with a host port on all IPs, beside a Pod with one', port(80), {}, [port(80, { hostIP: '10.0.0.2' })], noPorts],
  [
    'with exactly enough room',
    { requests: { cpu: '1', memory: '2Gi' } },
    {},
    [{ requests: { cpu: '3', memory: '6Gi' } }],
    '',
  ],
  [
    'with slightly too little room',
    { requests: { cpu: '1001m' } },
    {},
    [{ requests: { cpu: '3' } }],
    'Insufficient cpu',
  ],
  [
    'on an overcommitted node, if it requests nothing',
    {},
    { allocatable: { cpu: '1' } },
    [{ requests: { cpu: '2' } }],
    '',
  ],
  [
    'beside a terminating Pod',
    { requests: { cpu: '2' } },
    {},
    [{ requests: { cpu: '3' }, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }],
    'Insufficient cpu',
  ],
  [
    'on a node that is smaller than it',
    { requests: { cpu: '5', memory: '9Gi' } },
    {},
    [],
    'Insufficient cpu, 1 Insufficient memory',
  ],
  ['on an unready node without a taint', {}, { isReady: false }, [], ''],
  [
    'on a node tainted as not ready',
    {},
    { isReady: false, taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
    [],
    'node(s) had untolerated taint {node.kubernetes.io/not-ready: }',
  ],
  ['on a node with the maximum number of Pods', {}, { allocatable: { pods: '1' } }, [{}], 'Too many pods'],
  ['without the device it requests', { requests: { 'example.com/gpu': '1' } }, {}, [], 'Insufficient example.com/gpu'],
  [
    'where all devices are in use',
    { requests: { 'example.com/gpu': '1' } },
    { allocatable: { 'example.com/gpu': '2' } },
    [{ requests: { 'example.com/gpu': '2' } }],
    'Insufficient example.com/gpu',
  ],
  [
    'without huge pages',
    { requests: { 'hugepages-2Mi': '4Mi' } },
    { allocatable: { 'hugepages-2Mi': '2Mi' } },
    [],
    'Insufficient hugepages-2Mi',
  ],
  [
    'with too little ephemeral storage',
    { requests: { 'ephemeral-storage': '1Gi' } },
    { allocatable: { 'ephemeral-storage': '1' } },
    [],
    'Insufficient ephemeral-storage',
  ],
];
for (const [name, pod, node, others, reason] of rows) {
  test(`a Pod is ${reason ? 'not ' : ''}placed ${name}`, () => {
    const cluster = clusterOf(
      [nodeOf('n', node)],
      others.map((each, index) => podOf(`x${index}`, { on: 'n', ...each })),
    );
    assert.equal(scheduleResult(podOf('p', pod), { cluster }), reason ? `0/1 nodes are available: 1 ${reason}.` : 'n');
  });
}

test('a Pod that is being resized counts with the maximum of its requested and allocated resources', () => {
  const status = (requests: { readonly cpu: string }) => ({
    containerStatuses: [
      {
        name: 'c',
        image: '',
        imageID: '',
        ready: true,
        restartCount: 0,
        allocatedResources: requests,
        resources: { requests },
      },
    ],
  });
  const fits = (spec: string, has: string, more: Partial<Pod['status']> = {}) => {
    const resized = podOf('x', { on: 'n', requests: { cpu: spec }, status: { ...status({ cpu: has }), ...more } });
    return (
      scheduleResult(podOf('p', { requests: { cpu: '2' } }), { cluster: clusterOf([nodeOf('n')], [resized]) }) === 'n'
    );
  };
  assert.equal(fits('1', '2'), true);
  assert.equal(fits('1', '3'), false, 'a pending scale-down');
  assert.equal(fits('3', '1'), false, 'a pending scale-up');
  const infeasible = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] } as const;
  assert.equal(fits('3', '1', infeasible), true, 'an infeasible scale-up');
});

test('ignored resources do not reject a node', () => {
  const pod = podOf('p', { requests: { 'example.com/gpu': '1', 'other.org/fpga': '1' } });
  const cluster = clusterOf([nodeOf('n')]);
  const judged = (args: object) =>
    scheduleResult(pod, { cluster, profile: { pluginConfig: { NodeResourcesFit: args } } });
  assert.equal(judged({ ignoredResources: ['example.com/gpu'], ignoredResourceGroups: ['other.org'] }), 'n');
  assert.equal(
    judged({ ignoredResources: ['example.com/gpu'] }),
    '0/1 nodes are available: 1 Insufficient other.org/fpga.',
  );
});

test('a profile can add a required affinity', () => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'pool', operator: 'In' as const, values: ['a'] }] }];
  const addedAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const profile = { pluginConfig: { NodeAffinity: { addedAffinity } } };
  const cluster = clusterOf([nodeOf('n')]);
  assert.equal(
    scheduleResult(podOf('p'), { cluster, profile }),
    "0/1 nodes are available: 1 node(s) didn't match scheduler-enforced node affinity.",
  );
});
