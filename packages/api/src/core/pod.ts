import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { podSpec } from './pod-spec.ts';
import { resourceRequirements } from './resources.ts';
import { signal } from './signal.ts';

export const podCondition = s.object('io.k8s.api.core.v1.PodCondition', 'A condition of a Pod.', {
  type: s.required(
    1,
    s.string({ goType: 'v1.PodConditionType' }),
    'PodScheduled, PodReadyToStartContainers, Initialized, ContainersReady, Ready, DisruptionTarget, PodResizePending, PodResizeInProgress, or a readiness gate.',
  ),
  observedGeneration: s.optional(7, s.int64(), 'The metadata.generation that the condition was observed for.'),
  status: s.required(2, s.string({ goType: 'v1.ConditionStatus' }), 'Status of the condition: True, False or Unknown.'),
  lastProbeTime: s.optional(3, s.time(), 'Time at which the condition was last probed; rarely set.'),
  lastTransitionTime: s.optional(4, s.time(), 'Time at which the status of the condition last changed.'),
  reason: s.optional(5, s.string(), 'Machine-readable reason for the status.'),
  message: s.optional(6, s.string(), 'Human-readable message with details.'),
});
export type PodCondition = s.TypeOf<typeof podCondition>;

export const hostIP = s.object('io.k8s.api.core.v1.HostIP', 'An address of the node of a Pod.', {
  ip: s.required(1, s.string(), 'The address.'),
});
export type HostIP = s.TypeOf<typeof hostIP>;

export const podIP = s.object('io.k8s.api.core.v1.PodIP', 'An address of a Pod.', {
  ip: s.required(1, s.string(), 'The address.'),
});
export type PodIP = s.TypeOf<typeof podIP>;

export const containerStateWaiting = s.object(
  'io.k8s.api.core.v1.ContainerStateWaiting',
  'State of a container that is not running yet.',
  {
    reason: s.optional(
      1,
      s.string(),
      'Machine-readable reason, such as ContainerCreating, ImagePullBackOff or CrashLoopBackOff.',
    ),
    message: s.optional(2, s.string(), 'Human-readable message with details.'),
  },
);
export type ContainerStateWaiting = s.TypeOf<typeof containerStateWaiting>;

export const containerStateRunning = s.object(
  'io.k8s.api.core.v1.ContainerStateRunning',
  'Since when a container runs.',
  {
    startedAt: s.optional(1, s.time(), 'Time at which the container was last started.'),
  },
);
export type ContainerStateRunning = s.TypeOf<typeof containerStateRunning>;

export const containerStateTerminated = s.object(
  'io.k8s.api.core.v1.ContainerStateTerminated',
  'State of a container that has terminated.',
  {
    exitCode: s.required(1, s.int32(), 'Exit status; 0 for success.'),
    signal: s.optional(2, s.int32(), 'Signal that terminated the container, if any.'),
    reason: s.optional(3, s.string(), 'Machine-readable reason, such as Completed, Error or OOMKilled.'),
    message: s.optional(4, s.string(), 'Termination message, from terminationMessagePath.'),
    startedAt: s.optional(5, s.time(), 'Time at which the container was started.'),
    finishedAt: s.optional(6, s.time(), 'Time at which the container terminated.'),
    containerID: s.optional(7, s.string(), 'ID of the container that ended, with its runtime: containerd://….'),
  },
);
export type ContainerStateTerminated = s.TypeOf<typeof containerStateTerminated>;

export const containerState = s.object(
  'io.k8s.api.core.v1.ContainerState',
  'State of a container: waiting (the default), running or terminated; exactly one.',
  {
    waiting: s.pointer(1, containerStateWaiting, 'Details of a waiting container.'),
    running: s.pointer(2, containerStateRunning, 'Details of a running container.'),
    terminated: s.pointer(3, containerStateTerminated, 'Details of a terminated container.'),
  },
);
export type ContainerState = s.TypeOf<typeof containerState>;

