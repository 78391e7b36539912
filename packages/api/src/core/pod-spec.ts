import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';
import { affinity } from './affinity.ts';
import { container, ephemeralContainer } from './container.ts';
import { localObjectReference } from './reference.ts';
import { resourceRequirements } from './resources.ts';
import { appArmorProfile, seccompProfile, seLinuxOptions, windowsSecurityContextOptions } from './security-context.ts';
import { toleration } from './toleration.ts';
import { volume } from './volume.ts';

export const sysctl = s.object('io.k8s.api.core.v1.Sysctl', 'A kernel parameter of a Pod.', {
  name: s.required(1, s.string(), 'Name of the parameter, such as net.ipv4.ip_local_port_range.'),
  value: s.required(2, s.string(), 'Value of the parameter.'),
});
export type Sysctl = s.TypeOf<typeof sysctl>;

export const podSecurityContext = s.object(
  'io.k8s.api.core.v1.PodSecurityContext',
  'Security options of all containers of the Pod, which containers can override.',
  {
    seLinuxOptions: s.pointer(1, seLinuxOptions, 'SELinux label of all containers. Unset: one chosen by the runtime.'),
    windowsOptions: s.pointer(8, windowsSecurityContextOptions, 'Options for Windows. Not permitted on Linux.'),
    runAsUser: s.pointer(2, s.int64(), 'User ID of processes; by default that of the image.'),
    runAsGroup: s.pointer(6, s.int64(), 'Primary group ID of processes; by default that of the runtime.'),
    runAsNonRoot: s.pointer(3, s.boolean(), 'Refuse to start containers as user 0. Default false.'),
    supplementalGroups: s.optional(
      4,
      s.atomicList(s.int64()),
      'Further group IDs of the first process of each container.',
    ),
    supplementalGroupsPolicy: s.pointer(
      12,
      s.oneOf('v1.SupplementalGroupsPolicy', ['Merge', 'Strict']),
      'Merge (the default) adds the groups the image gives the user; Strict does not.',
    ),
    fsGroup: s.pointer(
      5,
      s.int64(),
      'A group ID that processes get, and that owns the volumes that allow it and new files in them.',
    ),
    sysctls: s.optional(
      7,
      s.atomicList(sysctl),
      'Kernel parameters to set. The runtime must know them, and unsafe ones must be allowed on the node.',
    ),
    fsGroupChangePolicy: s.pointer(
      9,
      s.oneOf('v1.PodFSGroupChangePolicy', ['OnRootMismatch', 'Always']),
      "Always (the default) hands a volume to fsGroup at each mount; OnRootMismatch only if its root is not fsGroup's.",
    ),
    seccompProfile: s.pointer(10, seccompProfile, 'Seccomp profile: the permitted system calls.'),
    appArmorProfile: s.pointer(11, appArmorProfile, 'The AppArmor profile of processes.'),
    seLinuxChangePolicy: s.pointer(
      13,
      s.string({ goType: 'v1.PodSELinuxChangePolicy' }),
      'Method by which volumes get the SELinux label: MountOption by a mount option (the default where possible), Recursive by relabeling every file.',
    ),
  },
);
export type PodSecurityContext = s.TypeOf<typeof podSecurityContext>;

export const hostAlias = s.object('io.k8s.api.core.v1.HostAlias', 'A line of /etc/hosts.', {
  ip: s.required(1, s.string(), 'The address.'),
  hostnames: s.optional(2, s.atomicList(s.string()), 'Names for the address.'),
});
export type HostAlias = s.TypeOf<typeof hostAlias>;

export const podDNSConfigOption = s.object('io.k8s.api.core.v1.PodDNSConfigOption', 'An option of /etc/resolv.conf.', {
  name: s.optional(1, s.string(), 'Name of the option, such as ndots.'),
  value: s.pointer(2, s.string(), 'Value of the option, if it has one.'),
});
export type PodDNSConfigOption = s.TypeOf<typeof podDNSConfigOption>;

export const podDNSConfig = s.object(
  'io.k8s.api.core.v1.PodDNSConfig',
  'DNS options that are added to those of dnsPolicy.',
  {
    nameservers: s.optional(1, s.atomicList(s.string()), 'Addresses of name servers; three in all at most.'),
    searches: s.optional(2, s.atomicList(s.string()), 'Domains to search; 32 in all at most.'),
    options: s.optional(
      3,
      s.atomicList(podDNSConfigOption),
      'Resolver options; they override options of the same name from dnsPolicy.',
    ),
  },
);
export type PodDNSConfig = s.TypeOf<typeof podDNSConfig>;

export const podReadinessGate = s.object(
  'io.k8s.api.core.v1.PodReadinessGate',
  'A further condition for a Pod to be ready.',
  {
    conditionType: s.required(
      1,
      s.string({ goType: 'v1.PodConditionType' }),
      'Type of a condition of the Pod that must be True.',
    ),
  },
);
export type PodReadinessGate = s.TypeOf<typeof podReadinessGate>;

