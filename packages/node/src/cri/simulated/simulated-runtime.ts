/** A container runtime in memory: CRI without containers, for as many nodes as one likes. */
import type { Clock } from '@kruise/values/clock';
import { after } from '@kruise/values/clock';
import { type Random, randomInteger } from '@kruise/values/random';
import type { ContainerEventType, ContainerStatsFilter, StringMap } from '../messages.ts';
import { nanosecondsOf } from '../nanoseconds.ts';
import type { NodeRuntime } from '../runtime.ts';
import { type AddressPool, createAddressPool } from './address-pool.ts';
import { closedInput, createAttachableInput } from './attachable-input.ts';
import {
  argvOf,
  type ContainerHost,
  containerMessage,
  containerStatus,
  environmentOf,
  isOverLimit,
  oomKill,
  run,
  type SimulatedContainer,
  signal,
  stopSignalOf,
  workingDirectoryOf,
  worldOf,
} from './container.ts';
import { createContainerFiles } from './container-files.ts';
import { createContainerLog } from './container-log.ts';
import { createEventStream } from './event-stream.ts';
import { attach, exec, execSync, portForward } from './exec.ts';
import { createFileTree, type Space } from './file-tree.ts';
import { hostFiles } from './host-files.ts';
import { createImageStore, imageMessage, type StoredImage } from './image-store.ts';
import { createSimulatedNetwork, type SimulatedNetwork } from './network.ts';
import { missingProgram } from './programs/find-program.ts';
import { scriptedProgram } from './programs/scripted.ts';
import { createRegistry, type Registry } from './registry.ts';
import { containerNotFound, runtimeError, sandboxNotFound } from './runtime-error.ts';
import { isOnHostNetwork, type SimulatedSandbox, sandboxMessage, sandboxStatus } from './sandbox.ts';
import { type Script, ScriptError, scriptOf } from './script.ts';
import { containerStats, sandboxStats } from './stats.ts';

export type SimulatedRuntimeOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Shared by the nodes that are to reach each other's Pods. */
  readonly network?: SimulatedNetwork;
  /** Shared as well, for the same images on all nodes. */
  readonly registry?: Registry;
  /** The node's own, for Pods on its network and ports of its own. */
  readonly nodeAddress?: string;
  /** Where Pod addresses come from, comma-separated; without it the network is not ready before the kubelet tells. */
  readonly podCidr?: string;
  /** Images that are there from the start. */
  readonly images?: readonly string[];
  /** What a pull takes, unless a Pod scripts it. */
  readonly pullBytesPerSecond?: number;
  /** How much all files of the node and its containers may take. */
  readonly maxFileBytes?: number;
  /** How much of a container's log is kept. */
  readonly maxLogBytes?: number;
};