export const volumeMountStatus = s.object(
  'io.k8s.api.core.v1.VolumeMountStatus',
  'A mount of a container, as it really is.',
  {
    name: s.required(1, s.string(), 'Name of the volume.'),
    mountPath: s.required(2, s.string(), 'Path of the mount in the container.'),
    readOnly: s.optional(3, s.boolean(), 'Read-only mount.'),
    recursiveReadOnly: s.pointer(
      4,
      s.string({ goType: 'v1.RecursiveReadOnlyMode' }),
      'Recursive read-only mounts: Disabled, Enabled or IfPossible.',
    ),
  },
);
export type VolumeMountStatus = s.TypeOf<typeof volumeMountStatus>;

export const linuxContainerUser = s.object(
  'io.k8s.api.core.v1.LinuxContainerUser',
  'The user the first process of a container began as, on Linux.',
  {
    uid: s.required(1, s.int64(), 'The user ID.'),
    gid: s.required(2, s.int64(), 'The primary group ID.'),
    supplementalGroups: s.optional(3, s.atomicList(s.int64()), 'The further group IDs.'),
  },
);
export type LinuxContainerUser = s.TypeOf<typeof linuxContainerUser>;

export const containerUser = s.object(
  'io.k8s.api.core.v1.ContainerUser',
  'The user the first process of a container began as.',
  {
    linux: s.pointer(
      1,
      linuxContainerUser,
      'The IDs on Linux. A process with rights enough may have changed them since.',
    ),
  },
);
export type ContainerUser = s.TypeOf<typeof containerUser>;

export const resourceHealth = s.object('io.k8s.api.core.v1.ResourceHealth', 'The health of a device.', {
  resourceID: s.required(1, s.string({ goType: 'v1.ResourceID' }), 'ID of the device.'),
  health: s.optional(2, s.string({ goType: 'v1.ResourceHealthStatus' }), 'Healthy, Unhealthy or Unknown.'),
});
export type ResourceHealth = s.TypeOf<typeof resourceHealth>;

export const resourceStatus = s.object(
  'io.k8s.api.core.v1.ResourceStatus',
  'The health of the devices of a container, of one resource.',
  {
    name: s.required(
      1,
      s.string({ goType: 'v1.ResourceName' }),
      'The resource, or claim:<claim>/<request> for a resource claim.',
    ),
    resources: s.optional(2, s.listMap(resourceHealth, ['resourceID']), 'The devices and their health.'),
  },
);
export type ResourceStatus = s.TypeOf<typeof resourceStatus>;

