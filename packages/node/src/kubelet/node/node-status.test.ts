import assert from 'node:assert/strict';
import { test } from 'node:test';
import { node as nodeKind } from '@kruise/api/core/node';
import { findCondition } from '@kruise/machinery/conditions';
import { startTestNode } from '../testing/test-node.ts';
import {
  allocatableOf,
  isSameNodeStatus,
  nodeConditionValues,
  nodeLabels,
  nodeStatusOf,
  type Pressure,
  reconciledNode,
} from './node-status.ts';

const now = Date.UTC(2026, 0, 1);
const info = {
  machineID: 'm',
  systemUUID: 's',
  bootID: 'b',
  kernelVersion: '6',
  osImage: 'Linux',
  containerRuntimeVersion: 'test://1',
  kubeletVersion: 'v1.33.4',
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
};

const conditionRows: readonly (readonly [
  name: string,
  pressures: readonly Pressure[],
  faults: readonly string[],
  expected: readonly string[],
])[] = [
  [
    'a node without pressure is ready',
    [],
    [],
    [
      'MemoryPressure=False KubeletHasSufficientMemory: kubelet has sufficient memory available',
      'DiskPressure=False KubeletHasNoDiskPressure: kubelet has no disk pressure',
      'PIDPressure=False KubeletHasSufficientPID: kubelet has sufficient PID available',
      'Ready=True KubeletReady: kubelet is posting ready status',
    ],
  ],
  [
    'a node under all pressures reports them and may be ready',
    ['MemoryPressure', 'DiskPressure', 'PIDPressure'],
    [],
    [
      'MemoryPressure=True KubeletHasInsufficientMemory: kubelet has insufficient memory available',
      'DiskPressure=True KubeletHasDiskPressure: kubelet has disk pressure',
      'PIDPressure=True KubeletHasInsufficientPID: kubelet has insufficient PID available',
      'Ready=True KubeletReady: kubelet is posting ready status',
    ],
  ],
];
for (const [name, pressures, faults, expected] of conditionRows) {
  test(name, () => {
    const claims = nodeConditionValues({ pressures: new Set(pressures), faults });
    assert.deepEqual(
      claims.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
      expected,
    );
  });
}

for (const [faults, message] of [
  [['container runtime is down'], 'container runtime is down'],
  [['container runtime is down', 'PLEG is not healthy'], '[container runtime is down, PLEG is not healthy]'],
] as const) {
  test(`a node with ${faults.length} faults is not ready and reports them`, () => {
    const ready = nodeConditionValues({ pressures: new Set(), faults }).at(-1);
    assert.deepEqual(ready, { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message });
  });
}

const allocatableRows: readonly (readonly [
  name: string,
  capacity: { [name: string]: string },
  reserved: { [name: string]: string },
  left: { [name: string]: string },
])[] = [
  [
    'reserved resources are not allocatable',
    { memory: '8Gi', cpu: '4' },
    { memory: '100Mi' },
    { memory: '8092Mi', cpu: '4' },
  ],
  ['allocatable is never negative', { memory: '50Mi' }, { memory: '100Mi' }, { memory: '0' }],
  [
    'huge pages reduce allocatable memory',
    { memory: '8Gi', 'hugepages-2Mi': '1Gi' },
    { memory: '1Gi' },
    { memory: '6Gi', 'hugepages-2Mi': '1Gi' },
  ],
  [
    'extended resources are fully allocatable',
    { 'example.com/gpu': '2' },
    { 'example.com/gpu': '1' },
    { 'example.com/gpu': '2' },
  ],
];
for (const [name, capacity, reserved, left] of allocatableRows) {
  test(name, () => assert.deepEqual(allocatableOf(capacity, reserved), left));
}

function statusOf(more: Partial<Parameters<typeof nodeStatusOf>[1]> = {}, current = {}) {
  return nodeStatusOf(current, {
    hostname: 'host',
    addresses: ['172.18.0.2', 'fd00::2'],
    capacity: { cpu: '4' },
    reserved: {},
    info,
    images: [],
    kubeletPort: 10250,
    handlers: [],
    features: undefined,
    pressures: new Set(),
    faults: [],
    now,
    ...more,
  });
}

test('a node reports its IPs, its hostname and its kubelet port', () => {
  const { addresses, daemonEndpoints } = statusOf();
  assert.deepEqual(addresses, [
    { type: 'InternalIP', address: '172.18.0.2' },
    { type: 'InternalIP', address: 'fd00::2' },
    { type: 'Hostname', address: 'host' },
  ]);
  assert.deepEqual(daemonEndpoints, { kubeletEndpoint: { Port: 10250 } });
});

