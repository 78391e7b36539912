import * as s from '@kruise/schema';
import { lifecycle, probe } from './probe.ts';
import { localObjectReference } from './reference.ts';
import { resourceRequirements } from './resources.ts';
import { securityContext } from './security-context.ts';
import { configMapKeySelector, objectFieldSelector, resourceFieldSelector, secretKeySelector } from './value-source.ts';

export const containerPort = s.object(
  'io.k8s.api.core.v1.ContainerPort',
  'A port of a container. Ports that are not listed can be reached all the same.',
  {
    name: s.optional(
      1,
      s.string(),
      'Name of the port, unique in the Pod, for Services and probes to refer to: up to 15 lower-case letters, digits and -.',
    ),
    hostPort: s.optional(
      2,
      s.int32(),
      'Port of the node that leads here; only one such Pod fits on a node. With hostNetwork it must equal containerPort.',
    ),
    containerPort: s.required(3, s.int32(), 'The port number in the container, 1 to 65535.'),
    protocol: s.optional(4, s.string({ goType: 'v1.Protocol', default: 'TCP' }), 'TCP (the default), UDP or SCTP.'),
    hostIP: s.optional(5, s.string(), 'Address of the node hostPort is bound to. Unset: all.'),
  },
);
export type ContainerPort = s.TypeOf<typeof containerPort>;

export const configMapEnvSource = s.object(
  'io.k8s.api.core.v1.ConfigMapEnvSource',
  'Environment variables from all keys of a ConfigMap.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    optional: s.pointer(2, s.boolean(), 'Missing ConfigMaps are permitted. Default false: the container waits.'),
  },
);
export type ConfigMapEnvSource = s.TypeOf<typeof configMapEnvSource>;

export const secretEnvSource = s.object(
  'io.k8s.api.core.v1.SecretEnvSource',
  'Environment variables from all keys of a Secret.',
  {
    localObjectReference: s.inline(1, localObjectReference),
    optional: s.pointer(2, s.boolean(), 'Missing Secrets are permitted. Default false: the container waits.'),
  },
);
export type SecretEnvSource = s.TypeOf<typeof secretEnvSource>;

export const envFromSource = s.object(
  'io.k8s.api.core.v1.EnvFromSource',
  'Environment variables from the keys of a ConfigMap or a Secret.',
  {
    prefix: s.optional(1, s.string(), 'Prefix of the names of the variables.'),
    configMapRef: s.pointer(2, configMapEnvSource, 'ConfigMap with the keys.'),
    secretRef: s.pointer(3, secretEnvSource, 'Secret with the keys.'),
  },
);
export type EnvFromSource = s.TypeOf<typeof envFromSource>;

export const envVarSource = s.object(
  'io.k8s.api.core.v1.EnvVarSource',
  'Source of the value of an environment variable; exactly one.',
  {
    fieldRef: s.pointer(
      1,
      objectFieldSelector,
      'A field of the Pod: metadata.name, metadata.namespace, metadata.uid, a label or annotation, spec.nodeName, spec.serviceAccountName, status.hostIP or status.podIP, with their plurals.',
    ),
    resourceFieldRef: s.pointer(2, resourceFieldSelector, 'A request or limit of the container.'),
    configMapKeyRef: s.pointer(3, configMapKeySelector, 'A key of a ConfigMap.'),
    secretKeyRef: s.pointer(4, secretKeySelector, 'A key of a Secret.'),
  },
);
export type EnvVarSource = s.TypeOf<typeof envVarSource>;

export const envVar = s.object('io.k8s.api.core.v1.EnvVar', 'An environment variable of a container.', {
  name: s.required(1, s.string(), 'Name of the variable: any printable ASCII characters but =.'),
  value: s.optional(
    2,
    s.string(),
    'Value of the variable. $(NAME) is replaced by a variable that is defined earlier, $$ by a single $. Default empty.',
  ),
  valueFrom: s.pointer(3, envVarSource, 'Source of the value. Excludes value.'),
});
export type EnvVar = s.TypeOf<typeof envVar>;

export const containerResizePolicy = s.object(
  'io.k8s.api.core.v1.ContainerResizePolicy',
  'Policy for resizing a resource of a running container.',
  {
    resourceName: s.required(1, s.string({ goType: 'v1.ResourceName' }), 'Name of the resource: cpu or memory.'),
    restartPolicy: s.required(
      2,
      s.string({ goType: 'v1.ResourceResizeRestartPolicy' }),
      'Policy: NotRequired (the default) resizes the running container, if possible; RestartContainer restarts the container.',
    ),
  },
);
export type ContainerResizePolicy = s.TypeOf<typeof containerResizePolicy>;