export const containerStatus = s.object('io.k8s.api.core.v1.ContainerStatus', 'Status of a container.', {
  name: s.required(1, s.string(), 'Name of the container.'),
  state: s.optional(2, containerState, 'Current state.'),
  lastState: s.optional(3, containerState, 'Last termination state.'),
  ready: s.required(
    4,
    s.boolean(),
    'Readiness: the readiness probe succeeds. For an init container: it has completed.',
  ),
  restartCount: s.required(5, s.int32(), 'Number of restarts.'),
  image: s.required(
    6,
    s.string(),
    'Image that the container runs, as reported by the runtime; it can differ from the spec.',
  ),
  imageID: s.required(7, s.string(), 'Digest or ID of the image.'),
  containerID: s.optional(8, s.string(), 'ID of the container, with its runtime: containerd://….'),
  started: s.pointer(9, s.boolean(), 'Started: the startup probe has succeeded, and the postStart hook has completed.'),
  allocatedResources: s.optional(
    10,
    s.map(s.quantity(), { goType: 'v1.ResourceList' }),
    'Resources that the node has allocated to the container.',
  ),
  resources: s.pointer(11, resourceRequirements, 'Resources that are in effect at present.'),
  volumeMounts: s.optional(12, s.listMap(volumeMountStatus, ['mountPath']), 'Status of the volume mounts.', {
    patchStrategy: 'merge',
    patchMergeKey: 'mountPath',
  }),
  user: s.pointer(13, containerUser, 'User of the first process.'),
  allocatedResourcesStatus: s.optional(14, s.listMap(resourceStatus, ['name']), 'Health of the allocated devices.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  stopSignal: s.pointer(15, signal, 'Stop signal of the container.'),
});
export type ContainerStatus = s.TypeOf<typeof containerStatus>;

export const podResourceClaimStatus = s.object(
  'io.k8s.api.core.v1.PodResourceClaimStatus',
  'The claim made for an entry of resourceClaims.',
  {
    name: s.required(1, s.string(), 'Name of the entry.'),
    resourceClaimName: s.pointer(2, s.string(), 'Name of the claim. Unset: none was needed.'),
  },
);
export type PodResourceClaimStatus = s.TypeOf<typeof podResourceClaimStatus>;

export const podStatus = s.object(
  'io.k8s.api.core.v1.PodStatus',
  'Observed state of a Pod, reported by its kubelet. May be stale, especially if the node is unreachable.',
  {
    observedGeneration: s.optional(17, s.int64(), 'The metadata.generation that the kubelet has observed.'),
    phase: s.optional(
      1,
      s.oneOf('v1.PodPhase', ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']),
      'Phase: Pending, Running, Succeeded, Failed, or Unknown if the node is not reachable.',
    ),
    conditions: s.optional(
      2,
      s.listMap(podCondition, ['type']),
      'Conditions, for example PodScheduled, Initialized and Ready.',
      {
        patchStrategy: 'merge',
        patchMergeKey: 'type',
      },
    ),
    message: s.optional(3, s.string(), 'Human-readable message with the reason.'),
    reason: s.optional(4, s.string(), 'Machine-readable reason, such as Evicted.'),
    nominatedNodeName: s.optional(
      11,
      s.string(),
      'Node on which Pods are being preempted for this Pod. The Pod may be scheduled to another node.',
    ),
    hostIP: s.optional(5, s.string(), 'Address of its node.'),
    hostIPs: s.optional(
      16,
      s.atomicList(hostIP),
      'Addresses of its node, one for each IP family; the first is hostIP.',
      { patchStrategy: 'merge', patchMergeKey: 'ip' },
    ),
    podIP: s.optional(6, s.string(), 'IP address of the Pod. Unset until it is allocated.'),
    podIPs: s.optional(
      12,
      s.listMap(podIP, ['ip']),
      'IP addresses of the Pod, one for each IP family; the first is podIP.',
      {
        patchStrategy: 'merge',
        patchMergeKey: 'ip',
      },
    ),
    startTime: s.pointer(7, s.time(), 'Time at which the kubelet accepted the Pod, before it pulled images.'),
    initContainerStatuses: s.optional(10, s.atomicList(containerStatus), 'Statuses of the init containers.'),
    containerStatuses: s.optional(8, s.atomicList(containerStatus), 'Statuses of the containers.'),
    qosClass: s.optional(
      9,
      s.oneOf('v1.PodQOSClass', ['Guaranteed', 'Burstable', 'BestEffort']),
      'Guaranteed, Burstable or BestEffort, from its requests and limits; the last are evicted first.',
    ),
    ephemeralContainerStatuses: s.optional(13, s.atomicList(containerStatus), 'Statuses of the ephemeral containers.'),
    resize: s.optional(
      14,
      s.string({ goType: 'v1.PodResizeStatus' }),
      'Status of a resize. Deprecated; replaced by the conditions PodResizePending and PodResizeInProgress.',
    ),
    resourceClaimStatuses: s.optional(
      15,
      s.listMap(podResourceClaimStatus, ['name']),
      'Statuses of the resource claims of the Pod.',
      {
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      },
    ),
  },
);
export type PodStatus = s.TypeOf<typeof podStatus>;

export const pod = kind('io.k8s.api.core.v1.Pod', 'Containers that run together on one node.', {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
  shortNames: ['po'],
  categories: ['all'],
  subresources: [
    'attach',
    'binding',
    'ephemeralcontainers',
    'eviction',
    'exec',
    'log',
    'portforward',
    'proxy',
    'resize',
    'status',
  ],
  fields: {
    spec: s.optional(2, podSpec, 'Specification of the Pod.'),
    status: s.optional(3, podStatus, 'Observed state of the Pod. Written by its kubelet.'),
  },
});
export type Pod = s.TypeOf<typeof pod>;