export const topologySpreadConstraint = s.object(
  'io.k8s.api.core.v1.TopologySpreadConstraint',
  'Spreads Pods evenly over zones, nodes or other domains.',
  {
    maxSkew: s.required(
      1,
      s.int32(),
      'Maximum difference between the number of Pods in a domain and in the domain with the fewest; at least 1.',
    ),
    topologyKey: s.required(
      2,
      s.string(),
      'Key of the node label that defines the topology domain: nodes with the same value.',
    ),
    whenUnsatisfiable: s.required(
      3,
      s.oneOf('v1.UnsatisfiableConstraintAction', ['DoNotSchedule', 'ScheduleAnyway']),
      'Action if the constraint cannot be satisfied: DoNotSchedule keeps the Pod pending; ScheduleAnyway only prefers other nodes.',
    ),
    labelSelector: s.pointer(4, labelSelector, 'Label selector of the counted Pods, in the same namespace.'),
    minDomains: s.pointer(
      5,
      s.int32(),
      'Fewer domains than this count as if one more were empty. Only with DoNotSchedule; 1 by default.',
    ),
    nodeAffinityPolicy: s.pointer(
      6,
      s.oneOf('v1.NodeInclusionPolicy', ['Ignore', 'Honor']),
      "Treatment of nodes outside of the Pod's node affinity and selector: Honor (the default) excludes them, Ignore counts them.",
    ),
    nodeTaintsPolicy: s.pointer(
      7,
      s.oneOf('v1.NodeInclusionPolicy', ['Ignore', 'Honor']),
      'Treatment of nodes with taints that the Pod does not tolerate: Honor excludes them, Ignore (the default) counts them.',
    ),
    matchLabelKeys: s.optional(
      8,
      s.atomicList(s.string()),
      'Label keys whose values in this Pod the counted Pods must have, for example pod-template-hash.',
    ),
  },
);
export type TopologySpreadConstraint = s.TypeOf<typeof topologySpreadConstraint>;

export const podOS = s.object('io.k8s.api.core.v1.PodOS', 'The operating system a Pod is made for.', {
  name: s.required(
    1,
    s.string({ goType: 'v1.OSName' }),
    'linux or windows. Fields of the other one may then not be set.',
  ),
});
export type PodOS = s.TypeOf<typeof podOS>;

export const podSchedulingGate = s.object('io.k8s.api.core.v1.PodSchedulingGate', 'Keeps a Pod from being scheduled.', {
  name: s.required(1, s.string(), 'Name of the gate, unique in the Pod.'),
});
export type PodSchedulingGate = s.TypeOf<typeof podSchedulingGate>;

export const podResourceClaim = s.object(
  'io.k8s.api.core.v1.PodResourceClaim',
  'Devices of a Pod, by a claim for dynamic allocation. Exactly one source.',
  {
    name: s.required(1, s.string(), 'Name of the entry, a DNS label, unique in the Pod; containers refer to it.'),
    resourceClaimName: s.pointer(3, s.string(), 'A ResourceClaim that exists, in the same namespace.'),
    resourceClaimTemplateName: s.pointer(
      4,
      s.string(),
      'ResourceClaimTemplate of a claim that is deleted with the Pod.',
    ),
  },
);
export type PodResourceClaim = s.TypeOf<typeof podResourceClaim>;

