import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { podSpec } from './pod-spec.ts';
import { resourceRequirements } from './resources.ts';

export const podCondition = s.object('io.k8s.api.core.v1.PodCondition', '', {
  type: s.required(1, s.string({ goType: 'v1.PodConditionType' }), ''),
  observedGeneration: s.optional(7, s.int64(), ''),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), ''),
  lastProbeTime: s.optional(3, s.time(), ''),
  lastTransitionTime: s.optional(4, s.time(), ''),
  reason: s.optional(5, s.string(), ''),
  message: s.optional(6, s.string(), ''),
});
export type PodCondition = s.TypeOf<typeof podCondition>;

export const hostIP = s.object('io.k8s.api.core.v1.HostIP', '', {
  ip: s.required(1, s.string(), ''),
});
export type HostIP = s.TypeOf<typeof hostIP>;

export const podIP = s.object('io.k8s.api.core.v1.PodIP', '', {
  ip: s.required(1, s.string(), ''),
});
export type PodIP = s.TypeOf<typeof podIP>;

export const containerStateWaiting = s.object('io.k8s.api.core.v1.ContainerStateWaiting', '', {
  reason: s.optional(1, s.string(), ''),
  message: s.optional(2, s.string(), ''),
});
export type ContainerStateWaiting = s.TypeOf<typeof containerStateWaiting>;

export const containerStateRunning = s.object('io.k8s.api.core.v1.ContainerStateRunning', '', {
  startedAt: s.optional(1, s.time(), ''),
});
export type ContainerStateRunning = s.TypeOf<typeof containerStateRunning>;

export const containerStateTerminated = s.object('io.k8s.api.core.v1.ContainerStateTerminated', '', {
  exitCode: s.required(1, s.int32(), ''),
  signal: s.optional(2, s.int32(), ''),
  reason: s.optional(3, s.string(), ''),
  message: s.optional(4, s.string(), ''),
  startedAt: s.optional(5, s.time(), ''),
  finishedAt: s.optional(6, s.time(), ''),
  containerID: s.optional(7, s.string(), ''),
});
export type ContainerStateTerminated = s.TypeOf<typeof containerStateTerminated>;

export const containerState = s.object('io.k8s.api.core.v1.ContainerState', '', {
  waiting: s.pointer(1, containerStateWaiting, ''),
  running: s.pointer(2, containerStateRunning, ''),
  terminated: s.pointer(3, containerStateTerminated, ''),
});
export type ContainerState = s.TypeOf<typeof containerState>;

export const volumeMountStatus = s.object('io.k8s.api.core.v1.VolumeMountStatus', '', {
  name: s.required(1, s.string(), ''),
  mountPath: s.required(2, s.string(), ''),
  readOnly: s.optional(3, s.boolean(), ''),
  recursiveReadOnly: s.pointer(4, s.string({ goType: 'v1.RecursiveReadOnlyMode' }), ''),
});
export type VolumeMountStatus = s.TypeOf<typeof volumeMountStatus>;

export const linuxContainerUser = s.object('io.k8s.api.core.v1.LinuxContainerUser', '', {
  uid: s.required(1, s.int64(), ''),
  gid: s.required(2, s.int64(), ''),
  supplementalGroups: s.optional(3, s.atomicList(s.int64()), ''),
});
export type LinuxContainerUser = s.TypeOf<typeof linuxContainerUser>;

export const containerUser = s.object('io.k8s.api.core.v1.ContainerUser', '', {
  linux: s.pointer(1, linuxContainerUser, ''),
});
export type ContainerUser = s.TypeOf<typeof containerUser>;

export const resourceHealth = s.object('io.k8s.api.core.v1.ResourceHealth', '', {
  resourceID: s.required(1, s.string({ goType: 'v1.ResourceID' }), ''),
  health: s.optional(2, s.string({ goType: 'v1.ResourceHealthStatus' }), ''),
});
export type ResourceHealth = s.TypeOf<typeof resourceHealth>;

export const resourceStatus = s.object('io.k8s.api.core.v1.ResourceStatus', '', {
  name: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  resources: s.optional(2, s.listMap(resourceHealth, ['resourceID']), ''),
});
export type ResourceStatus = s.TypeOf<typeof resourceStatus>;

