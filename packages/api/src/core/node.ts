import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const taint = s.object('io.k8s.api.core.v1.Taint', 'Keeps Pods off a node, unless they tolerate it.', {
  key: s.required(1, s.string(), 'Name of the taint, a label key.'),
  value: s.optional(2, s.string(), 'Value of the taint, which tolerations compare.'),
  effect: s.required(
    3,
    s.oneOf('v1.TaintEffect', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
    'NoSchedule keeps new Pods off, PreferNoSchedule tries to, NoExecute also evicts those that run.',
  ),
  timeAdded: s.pointer(
    4,
    s.time(),
    'When it was put on the node; set for NoExecute, where toleration times count from it.',
  ),
});
export type Taint = s.TypeOf<typeof taint>;

export const configMapNodeConfigSource = s.object(
  'io.k8s.api.core.v1.ConfigMapNodeConfigSource',
  'A ConfigMap with settings for a kubelet. No kubelet reads it any more.',
  {
    namespace: s.required(1, s.string(), 'Namespace of the ConfigMap.'),
    name: s.required(2, s.string(), 'Name of the ConfigMap.'),
    uid: s.optional(3, s.string({ goType: 'types.UID' }), 'The uid of the ConfigMap; only in status.'),
    resourceVersion: s.optional(4, s.string(), 'The version of the ConfigMap; only in status.'),
    kubeletConfigKey: s.required(5, s.string(), 'The key whose value holds the settings.'),
  },
);
export type ConfigMapNodeConfigSource = s.TypeOf<typeof configMapNodeConfigSource>;

export const nodeConfigSource = s.object(
  'io.k8s.api.core.v1.NodeConfigSource',
  'Where a kubelet was to get its settings from. No kubelet reads it any more.',
  {
    configMap: s.pointer(2, configMapNodeConfigSource, 'A ConfigMap with the settings.'),
  },
);
export type NodeConfigSource = s.TypeOf<typeof nodeConfigSource>;

export const nodeSpec = s.object('io.k8s.api.core.v1.NodeSpec', 'What a node is to be.', {
  podCIDR: s.optional(1, s.string(), 'The range addresses of its Pods are taken from. Once set it cannot be changed.'),
  podCIDRs: s.optional(7, s.set(s.string()), 'The same for two IP families; the first is podCIDR.', {
    patchStrategy: 'merge',
  }),
  providerID: s.optional(
    3,
    s.string(),
    'What the cloud calls the machine, such as aws:///zone/i-0123. Once set it cannot be changed.',
  ),
  unschedulable: s.optional(4, s.boolean(), 'Take no new Pods, as kubectl cordon does. Pods that run stay.'),
  taints: s.optional(5, s.atomicList(taint), 'What keeps Pods off the node unless they tolerate it.'),
  configSource: s.pointer(6, nodeConfigSource, 'Where the kubelet was to get its settings from. Of no effect.'),
  externalID: s.optional(2, s.string(), 'An old name for the machine. Of no effect.'),
});
export type NodeSpec = s.TypeOf<typeof nodeSpec>;

export const nodeCondition = s.object('io.k8s.api.core.v1.NodeCondition', 'A condition of a node.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.NodeConditionType' }),
    'Ready, MemoryPressure, DiskPressure, PIDPressure or NetworkUnavailable; others may add their own.',
  ),
  status: s.required(
    2,
    s.string({ goType: 'v1.ConditionStatus' }),
    'Status of the condition: True, False or Unknown. Unknown if the node has stopped sending heartbeats.',
  ),
  lastHeartbeatTime: s.optional(3, s.time(), 'When the node last said so.'),
  lastTransitionTime: s.optional(4, s.time(), 'When the status last changed.'),
  reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(6, s.string(), 'Human-readable message with details.'),
});
export type NodeCondition = s.TypeOf<typeof nodeCondition>;

