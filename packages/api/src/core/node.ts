import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const taint = s.object('io.k8s.api.core.v1.Taint', '', {
  key: s.required(1, s.string(), ''),
  value: s.optional(2, s.string(), ''),
  effect: s.required(3, s.oneOf('v1.TaintEffect', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']), ''),
  timeAdded: s.pointer(4, s.time(), ''),
});
export type Taint = s.TypeOf<typeof taint>;

export const configMapNodeConfigSource = s.object('io.k8s.api.core.v1.ConfigMapNodeConfigSource', '', {
  namespace: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
  uid: s.optional(3, s.string({ goType: 'types.UID' }), ''),
  resourceVersion: s.optional(4, s.string(), ''),
  kubeletConfigKey: s.required(5, s.string(), ''),
});
export type ConfigMapNodeConfigSource = s.TypeOf<typeof configMapNodeConfigSource>;

export const nodeConfigSource = s.object('io.k8s.api.core.v1.NodeConfigSource', '', {
  configMap: s.pointer(2, configMapNodeConfigSource, ''),
});
export type NodeConfigSource = s.TypeOf<typeof nodeConfigSource>;

export const nodeSpec = s.object('io.k8s.api.core.v1.NodeSpec', '', {
  podCIDR: s.optional(1, s.string(), ''),
  podCIDRs: s.optional(7, s.set(s.string()), '', { patchStrategy: 'merge' }),
  providerID: s.optional(3, s.string(), ''),
  unschedulable: s.optional(4, s.boolean(), ''),
  taints: s.optional(5, s.atomicList(taint), ''),
  configSource: s.pointer(6, nodeConfigSource, ''),
  externalID: s.optional(2, s.string(), ''),
});
export type NodeSpec = s.TypeOf<typeof nodeSpec>;

export const nodeCondition = s.object('io.k8s.api.core.v1.NodeCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.NodeConditionType' }), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastHeartbeatTime: s.optional(3, s.time(), ''),
  lastTransitionTime: s.optional(4, s.time(), ''),
  reason: s.optional(5, s.string(), ''),
  message: s.optional(6, s.string(), ''),
});
export type NodeCondition = s.TypeOf<typeof nodeCondition>;

export const nodeAddress = s.object('io.k8s.api.core.v1.NodeAddress', '', {
  type: s.required(1, s.string({ goType: 'v1.NodeAddressType' }), ''),
  address: s.required(2, s.string(), ''),
});
export type NodeAddress = s.TypeOf<typeof nodeAddress>;

export const daemonEndpoint = s.object('io.k8s.api.core.v1.DaemonEndpoint', '', {
  Port: s.required(1, s.int32(), ''),
});
export type DaemonEndpoint = s.TypeOf<typeof daemonEndpoint>;

export const nodeDaemonEndpoints = s.object('io.k8s.api.core.v1.NodeDaemonEndpoints', '', {
  kubeletEndpoint: s.optional(1, daemonEndpoint, ''),
});
export type NodeDaemonEndpoints = s.TypeOf<typeof nodeDaemonEndpoints>;

export const nodeSwapStatus = s.object('io.k8s.api.core.v1.NodeSwapStatus', '', {
  capacity: s.pointer(1, s.int64(), ''),
});
export type NodeSwapStatus = s.TypeOf<typeof nodeSwapStatus>;

export const nodeSystemInfo = s.object('io.k8s.api.core.v1.NodeSystemInfo', '', {
  machineID: s.required(1, s.string(), ''),
  systemUUID: s.required(2, s.string(), ''),
  bootID: s.required(3, s.string(), ''),
  kernelVersion: s.required(4, s.string(), ''),
  osImage: s.required(5, s.string(), ''),
  containerRuntimeVersion: s.required(6, s.string(), ''),
  kubeletVersion: s.required(7, s.string(), ''),
  kubeProxyVersion: s.required(8, s.string(), ''),
  operatingSystem: s.required(9, s.string(), ''),
  architecture: s.required(10, s.string(), ''),
  swap: s.pointer(11, nodeSwapStatus, ''),
});
export type NodeSystemInfo = s.TypeOf<typeof nodeSystemInfo>;