export const containerStatus = s.object('io.k8s.api.core.v1.ContainerStatus', '', {
  name: s.required(1, s.string(), ''),
  state: s.optional(2, containerState, ''),
  lastState: s.optional(3, containerState, ''),
  ready: s.required(4, s.boolean(), ''),
  restartCount: s.required(5, s.int32(), ''),
  image: s.required(6, s.string(), ''),
  imageID: s.required(7, s.string(), ''),
  containerID: s.optional(8, s.string(), ''),
  started: s.pointer(9, s.boolean(), ''),
  allocatedResources: s.optional(10, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  resources: s.pointer(11, resourceRequirements, ''),
  volumeMounts: s.optional(12, s.listMap(volumeMountStatus, ['mountPath']), '', { patchStrategy: 'merge', patchMergeKey: 'mountPath' }),
  user: s.pointer(13, containerUser, ''),
  allocatedResourcesStatus: s.optional(14, s.listMap(resourceStatus, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  stopSignal: s.pointer(15, s.oneOf('v1.Signal', ['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO', 'SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT', 'SIGSEGV', 'SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG', 'SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU', 'SIGXFSZ', 'SIGRTMIN', 'SIGRTMIN+1', 'SIGRTMIN+2', 'SIGRTMIN+3', 'SIGRTMIN+4', 'SIGRTMIN+5', 'SIGRTMIN+6', 'SIGRTMIN+7', 'SIGRTMIN+8', 'SIGRTMIN+9', 'SIGRTMIN+10', 'SIGRTMIN+11', 'SIGRTMIN+12', 'SIGRTMIN+13', 'SIGRTMIN+14', 'SIGRTMIN+15', 'SIGRTMAX-14', 'SIGRTMAX-13', 'SIGRTMAX-12', 'SIGRTMAX-11', 'SIGRTMAX-10', 'SIGRTMAX-9', 'SIGRTMAX-8', 'SIGRTMAX-7', 'SIGRTMAX-6', 'SIGRTMAX-5', 'SIGRTMAX-4', 'SIGRTMAX-3', 'SIGRTMAX-2', 'SIGRTMAX-1', 'SIGRTMAX']), ''),
});
export type ContainerStatus = s.TypeOf<typeof containerStatus>;

export const podResourceClaimStatus = s.object('io.k8s.api.core.v1.PodResourceClaimStatus', '', {
  name: s.required(1, s.string(), ''),
  resourceClaimName: s.pointer(2, s.string(), ''),
});
export type PodResourceClaimStatus = s.TypeOf<typeof podResourceClaimStatus>;

export const podStatus = s.object('io.k8s.api.core.v1.PodStatus', '', {
  observedGeneration: s.optional(17, s.int64(), ''),
  phase: s.optional(1, s.oneOf('v1.PodPhase', ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']), ''),
  conditions: s.optional(2, s.listMap(podCondition, ['type']), '', { patchStrategy: 'merge', patchMergeKey: 'type' }),
  message: s.optional(3, s.string(), ''),
  reason: s.optional(4, s.string(), ''),
  nominatedNodeName: s.optional(11, s.string(), ''),
  hostIP: s.optional(5, s.string(), ''),
  hostIPs: s.optional(16, s.atomicList(hostIP), '', { patchStrategy: 'merge', patchMergeKey: 'ip' }),
  podIP: s.optional(6, s.string(), ''),
  podIPs: s.optional(12, s.listMap(podIP, ['ip']), '', { patchStrategy: 'merge', patchMergeKey: 'ip' }),
  startTime: s.pointer(7, s.time(), ''),
  initContainerStatuses: s.optional(10, s.atomicList(containerStatus), ''),
  containerStatuses: s.optional(8, s.atomicList(containerStatus), ''),
  qosClass: s.optional(9, s.oneOf('v1.PodQOSClass', ['Guaranteed', 'Burstable', 'BestEffort']), ''),
  ephemeralContainerStatuses: s.optional(13, s.atomicList(containerStatus), ''),
  resize: s.optional(14, s.string({ goType: 'v1.PodResizeStatus' }), ''),
  resourceClaimStatuses: s.optional(15, s.listMap(podResourceClaimStatus, ['name']), '', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
});
export type PodStatus = s.TypeOf<typeof podStatus>;

export const pod = kind('io.k8s.api.core.v1.Pod', '', {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  shortNames: ['po'],
  categories: ['all'],
  subresources: ['attach', 'binding', 'ephemeralcontainers', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'resize', 'status'],
  fields: {
    spec: s.optional(2, podSpec, ''),
    status: s.optional(3, podStatus, ''),
  },
});
export type Pod = s.TypeOf<typeof pod>;
