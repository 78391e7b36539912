import * as s from '@kruise/schema';
import { configMapKeySelector, objectFieldSelector, resourceFieldSelector, secretKeySelector } from './value-source.ts';
import { lifecycle, probe } from './probe.ts';
import { localObjectReference } from './reference.ts';
import { resourceRequirements } from './resources.ts';
import { securityContext } from './security-context.ts';

export const containerPort = s.object('io.k8s.api.core.v1.ContainerPort', '', {
  name: s.optional(1, s.string(), ''),
  hostPort: s.optional(2, s.int32(), ''),
  containerPort: s.required(3, s.int32(), ''),
  protocol: s.optional(4, s.string({ goType: 'v1.Protocol', default: 'TCP' }), ''),
  hostIP: s.optional(5, s.string(), ''),
});
export type ContainerPort = s.TypeOf<typeof containerPort>;

export const configMapEnvSource = s.object('io.k8s.api.core.v1.ConfigMapEnvSource', '', {
  localObjectReference: s.inline(1, localObjectReference),
  optional: s.pointer(2, s.boolean(), ''),
});
export type ConfigMapEnvSource = s.TypeOf<typeof configMapEnvSource>;

export const secretEnvSource = s.object('io.k8s.api.core.v1.SecretEnvSource', '', {
  localObjectReference: s.inline(1, localObjectReference),
  optional: s.pointer(2, s.boolean(), ''),
});
export type SecretEnvSource = s.TypeOf<typeof secretEnvSource>;

export const envFromSource = s.object('io.k8s.api.core.v1.EnvFromSource', '', {
  prefix: s.optional(1, s.string(), ''),
  configMapRef: s.pointer(2, configMapEnvSource, ''),
  secretRef: s.pointer(3, secretEnvSource, ''),
});
export type EnvFromSource = s.TypeOf<typeof envFromSource>;

export const envVarSource = s.object('io.k8s.api.core.v1.EnvVarSource', '', {
  fieldRef: s.pointer(1, objectFieldSelector, ''),
  resourceFieldRef: s.pointer(2, resourceFieldSelector, ''),
  configMapKeyRef: s.pointer(3, configMapKeySelector, ''),
  secretKeyRef: s.pointer(4, secretKeySelector, ''),
});
export type EnvVarSource = s.TypeOf<typeof envVarSource>;

export const envVar = s.object('io.k8s.api.core.v1.EnvVar', '', {
  name: s.required(1, s.string(), ''),
  value: s.optional(2, s.string(), ''),
  valueFrom: s.pointer(3, envVarSource, ''),
});
export type EnvVar = s.TypeOf<typeof envVar>;

export const containerResizePolicy = s.object('io.k8s.api.core.v1.ContainerResizePolicy', '', {
  resourceName: s.required(1, s.string({ goType: 'v1.ResourceName' }), ''),
  restartPolicy: s.required(2, s.string({ goType: 'v1.ResourceResizeRestartPolicy' }), ''),
});
export type ContainerResizePolicy = s.TypeOf<typeof containerResizePolicy>;

export const volumeMount = s.object('io.k8s.api.core.v1.VolumeMount', '', {
  name: s.required(1, s.string(), ''),
  readOnly: s.optional(2, s.boolean(), ''),
  recursiveReadOnly: s.pointer(7, s.string({ goType: 'v1.RecursiveReadOnlyMode' }), ''),
  mountPath: s.required(3, s.string(), ''),
  subPath: s.optional(4, s.string(), ''),
  mountPropagation: s.pointer(5, s.oneOf('v1.MountPropagationMode', ['None', 'HostToContainer', 'Bidirectional']), ''),
  subPathExpr: s.optional(6, s.string(), ''),
});
export type VolumeMount = s.TypeOf<typeof volumeMount>;

export const volumeDevice = s.object('io.k8s.api.core.v1.VolumeDevice', '', {
  name: s.required(1, s.string(), ''),
  devicePath: s.required(2, s.string(), ''),
});
export type VolumeDevice = s.TypeOf<typeof volumeDevice>;

