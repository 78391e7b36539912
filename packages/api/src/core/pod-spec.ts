import * as s from '@kruise/schema';
import { affinity } from './affinity.ts';
import { appArmorProfile, seLinuxOptions, seccompProfile, windowsSecurityContextOptions } from './security-context.ts';
import { container, ephemeralContainer } from './container.ts';
import { labelSelector } from '../meta/label-selector.ts';
import { localObjectReference } from './reference.ts';
import { resourceRequirements } from './resources.ts';
import { toleration } from './toleration.ts';
import { volume } from './volume.ts';

export const sysctl = s.object('io.k8s.api.core.v1.Sysctl', '', {
  name: s.required(1, s.string(), ''),
  value: s.required(2, s.string(), ''),
});
export type Sysctl = s.TypeOf<typeof sysctl>;

export const podSecurityContext = s.object('io.k8s.api.core.v1.PodSecurityContext', '', {
  seLinuxOptions: s.pointer(1, seLinuxOptions, ''),
  windowsOptions: s.pointer(8, windowsSecurityContextOptions, ''),
  runAsUser: s.pointer(2, s.int64(), ''),
  runAsGroup: s.pointer(6, s.int64(), ''),
  runAsNonRoot: s.pointer(3, s.boolean(), ''),
  supplementalGroups: s.optional(4, s.atomicList(s.int64()), ''),
  supplementalGroupsPolicy: s.pointer(12, s.oneOf('v1.SupplementalGroupsPolicy', ['Merge', 'Strict']), ''),
  fsGroup: s.pointer(5, s.int64(), ''),
  sysctls: s.optional(7, s.atomicList(sysctl), ''),
  fsGroupChangePolicy: s.pointer(9, s.oneOf('v1.PodFSGroupChangePolicy', ['OnRootMismatch', 'Always']), ''),
  seccompProfile: s.pointer(10, seccompProfile, ''),
  appArmorProfile: s.pointer(11, appArmorProfile, ''),
  seLinuxChangePolicy: s.pointer(13, s.string({ goType: 'v1.PodSELinuxChangePolicy' }), ''),
});
export type PodSecurityContext = s.TypeOf<typeof podSecurityContext>;

export const hostAlias = s.object('io.k8s.api.core.v1.HostAlias', '', {
  ip: s.required(1, s.string(), ''),
  hostnames: s.optional(2, s.atomicList(s.string()), ''),
});
export type HostAlias = s.TypeOf<typeof hostAlias>;

export const podDNSConfigOption = s.object('io.k8s.api.core.v1.PodDNSConfigOption', '', {
  name: s.optional(1, s.string(), ''),
  value: s.pointer(2, s.string(), ''),
});
export type PodDNSConfigOption = s.TypeOf<typeof podDNSConfigOption>;

export const podDNSConfig = s.object('io.k8s.api.core.v1.PodDNSConfig', '', {
  nameservers: s.optional(1, s.atomicList(s.string()), ''),
  searches: s.optional(2, s.atomicList(s.string()), ''),
  options: s.optional(3, s.atomicList(podDNSConfigOption), ''),
});
export type PodDNSConfig = s.TypeOf<typeof podDNSConfig>;

export const podReadinessGate = s.object('io.k8s.api.core.v1.PodReadinessGate', '', {
  conditionType: s.required(1, s.string({ goType: 'v1.PodConditionType' }), ''),
});
export type PodReadinessGate = s.TypeOf<typeof podReadinessGate>;

export const topologySpreadConstraint = s.object('io.k8s.api.core.v1.TopologySpreadConstraint', '', {
  maxSkew: s.required(1, s.int32(), ''),
  topologyKey: s.required(2, s.string(), ''),
  whenUnsatisfiable: s.required(3, s.oneOf('v1.UnsatisfiableConstraintAction', ['DoNotSchedule', 'ScheduleAnyway']), ''),
  labelSelector: s.pointer(4, labelSelector, ''),
  minDomains: s.pointer(5, s.int32(), ''),
  nodeAffinityPolicy: s.pointer(6, s.oneOf('v1.NodeInclusionPolicy', ['Ignore', 'Honor']), ''),
  nodeTaintsPolicy: s.pointer(7, s.oneOf('v1.NodeInclusionPolicy', ['Ignore', 'Honor']), ''),
  matchLabelKeys: s.optional(8, s.atomicList(s.string()), ''),
});
export type TopologySpreadConstraint = s.TypeOf<typeof topologySpreadConstraint>;

