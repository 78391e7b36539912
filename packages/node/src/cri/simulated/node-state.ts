/** State of one simulated node: sandboxes, containers, images, files and events. */
import type { Clock } from '@kruise/values/clock';
import { type Random, randomInteger } from '@kruise/values/random';
import type { ContainerEventType } from '../messages.ts';
import { nanosecondsOf } from '../nanoseconds.ts';
import {
  type ContainerHost,
  containerStatus,
  type SimulatedContainer,
  signal,
  workingDirectoryOf,
} from './container.ts';
import { createContainerFiles } from './container-files.ts';
import { createContainerLog } from './container-log.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import { createFileTree, type FileTree, type Space } from './file-tree.ts';
import { createImageStore, type ImageStore } from './image-store.ts';
import { createInventory, type Inventory } from './inventory.ts';
import { containerNotFound, sandboxNotFound } from './runtime-error.ts';
import { type SimulatedSandbox, sandboxStatus } from './sandbox.ts';
import type { SandboxNetwork } from './sandbox-network.ts';
import { createScripting, type Scripting } from './scripting.ts';

export type NodeState = {
  readonly clock: Clock;
  readonly sandboxes: Inventory<SimulatedSandbox>;
  readonly containers: Inventory<SimulatedContainer>;
  readonly images: ImageStore;
  readonly files: FileTree;
  readonly space: Space;
  readonly events: EventStream;
  readonly scripting: Scripting;
  readonly sandboxNetwork: SandboxNetwork;
  /** Functions for containers. */
  readonly host: ContainerHost;
  newId(): string;
  /** Throws NOT_FOUND. */
  sandboxOf(id: string): SimulatedSandbox;
  /** Throws NOT_FOUND. */
  containerOf(id: string): SimulatedContainer;
  /** Sends an event to all listeners. */
  emit(sandbox: SimulatedSandbox, id: string, type: ContainerEventType): void;
  stopSandbox(sandbox: SimulatedSandbox): void;
  removeContainer(container: SimulatedContainer): void;
};

export type NodeStateOptions = {
  readonly clock: Clock;
  readonly random: Random;
  readonly sandboxNetwork: SandboxNetwork;
  readonly maxFileBytes: number;
  readonly maxLogBytes: number;
  readonly signal?: AbortSignal;
};

export function createNodeState(options: NodeStateOptions): NodeState {
  const { clock, random, sandboxNetwork, maxFileBytes, maxLogBytes, signal: ended } = options;
  const space: Space = { usedBytes: 0, limitBytes: maxFileBytes };
  const now = () => clock.now();
  const files = createFileTree({ now, space });
  files.makeDirectory('/etc', { parents: true });
  files.write('/etc/hosts', '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n', {});
  const events = createEventStream();
  const sandboxes = createInventory<SimulatedSandbox>();
  const containers = createInventory<SimulatedContainer>();
  let lastTimestamp = 0n;

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
    peerOf: sandboxNetwork.seenFrom,
    onContainerExit: (container) => emit(container.sandbox, container.id, 'CONTAINER_STOPPED_EVENT'),
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

  function stopSandbox(sandbox: SimulatedSandbox): void {
    for (const container of sandbox.containers) signal(container, host, 'SIGKILL');
    if (sandbox.state === 'SANDBOX_NOTREADY') return;
    sandbox.state = 'SANDBOX_NOTREADY';
    sandboxNetwork.disconnect(sandbox);
    emit(sandbox, sandbox.id, 'CONTAINER_STOPPED_EVENT');
  }

  function removeContainer(container: SimulatedContainer): void {
    signal(container, host, 'SIGKILL');
    containers.remove(container);
    container.sandbox.containers.delete(container);
    container.files?.release();
    container.log?.end();
    emit(container.sandbox, container.id, 'CONTAINER_DELETED_EVENT');
  }

  ended?.addEventListener('abort', () => {
    for (const sandbox of sandboxes.values()) stopSandbox(sandbox);
  });

  return {
    clock,
    sandboxes,
    containers,
    images: createImageStore(),
    files,
    space,
    events,
    scripting: createScripting(clock, ended),
    sandboxNetwork,
    host,
    newId,
    sandboxOf,
    containerOf,
    emit,
    stopSandbox,
    removeContainer,
  };
}
