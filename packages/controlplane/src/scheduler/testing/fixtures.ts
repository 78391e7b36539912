/** Fixtures: nodes and Pods with only the relevant fields. */
import type { Node, Taint } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { PodSpec } from '@kruise/api/core/pod-spec';
import { type Cluster, createCluster } from '../cluster/cluster.ts';

type Labels = { readonly [key: string]: string };

export type NodeTraits = {
  readonly labels?: Labels;
  readonly taints?: readonly Taint[];
  readonly allocatable?: { readonly [resource: string]: string };
  readonly unschedulable?: boolean;
  readonly isReady?: boolean;
  readonly images?: readonly { readonly names: readonly string[]; readonly sizeBytes: number }[];
};

/** Returns a node with 4 CPUs, 8 GiB and 110 Pods, labelled with its name. */
export function nodeOf(name: string, traits: NodeTraits = {}): Node {
  const { labels, taints = [], allocatable, unschedulable = false, isReady = true, images = [] } = traits;
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False' } as const;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { taints, unschedulable },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110', ...allocatable }, conditions: [ready], images },
  };
}

/** Returns a node in a zone. */
export function nodeIn(zone: string, name: string, traits: NodeTraits = {}): Node {
  return nodeOf(name, { ...traits, labels: { 'topology.kubernetes.io/zone': zone, ...traits.labels } });
}

export type PodTraits = Partial<Omit<PodSpec, 'containers'>> & {
  readonly namespace?: string;
  readonly labels?: Labels;
  /** Node of the Pod. */
  readonly on?: string;
  readonly requests?: { readonly [resource: string]: string };
  readonly hostPorts?: readonly {
    readonly hostPort: number;
    readonly hostIP?: string;
    readonly protocol?: 'TCP' | 'UDP';
  }[];
  readonly image?: string;
  readonly metadata?: Partial<Pod['metadata']>;
  readonly status?: Pod['status'];
};

/** Returns a Pod with one container and no requests. */
export function podOf(name: string, traits: PodTraits = {}): Pod {
  const {
    namespace = 'default',
    labels = {},
    on,
    requests = {},
    hostPorts = [],
    image = 'app',
    metadata,
    status,
    ...spec
  } = traits;
  const ports = hostPorts.map((port) => ({ containerPort: port.hostPort, ...port }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `uid-of-${name}`, labels, ...metadata },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'c', image, resources: { requests }, ports }],
      ...(on === undefined ? {} : { nodeName: on }),
      ...spec,
    },
    ...(status ? { status } : {}),
  };
}

/** Returns a scheduler cache with nodes and the Pods on them. */
export function clusterOf(nodes: readonly Node[], pods: readonly Pod[] = []): Cluster {
  const cluster = createCluster();
  for (const node of nodes) cluster.setNode(node);
  for (const pod of pods) cluster.setPod(pod);
  return cluster;
}