export const nodeAddress = s.object('io.k8s.api.core.v1.NodeAddress', 'How to reach a node.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.NodeAddressType' }),
    'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.',
  ),
  address: s.required(2, s.string(), 'The address or name.'),
});
export type NodeAddress = s.TypeOf<typeof nodeAddress>;

export const daemonEndpoint = s.object('io.k8s.api.core.v1.DaemonEndpoint', 'Where a daemon of a node listens.', {
  Port: s.required(1, s.int32(), 'The port number.'),
});
export type DaemonEndpoint = s.TypeOf<typeof daemonEndpoint>;

export const nodeDaemonEndpoints = s.object(
  'io.k8s.api.core.v1.NodeDaemonEndpoints',
  'Where the daemons of a node listen.',
  {
    kubeletEndpoint: s.optional(
      1,
      daemonEndpoint,
      'Where the kubelet serves logs, exec and metrics; 10250 by default.',
    ),
  },
);
export type NodeDaemonEndpoints = s.TypeOf<typeof nodeDaemonEndpoints>;

export const nodeSwapStatus = s.object('io.k8s.api.core.v1.NodeSwapStatus', 'The swap space of a node.', {
  capacity: s.pointer(1, s.int64(), 'How much there is, in bytes.'),
});
export type NodeSwapStatus = s.TypeOf<typeof nodeSwapStatus>;

export const nodeSystemInfo = s.object('io.k8s.api.core.v1.NodeSystemInfo', 'What a node is made of.', {
  machineID: s.required(1, s.string(), 'The ID the operating system gave the machine, from /etc/machine-id.'),
  systemUUID: s.required(2, s.string(), 'The ID the hardware has.'),
  bootID: s.required(3, s.string(), 'Changes with every start of the machine.'),
  kernelVersion: s.required(4, s.string(), 'Version of the kernel, as uname -r prints it.'),
  osImage: s.required(5, s.string(), 'Name of the operating system, from /etc/os-release.'),
  containerRuntimeVersion: s.required(
    6,
    s.string(),
    'Name and version of the container runtime, such as containerd://2.0.0.',
  ),
  kubeletVersion: s.required(7, s.string(), 'Version of the kubelet.'),
  kubeProxyVersion: s.required(8, s.string(), 'Deprecated: repeats the version of the kubelet.'),
  operatingSystem: s.required(9, s.string(), 'linux or windows.'),
  architecture: s.required(10, s.string(), 'The processor, such as amd64 or arm64.'),
  swap: s.pointer(11, nodeSwapStatus, 'The swap space of the machine.'),
});
export type NodeSystemInfo = s.TypeOf<typeof nodeSystemInfo>;

export const containerImage = s.object('io.k8s.api.core.v1.ContainerImage', 'An image a node has.', {
  names: s.optional(1, s.atomicList(s.string()), 'What it is called, with tag or with digest.', { omitEmpty: false }),
  sizeBytes: s.optional(2, s.int64(), 'How much room it takes, in bytes.'),
});
export type ContainerImage = s.TypeOf<typeof containerImage>;

export const attachedVolume = s.object('io.k8s.api.core.v1.AttachedVolume', 'A volume attached to a node.', {
  name: s.required(
    1,
    s.string({ goType: 'v1.UniqueVolumeName' }),
    'A name for the volume that is unique in the cluster.',
  ),
  devicePath: s.required(2, s.string(), 'Where the node finds the device.'),
});
export type AttachedVolume = s.TypeOf<typeof attachedVolume>;

export const nodeConfigStatus = s.object(
  'io.k8s.api.core.v1.NodeConfigStatus',
  'What became of the settings a node was given. No longer written.',
  {
    assigned: s.pointer(1, nodeConfigSource, 'The settings the kubelet was to try next.'),
    active: s.pointer(2, nodeConfigSource, 'The settings the kubelet used.'),
    lastKnownGood: s.pointer(3, nodeConfigSource, 'The settings to go back to if those failed.'),
    error: s.optional(4, s.string(), 'What was wrong with the settings.'),
  },
);
export type NodeConfigStatus = s.TypeOf<typeof nodeConfigStatus>;

