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
    'Time at which the taint was added; set for NoExecute, where toleration times are counted from it.',
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
  'Source of the kubelet configuration. No longer used by any kubelet.',
  {
    configMap: s.pointer(2, configMapNodeConfigSource, 'A ConfigMap with the settings.'),
  },
);
export type NodeConfigSource = s.TypeOf<typeof nodeConfigSource>;

export const nodeSpec = s.object('io.k8s.api.core.v1.NodeSpec', 'Specification of a node.', {
  podCIDR: s.optional(1, s.string(), 'Range of the addresses of the Pods on the node. Immutable once set.'),
  podCIDRs: s.optional(7, s.set(s.string()), 'The same for two IP families; the first is podCIDR.', {
    patchStrategy: 'merge',
  }),
  providerID: s.optional(
    3,
    s.string(),
    'ID of the machine at the cloud provider, for example aws:///zone/i-0123. Immutable once set.',
  ),
  unschedulable: s.optional(
    4,
    s.boolean(),
    'Unschedulable: the node accepts no new Pods, as after kubectl cordon. Running Pods are not affected.',
  ),
  taints: s.optional(5, s.atomicList(taint), 'Taints, which keep Pods off the node unless the Pods tolerate them.'),
  configSource: s.pointer(6, nodeConfigSource, 'Source of the kubelet configuration. Has no effect.'),
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
  lastHeartbeatTime: s.optional(3, s.time(), 'Time of the last heartbeat of the node for this condition.'),
  lastTransitionTime: s.optional(4, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(6, s.string(), 'Human-readable message with details.'),
});
export type NodeCondition = s.TypeOf<typeof nodeCondition>;

export const nodeAddress = s.object('io.k8s.api.core.v1.NodeAddress', 'Address of a node.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.NodeAddressType' }),
    'Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.',
  ),
  address: s.required(2, s.string(), 'The address or name.'),
});
export type NodeAddress = s.TypeOf<typeof nodeAddress>;

export const daemonEndpoint = s.object('io.k8s.api.core.v1.DaemonEndpoint', 'Port of a daemon of a node.', {
  Port: s.required(1, s.int32(), 'The port number.'),
});
export type DaemonEndpoint = s.TypeOf<typeof daemonEndpoint>;

export const nodeDaemonEndpoints = s.object(
  'io.k8s.api.core.v1.NodeDaemonEndpoints',
  'Ports of the daemons of a node.',
  {
    kubeletEndpoint: s.optional(
      1,
      daemonEndpoint,
      'Port at which the kubelet serves logs, exec and metrics; 10250 by default.',
    ),
  },
);
export type NodeDaemonEndpoints = s.TypeOf<typeof nodeDaemonEndpoints>;

export const nodeSwapStatus = s.object('io.k8s.api.core.v1.NodeSwapStatus', 'The swap space of a node.', {
  capacity: s.pointer(1, s.int64(), 'Capacity of the swap space in bytes.'),
});
export type NodeSwapStatus = s.TypeOf<typeof nodeSwapStatus>;

export const nodeSystemInfo = s.object(
  'io.k8s.api.core.v1.NodeSystemInfo',
  'Versions and identifiers of the system of a node.',
  {
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
  },
);
export type NodeSystemInfo = s.TypeOf<typeof nodeSystemInfo>;

export const containerImage = s.object('io.k8s.api.core.v1.ContainerImage', 'An image a node has.', {
  names: s.optional(1, s.atomicList(s.string()), 'Names of the image, with tag or digest.', { omitEmpty: false }),
  sizeBytes: s.optional(2, s.int64(), 'Size of the image in bytes.'),
});
export type ContainerImage = s.TypeOf<typeof containerImage>;

export const attachedVolume = s.object('io.k8s.api.core.v1.AttachedVolume', 'A volume attached to a node.', {
  name: s.required(
    1,
    s.string({ goType: 'v1.UniqueVolumeName' }),
    'A name for the volume that is unique in the cluster.',
  ),
  devicePath: s.required(2, s.string(), 'Path of the device on the node.'),
});
export type AttachedVolume = s.TypeOf<typeof attachedVolume>;

export const nodeConfigStatus = s.object(
  'io.k8s.api.core.v1.NodeConfigStatus',
  'Status of the configuration of a node. No longer written.',
  {
    assigned: s.pointer(1, nodeConfigSource, 'The settings the kubelet was to try next.'),
    active: s.pointer(2, nodeConfigSource, 'The settings the kubelet used.'),
    lastKnownGood: s.pointer(3, nodeConfigSource, 'Last known good configuration, used if the assigned one fails.'),
    error: s.optional(4, s.string(), 'Error of the configuration.'),
  },
);
export type NodeConfigStatus = s.TypeOf<typeof nodeConfigStatus>;

export const nodeRuntimeHandlerFeatures = s.object(
  'io.k8s.api.core.v1.NodeRuntimeHandlerFeatures',
  'Features of a runtime handler.',
  {
    recursiveReadOnlyMounts: s.pointer(1, s.boolean(), 'Support of recursive read-only mounts.'),
    userNamespaces: s.pointer(2, s.boolean(), 'Support of user namespaces.'),
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
    features: s.pointer(2, nodeRuntimeHandlerFeatures, 'Features of the handler.'),
  },
);
export type NodeRuntimeHandler = s.TypeOf<typeof nodeRuntimeHandler>;

export const nodeFeatures = s.object(
  'io.k8s.api.core.v1.NodeFeatures',
  'Features of the container runtime of a node, for all handlers.',
  {
    supplementalGroupsPolicy: s.pointer(1, s.boolean(), 'Support of supplementalGroupsPolicy of Pods.'),
  },
);
export type NodeFeatures = s.TypeOf<typeof nodeFeatures>;

export const nodeStatus = s.object('io.k8s.api.core.v1.NodeStatus', 'Status of a node.', {
  capacity: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), 'Total resources of the node.'),
  allocatable: s.optional(
    2,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'Resources that are available to Pods, after those reserved for the system.',
  ),
  phase: s.optional(3, s.oneOf('v1.NodePhase', ['Pending', 'Running', 'Terminated']), 'No longer written.'),
  conditions: s.optional(
    4,
    s.listMap(nodeCondition, ['type']),
    'Conditions of the node, for example Ready and MemoryPressure.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'type',
    },
  ),
  addresses: s.optional(5, s.listMap(nodeAddress, ['type']), 'Addresses of the node.', {
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
  daemonEndpoints: s.optional(6, nodeDaemonEndpoints, 'Ports of the daemons of the node.'),
  nodeInfo: s.optional(7, nodeSystemInfo, 'Versions and identifiers of the system of the node.'),
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
  volumesAttached: s.optional(
    10,
    s.atomicList(attachedVolume),
    'Volumes that the attach controller has attached to the node.',
  ),
  config: s.pointer(11, nodeConfigStatus, 'Status of the configuration of the node. No longer written.'),
  runtimeHandlers: s.optional(12, s.atomicList(nodeRuntimeHandler), 'The ways its container runtime can run Pods.'),
  features: s.pointer(13, nodeFeatures, 'Features of the container runtime.'),
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
    spec: s.optional(2, nodeSpec, 'Specification of the node.'),
    status: s.optional(3, nodeStatus, 'Observed state of the node, reported by its kubelet.'),
  },
});
export type Node = s.TypeOf<typeof node>;