test('a node reports its fifty largest images with five names each, digests first', () => {
  const image = (size: number) => ({
    id: `i${size}`,
    size,
    repoDigests: [`d${size}@1`],
    repoTags: ['a', 'b', 'c', 'd', 'e'].map((tag) => `t${size}:${tag}`),
    username: '',
    pinned: false,
  });
  const { images = [] } = statusOf({ images: Array.from({ length: 60 }, (_, size) => image(size)) });
  assert.equal(images.length, 50);
  assert.deepEqual(images[0], { names: ['d59@1', 't59:a', 't59:b', 't59:c', 't59:d'], sizeBytes: 59 });
});

test('the transition time of a condition changes with its status, the heartbeat on each update', () => {
  const before = statusOf();
  const later = statusOf({ now: now + 60_000, faults: ['gone'] }, before);
  const at = (type: string) => {
    const { lastTransitionTime, lastHeartbeatTime } = findCondition(later.conditions, type)!;
    return [lastTransitionTime, lastHeartbeatTime];
  };
  assert.deepEqual(at('Ready'), ['2026-01-01T00:01:00Z', '2026-01-01T00:01:00Z']);
  assert.deepEqual(at('DiskPressure'), ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']);
});

test('a heartbeat alone is no status change', () => {
  const before = statusOf();
  assert.equal(isSameNodeStatus(before, statusOf({ now: now + 60_000 }, before)), true);
  assert.equal(isSameNodeStatus(before, statusOf({ now: now + 60_000, faults: ['gone'] }, before)), false);
});

test('an existing Node gets the labels of its kubelet and keeps its own', () => {
  const labels = nodeLabels('host', info);
  assert.deepEqual(labels, {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': 'host',
    'kubernetes.io/os': 'linux',
  });
  const node = (own: { [name: string]: string }) =>
    ({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: own } }) as const;
  const reconciled = reconciledNode(node({ zone: 'a', 'kubernetes.io/os': 'other' }), node(labels));
  assert.deepEqual(reconciled.metadata.labels, { zone: 'a', ...labels });
  const same = node(labels);
  assert.equal(
    reconciledNode({ ...same, metadata: { ...same.metadata, annotations: {} } }, same).metadata.labels,
    labels,
  );
});

test('a node records its condition changes in order', async () => {
  await using node = await startTestNode();
  const { client } = node.server;
  const patch = (unschedulable: boolean) =>
    client.patch(nodeKind, { name: 'node-1' }, { spec: { unschedulable } }, { type: 'merge' });
  await patch(true);
  await node.advance(1);
  await patch(false);
  await node.advance(1);
  assert.deepEqual(await node.events('node-1'), [
    'Normal Starting: Starting kubelet.',
    ...[
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
      'NodeNotSchedulable',
      'NodeSchedulable',
    ].map((reason) => `Normal ${reason}: Node node-1 status is now: ${reason}`),
  ]);
});

test('a new Node has its labels, taints and annotations', async () => {
  const taints = [{ key: 'fresh', effect: 'NoSchedule' as const }];
  await using node = await startTestNode({ kubelet: { labels: { zone: 'a' }, taints, unschedulable: true } });
  const { metadata, spec, status } = await node.server.client.get(nodeKind, { name: 'node-1' });
  assert.equal(metadata.labels?.zone, 'a');
  assert.equal(metadata.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'], 'true');
  assert.deepEqual(
    spec?.taints?.map(({ key, effect }) => `${key}:${effect}`),
    ['fresh:NoSchedule', 'node.kubernetes.io/unschedulable:NoSchedule', 'node.kubernetes.io/not-ready:NoSchedule'],
  );
  assert.deepEqual(status?.allocatable, {
    cpu: '4',
    'ephemeral-storage': '90Gi',
    memory: '8092Mi',
    pods: '110',
  });
  assert.equal(status?.nodeInfo?.containerRuntimeVersion, 'simulated://1.0.0');
  assert.equal(status?.nodeInfo?.kubeletVersion, 'v1.33.4');
});

test('reserved resources and hard eviction thresholds are not allocatable', async () => {
  await using node = await startTestNode({
    kubelet: {
      reserved: { cpu: '500m', memory: '1Gi' },
      evictionHard: [
        { signal: 'memory.available', value: '500Mi' },
        { signal: 'nodefs.available', value: '20%' },
      ],
    },
  });
  const { allocatable } = (await node.server.client.get(nodeKind, { name: 'node-1' })).status ?? {};
  assert.deepEqual(allocatable, { cpu: '3500m', 'ephemeral-storage': '80Gi', memory: '6668Mi', pods: '110' });
});
