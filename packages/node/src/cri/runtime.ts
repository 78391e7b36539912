/**
 * What a node runs Pods with: the container runtime interface (CRI v1), and the few things a kubelet otherwise takes
 * from the machine it runs on. Behind it stands a runtime in another process, or a simulated one in this; whoever uses
 * it cannot tell.
 *
 * Messages have the shape of CRI's protobuf messages with these differences, all for the sake of plain objects:
 * - wrappers (Int64Value, UInt64Value, ContainerStateValue …) are the value itself, or absent;
 * - enums are the names of their values; 64-bit numbers are numbers, save times in nanoseconds, which are bigints;
 * - what proto3 leaves out when it has its zero value may be left out of a request, and is always in a response;
 * - Windows containers are not spoken of;
 * - exec, attach and port-forward answer with something to connect to instead of a URL.
 *
 * A call that fails rejects with a `GrpcError`, wherever the runtime is.
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

/** A node, as its kubelet sees it. */
export type NodeRuntime = RuntimeService &
  ImageService & {
    readonly logs: ContainerLogs;
    readonly files: HostFiles;
    readonly network: HostNetwork;
  };

/** What any call may be given beside its request. How long a call may take is the runtime client's to know. */
export type CallOptions = { readonly signal?: AbortSignal };

/** CRI's RuntimeService. */
export type RuntimeService = {
  version(request: { readonly version?: string }, options?: CallOptions): Promise<VersionResponse>;
  status(request: { readonly verbose?: boolean }, options?: CallOptions): Promise<StatusResponse>;
  /** Tells the Pod address ranges of the node, comma-separated, once they are known. */
  updateRuntimeConfig(request: UpdateRuntimeConfigRequest, options?: CallOptions): Promise<void>;
  /** UNIMPLEMENTED if the runtime does not say. */
  runtimeConfig(request: Empty, options?: CallOptions): Promise<RuntimeConfigResponse>;

  /** Resolves once the sandbox is ready and has its address. */
  runPodSandbox(request: RunPodSandboxRequest, options?: CallOptions): Promise<{ readonly podSandboxId: string }>;
  /** Stops what still runs in it, at once. Does nothing if it is stopped or gone. */
  stopPodSandbox(request: { readonly podSandboxId: string }, options?: CallOptions): Promise<void>;
  /** Removes its containers as well. Does nothing if it is gone. */
  removePodSandbox(request: { readonly podSandboxId: string }, options?: CallOptions): Promise<void>;
  podSandboxStatus(request: PodSandboxStatusRequest, options?: CallOptions): Promise<PodSandboxStatusResponse>;
  listPodSandbox(
    request: { readonly filter?: PodSandboxFilter },
    options?: CallOptions,
  ): Promise<{ readonly items: readonly PodSandbox[] }>;
  updatePodSandboxResources(request: UpdatePodSandboxResourcesRequest, options?: CallOptions): Promise<void>;

  createContainer(request: CreateContainerRequest, options?: CallOptions): Promise<{ readonly containerId: string }>;
  startContainer(request: { readonly containerId: string }, options?: CallOptions): Promise<void>;
  /** Resolves when it has stopped, killed after `timeout` seconds if need be. Does nothing if it is stopped or gone. */
  stopContainer(
    request: { readonly containerId: string; readonly timeout?: number },
    options?: CallOptions,
  ): Promise<void>;
  /** Kills it if it runs. Does nothing if it is gone. */
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
   * What happens to sandboxes and containers from the call on. Ends when the loop is left or the signal aborted; throws
   * UNIMPLEMENTED if the runtime tells no events, RESOURCE_EXHAUSTED if some were lost: then it is time to list.
   */
  getContainerEvents(request: Empty, options?: CallOptions): AsyncIterable<ContainerEventResponse>;
};

