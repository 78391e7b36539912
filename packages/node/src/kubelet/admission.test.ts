import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '@kruise/api/core/node';
import { refusalOf } from './admission.ts';
import { createAllocations, requestsOf } from './allocations.ts';
import { aContainer, aPod, type PodFixture } from './fixtures.ts';

const asking = (requests: { [name: string]: string }) => ({
  containers: [aContainer('c', { resources: { requests } })],
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
  readonly says: string | undefined;
};

const besteffort = { status: { qosClass: 'BestEffort' } } as const;

const rows: Row[] = [
  { name: 'a Pod that fits is let in', pod: asking({ cpu: '2', memory: '1Gi' }), says: undefined },
  {
    name: 'a Pod that wants more processors than there are is not',
    pod: asking({ cpu: '3' }),
    says: "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  },
  {
    name: 'what others have is not there',
    pod: asking({ cpu: '1500m' }),
    others: [asking({ cpu: '1' })],
    says: "OutOfcpu: Node didn't have enough resource: cpu, requested: 1500, used: 1000, capacity: 2000",
  },
  {
    name: 'memory is counted in bytes',
    pod: asking({ memory: '2Gi' }),
    says: "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824",
  },
  {
    name: 'a node has room for so many Pods',
    pod: {},
    others: [{}, {}, {}],
    says: "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3",
  },
  {
    name: 'an extended resource the node has is counted',
    pod: asking({ 'example.com/gpu': '3' }),
    node: { allocatable: { 'example.com/gpu': '2' } },
    says: "OutOfexample.com/gpu: Node didn't have enough resource: example.com/gpu, requested: 3, used: 0, capacity: 2",
  },
  {
    name: 'an extended resource the node has never heard of is not',
    pod: asking({ 'example.com/gpu': '3' }),
    says: undefined,
  },
  {
    name: 'a Pod for other nodes is not let in',
    pod: { nodeSelector: { disk: 'fast' } },
    says: "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
  },
  {
    name: 'a Pod for such nodes is let in',
    pod: { nodeSelector: { disk: 'fast' } },
    node: { labels: { disk: 'fast' } },
    says: undefined,
  },
  {
    name: 'a Pod for another node by name is not let in',
    pod: { nodeName: 'node-2' },
    says: "NodeName: Predicate NodeName failed: node(s) didn't match the requested node name",
  },
  {
    name: 'a port that is taken is not free',
    pod: { containers: [aContainer('c', { ports: [{ containerPort: 80, hostPort: 80 }] })] },
    hostPorts: ['TCP/10.0.0.1/80'],
    says: "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
  },
  {
    name: 'a port of another protocol is free',
    pod: { containers: [aContainer('c', { ports: [{ containerPort: 80, hostPort: 80 }] })] },
    hostPorts: ['UDP/0.0.0.0/80'],
    says: undefined,
  },
  {
    name: 'a taint that ends Pods keeps them off',
    pod: {},
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    says: "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
  },
  {
    name: 'a taint that is tolerated does not',
    pod: { tolerations: [{ operator: 'Exists' }] },
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    says: undefined,
  },
  {
    name: 'a taint that only keeps Pods from being scheduled does not',
    pod: {},
    node: { taints: [{ key: 'full', effect: 'NoSchedule' }] },
    says: undefined,
  },
  {
    name: 'a static Pod stands all taints',
    pod: { metadata: { annotations: { 'kubernetes.io/config.source': 'file' } } },
    node: { taints: [{ key: 'gone', effect: 'NoExecute' }] },
    says: undefined,
  },
  {
    name: 'a Pod for another system is not let in',
    pod: { os: { name: 'windows' } },
    says: "PodOSNotSupported: Failed to admit pod as the OS field doesn't match node OS",
  },
  {
    name: 'a Pod for nodes of another system is told so before all else about places',
    pod: { nodeSelector: { 'kubernetes.io/os': 'windows' } },
    says: "PodOSSelectorNodeLabelDoesNotMatch: Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
  },
  {
    name: 'a Pod that wants its groups alone needs a runtime that can do that',
    pod: { securityContext: { supplementalGroupsPolicy: 'Strict' } },
    says: 'SupplementalGroupsPolicyNotSupported: SupplementalGroupsPolicy=Strict is not supported in this node',
  },
  {
    name: 'want is told before a lack of room',
    pod: { ...asking({ cpu: '3' }), status: { qosClass: 'Burstable' } },
    pressures: ['DiskPressure'],
    says: 'Evicted: The node had condition: [DiskPressure]. ',
  },
  {
    name: 'a lack of room is told before a wrong place',
    pod: { ...asking({ cpu: '3' }), nodeSelector: { disk: 'fast' } },
    says: "OutOfcpu: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  },
  {
    name: 'a setting of the whole node is not for Pods',
    pod: { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    says: 'SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted',
  },
  {
    name: 'a setting of the Pod alone is',
    pod: { securityContext: { sysctls: [{ name: 'net/ipv4/tcp_syncookies', value: '1' }] } },
    says: undefined,
  },
  {
    name: 'a node short of memory takes no Pod that promises nothing',
    pod: besteffort,
    pressures: ['MemoryPressure'],
    says: 'Evicted: The node had condition: [MemoryPressure]. ',
  },
  {
    name: 'a node short of memory takes a Pod that has asked for its share',
    pod: { status: { qosClass: 'Burstable' } },
    pressures: ['MemoryPressure'],
    says: undefined,
  },
  {
    name: 'a node short of memory takes a Pod that stands it',
    pod: { ...besteffort, tolerations: [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }] },
    pressures: ['MemoryPressure'],
    says: undefined,
  },
  {
    name: 'a node short of disk takes none',
    pod: { status: { qosClass: 'Guaranteed' } },
    pressures: ['DiskPressure'],
    says: 'Evicted: The node had condition: [DiskPressure]. ',
  },
  {
    name: 'a node short of anything takes what it cannot be without',
    pod: { priority: 2_000_000_000 },
    pressures: ['DiskPressure'],
    says: undefined,
  },
  {
    name: 'a node that is shutting down takes none',
    pod: {},
    isShuttingDown: true,
    says: 'NodeShutdown: Pod was rejected as the node is shutting down.',
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
  says,
} of rows) {
  test(name, () => {
    const { labels, allocatable, ...spec } = node;
    const allocations = createAllocations();
    for (const [index, other] of others.entries())
      allocations.admit(aPod({ ...other, metadata: { uid: `other-${index}` } }));
    const wanted = aPod(pod);
    const refusal = refusalOf(wanted, {
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
    assert.equal(refusal && `${refusal.reason}: ${refusal.message}`, says);
  });
}