export const podSpec = s.object(
  'io.k8s.api.core.v1.PodSpec',
  'Specification of a Pod. Few fields are mutable: images, additional tolerations, and some numbers.',
  {
    volumes: s.optional(1, s.listMap(volume, ['name']), 'Volumes for the containers to mount.', {
      patchStrategy: 'merge,retainKeys',
      patchMergeKey: 'name',
    }),
    initContainers: s.optional(
      20,
      s.listMap(container, ['name']),
      'Containers that run one after the other, each to its end, before the rest start. Sidecars are those with restartPolicy Always.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    containers: s.required(
      2,
      s.listMap(container, ['name']),
      'The containers; at least one. None can be added or removed later.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    ephemeralContainers: s.optional(
      34,
      s.listMap(ephemeralContainer, ['name']),
      'Ephemeral containers for debugging. Written only through the ephemeralcontainers subresource.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    restartPolicy: s.optional(
      3,
      s.oneOf('v1.RestartPolicy', ['Always', 'OnFailure', 'Never']),
      'Restart policy of the containers: Always (the default), OnFailure or Never.',
    ),
    terminationGracePeriodSeconds: s.pointer(
      4,
      s.int64(),
      'Grace period of the containers in seconds; 0 kills at once. Default 30.',
    ),
    activeDeadlineSeconds: s.pointer(
      5,
      s.int64(),
      'Deadline in seconds, counted from the start on the node, after which the Pod fails and its containers are killed. Unset: no limit.',
    ),
    dnsPolicy: s.optional(
      6,
      s.oneOf('v1.DNSPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']),
      'DNS policy: ClusterFirst (the default), ClusterFirstWithHostNet, Default (as on the node) or None (only dnsConfig).',
    ),
    nodeSelector: s.optional(7, s.map(s.string(), { mapType: 'atomic' }), 'Labels the node must have, all of them.'),
    serviceAccountName: s.optional(8, s.string(), 'Name of the ServiceAccount of the Pod; default if unset.'),
    serviceAccount: s.optional(9, s.string(), 'An old name for serviceAccountName, kept equal to it.', {
      goName: 'DeprecatedServiceAccount',
    }),
    automountServiceAccountToken: s.pointer(
      21,
      s.boolean(),
      'Mounts a token of the service account. Unset: as the service account specifies, otherwise true.',
    ),
    nodeName: s.optional(
      10,
      s.string(),
      'Node of the Pod. Set by the scheduler; a Pod that is created with it bypasses the scheduler.',
    ),
    hostNetwork: s.optional(
      11,
      s.boolean(),
      'Use the network of the node; the ports it listens on must then be free there. Default false.',
    ),
    hostPID: s.optional(
      12,
      s.boolean(),
      'See the processes of the node. Default false; not with shareProcessNamespace.',
    ),
    hostIPC: s.optional(13, s.boolean(), 'Share System V IPC and POSIX queues with the node. Default false.'),
    shareProcessNamespace: s.pointer(
      27,
      s.boolean(),
      'Shares one process namespace between all containers. Default false.',
    ),
    securityContext: s.pointer(
      14,
      podSecurityContext,
      'Security options of all containers, which containers can override.',
    ),
    imagePullSecrets: s.optional(
      15,
      s.listMap(localObjectReference, ['name']),
      'Secrets to fetch the images with, in the same namespace.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    hostname: s.optional(16, s.string(), 'Host name of the Pod; by default the name of the Pod.'),
    subdomain: s.optional(
      17,
      s.string(),
      'Subdomain: with hostname, the DNS name of the Pod is below the headless Service of this name.',
    ),
    affinity: s.pointer(18, affinity, 'Scheduling constraints: node affinity, Pod affinity and anti-affinity.'),
    schedulerName: s.optional(19, s.string(), 'Name of the scheduler; default-scheduler by default.'),
    tolerations: s.optional(
      22,
      s.atomicList(toleration),
      'Tolerations of taints. Tolerations of not-ready and unreachable nodes for 300 seconds are added by default.',
    ),
    hostAliases: s.optional(23, s.listMap(hostAlias, ['ip']), 'Lines for /etc/hosts. Not with hostNetwork.', {
      patchStrategy: 'merge',
      patchMergeKey: 'ip',
    }),
    priorityClassName: s.optional(24, s.string(), 'Name of the PriorityClass; by default the default class.'),
    priority: s.pointer(25, s.int32(), 'Priority, from the priority class. Set by the server.'),
    dnsConfig: s.pointer(26, podDNSConfig, 'DNS parameters that are merged with those of dnsPolicy.'),
    readinessGates: s.optional(
      28,
      s.atomicList(podReadinessGate),
      'Readiness gates: conditions that must be True for the Pod to be ready, in addition to the readiness of its containers.',
    ),
    runtimeClassName: s.pointer(29, s.string(), 'Name of the RuntimeClass. Unset: the default handler of the node.'),
    enableServiceLinks: s.pointer(
      30,
      s.boolean(),
      'Environment variables for the Services of the namespace. Default true.',
    ),
    preemptionPolicy: s.pointer(
      31,
      s.oneOf('v1.PreemptionPolicy', ['PreemptLowerPriority', 'Never']),
      'PreemptLowerPriority (the default) may evict less important Pods to make room; Never waits. From the class.',
    ),
    overhead: s.optional(
      32,
      s.map(s.quantity(), { goType: 'v1.ResourceList' }),
      'Overhead of running the Pod in addition to its containers, from the RuntimeClass. Set by the server.',
    ),
    topologySpreadConstraints: s.optional(
      33,
      s.listMap(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']),
      'Constraints for spreading similar Pods; all of them must be satisfied.',
      { patchStrategy: 'merge', patchMergeKey: 'topologyKey' },
    ),
    setHostnameAsFQDN: s.pointer(35, s.boolean(), 'Uses the full DNS name as host name. Default false.'),
    os: s.pointer(36, podOS, 'Operating system of the containers.'),
    hostUsers: s.pointer(
      37,
      s.boolean(),
      'Use the user namespace of the node. Default true; false gives the Pod its own user namespace, so that its root is unprivileged on the node.',
    ),
    schedulingGates: s.optional(
      38,
      s.listMap(podSchedulingGate, ['name']),
      'While there is any, it is not scheduled. May only be set at creation, and then only removed.',
      { patchStrategy: 'merge', patchMergeKey: 'name' },
    ),
    resourceClaims: s.optional(
      39,
      s.listMap(podResourceClaim, ['name']),
      'Resource claims that are allocated before the Pod starts. Immutable.',
      { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' },
    ),
    resources: s.pointer(
      40,
      resourceRequirements,
      'Resource requests and limits of all containers together: cpu, memory and huge pages.',
    ),
  },
);
export type PodSpec = s.TypeOf<typeof podSpec>;