export const containerImage = s.object('io.k8s.api.core.v1.ContainerImage', '', {
  names: s.optional(1, s.atomicList(s.string()), '', { omitEmpty: false }),
  sizeBytes: s.optional(2, s.int64(), ''),
});
export type ContainerImage = s.TypeOf<typeof containerImage>;

export const attachedVolume = s.object('io.k8s.api.core.v1.AttachedVolume', '', {
  name: s.required(1, s.string({ goType: 'v1.UniqueVolumeName' }), ''),
  devicePath: s.required(2, s.string(), ''),
});
export type AttachedVolume = s.TypeOf<typeof attachedVolume>;

export const nodeConfigStatus = s.object('io.k8s.api.core.v1.NodeConfigStatus', '', {
  assigned: s.pointer(1, nodeConfigSource, ''),
  active: s.pointer(2, nodeConfigSource, ''),
  lastKnownGood: s.pointer(3, nodeConfigSource, ''),
  error: s.optional(4, s.string(), ''),
});
export type NodeConfigStatus = s.TypeOf<typeof nodeConfigStatus>;

export const nodeRuntimeHandlerFeatures = s.object('io.k8s.api.core.v1.NodeRuntimeHandlerFeatures', '', {
  recursiveReadOnlyMounts: s.pointer(1, s.boolean(), ''),
  userNamespaces: s.pointer(2, s.boolean(), ''),
});
export type NodeRuntimeHandlerFeatures = s.TypeOf<typeof nodeRuntimeHandlerFeatures>;

export const nodeRuntimeHandler = s.object('io.k8s.api.core.v1.NodeRuntimeHandler', '', {
  name: s.optional(1, s.string(), '', { omitEmpty: false }),
  features: s.pointer(2, nodeRuntimeHandlerFeatures, ''),
});
export type NodeRuntimeHandler = s.TypeOf<typeof nodeRuntimeHandler>;

export const nodeFeatures = s.object('io.k8s.api.core.v1.NodeFeatures', '', {
  supplementalGroupsPolicy: s.pointer(1, s.boolean(), ''),
});
export type NodeFeatures = s.TypeOf<typeof nodeFeatures>;

export const nodeStatus = s.object('io.k8s.api.core.v1.NodeStatus', '', {
  capacity: s.optional(1, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  allocatable: s.optional(2, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  phase: s.optional(3, s.oneOf('v1.NodePhase', ['Pending', 'Running', 'Terminated']), ''),
  conditions: s.optional(4, s.listMap(nodeCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  addresses: s.optional(5, s.listMap(nodeAddress, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  daemonEndpoints: s.optional(6, nodeDaemonEndpoints, ''),
  nodeInfo: s.optional(7, nodeSystemInfo, ''),
  images: s.optional(8, s.atomicList(containerImage), ''),
  volumesInUse: s.optional(9, s.atomicList(s.string({ goType: 'v1.UniqueVolumeName' })), ''),
  volumesAttached: s.optional(10, s.atomicList(attachedVolume), ''),
  config: s.pointer(11, nodeConfigStatus, ''),
  runtimeHandlers: s.optional(12, s.atomicList(nodeRuntimeHandler), ''),
  features: s.pointer(13, nodeFeatures, ''),
});
export type NodeStatus = s.TypeOf<typeof nodeStatus>;

export const node = kind('io.k8s.api.core.v1.Node', '', {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
  shortNames: ['no'],
  subresources: ['proxy', 'status'],
  fields: {
    spec: s.optional(2, nodeSpec, ''),
    status: s.optional(3, nodeStatus, ''),
  },
});
export type Node = s.TypeOf<typeof node>;