/** CRI's ImageService. */
export type ImageService = {
  listImages(
    request: { readonly filter?: { readonly image?: ImageSpec } },
    options?: CallOptions,
  ): Promise<{ readonly images: readonly Image[] }>;
  /** No image in the answer if the node does not have it. */
  imageStatus(
    request: { readonly image: ImageSpec; readonly verbose?: boolean },
    options?: CallOptions,
  ): Promise<{ readonly image?: Image; readonly info: StringMap }>;
  pullImage(request: PullImageRequest, options?: PullImageOptions): Promise<{ readonly imageRef: string }>;
  /** Does nothing if the node does not have it. */
  removeImage(request: { readonly image: ImageSpec }, options?: CallOptions): Promise<void>;
  imageFsInfo(request: Empty, options?: CallOptions): Promise<ImageFsInfoResponse>;
};

type Empty = Readonly<Record<string, never>>;

export type VersionResponse = {
  readonly version: string;
  /** The scheme of container IDs: `containerd`, `cri-o`, `simulated`. */
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
  /** Only from runtimes that tell events. */
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
  /** Fields left out keep their value. */
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

/** The near ends of a process's streams. A `RemoteCommand` of the kubelet's server is one. */
export type ProcessStreams = {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Has the listener called with each size the terminal takes. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Aborted when nobody is there any more: the process is cut off from its streams. */
  readonly signal: AbortSignal;
};

/** A command that is ready to run: to be connected once, and soon. */
export type ExecResponse = {
  /**
   * Runs the command on the streams and resolves with its exit code after all of its output was written; leaves the
   * streams open. Rejects if it could not be run.
   */
  connect(streams: ProcessStreams): Promise<{ readonly exitCode: number }>;
};

/** A running container whose streams can be had: to be connected once, and soon. */
export type AttachResponse = {
  /** Resolves when the container has ended or nobody is there any more; leaves the streams open. */
  connect(streams: ProcessStreams): Promise<void>;
};

/** A sandbox whose ports can be connected to, any number of times. */
export type PortForwardResponse = {
  /** Joins `near` to a port; resolves when both directions have ended, rejects if nobody listens there. */
  connect(port: number, near: Duplex): Promise<void>;
  /** Ends what is still connected. */
  close(): void;
};

export type PullImageRequest = {
  readonly image: ImageSpec;
  readonly auth?: AuthConfig;
  readonly sandboxConfig?: PodSandboxConfig;
};

export type PullImageOptions = CallOptions & {
  /** Told how far the pull is, by runtimes that can say. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void;
};

export type ImageFsInfoResponse = {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
};

/** What containers wrote to standard output and error. */
export type ContainerLogs = {
  /** The entries of a container's log, oldest first. Rejects with NOT_FOUND if the runtime does not know it. */
  read(request: ReadLogRequest, options?: CallOptions): AsyncIterable<LogEntry>;
};

export type ReadLogRequest = {
  readonly containerId: string;
  /** Only so many entries, from the end. */
  readonly tailLines?: number;
  /** Only entries of this time or later. */
  readonly since?: Instant;
  /** Goes on with what is written from now on, until the container has ended. */
  readonly follow?: boolean;
};

/** One entry of a log. A line longer than the runtime's limit is several entries, all but the last partial. */
export type LogEntry = {
  /** RFC 3339, with nanoseconds. */
  readonly timestamp: string;
  readonly stream: 'stdout' | 'stderr';
  readonly isPartial: boolean;
  /** Without the line's end. */
  readonly content: Uint8Array;
};

/**
 * The node's files, by absolute path: volumes, the hosts file, termination messages. A container sees those its mounts
 * name by `hostPath`, and may put links and anything else where it can write: nothing here follows a link at the end
 * of a path unless the method states it. Failures carry the system's code (`ENOENT`, `ENOTDIR` …), as Node's own do.
 */
export type HostFiles = {
  /** Makes a directory and those above it, all with the mode; does nothing if it is there, or EEXIST if it is to be new. */
  makeDirectory(path: string, options?: { readonly mode?: number; readonly isNew?: boolean }): Promise<void>;
  /** Makes or replaces a regular file; EEXIST if it is to be new. The directory must be there. */
  writeFile(path: string, content: string | Uint8Array, options?: WriteFileOptions): Promise<void>;
  /** Reads a regular file; only the last `tailBytes` if given. ELOOP if it is a link that is not followed. */
  readFile(path: string, options?: ReadFileOptions): Promise<Uint8Array>;
  /**
   * Reads the entry at a path below a root, which may have links in it as long as they stay below the root: EXDEV if
   * one does not. Undefined if there is nothing.
   */
  readBeneath(root: string, path: readonly string[]): Promise<FoundBeneath | undefined>;
  /**
   * Returns a path by which the runtime finds the entry at a path below a root, whatever containers do to the root
   * meanwhile: on a machine that is a bind mount at `target`. Missing directories are made with the mode. EXDEV if
   * links lead out of the root.
   */
  bindBeneath(request: BindRequest): Promise<string>;
  /** Unmounts all that is mounted at a path or below it. */
  unmountBelow(path: string): Promise<void>;
  /** Sets the group of a directory and its contents, and adds bits to their modes. No link in it is followed. */
  shareWithGroup(path: string, access: SharedAccess): Promise<void>;
  /** Makes a symbolic link. */
  symlink(path: string, options: { readonly target: string }): Promise<void>;
  readLink(path: string): Promise<string>;
  /** The names in a directory, sorted. */
  list(path: string): Promise<readonly string[]>;
  /** What is at a path, not following a link there; undefined if there is nothing. */
  stat(path: string): Promise<FileStat | undefined>;
  /** Puts a file, link or empty directory in another's place, at once. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a directory with its contents; does nothing if it is gone. EBUSY if it has a mount below. */
  remove(path: string): Promise<void>;
  changeMode(path: string, mode: number): Promise<void>;
  changeOwner(path: string, owner: { readonly uid?: number; readonly gid?: number }): Promise<void>;
  /** How much all below a path takes. */
  usage(path: string): Promise<{ readonly bytes: number; readonly inodes: number }>;
};

export type WriteFileOptions = { readonly mode?: number; readonly uid?: number; readonly isNew?: boolean };

export type ReadFileOptions = { readonly tailBytes?: number; readonly followsLinks?: boolean };

export type FoundBeneath =
  | { readonly type: 'file'; readonly content: Readable }
  | { readonly type: 'directory'; readonly names: readonly string[] };

export type BindRequest = {
  readonly root: string;
  readonly path: readonly string[];
  readonly target: string;
  readonly mode: number;
};

export type SharedAccess = { readonly gid: number; readonly fileMode: number; readonly directoryMode: number };

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
 * The network as seen from the node: how probes, hooks and proxies reach Pods. A connection that cannot be made rejects
 * with the text Go would give, which ends up in events: `dial tcp 10.244.0.5:80: connect: connection refused`.
 */
export type HostNetwork = {
  connect(target: NetworkTarget, options?: CallOptions): Promise<Duplex>;
  /** One HTTP exchange; redirects are not followed, certificates not checked, the body is cut at `maxBodyBytes`. */
  request(request: HttpRequest, options?: CallOptions): Promise<HttpAnswer>;
  /** Asks a gRPC server for the health of a service (grpc.health.v1). */
  checkHealth(
    target: NetworkTarget & { readonly service?: string },
    options?: CallOptions,
  ): Promise<'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'>;
};

export type NetworkTarget = { readonly host: string; readonly port: number };

export type HttpRequest = NetworkTarget & {
  readonly scheme?: 'http' | 'https';
  readonly method?: string;
  /** With its query. */
  readonly path: string;
  /** In order; a name may come again. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly maxBodyBytes?: number;
};

export type HttpAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};