export const volumeMount = s.object('io.k8s.api.core.v1.VolumeMount', 'Mount of a volume in a container.', {
  name: s.required(1, s.string(), 'Name of a volume of the Pod.'),
  readOnly: s.optional(2, s.boolean(), 'Read-only mount. Default false.'),
  recursiveReadOnly: s.pointer(
    7,
    s.string({ goType: 'v1.RecursiveReadOnlyMode' }),
    'Recursive read-only mounts: Disabled (the default), IfPossible or Enabled. Requires readOnly.',
  ),
  mountPath: s.required(3, s.string(), 'Path of the mount in the container; without a colon.'),
  subPath: s.optional(
    4,
    s.string(),
    'The part of the volume to mount; its root by default. Does not follow later changes of a ConfigMap or Secret.',
  ),
  mountPropagation: s.pointer(
    5,
    s.oneOf('v1.MountPropagationMode', ['None', 'HostToContainer', 'Bidirectional']),
    'Propagation of later mounts between node and container: None (the default), HostToContainer or Bidirectional, which requires a privileged container.',
  ),
  subPathExpr: s.optional(
    6,
    s.string(),
    'Path in the volume to mount, in which $(NAME) is replaced by an environment variable. Excludes subPath.',
  ),
});
export type VolumeMount = s.TypeOf<typeof volumeMount>;

export const volumeDevice = s.object(
  'io.k8s.api.core.v1.VolumeDevice',
  'A volume a container gets as a raw block device.',
  {
    name: s.required(1, s.string(), 'Name of a volume of the Pod whose claim has volumeMode Block.'),
    devicePath: s.required(2, s.string(), 'Path of the device in the container.'),
  },
);
export type VolumeDevice = s.TypeOf<typeof volumeDevice>;

