/** CRI messages that several calls share. See `runtime.ts` for the differences to the protobuf messages. */

export type StringMap = Readonly<Record<string, string>>;

export type PodSandboxState = 'SANDBOX_READY' | 'SANDBOX_NOTREADY';
export type ContainerState = 'CONTAINER_CREATED' | 'CONTAINER_RUNNING' | 'CONTAINER_EXITED' | 'CONTAINER_UNKNOWN';
export type NamespaceMode = 'POD' | 'CONTAINER' | 'NODE' | 'TARGET';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type SupplementalGroupsPolicy = 'Merge' | 'Strict';
export type MountPropagation = 'PROPAGATION_PRIVATE' | 'PROPAGATION_HOST_TO_CONTAINER' | 'PROPAGATION_BIDIRECTIONAL';
export type ContainerEventType =
  | 'CONTAINER_CREATED_EVENT'
  | 'CONTAINER_STARTED_EVENT'
  | 'CONTAINER_STOPPED_EVENT'
  | 'CONTAINER_DELETED_EVENT';

export type RuntimeStatus = { readonly conditions: readonly RuntimeCondition[] };

export type RuntimeCondition = {
  /** `RuntimeReady`, `NetworkReady`, or a runtime-specific condition. */
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
};

export type RuntimeHandler = {
  /** Empty for the default handler. */
  readonly name: string;
  readonly features?: { readonly recursiveReadOnlyMounts: boolean; readonly userNamespaces: boolean };
};

export type RuntimeFeatures = { readonly supplementalGroupsPolicy: boolean };

