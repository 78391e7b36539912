/**
 * Runtime interface of a node: the Container Runtime Interface (CRI v1), plus files, logs and network that a kubelet
 * otherwise takes from its machine. The implementation is a runtime in another process or a simulated one in this
 * process; callers do not depend on which.
 *
 * Messages have the shape of CRI's protobuf messages with these differences, which make them plain objects:
 * - wrappers (Int64Value, UInt64Value, ContainerStateValue …) are the value itself, or absent;
 * - enums are the names of their values; 64-bit numbers are numbers, except times in nanoseconds, which are bigints;
 * - fields that proto3 omits for their zero value are optional in requests and always present in responses;
 * - Windows containers are not supported;
 * - exec, attach and port-forward return a connectable session instead of a URL.
 *
 * A failed call rejects with a `GrpcError`, wherever the runtime runs.
 */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { TerminalSize } from '@kruise/client/streaming/remote-command';
import type { Instant } from '@kruise/values/time';
import type {
  AuthConfig,
  ContainerConfig,
  ContainerEventResponse,
  ContainerFilter,
  ContainerMetadata,
  ContainerState,
  ContainerStats,
  ContainerStatsFilter,
  ContainerStatus,
  FilesystemUsage,
  Image,
  ImageSpec,
  LinuxContainerResources,
  MetricDescriptor,
  PodSandboxConfig,
  PodSandboxFilter,
  PodSandboxMetadata,
  PodSandboxMetrics,
  PodSandboxState,
  PodSandboxStats,
  PodSandboxStatsFilter,
  PodSandboxStatus,
  RuntimeFeatures,
  RuntimeHandler,
  RuntimeStatus,
  StringMap,
} from './messages.ts';

/** Runtime of a node, as its kubelet sees it. */
export type NodeRuntime = RuntimeService &
  ImageService & {
    readonly logs: ContainerLogs;
    readonly files: HostFiles;
    readonly network: HostNetwork;
  };

/** Options of any call. The runtime client decides the timeout. */
export type CallOptions = { readonly signal?: AbortSignal };