export const container = s.object('io.k8s.api.core.v1.Container', '', {
  name: s.required(1, s.string(), ''),
  image: s.optional(2, s.string(), ''),
  command: s.optional(3, s.atomicList(s.string()), ''),
  args: s.optional(4, s.atomicList(s.string()), ''),
  workingDir: s.optional(5, s.string(), ''),
  ports: s.optional(6, s.listMap(containerPort, ['containerPort', 'protocol']), '', { patchStrategy: 'merge', patchMergeKey: 'containerPort' }),
  envFrom: s.optional(19, s.atomicList(envFromSource), ''),
  env: s.optional(7, s.listMap(envVar, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  resources: s.optional(8, resourceRequirements, ''),
  resizePolicy: s.optional(23, s.atomicList(containerResizePolicy), ''),
  restartPolicy: s.pointer(24, s.string({ goType: 'v1.ContainerRestartPolicy' }), ''),
  volumeMounts: s.optional(9, s.listMap(volumeMount, ['mountPath']), '', { patchStrategy: 'merge', patchMergeKey: 'mountPath' }),
  volumeDevices: s.optional(21, s.listMap(volumeDevice, ['devicePath']), '', { patchStrategy: 'merge', patchMergeKey: 'devicePath' }),
  livenessProbe: s.pointer(10, probe, ''),
  readinessProbe: s.pointer(11, probe, ''),
  startupProbe: s.pointer(22, probe, ''),
  lifecycle: s.pointer(12, lifecycle, ''),
  terminationMessagePath: s.optional(13, s.string(), ''),
  terminationMessagePolicy: s.optional(20, s.oneOf('v1.TerminationMessagePolicy', ['File', 'FallbackToLogsOnError']), ''),
  imagePullPolicy: s.optional(14, s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']), ''),
  securityContext: s.pointer(15, securityContext, ''),
  stdin: s.optional(16, s.boolean(), ''),
  stdinOnce: s.optional(17, s.boolean(), ''),
  tty: s.optional(18, s.boolean(), ''),
});
export type Container = s.TypeOf<typeof container>;

export const ephemeralContainerCommon = s.object('io.k8s.api.core.v1.EphemeralContainerCommon', '', {
  name: s.required(1, s.string(), ''),
  image: s.optional(2, s.string(), ''),
  command: s.optional(3, s.atomicList(s.string()), ''),
  args: s.optional(4, s.atomicList(s.string()), ''),
  workingDir: s.optional(5, s.string(), ''),
  ports: s.optional(6, s.listMap(containerPort, ['containerPort', 'protocol']), '', { patchStrategy: 'merge', patchMergeKey: 'containerPort' }),
  envFrom: s.optional(19, s.atomicList(envFromSource), ''),
  env: s.optional(7, s.listMap(envVar, ['name']), '', { patchStrategy: 'merge', patchMergeKey: 'name' }),
  resources: s.optional(8, resourceRequirements, ''),
  resizePolicy: s.optional(23, s.atomicList(containerResizePolicy), ''),
  restartPolicy: s.pointer(24, s.string({ goType: 'v1.ContainerRestartPolicy' }), ''),
  volumeMounts: s.optional(9, s.listMap(volumeMount, ['mountPath']), '', { patchStrategy: 'merge', patchMergeKey: 'mountPath' }),
  volumeDevices: s.optional(21, s.listMap(volumeDevice, ['devicePath']), '', { patchStrategy: 'merge', patchMergeKey: 'devicePath' }),
  livenessProbe: s.pointer(10, probe, ''),
  readinessProbe: s.pointer(11, probe, ''),
  startupProbe: s.pointer(22, probe, ''),
  lifecycle: s.pointer(12, lifecycle, ''),
  terminationMessagePath: s.optional(13, s.string(), ''),
  terminationMessagePolicy: s.optional(20, s.oneOf('v1.TerminationMessagePolicy', ['File', 'FallbackToLogsOnError']), ''),
  imagePullPolicy: s.optional(14, s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']), ''),
  securityContext: s.pointer(15, securityContext, ''),
  stdin: s.optional(16, s.boolean(), ''),
  stdinOnce: s.optional(17, s.boolean(), ''),
  tty: s.optional(18, s.boolean(), ''),
});
export type EphemeralContainerCommon = s.TypeOf<typeof ephemeralContainerCommon>;

export const ephemeralContainer = s.object('io.k8s.api.core.v1.EphemeralContainer', '', {
  ephemeralContainerCommon: s.inline(1, ephemeralContainerCommon),
  targetContainerName: s.optional(2, s.string(), ''),
});
export type EphemeralContainer = s.TypeOf<typeof ephemeralContainer>;