export const podOS = s.object('io.k8s.api.core.v1.PodOS', '', {
  name: s.required(1, s.string({ goType: 'v1.OSName' }), ''),
});
export type PodOS = s.TypeOf<typeof podOS>;

export const podSchedulingGate = s.object('io.k8s.api.core.v1.PodSchedulingGate', '', {
  name: s.required(1, s.string(), ''),
});
export type PodSchedulingGate = s.TypeOf<typeof podSchedulingGate>;

export const podResourceClaim = s.object('io.k8s.api.core.v1.PodResourceClaim', '', {
  name: s.required(1, s.string(), ''),
  resourceClaimName: s.pointer(3, s.string(), ''),
  resourceClaimTemplateName: s.pointer(4, s.string(), ''),
});
export type PodResourceClaim = s.TypeOf<typeof podResourceClaim>;

export const podSpec = s.object('io.k8s.api.core.v1.PodSpec', '', {
  volumes: s.optional(1, s.listMap(volume, ['name']), '', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
  initContainers: s.optional(20, s.listMap(container, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  containers: s.required(2, s.listMap(container, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  ephemeralContainers: s.optional(34, s.listMap(ephemeralContainer, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  restartPolicy: s.optional(3, s.oneOf('v1.RestartPolicy', ['Always', 'OnFailure', 'Never']), ''),
  terminationGracePeriodSeconds: s.pointer(4, s.int64(), ''),
  activeDeadlineSeconds: s.pointer(5, s.int64(), ''),
  dnsPolicy: s.optional(6, s.oneOf('v1.DNSPolicy', ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']), ''),
  nodeSelector: s.optional(7, s.map(s.string(), { mapType: 'atomic' }), ''),
  serviceAccountName: s.optional(8, s.string(), ''),
  serviceAccount: s.optional(9, s.string(), ''),
  automountServiceAccountToken: s.pointer(21, s.boolean(), ''),
  nodeName: s.optional(10, s.string(), ''),
  hostNetwork: s.optional(11, s.boolean(), ''),
  hostPID: s.optional(12, s.boolean(), ''),
  hostIPC: s.optional(13, s.boolean(), ''),
  shareProcessNamespace: s.pointer(27, s.boolean(), ''),
  securityContext: s.pointer(14, podSecurityContext, ''),
  imagePullSecrets: s.optional(15, s.listMap(localObjectReference, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  hostname: s.optional(16, s.string(), ''),
  subdomain: s.optional(17, s.string(), ''),
  affinity: s.pointer(18, affinity, ''),
  schedulerName: s.optional(19, s.string(), ''),
  tolerations: s.optional(22, s.atomicList(toleration), ''),
  hostAliases: s.optional(23, s.listMap(hostAlias, ['ip']), '', { patchStrategy: 'merge', patchMergeKey: 'ip' }),
  priorityClassName: s.optional(24, s.string(), ''),
  priority: s.pointer(25, s.int32(), ''),
  dnsConfig: s.pointer(26, podDNSConfig, ''),
  readinessGates: s.optional(28, s.atomicList(podReadinessGate), ''),
  runtimeClassName: s.pointer(29, s.string(), ''),
  enableServiceLinks: s.pointer(30, s.boolean(), ''),
  preemptionPolicy: s.pointer(31, s.oneOf('v1.PreemptionPolicy', ['PreemptLowerPriority', 'Never']), ''),
  overhead: s.optional(32, s.map(s.quantity(), { goType: 'v1.ResourceList' }), ''),
  topologySpreadConstraints: s.optional(33, s.listMap(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']), '', { patchStrategy: 'merge', patchMergeKey: 'topologyKey' }),
  setHostnameAsFQDN: s.pointer(35, s.boolean(), ''),
  os: s.pointer(36, podOS, ''),
  hostUsers: s.pointer(37, s.boolean(), ''),
  schedulingGates: s.optional(38, s.listMap(podSchedulingGate, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  resourceClaims: s.optional(39, s.listMap(podResourceClaim, ['name']), '', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }),
  resources: s.pointer(40, resourceRequirements, ''),
});
export type PodSpec = s.TypeOf<typeof podSpec>;