/** RuntimeService of CRI. */
export type RuntimeService = {
  version(request: { readonly version?: string }, options?: CallOptions): Promise<VersionResponse>;
  status(request: { readonly verbose?: boolean }, options?: CallOptions): Promise<StatusResponse>;
  /** Sets the Pod CIDRs of the node, comma-separated, once they are known. */
  updateRuntimeConfig(request: UpdateRuntimeConfigRequest, options?: CallOptions): Promise<void>;
  /** Rejects with UNIMPLEMENTED if the runtime does not report its configuration. */
  runtimeConfig(request: Empty, options?: CallOptions): Promise<RuntimeConfigResponse>;

  /** Resolves once the sandbox is ready and has its IP address. */
  runPodSandbox(request: RunPodSandboxRequest, options?: CallOptions): Promise<{ readonly podSandboxId: string }>;
  /** Kills all running containers of the sandbox and stops it. Idempotent. */
  stopPodSandbox(request: { readonly podSandboxId: string }, options?: CallOptions): Promise<void>;
  /** Removes the sandbox and its containers. Idempotent. */
  removePodSandbox(request: { readonly podSandboxId: string }, options?: CallOptions): Promise<void>;
  podSandboxStatus(request: PodSandboxStatusRequest, options?: CallOptions): Promise<PodSandboxStatusResponse>;
  listPodSandbox(
    request: { readonly filter?: PodSandboxFilter },
    options?: CallOptions,
  ): Promise<{ readonly items: readonly PodSandbox[] }>;
  updatePodSandboxResources(request: UpdatePodSandboxResourcesRequest, options?: CallOptions): Promise<void>;

  createContainer(request: CreateContainerRequest, options?: CallOptions): Promise<{ readonly containerId: string }>;
  startContainer(request: { readonly containerId: string }, options?: CallOptions): Promise<void>;
  /** Resolves when the container has stopped; it is killed after `timeout` seconds. Idempotent. */
  stopContainer(
    request: { readonly containerId: string; readonly timeout?: number },
    options?: CallOptions,
  ): Promise<void>;
  /** Removes the container, and kills it first if it is running. Idempotent. */
  removeContainer(request: { readonly containerId: string }, options?: CallOptions): Promise<void>;
  listContainers(
    request: { readonly filter?: ContainerFilter },
    options?: CallOptions,
  ): Promise<{ readonly containers: readonly Container[] }>;
  containerStatus(request: ContainerStatusRequest, options?: CallOptions): Promise<ContainerStatusResponse>;
  updateContainerResources(request: UpdateContainerResourcesRequest, options?: CallOptions): Promise<void>;
  reopenContainerLog(request: { readonly containerId: string }, options?: CallOptions): Promise<void>;
  checkpointContainer(request: CheckpointContainerRequest, options?: CallOptions): Promise<void>;

  /** Rejects with DEADLINE_EXCEEDED, and kills the command, after `timeout` seconds if that is not 0. */
  execSync(request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResponse>;
  exec(request: ExecRequest, options?: CallOptions): Promise<ExecResponse>;
  attach(request: AttachRequest, options?: CallOptions): Promise<AttachResponse>;
  portForward(request: PortForwardRequest, options?: CallOptions): Promise<PortForwardResponse>;

  containerStats(
    request: { readonly containerId: string },
    options?: CallOptions,
  ): Promise<{ readonly stats: ContainerStats }>;
  listContainerStats(
    request: { readonly filter?: ContainerStatsFilter },
    options?: CallOptions,
  ): Promise<{ readonly stats: readonly ContainerStats[] }>;
  podSandboxStats(
    request: { readonly podSandboxId: string },
    options?: CallOptions,
  ): Promise<{ readonly stats: PodSandboxStats }>;
  listPodSandboxStats(
    request: { readonly filter?: PodSandboxStatsFilter },
    options?: CallOptions,
  ): Promise<{ readonly stats: readonly PodSandboxStats[] }>;
  listMetricDescriptors(
    request: Empty,
    options?: CallOptions,
  ): Promise<{ readonly descriptors: readonly MetricDescriptor[] }>;
  listPodSandboxMetrics(
    request: Empty,
    options?: CallOptions,
  ): Promise<{ readonly podMetrics: readonly PodSandboxMetrics[] }>;

  /**
   * Streams the events of sandboxes and containers from the call on. Ends when the loop is left or the signal is
   * aborted; throws UNIMPLEMENTED if the runtime has no events, and RESOURCE_EXHAUSTED if events were lost, after which
   * the caller must relist.
   */
  getContainerEvents(request: Empty, options?: CallOptions): AsyncIterable<ContainerEventResponse>;
};

/** ImageService of CRI. */
export type ImageService = {
  listImages(
    request: { readonly filter?: { readonly image?: ImageSpec } },
    options?: CallOptions,
  ): Promise<{ readonly images: readonly Image[] }>;
  /** Returns no image if the image is not present on the node. */
  imageStatus(
    request: { readonly image: ImageSpec; readonly verbose?: boolean },
    options?: CallOptions,
  ): Promise<{ readonly image?: Image; readonly info: StringMap }>;
  pullImage(request: PullImageRequest, options?: PullImageOptions): Promise<{ readonly imageRef: string }>;
  /** Removes an image. Idempotent. */
  removeImage(request: { readonly image: ImageSpec }, options?: CallOptions): Promise<void>;
  imageFsInfo(request: Empty, options?: CallOptions): Promise<ImageFsInfoResponse>;
};

type Empty = Readonly<Record<string, never>>;

export type VersionResponse = {
  readonly version: string;
  /** Scheme of container IDs: `containerd`, `cri-o`, `simulated`. */
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
};

export type StatusResponse = {
  readonly status: RuntimeStatus;
  readonly info: StringMap;
  readonly runtimeHandlers: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
};

export type UpdateRuntimeConfigRequest = {
  readonly runtimeConfig: { readonly networkConfig: { readonly podCidr: string } };
};

export type RuntimeConfigResponse = {
  readonly linux?: { readonly cgroupDriver: 'SYSTEMD' | 'CGROUPFS' };
};

export type RunPodSandboxRequest = { readonly config: PodSandboxConfig; readonly runtimeHandler?: string };

export type PodSandboxStatusRequest = { readonly podSandboxId: string; readonly verbose?: boolean };

export type PodSandboxStatusResponse = {
  readonly status: PodSandboxStatus;
  readonly info: StringMap;
  /** Set only by runtimes that support events. */
  readonly containersStatuses: readonly ContainerStatus[];
  readonly timestamp: bigint;
};

export type PodSandbox = {
  readonly id: string;
  readonly metadata: PodSandboxMetadata;
  readonly state: PodSandboxState;
  readonly createdAt: bigint;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly runtimeHandler: string;
};

export type UpdatePodSandboxResourcesRequest = {
  readonly podSandboxId: string;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
};

export type CreateContainerRequest = {
  readonly podSandboxId: string;
  readonly config: ContainerConfig;
  readonly sandboxConfig: PodSandboxConfig;
};

export type Container = {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata: ContainerMetadata;
  readonly image: ImageSpec;
  readonly imageRef: string;
  readonly imageId: string;
  readonly state: ContainerState;
  readonly createdAt: bigint;
  readonly labels: StringMap;
  readonly annotations: StringMap;
};

export type ContainerStatusRequest = { readonly containerId: string; readonly verbose?: boolean };

export type ContainerStatusResponse = { readonly status: ContainerStatus; readonly info: StringMap };

export type UpdateContainerResourcesRequest = {
  readonly containerId: string;
  /** Omitted fields keep their values. */
  readonly linux?: LinuxContainerResources;
  readonly annotations?: StringMap;
};

export type CheckpointContainerRequest = {
  readonly containerId: string;
  readonly location?: string;
  readonly timeout?: number;
};

export type ExecSyncRequest = {
  readonly containerId: string;
  readonly cmd: readonly string[];
  readonly timeout?: number;
};

export type ExecSyncResponse = {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number;
};

export type ExecRequest = {
  readonly containerId: string;
  readonly cmd: readonly string[];
  readonly tty?: boolean;
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
};

export type AttachRequest = Omit<ExecRequest, 'cmd'>;

export type PortForwardRequest = { readonly podSandboxId: string; readonly port?: readonly number[] };

/** Streams of a process, at the caller's end. A `RemoteCommand` of the kubelet's server is one. */
export type ProcessStreams = {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Calls the listener with each new terminal size. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when the client disconnects: the process is detached from its streams. */
  readonly signal: AbortSignal;
};

/** A prepared exec session, to be connected once and soon. */
export type ExecResponse = {
  /**
   * Runs the command on the streams and resolves with its exit code after all output was written; leaves the streams
   * open. Rejects if the command could not run.
   */
  connect(streams: ProcessStreams): Promise<{ readonly exitCode: number }>;
};

/** A prepared attach session, to be connected once and soon. */
export type AttachResponse = {
  /** Resolves when the container has exited or the client has disconnected; leaves the streams open. */
  connect(streams: ProcessStreams): Promise<void>;
};

/** A port-forward session, to be connected any number of times. */
export type PortForwardResponse = {
  /**
   * Connects `near` to a port; resolves when both directions have ended, and rejects if no process listens on the port.
   */
  connect(port: number, near: Duplex): Promise<void>;
  /** Closes all open connections. */
  close(): void;
};

export type PullImageRequest = {
  readonly image: ImageSpec;
  readonly auth?: AuthConfig;
  readonly sandboxConfig?: PodSandboxConfig;
};

export type PullImageOptions = CallOptions & {
  /** Called with the progress of the pull, by runtimes that report it. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void;
};

export type ImageFsInfoResponse = {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
};

/** Container logs (stdout and stderr). */
export type ContainerLogs = {
  /** Returns the entries of a container's log, oldest first. Rejects with NOT_FOUND if the container does not exist. */
  read(request: ReadLogRequest, options?: CallOptions): AsyncIterable<LogEntry>;
};

export type ReadLogRequest = {
  readonly containerId: string;
  /** Number of entries to read from the end. */
  readonly tailLines?: number;
  /** Only entries at this time or later. */
  readonly since?: Instant;
  /** Continues with new entries until the container has exited. */
  readonly follow?: boolean;
};

/** A log entry. A line longer than the runtime's limit is split into several entries, all but the last one partial. */
export type LogEntry = {
  /** RFC 3339, with nanoseconds. */
  readonly timestamp: string;
  readonly stream: 'stdout' | 'stderr';
  readonly isPartial: boolean;
  /** Content without the newline. */
  readonly content: Uint8Array;
};

/**
 * Files of the node, by absolute path: volumes, the hosts file, termination messages. A container sees those that its
 * mounts name by `hostPath`, and may create symbolic links and any other files where it can write: no method follows a
 * symbolic link at the end of a path unless it states so. Errors carry the system's code (`ENOENT`, `ENOTDIR` …), as
 * Node's own do.
 */
export type HostFiles = {
  /**
   * Creates a directory and its parents with the mode; does nothing if it exists, or fails with EEXIST if it must be
   * new.
   */
  makeDirectory(path: string, options?: { readonly mode?: number; readonly isNew?: boolean }): Promise<void>;
  /** Creates or replaces a regular file; EEXIST if it must be new. The directory must exist. */
  writeFile(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<void>;
  /** Reads a regular file; only the last `tailBytes` if given. ELOOP if it is a symbolic link that is not followed. */
  readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array>;
  /**
   * Reads the entry at a path below a root. Symbolic links are followed while they stay below the root; EXDEV if one
   * does not. Undefined if the entry does not exist.
   */
  readBeneath(root: string, path: readonly string[]): Promise<EntryBeneath | undefined>;
  /**
   * Returns a path by which the runtime finds the entry at a path below a root, even if containers change the root
   * concurrently: on a machine that is a bind mount at `target`. Missing directories are created with the mode. EXDEV
   * if symbolic links lead out of the root.
   */
  bindBeneath(request: BindRequest): Promise<string>;
  /** Mounts an empty file system in memory at a directory, which is created; does nothing if one is mounted there. */
  mountMemory(path: string, options: MemoryMountOptions): Promise<void>;
  /** Unmounts all mounts at a path or below it. */
  unmountBelow(path: string): Promise<void>;
  /** Sets the group of a directory and its contents, and adds bits to their modes. Symbolic links are not followed. */
  setGroup(path: string, access: GroupPermissions): Promise<void>;
  /** Creates a symbolic link. */
  symlink(path: string, options: { readonly target: string }): Promise<void>;
  readLink(path: string): Promise<string>;
  /** Returns the names in a directory, sorted. */
  list(path: string): Promise<readonly string[]>;
  /** Returns the entry at a path without following a symbolic link; undefined if the entry does not exist. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Atomically replaces a file, symbolic link or empty directory. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, or a directory with its contents. Idempotent. EBUSY if a mount exists below. */
  remove(path: string): Promise<void>;
  changeMode(path: string, mode: number): Promise<void>;
  changeOwner(path: string, owner: { readonly uid?: number; readonly gid?: number }): Promise<void>;
  /** Returns the disk usage of a path and everything below it. */
  usage(path: string): Promise<{ readonly bytes: number; readonly inodes: number }>;
};

export type MemoryMountOptions = {
  readonly mode: number;
  /** Maximum size of the contents; by default that of the kernel. */
  readonly sizeBytes?: number;
  /** Size of the huge pages that the file system consists of, such as `2Mi`; normal pages if absent. */
  readonly hugePages?: string;
};

export type WriteFileOptions = { readonly mode?: number; readonly uid?: number; readonly isNew?: boolean };

export type ReadFileOptions = { readonly tailBytes?: number; readonly followsLinks?: boolean };

export type EntryBeneath =
  | { readonly type: 'file'; readonly content: Readable }
  | { readonly type: 'directory'; readonly names: readonly string[] };

export type BindRequest = {
  readonly root: string;
  readonly path: readonly string[];
  readonly target: string;
  readonly mode: number;
};

export type GroupPermissions = { readonly gid: number; readonly fileMode: number; readonly directoryMode: number };

export type FileStat = {
  readonly type: 'file' | 'directory' | 'symlink' | 'socket' | 'characterDevice' | 'blockDevice' | 'fifo';
  readonly sizeBytes: number;
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedAt: Instant;
};

/**
 * Network as seen from the node: used by probes, hooks and proxies to reach Pods. A failed connection rejects with the
 * text that Go would give, because events quote it: `dial tcp 10.244.0.5:80: connect: connection refused`.
 */
export type HostNetwork = {
  connect(target: NetworkTarget, options?: CallOptions): Promise<Duplex>;
  /**
   * Sends one HTTP request; redirects are not followed, certificates are not verified, and the body is truncated at
   * `maxBodyBytes`.
   */
  request(request: HttpRequest, options?: CallOptions): Promise<HttpResponse>;
  /** Checks the health of a service on a gRPC server (grpc.health.v1). */
  checkHealth(
    target: NetworkTarget & { readonly service?: string },
    options?: CallOptions,
  ): Promise<'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'>;
};

export type NetworkTarget = { readonly host: string; readonly port: number };

export type HttpRequest = NetworkTarget & {
  readonly scheme?: 'http' | 'https';
  readonly method?: string;
  /** Path with its query. */
  readonly path: string;
  /** Headers in order; a name may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly maxBodyBytes?: number;
};

export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};