export type PodSandboxConfig = {
  readonly metadata: PodSandboxMetadata;
  /** Empty only for host-network Pods. */
  readonly hostname?: string;
  readonly logDirectory?: string;
  readonly dnsConfig?: DnsConfig;
  readonly portMappings?: readonly PortMapping[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly linux?: LinuxPodSandboxConfig;
};

export type PodSandboxMetadata = {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
};

export type DnsConfig = {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
};

export type PortMapping = {
  readonly protocol?: Protocol;
  readonly containerPort: number;
  /** 0 or absent means no host port. */
  readonly hostPort?: number;
  readonly hostIp?: string;
};

export type LinuxPodSandboxConfig = {
  readonly cgroupParent?: string;
  readonly securityContext?: LinuxSandboxSecurityContext;
  readonly sysctls?: StringMap;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
};

export type LinuxSandboxSecurityContext = {
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  readonly privileged?: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
};

export type NamespaceOption = {
  readonly network?: NamespaceMode;
  readonly pid?: NamespaceMode;
  readonly ipc?: NamespaceMode;
  /** Container whose process namespace is joined with `pid: 'TARGET'`. */
  readonly targetId?: string;
  readonly usernsOptions?: UserNamespace;
};

export type UserNamespace = {
  readonly mode: NamespaceMode;
  readonly uids?: readonly IdMapping[];
  readonly gids?: readonly IdMapping[];
};

export type IdMapping = { readonly hostId: number; readonly containerId: number; readonly length: number };

export type SelinuxOption = {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
};

export type SecurityProfile = {
  readonly profileType: 'RuntimeDefault' | 'Unconfined' | 'Localhost';
  readonly localhostRef?: string;
};

export type PodSandboxStatus = {
  readonly id: string;
  readonly metadata: PodSandboxMetadata;
  readonly state: PodSandboxState;
  readonly createdAt: bigint;
  readonly network?: PodSandboxNetworkStatus;
  readonly linux?: { readonly namespaces?: { readonly options?: NamespaceOption } };
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly runtimeHandler: string;
};

export type PodSandboxNetworkStatus = {
  /** Empty for host-network Pods. */
  readonly ip: string;
  readonly additionalIps: readonly { readonly ip: string }[];
};

export type PodSandboxFilter = {
  readonly id?: string;
  readonly state?: PodSandboxState;
  readonly labelSelector?: StringMap;
};

export type ContainerConfig = {
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  /** Replaces the image's entrypoint; the image's arguments are then dropped. */
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly envs?: readonly KeyValue[];
  readonly mounts?: readonly Mount[];
  readonly devices?: readonly Device[];
  readonly cdiDevices?: readonly { readonly name: string }[];
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  /** Relative to the sandbox's log directory. */
  readonly logPath?: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly linux?: LinuxContainerConfig;
  /** Stop signal such as `SIGUSR1`; the image's stop signal if absent. */
  readonly stopSignal?: string;
};

export type ContainerMetadata = { readonly name: string; readonly attempt: number };

export type ImageSpec = {
  readonly image: string;
  readonly annotations?: StringMap;
  readonly userSpecifiedImage?: string;
  readonly runtimeHandler?: string;
};

export type KeyValue = { readonly key: string; readonly value: string };

export type Mount = {
  readonly containerPath: string;
  readonly hostPath?: string;
  readonly readonly?: boolean;
  readonly selinuxRelabel?: boolean;
  readonly propagation?: MountPropagation;
  readonly uidMappings?: readonly IdMapping[];
  readonly gidMappings?: readonly IdMapping[];
  readonly recursiveReadOnly?: boolean;
  /** Image to mount instead of a host path. */
  readonly image?: ImageSpec;
  readonly imageSubPath?: string;
};

export type Device = { readonly containerPath: string; readonly hostPath: string; readonly permissions: string };

export type LinuxContainerConfig = {
  readonly resources?: LinuxContainerResources;
  readonly securityContext?: LinuxContainerSecurityContext;
};

export type LinuxContainerResources = {
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitInBytes?: number;
  readonly memorySwapLimitInBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[];
  readonly unified?: StringMap;
};

export type LinuxContainerSecurityContext = {
  readonly capabilities?: Capability;
  readonly privileged?: boolean;
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SelinuxOption;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsUsername?: string;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  readonly noNewPrivs?: boolean;
  readonly maskedPaths?: readonly string[];
  readonly readonlyPaths?: readonly string[];
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
  /** Deprecated text form of the profile, for older runtimes. */
  readonly apparmorProfile?: string;
};

export type Capability = {
  readonly addCapabilities?: readonly string[];
  readonly dropCapabilities?: readonly string[];
  readonly addAmbientCapabilities?: readonly string[];
};

export type ContainerFilter = {
  readonly id?: string;
  readonly state?: ContainerState;
  readonly podSandboxId?: string;
  readonly labelSelector?: StringMap;
};

export type ContainerStatus = {
  readonly id: string;
  readonly metadata: ContainerMetadata;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  /** 0 if the container has not started. */
  readonly startedAt: bigint;
  /** 0 if the container has not exited. */
  readonly finishedAt: bigint;
  readonly exitCode: number;
  readonly image: ImageSpec;
  readonly imageRef: string;
  readonly imageId: string;
  /** `Completed`, `Error`, `OOMKilled` …; empty while the container runs. */
  readonly reason: string;
  readonly message: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly mounts: readonly Mount[];
  /** Absolute path. */
  readonly logPath: string;
  /** Actual resources, if the runtime reports them. */
  readonly resources?: { readonly linux?: LinuxContainerResources };
  readonly user?: { readonly linux?: LinuxContainerUser };
  /** Empty if the runtime does not report it. */
  readonly stopSignal: string;
};

export type LinuxContainerUser = {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
};

export type ContainerStatsFilter = {
  readonly id?: string;
  readonly podSandboxId?: string;
  readonly labelSelector?: StringMap;
};

export type ContainerStats = {
  readonly attributes: {
    readonly id: string;
    readonly metadata: ContainerMetadata;
    readonly labels: StringMap;
    readonly annotations: StringMap;
  };
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly writableLayer?: FilesystemUsage;
  readonly swap?: SwapUsage;
  readonly io?: { readonly timestamp: bigint; readonly psi?: PsiStats };
};

export type CpuUsage = {
  readonly timestamp: bigint;
  readonly usageCoreNanoSeconds?: number;
  readonly usageNanoCores?: number;
  readonly psi?: PsiStats;
};

export type MemoryUsage = {
  readonly timestamp: bigint;
  readonly workingSetBytes?: number;
  readonly availableBytes?: number;
  readonly usageBytes?: number;
  readonly rssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
  readonly psi?: PsiStats;
};

export type SwapUsage = {
  readonly timestamp: bigint;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
};

export type PsiStats = { readonly full?: PsiData; readonly some?: PsiData };

export type PsiData = {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
};

export type FilesystemUsage = {
  readonly timestamp: bigint;
  readonly fsId: { readonly mountpoint: string };
  readonly usedBytes?: number;
  readonly inodesUsed?: number;
};

export type PodSandboxStatsFilter = { readonly id?: string; readonly labelSelector?: StringMap };

export type PodSandboxStats = {
  readonly attributes: {
    readonly id: string;
    readonly metadata: PodSandboxMetadata;
    readonly labels: StringMap;
    readonly annotations: StringMap;
  };
  readonly linux?: LinuxPodSandboxStats;
};

export type LinuxPodSandboxStats = {
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly network?: NetworkUsage;
  readonly process?: { readonly timestamp: bigint; readonly processCount?: number };
  readonly containers: readonly ContainerStats[];
  readonly io?: { readonly timestamp: bigint; readonly psi?: PsiStats };
};

export type NetworkUsage = {
  readonly timestamp: bigint;
  readonly defaultInterface?: NetworkInterfaceUsage;
  readonly interfaces: readonly NetworkInterfaceUsage[];
};

export type NetworkInterfaceUsage = {
  readonly name: string;
  readonly rxBytes?: number;
  readonly rxErrors?: number;
  readonly txBytes?: number;
  readonly txErrors?: number;
};

export type ContainerEventResponse = {
  /** ID of a container or a sandbox. */
  readonly containerId: string;
  readonly containerEventType: ContainerEventType;
  readonly createdAt: bigint;
  readonly podSandboxStatus?: PodSandboxStatus;
  readonly containersStatuses: readonly ContainerStatus[];
};

export type MetricDescriptor = {
  readonly name: string;
  readonly help: string;
  readonly labelKeys: readonly string[];
};

export type PodSandboxMetrics = {
  readonly podSandboxId: string;
  readonly metrics: readonly Metric[];
  readonly containerMetrics: readonly { readonly containerId: string; readonly metrics: readonly Metric[] }[];
};

export type Metric = {
  readonly name: string;
  readonly timestamp: bigint;
  readonly metricType: 'COUNTER' | 'GAUGE';
  readonly labelValues: readonly string[];
  readonly value?: number;
};

export type Image = {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  /** User of the image: a numeric UID, otherwise `username`, otherwise root. */
  readonly uid?: number;
  readonly username: string;
  readonly spec?: ImageSpec;
  /** True if garbage collection must not remove the image. */
  readonly pinned: boolean;
};

export type AuthConfig = {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly serverAddress?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
};
