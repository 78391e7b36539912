/** CRI calls of sandboxes. */
import type { PodSandboxConfig } from '../messages.ts';
import type { RuntimeService } from '../runtime.ts';
import { containerStatus } from './container.ts';
import type { NodeState } from './node-state.ts';
import { runtimeError } from './runtime-error.ts';
import { type SimulatedSandbox, sandboxMessage, sandboxStatus } from './sandbox.ts';

type SandboxCalls = Pick<
  RuntimeService,
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources'
>;

export function sandboxCalls(node: NodeState): SandboxCalls {
  const { sandboxes, scripting, sandboxNetwork, host, newId, sandboxOf, stopSandbox, removeContainer, emit } = node;
  /** Reserved names by Pod: of existing sandboxes and of those being created. */
  const reserved = new Map<string, Set<string>>();

  function reserve(uid: string, name: string): void {
    const names = reserved.get(uid);
    if (names?.has(name)) {
      throw runtimeError('UNKNOWN', `failed to reserve sandbox name "${name}": name "${name}" is reserved`);
    }
    if (names) names.add(name);
    else reserved.set(uid, new Set([name]));
  }

  function release(uid: string, name: string): void {
    const names = reserved.get(uid);
    names?.delete(name);
    if (names?.size === 0) reserved.delete(uid);
  }

  async function setUp(sandbox: SimulatedSandbox, abortSignal: AbortSignal | undefined): Promise<void> {
    const { metadata, annotations } = sandbox.config;
    const script = scripting.read(annotations);
    await scripting.delay(script.sandboxLatencyMs, abortSignal);
    const failure = { error: script.sandboxError, limit: script.sandboxFailures };
    if (scripting.fails(metadata.uid, 'sandbox', failure)) {
      throw runtimeError('UNKNOWN', script.sandboxError ?? 'failed to create containerd task: failed to start shim');
    }
    sandboxNetwork.connect(sandbox);
    sandbox.state = 'SANDBOX_READY';
    sandboxes.add(sandbox);
    emit(sandbox, sandbox.id, 'CONTAINER_CREATED_EVENT');
    emit(sandbox, sandbox.id, 'CONTAINER_STARTED_EVENT');
  }

  return {
    async runPodSandbox({ config, runtimeHandler = '' }, { signal: abortSignal } = {}) {
      const { metadata } = config;
      if (runtimeHandler !== '') {
        throw runtimeError(
          'UNKNOWN',
          `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`,
        );
      }
      reserve(metadata.uid, nameOf(metadata));
      const sandbox: SimulatedSandbox = {
        id: newId(),
        config,
        runtimeHandler,
        createdAt: host.timestamp(),
        state: 'SANDBOX_NOTREADY',
        addresses: [],
        interfaces: [],
        containers: new Set(),
        memoizedStatus: undefined,
        releasePorts: undefined,
      };
      try {
        await setUp(sandbox, abortSignal);
      } catch (error) {
        release(metadata.uid, nameOf(metadata));
        throw error;
      }
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
      sandboxes.remove(sandbox);
      const { metadata } = sandbox.config;
      release(metadata.uid, nameOf(metadata));
      if (!reserved.has(metadata.uid)) scripting.remove(metadata.uid);
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
      const found = sandboxes.select(filter);
      const { state } = filter;
      const items = state === undefined ? found : found.filter((sandbox) => sandbox.state === state);
      return { items: items.map(sandboxMessage) };
    },

    async updatePodSandboxResources({ podSandboxId }) {
      sandboxOf(podSandboxId);
    },
  };
}

function nameOf({ name, namespace, uid, attempt }: PodSandboxConfig['metadata']): string {
  return `${name}_${namespace}_${uid}_${attempt}`;
}