export const nodeRuntimeHandlerFeatures = s.object(
  'io.k8s.api.core.v1.NodeRuntimeHandlerFeatures',
  'What a runtime handler can do.',
  {
    recursiveReadOnlyMounts: s.pointer(1, s.boolean(), 'Whether mounts within a read-only mount can be read-only too.'),
    userNamespaces: s.pointer(2, s.boolean(), 'Whether a Pod can have users of its own.'),
  },
);
export type NodeRuntimeHandlerFeatures = s.TypeOf<typeof nodeRuntimeHandlerFeatures>;

export const nodeRuntimeHandler = s.object(
  'io.k8s.api.core.v1.NodeRuntimeHandler',
  'A way the container runtime of a node can run Pods.',
  {
    name: s.optional(1, s.string(), 'Name of the handler, as RuntimeClasses refer to it; empty for the default.', {
      omitEmpty: false,
    }),
    features: s.pointer(2, nodeRuntimeHandlerFeatures, 'What the handler can do.'),
  },
);
export type NodeRuntimeHandler = s.TypeOf<typeof nodeRuntimeHandler>;

export const nodeFeatures = s.object(
  'io.k8s.api.core.v1.NodeFeatures',
  'What the container runtime of a node can do, whichever the handler.',
  {
    supplementalGroupsPolicy: s.pointer(1, s.boolean(), 'Whether it heeds supplementalGroupsPolicy of a Pod.'),
  },
);
export type NodeFeatures = s.TypeOf<typeof nodeFeatures>;

export const nodeStatus = s.object('io.k8s.api.core.v1.NodeStatus', 'What a node is.', {
  capacity: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'What the machine has, by resource.'),
  allocatable: s.optional(
    2,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'What is left of it for Pods, once the system has its share.',
  ),
  phase: s.optional(3, s.oneOf('v1.NodePhase', ['Pending', 'Running', 'Terminated']), 'No longer written.'),
  conditions: s.optional(4, s.listMap(nodeCondition, ['type']), 'How the node is.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  addresses: s.optional(5, s.listMap(nodeAddress, ['type']), 'How the node can be reached.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  daemonEndpoints: s.optional(6, nodeDaemonEndpoints, 'Where its daemons listen.'),
  nodeInfo: s.optional(7, nodeSystemInfo, 'What the node is made of.'),
  images: s.optional(
    8,
    s.atomicList(containerImage),
    'The images on the node, the largest first, at most 50 unless the kubelet is configured otherwise.',
  ),
  volumesInUse: s.optional(
    9,
    s.atomicList(s.string({ goType: 'v1.UniqueVolumeName' })),
    'Volumes that are mounted and must not be detached.',
  ),
  volumesAttached: s.optional(10, s.atomicList(attachedVolume), 'Volumes the attach controller has attached to it.'),
  config: s.pointer(11, nodeConfigStatus, 'What became of the settings it was given. No longer written.'),
  runtimeHandlers: s.optional(12, s.atomicList(nodeRuntimeHandler), 'The ways its container runtime can run Pods.'),
  features: s.pointer(13, nodeFeatures, 'What its container runtime can do.'),
});
export type NodeStatus = s.TypeOf<typeof nodeStatus>;

export const node = kind('io.k8s.api.core.v1.Node', 'A machine that runs Pods. Made by its kubelet or by the cloud.', {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
  shortNames: ['no'],
  subresources: ['proxy', 'status'],
  fields: {
    spec: s.optional(2, nodeSpec, 'What the node is to be.'),
    status: s.optional(3, nodeStatus, 'Observed state of the node, reported by its kubelet.'),
  },
});
export type Node = s.TypeOf<typeof node>;