const defaultPullBytesPerSecond = 500e6;
const defaultMaxFileBytes = 64 * 1024 * 1024;
const defaultMaxLogBytes = 256 * 1024;
const version = '1.0.0';
const progressSteps = 10;

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): NodeRuntime {
  const { clock, random, nodeAddress = '127.0.0.1', pullBytesPerSecond = defaultPullBytesPerSecond } = options;
  const network = options.network ?? createSimulatedNetwork();
  const registry = options.registry ?? createRegistry();
  const maxLogBytes = options.maxLogBytes ?? defaultMaxLogBytes;
  const space: Space = { usedBytes: 0, limitBytes: options.maxFileBytes ?? defaultMaxFileBytes };
  const now = () => clock.now();
  const files = createFileTree({ now, space });
  const images = createImageStore();
  const events = createEventStream();
  const sandboxes = new Map<string, SimulatedSandbox>();
  const containers = new Map<string, SimulatedContainer>();
  /** How often something scripted to fail has failed, by Pod and what it was. */
  const failures = new Map<string, number>();
  const nodePeer = network.seenFrom(nodeAddress);
  let pools: readonly AddressPool[] = poolsOf(options.podCidr ?? '');
  let lastTimestamp = 0n;

  for (const image of options.images ?? []) images.add(registry.resolve(image));

  const host: ContainerHost = {
    clock,
    random,
    timestamp() {
      const nanoseconds = nanosecondsOf(clock.now());
      lastTimestamp = nanoseconds > lastTimestamp ? nanoseconds : lastTimestamp + 1n;
      return lastTimestamp;
    },
    filesOf(container) {
      container.files ??= createContainerFiles({
        now,
        space,
        config: container.config,
        sandboxConfig: container.sandbox.config,
        definition: container.image.definition,
        workingDirectory: workingDirectoryOf(container),
        host: files,
      });
      return container.files;
    },
    logOf(container) {
      container.log ??= createContainerLog(now, maxLogBytes);
      return container.log;
    },
    peerOf: (sandbox) => network.seenFrom(sandbox.addresses[0] ?? nodeAddress),
    onEnded: (container) => emit(container.sandbox, container.id, 'CONTAINER_STOPPED_EVENT'),
  };

  function newId(): string {
    let id = '';
    while (id.length < 64)
      id += randomInteger(random, 2 ** 32)
        .toString(16)
        .padStart(8, '0');
    return id;
  }

  function emit(sandbox: SimulatedSandbox, id: string, type: ContainerEventType): void {
    if (!events.hasListeners) return;
    events.emit({
      containerId: id,
      containerEventType: type,
      createdAt: host.timestamp(),
      podSandboxStatus: sandboxStatus(sandbox),
      containersStatuses: [...sandbox.containers].map(containerStatus),
    });
  }

  function sandboxOf(id: string): SimulatedSandbox {
    const sandbox = sandboxes.get(id);
    if (!sandbox) throw sandboxNotFound(id);
    return sandbox;
  }

  function containerOf(id: string): SimulatedContainer {
    const container = containers.get(id);
    if (!container) throw containerNotFound(id);
    return container;
  }

  /** Whether something scripted to fail is to fail this time. */
  function failsNow(key: string, error: string | undefined, limit: number | undefined): boolean {
    if (error === undefined && limit === undefined) return false;
    const count = failures.get(key) ?? 0;
    if (count >= (limit ?? Number.POSITIVE_INFINITY)) return false;
    failures.set(key, count + 1);
    return true;
  }

  async function passTime(delayMs: number, abortSignal: AbortSignal | undefined): Promise<void> {
    if (delayMs <= 0) return;
    try {
      await after(clock, delayMs, abortSignal);
    } catch {
      throw runtimeError('CANCELLED', 'context canceled');
    }
  }

  function readScript(annotations: StringMap | undefined, container?: string): Script {
    try {
      return scriptOf(annotations, container);
    } catch (error) {
      if (error instanceof ScriptError) throw runtimeError('INVALID_ARGUMENT', error.message);
      throw error;
    }
  }

  /** Gives a sandbox its addresses, and has the node's ports lead to it. */
  function connectSandbox(sandbox: SimulatedSandbox): void {
    const { config, id } = sandbox;
    if (isOnHostNetwork(config)) {
      sandbox.interfaces = [network.attach(nodeAddress)];
      return;
    }
    const addresses: string[] = [];
    for (const pool of pools) {
      const address = pool.take();
      if (address === undefined) {
        for (const [index, taken] of addresses.entries()) pools[index]?.give(taken);
        throw runtimeError(
          'UNKNOWN',
          `failed to setup network for sandbox "${id}": failed to allocate for range 0: no IP addresses available in range set: ${pool.range}`,
        );
      }
      addresses.push(address);
    }
    sandbox.addresses = addresses;
    sandbox.interfaces = addresses.map((address) => network.attach(address));
    const node = network.attach(nodeAddress);
    for (const { hostPort = 0, containerPort, protocol = 'TCP' } of config.portMappings ?? []) {
      if (hostPort > 0 && protocol === 'TCP') node.forward(hostPort, { host: addresses[0] ?? '', port: containerPort });
    }
    sandbox.releasePorts = () => node.detach();
  }

  function disconnectSandbox(sandbox: SimulatedSandbox): void {
    for (const each of sandbox.interfaces) each.detach();
    for (const [index, address] of sandbox.addresses.entries()) pools[index]?.give(address);
    sandbox.releasePorts();
    sandbox.interfaces = [];
    sandbox.releasePorts = () => {};
  }

  function stopSandbox(sandbox: SimulatedSandbox): void {
    for (const container of sandbox.containers) signal(container, host, 'SIGKILL');
    if (sandbox.state === 'SANDBOX_NOTREADY') return;
    sandbox.state = 'SANDBOX_NOTREADY';
    disconnectSandbox(sandbox);
    emit(sandbox, sandbox.id, 'CONTAINER_STOPPED_EVENT');
  }

  function removeContainer(container: SimulatedContainer): void {
    signal(container, host, 'SIGKILL');
    containers.delete(container.id);
    container.sandbox.containers.delete(container);
    container.files?.release();
    container.log?.end();
    emit(container.sandbox, container.id, 'CONTAINER_DELETED_EVENT');
  }

  async function stopContainer(
    container: SimulatedContainer,
    timeoutSeconds: number,
    abortSignal: AbortSignal | undefined,
  ): Promise<void> {
    if (container.state !== 'CONTAINER_RUNNING') return;
    if (timeoutSeconds <= 0) {
      signal(container, host, 'SIGKILL');
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const done = () => {
        cancel();
        container.onExit.delete(done);
        abortSignal?.removeEventListener('abort', onAbort);
        resolve();
      };
      // Whoever gives up waiting does not kill: the next caller may have more patience, or less.
      const onAbort = () => {
        cancel();
        container.onExit.delete(done);
        reject(runtimeError('CANCELLED', 'context canceled'));
      };
      const cancel = clock.setTimer(timeoutSeconds * 1000, () => signal(container, host, 'SIGKILL'));
      container.onExit.add(done);
      abortSignal?.addEventListener('abort', onAbort, { once: true });
      if (abortSignal?.aborted) onAbort();
      else signal(container, host, stopSignalOf(container));
    });
  }

  /** The container could not be started, and never will be. */
  function failStart(container: SimulatedContainer, message: string): Error {
    container.state = 'CONTAINER_EXITED';
    container.finishedAt = host.timestamp();
    container.exitCode = 128;
    container.reason = 'StartError';
    container.message = message;
    emit(container.sandbox, container.id, 'CONTAINER_STOPPED_EVENT');
    return runtimeError('UNKNOWN', message);
  }

  async function pull(image: string, script: Script, request: PullContext): Promise<string> {
    const resolved = () => registry.resolve(image, request.auth);
    const key = `${request.podUid} pull ${image}`;
    if (failsNow(key, script.pullError, script.pullFailures)) {
      await passTime(script.pullLatencyMs ?? 0, request.signal);
      throw runtimeError('UNKNOWN', script.pullError ?? `failed to pull and unpack image "${image}": unexpected EOF`);
    }
    const { image: found } = resolved();
    const isThere = images.find(found.id) !== undefined;
    const totalBytes = found.sizeBytes;
    const durationMs = script.pullLatencyMs ?? (isThere ? 0 : (totalBytes / pullBytesPerSecond) * 1000);
    const { onProgress } = request;
    if (onProgress && durationMs > 0) {
      for (let step = 0; step < progressSteps; step++) {
        onProgress({ doneBytes: Math.floor((totalBytes * step) / progressSteps), totalBytes });
        await passTime(durationMs / progressSteps, request.signal);
      }
    } else {
      await passTime(durationMs, request.signal);
    }
    onProgress?.({ doneBytes: totalBytes, totalBytes });
    return images.add(resolved()).image.id;
  }

  const usedBytes = () => ({ imageBytes: images.usedBytes(), fileBytes: space.usedBytes });

  const filesystem = (mountpoint: string, bytes: number) => ({
    timestamp: host.timestamp(),
    fsId: { mountpoint },
    usedBytes: bytes,
    inodesUsed: 1000,
  });

  const matchesContainer = (
    { id, podSandboxId, labelSelector }: ContainerStatsFilter,
    container: SimulatedContainer,
  ): boolean =>
    matchesId(id, container.id) &&
    matchesId(podSandboxId, container.sandbox.id) &&
    matchesLabels(labelSelector, container.config.labels);

  return {
    async version() {
      return { version: '0.1.0', runtimeName: 'simulated', runtimeVersion: version, runtimeApiVersion: 'v1' };
    },

    async status({ verbose = false }) {
      const isNetworkReady = pools.length > 0;
      return {
        status: {
          conditions: [
            { type: 'RuntimeReady', status: true, reason: '', message: '' },
            {
              type: 'NetworkReady',
              status: isNetworkReady,
              reason: isNetworkReady ? '' : 'NetworkPluginNotReady',
              message: isNetworkReady ? '' : 'Network plugin returns error: the node has no Pod address range yet',
            },
          ],
        },
        info: verbose ? { config: JSON.stringify({ nodeAddress, pullBytesPerSecond, maxLogBytes }) } : {},
        runtimeHandlers: [{ name: '', features: { recursiveReadOnlyMounts: true, userNamespaces: true } }],
        features: { supplementalGroupsPolicy: true },
      };
    },

    async updateRuntimeConfig({ runtimeConfig }) {
      const { podCidr } = runtimeConfig.networkConfig;
      // Sandboxes keep the addresses they have; a range that stays keeps what is taken of it.
      if (podCidr !== '' && pools.length === 0) pools = poolsOf(podCidr);
    },

    async runtimeConfig() {
      return { linux: { cgroupDriver: 'SYSTEMD' } };
    },

    async runPodSandbox({ config, runtimeHandler = '' }, { signal: abortSignal } = {}) {
      const { metadata } = config;
      if (runtimeHandler !== '') {
        throw runtimeError(
          'UNKNOWN',
          `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`,
        );
      }
      const script = readScript(config.annotations);
      const isTaken = [...sandboxes.values()].some(({ config: other }) => sameSandbox(other.metadata, metadata));
      const name = `${metadata.name}_${metadata.namespace}_${metadata.uid}_${metadata.attempt}`;
      if (isTaken) {
        throw runtimeError('UNKNOWN', `failed to reserve sandbox name "${name}": name "${name}" is reserved`);
      }
      const sandbox: SimulatedSandbox = {
        id: newId(),
        config,
        runtimeHandler,
        createdAt: host.timestamp(),
        state: 'SANDBOX_NOTREADY',
        addresses: [],
        interfaces: [],
        containers: new Set(),
        releasePorts: () => {},
      };
      await passTime(script.sandboxLatencyMs, abortSignal);
      if (failsNow(`${metadata.uid} sandbox`, script.sandboxError, script.sandboxFailures)) {
        throw runtimeError('UNKNOWN', script.sandboxError ?? 'failed to create containerd task: failed to start shim');
      }
      if (!isOnHostNetwork(config) && pools.length === 0) {
        throw runtimeError(
          'UNKNOWN',
          `failed to setup network for sandbox "${sandbox.id}": cni plugin not initialized`,
        );
      }
      connectSandbox(sandbox);
      sandbox.state = 'SANDBOX_READY';
      sandboxes.set(sandbox.id, sandbox);
      emit(sandbox, sandbox.id, 'CONTAINER_CREATED_EVENT');
      emit(sandbox, sandbox.id, 'CONTAINER_STARTED_EVENT');
      return { podSandboxId: sandbox.id };
    },

    async stopPodSandbox({ podSandboxId }) {
      const sandbox = sandboxes.get(podSandboxId);
      if (sandbox) stopSandbox(sandbox);
    },

    async removePodSandbox({ podSandboxId }) {
      const sandbox = sandboxes.get(podSandboxId);
      if (!sandbox) return;
      stopSandbox(sandbox);
      for (const container of sandbox.containers) removeContainer(container);
      sandboxes.delete(podSandboxId);
      const isLast = ![...sandboxes.values()].some(({ config }) => config.metadata.uid === sandbox.config.metadata.uid);
      if (isLast) forgetFailures(failures, sandbox.config.metadata.uid);
      emit(sandbox, sandbox.id, 'CONTAINER_DELETED_EVENT');
    },

    async podSandboxStatus({ podSandboxId, verbose = false }) {
      const sandbox = sandboxOf(podSandboxId);
      return {
        status: sandboxStatus(sandbox),
        info: verbose ? { info: JSON.stringify({ config: sandbox.config }) } : {},
        containersStatuses: [...sandbox.containers].map(containerStatus),
        timestamp: host.timestamp(),
      };
    },

    async listPodSandbox({ filter = {} }) {
      const { id, state, labelSelector } = filter;
      const items = [...sandboxes.values()].filter(
        (sandbox) =>
          matchesId(id, sandbox.id) &&
          (state === undefined || sandbox.state === state) &&
          matchesLabels(labelSelector, sandbox.config.labels),
      );
      return { items: items.map(sandboxMessage) };
    },

    async updatePodSandboxResources({ podSandboxId }) {
      sandboxOf(podSandboxId);
    },

    async createContainer({ podSandboxId, config, sandboxConfig }) {
      const sandbox = sandboxOf(podSandboxId);
      const { metadata } = config;
      if (sandbox.state !== 'SANDBOX_READY') {
        throw runtimeError('UNKNOWN', `failed to create container: sandbox container "${podSandboxId}" is not running`);
      }
      const pod = sandbox.config.metadata;
      const name = `${metadata.name}_${pod.name}_${pod.namespace}_${pod.uid}_${metadata.attempt}`;
      const isTaken = [...sandbox.containers].some(
        ({ config: other }) => other.metadata.name === metadata.name && other.metadata.attempt === metadata.attempt,
      );
      if (isTaken) {
        throw runtimeError('UNKNOWN', `failed to reserve container name "${name}": name "${name}" is reserved`);
      }
      const stored = images.find(config.image.image);
      if (!stored) {
        throw runtimeError('NOT_FOUND', `failed to resolve image "${config.image.image}": image not found`);
      }
      const script = readScript(sandboxConfig.annotations ?? sandbox.config.annotations, metadata.name);
      if (script.createError !== undefined) throw runtimeError('UNKNOWN', script.createError);
      if (argvOf({ config, image: stored.image }).length === 0) {
        throw runtimeError('UNKNOWN', `failed to generate container spec: no command specified`);
      }
      for (const { hostPath } of config.mounts ?? []) {
        // As containerd does, what is to be mounted is made if it is not there.
        if (hostPath && !files.exists(hostPath)) files.makeDirectory(hostPath, { parents: true });
      }
      const container: SimulatedContainer = {
        id: newId(),
        sandbox,
        config,
        image: stored.image,
        imageName: shownName(stored),
        imageRef: stored.digests[0] ?? stored.image.id,
        script,
        createdAt: host.timestamp(),
        startedAt: 0n,
        finishedAt: 0n,
        state: 'CONTAINER_CREATED',
        exitCode: 0,
        reason: '',
        message: '',
        resources: config.linux?.resources ?? {},
        processes: new Map(),
        lastPid: 0,
        log: undefined,
        files: undefined,
        world: undefined,
        attached: new Set(),
        stdin: config.stdin ? createAttachableInput({ endsWithFirst: config.stdinOnce ?? false }) : closedInput,
        onExit: new Set(),
        cancelTimers: [],
      };
      containers.set(container.id, container);
      sandbox.containers.add(container);
      emit(sandbox, container.id, 'CONTAINER_CREATED_EVENT');
      return { containerId: container.id };
    },

    async startContainer({ containerId }, { signal: abortSignal } = {}) {
      const container = containerOf(containerId);
      const { script, sandbox, config } = container;
      if (container.state !== 'CONTAINER_CREATED') {
        throw runtimeError(
          'UNKNOWN',
          `failed to set starting state for container "${containerId}": container is in ${container.state} state`,
        );
      }
      await passTime(script.startLatencyMs, abortSignal);
      const key = `${sandbox.config.metadata.uid} start ${config.metadata.name}`;
      if (failsNow(key, script.startError, script.startFailures)) {
        throw failStart(container, script.startError ?? 'failed to create containerd task: scripted failure');
      }
      const scripted = scriptedProgram(script, config.metadata.attempt);
      const world = worldOf(container, host);
      const [name = ''] = argvOf(container);
      const directory = workingDirectoryOf(container);
      const program = scripted ?? world.findProgram(name, environmentOf(container), directory);
      if (!program) {
        container.world = undefined;
        throw failStart(
          container,
          `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ${missingProgram(world, name, directory)}: unknown`,
        );
      }
      container.world = undefined;
      run(container, host, program);
      emit(sandbox, containerId, 'CONTAINER_STARTED_EVENT');
    },

    async stopContainer({ containerId, timeout = 0 }, { signal: abortSignal } = {}) {
      const container = containers.get(containerId);
      if (container) await stopContainer(container, timeout, abortSignal);
    },

    async removeContainer({ containerId }) {
      const container = containers.get(containerId);
      if (container) removeContainer(container);
    },

    async listContainers({ filter = {} }) {
      const found = [...containers.values()].filter(
        (container) =>
          matchesContainer(filter, container) && (filter.state === undefined || container.state === filter.state),
      );
      return { containers: found.map(containerMessage) };
    },

    async containerStatus({ containerId, verbose = false }) {
      const container = containerOf(containerId);
      return {
        status: containerStatus(container),
        info: verbose ? { info: JSON.stringify({ config: container.config }) } : {},
      };
    },

    async updateContainerResources({ containerId, linux = {} }) {
      const container = containerOf(containerId);
      if (container.state === 'CONTAINER_EXITED') {
        throw runtimeError('UNKNOWN', `failed to update resources: container is in ${container.state} state`);
      }
      container.resources = { ...container.resources, ...linux };
      if (container.state === 'CONTAINER_RUNNING' && isOverLimit(container, container.script.memoryBytes ?? 0)) {
        oomKill(container, host);
      }
    },

    async reopenContainerLog({ containerId }) {
      if (containerOf(containerId).state !== 'CONTAINER_RUNNING') {
        throw runtimeError('UNKNOWN', 'container is not running');
      }
    },

    async checkpointContainer({ containerId, location }) {
      const container = containerOf(containerId);
      if (container.state !== 'CONTAINER_RUNNING') {
        throw runtimeError('UNKNOWN', `container ${containerId} is not running`);
      }
      if (!location) return;
      files.makeDirectory(location.slice(0, location.lastIndexOf('/')) || '/', { parents: true });
      const { config } = container;
      files.write(
        location,
        JSON.stringify({ id: containerId, config, processes: worldOf(container, host).processes() }),
        {
          mode: 0o600,
        },
      );
    },

    async execSync(request) {
      return execSync(containerOf(request.containerId), host, request);
    },
    async exec(request) {
      return exec(containerOf(request.containerId), host, request);
    },
    async attach(request) {
      return attach(containerOf(request.containerId), request);
    },
    async portForward({ podSandboxId }) {
      const sandbox = sandboxOf(podSandboxId);
      if (sandbox.state !== 'SANDBOX_READY')
        throw runtimeError('UNKNOWN', `sandbox container "${podSandboxId}" is not running`);
      return portForward(host.peerOf(sandbox));
    },

    async containerStats({ containerId }) {
      return { stats: containerStats(containerOf(containerId), host.timestamp()) };
    },
    async listContainerStats({ filter = {} }) {
      const timestamp = host.timestamp();
      const running = [...containers.values()].filter(
        (container) => container.state === 'CONTAINER_RUNNING' && matchesContainer(filter, container),
      );
      return { stats: running.map((container) => containerStats(container, timestamp)) };
    },
    async podSandboxStats({ podSandboxId }) {
      return { stats: sandboxStats(sandboxOf(podSandboxId), host.timestamp()) };
    },
    async listPodSandboxStats({ filter = {} }) {
      const timestamp = host.timestamp();
      const ready = [...sandboxes.values()].filter(
        (sandbox) =>
          sandbox.state === 'SANDBOX_READY' &&
          matchesId(filter.id, sandbox.id) &&
          matchesLabels(filter.labelSelector, sandbox.config.labels),
      );
      return { stats: ready.map((sandbox) => sandboxStats(sandbox, timestamp)) };
    },
    async listMetricDescriptors() {
      return { descriptors: [] };
    },
    async listPodSandboxMetrics() {
      return { podMetrics: [] };
    },

    getContainerEvents: (_, { signal: abortSignal } = {}) => events.subscribe(abortSignal),

    async listImages({ filter }) {
      const name = filter?.image?.image;
      const found = name ? [images.find(name)].filter((image) => image !== undefined) : images.list();
      return { images: found.map(imageMessage) };
    },
    async imageStatus({ image, verbose = false }) {
      const found = images.find(image.image);
      if (!found) return { info: {} };
      return { image: imageMessage(found), info: verbose ? { info: JSON.stringify(found.image) } : {} };
    },
    async pullImage({ image, auth, sandboxConfig }, { signal: abortSignal, onProgress } = {}) {
      const script = readScript({ ...image.annotations, ...sandboxConfig?.annotations });
      const imageRef = await pull(image.image, script, {
        auth,
        podUid: sandboxConfig?.metadata.uid ?? '',
        signal: abortSignal,
        onProgress,
      });
      return { imageRef };
    },
    async removeImage({ image }) {
      images.remove(image.image);
    },
    async imageFsInfo() {
      const { imageBytes, fileBytes } = usedBytes();
      return {
        imageFilesystems: [filesystem('/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs', imageBytes)],
        containerFilesystems: [filesystem('/var/lib/containerd', fileBytes)],
      };
    },

    logs: {
      async *read({ containerId, ...request }, { signal: abortSignal } = {}) {
        const container = containerOf(containerId);
        const isOver = container.state === 'CONTAINER_EXITED';
        if (!container.log && (!request.follow || isOver)) return;
        yield* host.logOf(container).read(request, abortSignal);
      },
    },
    files: hostFiles(files),
    network: nodePeer,
  };
}

type PullContext = {
  readonly auth: Parameters<Registry['resolve']>[1];
  readonly podUid: string;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: { readonly doneBytes: number; readonly totalBytes: number }) => void) | undefined;
};

function poolsOf(podCidr: string): readonly AddressPool[] {
  return podCidr
    .split(',')
    .filter((cidr) => cidr !== '')
    .map(createAddressPool);
}

/** The name a container's status shows: a tag where there is one. */
function shownName({ tags, digests, image }: StoredImage): string {
  return tags[0] ?? digests[0] ?? image.id;
}

type SandboxIdentity = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
};

function sameSandbox(one: SandboxIdentity, other: SandboxIdentity): boolean {
  return (
    one.uid === other.uid &&
    one.attempt === other.attempt &&
    one.name === other.name &&
    one.namespace === other.namespace
  );
}

function forgetFailures(failures: Map<string, number>, podUid: string): void {
  for (const key of failures.keys()) if (key.startsWith(`${podUid} `)) failures.delete(key);
}

function matchesId(wanted: string | undefined, id: string): boolean {
  return wanted === undefined || wanted === '' || id.startsWith(wanted);
}

function matchesLabels(selector: StringMap | undefined, labels: StringMap | undefined): boolean {
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}
