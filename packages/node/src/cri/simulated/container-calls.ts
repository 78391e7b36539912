/** CRI calls of containers. */
import { createStructureSharing } from '@kruise/machinery/structural-sharing';
import type { ContainerConfig } from '../messages.ts';
import type { RuntimeService } from '../runtime.ts';
import { closedInput, createAttachableInput } from './attachable-input.ts';
import {
  argvOf,
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
import type { StoredImage } from './image-store.ts';
import { matchesId } from './inventory.ts';
import type { NodeState } from './node-state.ts';
import { missingProgram } from './programs/find-program.ts';
import { scriptedProgram } from './programs/scripted.ts';
import { runtimeError } from './runtime-error.ts';

type ContainerCalls = Pick<
  RuntimeService,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'listContainers'
  | 'containerStatus'
  | 'updateContainerResources'
  | 'reopenContainerLog'
  | 'checkpointContainer'
>;

/** Maximum number of images for which a container config is kept to share its strings. */
const maxImages = 64;
/**
 * Number of microtask turns for a program to exit before it counts as running, and number of turns with all its
 * processes waiting.
 */
const turnsToEnd = 100;
const turnsToWait = 16;

export function containerCalls(node: NodeState): ContainerCalls {
  const {
    clock,
    sandboxes,
    containers,
    images,
    files,
    scripting,
    host,
    newId,
    sandboxOf,
    containerOf,
    removeContainer,
    emit,
  } = node;

  // Containers of one image usually have the same configuration apart from their identity, so equal parts are shared.
  const shareConfig = createStructureSharing<ContainerConfig>(maxImages);

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
      // An aborted call does not kill the container: the next caller may use another timeout.
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

  /** Marks a container as failed to start. */
  function failStart(container: SimulatedContainer, message: string): Error {
    container.state = 'CONTAINER_EXITED';
    container.finishedAt = host.timestamp();
    container.exitCode = 128;
    container.reason = 'StartError';
    container.message = message;
    emit(container.sandbox, container.id, 'CONTAINER_STOPPED_EVENT');
    return runtimeError('UNKNOWN', message);
  }

  return {
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
      const script = scripting.read(sandboxConfig.annotations ?? sandbox.config.annotations, metadata.name);
      if (script.createError !== undefined) throw runtimeError('UNKNOWN', script.createError);
      if (argvOf({ config, image: stored.image }).length === 0) {
        throw runtimeError('UNKNOWN', `failed to generate container spec: no command specified`);
      }
      for (const { hostPath } of config.mounts ?? []) {
        // As in containerd, missing mount sources are created.
        if (hostPath && !files.exists(hostPath)) files.makeDirectory(hostPath, { parents: true });
      }
      const container: SimulatedContainer = {
        id: newId(),
        sandbox,
        config: shareConfig(config.image.image, config),
        image: stored.image,
        imageName: imageNameFor(stored, config.image?.userSpecifiedImage ?? ''),
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
        memoizedStatus: undefined,
        attached: new Set(),
        stdin: config.stdin ? createAttachableInput({ endsWithFirst: config.stdinOnce ?? false }) : closedInput,
        onExit: new Set(),
        cancelTimers: [],
      };
      containers.add(container);
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
      await scripting.delay(script.startLatencyMs, abortSignal);
      // The container may have been removed meanwhile.
      containerOf(containerId);
      const failure = { error: script.startError, limit: script.startFailures };
      if (scripting.fails(sandbox.config.metadata.uid, `start ${config.metadata.name}`, failure)) {
        throw failStart(container, script.startError ?? 'failed to create containerd task: scripted failure');
      }
      const scripted = scriptedProgram(script, config.metadata.attempt);
      const world = worldOf(container, host);
      const argv = argvOf(container);
      const [name = ''] = argv;
      const directory = workingDirectoryOf(container);
      const environment = environmentOf(container);
      const program = scripted ?? world.findProgram(name, environment, directory);
      if (!program) {
        container.world = undefined;
        throw failStart(
          container,
          `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ${missingProgram(world, name, directory)}: unknown`,
        );
      }
      container.world = undefined;
      run(container, host, program, { argv, environment, directory });
      emit(sandbox, containerId, 'CONTAINER_STARTED_EVENT');
      // A program that exits at once has exited when this call returns, so that it is never observed as running.
      const runs = () => container.state === 'CONTAINER_RUNNING';
      for (let turn = 0, waited = 0; turn < turnsToEnd && waited < turnsToWait && runs(); turn++) {
        await undefined;
        waited = isWaiting(container) ? waited + 1 : 0;
      }
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
      const { podSandboxId, state } = filter;
      const found = containers
        .select(filter, sandboxes.get(podSandboxId ?? '')?.containers)
        .filter((each) => matchesId(podSandboxId, each.sandbox.id) && (state === undefined || each.state === state));
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
  };
}

function isWaiting({ processes }: SimulatedContainer): boolean {
  for (const { process } of processes.values()) if (!process.isWaiting) return false;
  return true;
}

/** Returns the image name for the container status: the requested tag if the image has several, otherwise any tag. */
function imageNameFor({ tags, digests, image }: StoredImage, requested: string): string {
  return tags.find((tag) => tag === requested || tag.endsWith(`/${requested}`)) ?? tags[0] ?? digests[0] ?? image.id;
}
