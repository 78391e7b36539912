import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { makeContainer, makePod, type PodFixture } from '../fixtures.ts';
import { findRejection } from './admission.ts';
import { createAllocations, requestsOf } from './allocations.ts';

const asking = (requests: { [name: string]: string }) => ({
  containers: [makeContainer('c', { resources: { requests } })],
});

type Row = {
  readonly name: string;
  readonly pod: PodFixture;
  readonly others?: readonly PodFixture[];
  readonly node?: Partial<Node['spec']> & {
    labels?: { [key: string]: string };
    allocatable?: { [name: string]: string };
  };
  readonly hostPorts?: readonly string[];
  readonly pressures?: readonly string[];
  readonly isShuttingDown?: boolean;
  readonly expected: string | undefined;
};

const besteffort = { status: { qosClass: 'BestEffort' } } as const;

const rows: Row[] = [
  { name: 'a Pod that fits is admitted', pod: asking({ cpu: '2', memory: '1Gi' }), expected: undefined },
  {
    name: 'a Pod that requests more CPU than allocatable is rejected',
    pod: asking({ cpu: '3' }),
    expected: "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  },
  {
    name: 'resources of other Pods are not available',
    pod: asking({ cpu: '1500m' }),
    others: [asking({ cpu: '1' })],
    expected: "OutOfcpu: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
  },
  {
    name: 'memory is counted in bytes',
    pod: asking({ memory: '2Gi' }),
    expected:
      "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
  },
  {
    name: 'a node has a maximum number of Pods',
    pod: {},
    others: [{}, {}, {}],
    expected: "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  },
  {
    name: 'an extended resource of the node is counted',
    pod: asking({ 'example.com/gpu': '3' }),
    node: { allocatable: { 'example.com/gpu': '2' } },
    expected:
      "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 3, used: 0, capacity: 2",
  },
  {
    name: 'an extended resource that the node does not report is ignored',
    pod: asking({ 'example.com/gpu': '3' }),
    expected: undefined,
  },
  {
    name: 'a Pod whose node selector does not match is rejected',
    pod: { nodeSelector: { disk: 'fast' } },
    expected: "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  },
  {
    name: 'a Pod whose node selector matches is admitted',
    pod: { nodeSelector: { disk: 'fast' } },
    node: { labels: { disk: 'fast' } },
    expected: undefined,
  },
  {
    name: 'a Pod with the name of another node is rejected',
    pod: { nodeName: 'node-2' },
    expected: "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
  },
  {
    name: 'a host port in use is not free',
    pod: { containers: [makeContainer('c', { ports: [{ containerPort: 80, hostPort: 80 }] })] },
    hostPorts: ['TCP/10.0.0.1/80'],
    expected: "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  },
  {
    name: 'a host port of another protocol is free',
    pod: { containers: [makeContainer('c', { ports: [{ containerPort: 80, hostPort: 80 }] })] },
    hostPorts: ['UDP/0.0.0.0/80'],
    expected: undefined,
  },
  {
    name: 'a NoExecute taint rejects Pods',
    pod: {},
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    expected: "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  },
  {
    name: 'a tolerated taint admits a Pod',
    pod: { tolerations: [{ operator: 'Exists' }] },
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    expected: undefined,
  },
  {
    name: 'a NoSchedule taint admits a Pod',
    pod: {},
    node: { taints: [{ key: 'full', effect: 'NoSchedule' }] },
    expected: undefined,
  },
  {
    name: 'a static Pod tolerates all taints',
    pod: { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } },
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    expected: undefined,
  },
  {
    name: 'a Pod for another OS is rejected',
    pod: { os: { name: 'windows' } },
    expected: "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
  },
  {
    name: 'the OS label check comes before the node affinity check',
    pod: { nodeSelector: { 'kubernetes.io/os': 'windows' } },
    expected:
      "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
  },
  {
    name: 'a Pod with strict supplemental groups needs support of the runtime',
    pod: { securityContext: { supplementalGroupsPolicy: 'Strict' } },
    expected: 'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
  },
  {
    name: 'node pressure is checked before resources',
    pod: { ...asking({ cpu: '3' }), status: { qosClass: 'Burstable' } },
    pressures: ['DiskPressure'],
    expected: 'Evicted: The node had condition: [DiskPressure]. ',
  },
  {
    name: 'resources are checked before placement',
    pod: { ...asking({ cpu: '3' }), nodeSelector: { disk: 'fast' } },
    expected: "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  },
  {
    name: 'an unsafe sysctl is forbidden',
    pod: { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    expected: 'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted',
  },
  {
    name: 'a safe sysctl is allowed',
    pod: { securityContext: { sysctls: [{ name: 'net/ipv4/tcp_syncookies', value: '1' }] } },
    expected: undefined,
  },
  {
    name: 'a node under memory pressure rejects BestEffort Pods',
    pod: besteffort,
    pressures: ['MemoryPressure'],
    expected: 'Evicted: The node had condition: [MemoryPressure]. ',
  },
  {
    name: 'a node under memory pressure admits Burstable Pods',
    pod: { status: { qosClass: 'Burstable' } },
    pressures: ['MemoryPressure'],
    expected: undefined,
  },
  {
    name: 'a node under memory pressure admits a Pod that tolerates the taint',
    pod: { ...besteffort, tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }] },
    pressures: ['MemoryPressure'],
    expected: undefined,
  },
  {
    name: 'a node under disk pressure rejects Pods',
    pod: { status: { qosClass: 'Guaranteed' } },
    pressures: ['DiskPressure'],
    expected: 'Evicted: The node had condition: [DiskPressure]. ',
  },
  {
    name: 'a node under pressure admits critical Pods',
    pod: { priority: 2_000_000_000 },
    pressures: ['DiskPressure'],
    expected: undefined,
  },
  {
    name: 'a node that is shutting down rejects Pods',
    pod: {},
    isShuttingDown: true,
    expected: 'NodeShutdown: Pod was rejected as the node is shutting down.',
  },
];

for (const {
  name,
  pod,
  others = [],
  node = {},
  hostPorts = [],
  pressures = [],
  isShuttingDown = false,
  expected,
} of rows) {
  test(name, () => {
    const { labels, allocatable, ...spec } = node;
    const allocations = createAllocations();
    for (const [index, other] of others.entries())
      allocations.admit(makePod({ ...other, metadata: { uid: `other-${index}` } }));
    const wanted = makePod(pod);
    const rejection = findRejection(wanted, {
      node: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'node-1', ...(labels ? { labels } : {}) },
        spec,
        status: { allocatable: { cpu: '2', memory: '1Gi', pods: '3', ...allocatable } },
      },
      requests: requestsOf(wanted),
      used: allocations.usedByOthers('uid-1'),
      hostPorts,
      pressures,
      isShuttingDown,
    });
    assert.equal(rejection && `${rejection.reason}: ${rejection.message}`, expected);
  });
}