export const container = s.object('io.k8s.api.core.v1.Container', 'A container of a Pod.', {
  name: s.required(1, s.string(), 'Name of the container, a DNS label, unique in the Pod. Cannot be changed.'),
  image: s.optional(
    2,
    s.string(),
    'Image of the container. Mutable in a running Pod, where a change restarts the container.',
  ),
  command: s.optional(
    3,
    s.atomicList(s.string()),
    'Command that replaces the entry point of the image; not run in a shell. $(NAME) is replaced by an environment variable, $$ by a single $.',
  ),
  args: s.optional(
    4,
    s.atomicList(s.string()),
    'Arguments that replace those of the image. $(NAME) is replaced by an environment variable, $$ by a single $.',
  ),
  workingDir: s.optional(5, s.string(), 'Working directory; by default that of the image.'),
  ports: s.optional(
    6,
    s.listMap(containerPort, ['containerPort', 'protocol']),
    'Ports of the container, for information.',
    {
      patchStrategy: 'merge',
      patchMergeKey: 'containerPort',
    },
  ),
  envFrom: s.optional(
    19,
    s.atomicList(envFromSource),
    'Whole ConfigMaps and Secrets as environment variables; later ones win, and env wins over all.',
  ),
  env: s.optional(7, s.listMap(envVar, ['name']), 'Environment variables.', {
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  resources: s.optional(
    8,
    resourceRequirements,
    'Resource requests and limits. Changed through the resize subresource.',
  ),
  resizePolicy: s.optional(
    23,
    s.atomicList(containerResizePolicy),
    'Policies for resizing resources of the running container.',
  ),
  restartPolicy: s.pointer(
    24,
    s.string({ goType: 'v1.ContainerRestartPolicy' }),
    'Always makes an init container a sidecar: it keeps running beside those after it. For init containers only.',
  ),
  volumeMounts: s.optional(9, s.listMap(volumeMount, ['mountPath']), 'Mounts of the volumes of the Pod.', {
    patchStrategy: 'merge',
    patchMergeKey: 'mountPath',
  }),
  volumeDevices: s.optional(
    21,
    s.listMap(volumeDevice, ['devicePath']),
    'Volumes that the container uses as raw block devices.',
    { patchStrategy: 'merge', patchMergeKey: 'devicePath' },
  ),
  livenessProbe: s.pointer(
    10,
    probe,
    'Liveness probe: the container is restarted when it fails. Unset: the container is alive while it runs.',
  ),
  readinessProbe: s.pointer(
    11,
    probe,
    'Readiness probe: the Pod is removed from Services while it fails. Unset: the container is ready when it runs.',
  ),
  startupProbe: s.pointer(
    22,
    probe,
    'Startup probe: the other probes begin when it has succeeded; the container is restarted if it fails.',
  ),
  lifecycle: s.pointer(12, lifecycle, 'Actions at the start and the stop of the container.'),
  terminationMessagePath: s.optional(
    13,
    s.string(),
    'The file for its termination message; /dev/termination-log by default.',
  ),
  terminationMessagePolicy: s.optional(
    20,
    s.oneOf('v1.TerminationMessagePolicy', ['File', 'FallbackToLogsOnError']),
    'Source of the termination message: File (the default); FallbackToLogsOnError uses the end of the log if the file is empty and the container failed.',
  ),
  imagePullPolicy: s.optional(
    14,
    s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']),
    'Pull policy: Always, Never or IfNotPresent. Default: Always for the tag latest or no tag, otherwise IfNotPresent.',
  ),
  securityContext: s.pointer(15, securityContext, 'Security options of the container.'),
  stdin: s.optional(16, s.boolean(), 'Keep its standard input open. Default false.'),
  stdinOnce: s.optional(
    17,
    s.boolean(),
    'Closes the standard input when the first attached client disconnects. Default false.',
  ),
  tty: s.optional(18, s.boolean(), 'Allocates a terminal; requires stdin. Default false.'),
});
export type Container = s.TypeOf<typeof container>;

export const ephemeralContainerCommon = s.object(
  'io.k8s.api.core.v1.EphemeralContainerCommon',
  'Fields that an ephemeral container has in common with others. Many of them must not be set.',
  {
    name: s.required(1, s.string(), 'Name of the container, unique among all containers of the Pod.'),
    image: s.optional(2, s.string(), 'Image of the container.'),
    command: s.optional(
      3,
      s.atomicList(s.string()),
      'Command that replaces the entry point of the image; not run in a shell. $(NAME) is replaced by an environment variable.',
    ),
    args: s.optional(
      4,
      s.atomicList(s.string()),
      'Arguments that replace those of the image. $(NAME) is replaced by an environment variable.',
    ),
    workingDir: s.optional(5, s.string(), 'Working directory; by default that of the image.'),
    ports: s.optional(
      6,
      s.listMap(containerPort, ['containerPort', 'protocol']),
      'Not allowed for ephemeral containers.',
      { patchStrategy: 'merge', patchMergeKey: 'containerPort' },
    ),
    envFrom: s.optional(19, s.atomicList(envFromSource), 'Whole ConfigMaps and Secrets as environment variables.'),
    env: s.optional(7, s.listMap(envVar, ['name']), 'Environment variables.', {
      patchStrategy: 'merge',
      patchMergeKey: 'name',
    }),
    resources: s.optional(8, resourceRequirements, 'Not allowed: it uses what the Pod has been given.'),
    resizePolicy: s.optional(
      23,
      s.atomicList(containerResizePolicy),
      'Not allowed for ephemeral containers, which have no resources of their own.',
    ),
    restartPolicy: s.pointer(
      24,
      s.string({ goType: 'v1.ContainerRestartPolicy' }),
      'Not allowed: it is never restarted.',
    ),
    volumeMounts: s.optional(
      9,
      s.listMap(volumeMount, ['mountPath']),
      'Mounts of the volumes of the Pod; without subPath.',
      { patchStrategy: 'merge', patchMergeKey: 'mountPath' },
    ),
    volumeDevices: s.optional(
      21,
      s.listMap(volumeDevice, ['devicePath']),
      'Volumes that the container uses as raw block devices.',
      { patchStrategy: 'merge', patchMergeKey: 'devicePath' },
    ),
    livenessProbe: s.pointer(10, probe, 'Not allowed: an ephemeral container is not probed for life.'),
    readinessProbe: s.pointer(11, probe, 'Not allowed: an ephemeral container does not make the Pod ready.'),
    startupProbe: s.pointer(22, probe, 'Not allowed: an ephemeral container is not waited for.'),
    lifecycle: s.pointer(12, lifecycle, 'Not allowed for ephemeral containers.'),
    terminationMessagePath: s.optional(
      13,
      s.string(),
      'The file for its termination message; /dev/termination-log by default.',
    ),
    terminationMessagePolicy: s.optional(
      20,
      s.oneOf('v1.TerminationMessagePolicy', ['File', 'FallbackToLogsOnError']),
      'Source of the termination message: File (the default); FallbackToLogsOnError uses the end of the log if the file is empty and the container failed.',
    ),
    imagePullPolicy: s.optional(
      14,
      s.oneOf('v1.PullPolicy', ['Always', 'Never', 'IfNotPresent']),
      'Pull policy: Always, Never or IfNotPresent. Default: Always for the tag latest or no tag, otherwise IfNotPresent.',
    ),
    securityContext: s.pointer(15, securityContext, 'Security options of the container.'),
    stdin: s.optional(16, s.boolean(), 'Keep its standard input open. Default false.'),
    stdinOnce: s.optional(
      17,
      s.boolean(),
      'Closes the standard input when the first attached client disconnects. Default false.',
    ),
    tty: s.optional(18, s.boolean(), 'Allocates a terminal; requires stdin. Default false.'),
  },
);
export type EphemeralContainerCommon = s.TypeOf<typeof ephemeralContainerCommon>;

export const ephemeralContainer = s.object(
  'io.k8s.api.core.v1.EphemeralContainer',
  'Container that is added to a running Pod for debugging. It can be neither changed nor removed.',
  {
    ephemeralContainerCommon: s.inline(1, ephemeralContainerCommon),
    targetContainerName: s.optional(
      2,
      s.string(),
      'Container whose process namespace is used, if the runtime supports it. Unset: the own namespace, or that of the Pod if shared.',
    ),
  },
);
export type EphemeralContainer = s.TypeOf<typeof ephemeralContainer>;
