/** CRI's calls about sandboxes. */
import type { RuntimeService } from '../runtime.ts';
import { containerStatus } from './container.ts';
import type { NodeState } from './node-state.ts';
import { runtimeError } from './runtime-error.ts';
import { type SimulatedSandbox, sandboxMessage, sandboxStatus } from './sandbox.ts';
import { matchesId, matchesLabels } from './selection.ts';

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
  /** Names of sandboxes that are being made: whoever asks for one again meanwhile is to wait. */
  const underWay = new Set<string>();

  async function setUp(sandbox: SimulatedSandbox, abortSignal: AbortSignal | undefined): Promise<void> {
    const { metadata, annotations } = sandbox.config;
    const script = scripting.read(annotations);
    await scripting.passTime(script.sandboxLatencyMs, abortSignal);
    const failure = { error: script.sandboxError, limit: script.sandboxFailures };
    if (scripting.fails(metadata.uid, 'sandbox', failure)) {
      throw runtimeError('UNKNOWN', script.sandboxError ?? 'failed to create containerd task: failed to start shim');
    }
    sandboxNetwork.connect(sandbox);
    sandbox.state = 'SANDBOX_READY';
    sandboxes.set(sandbox.id, sandbox);
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
      const name = `${metadata.name}_${metadata.namespace}_${metadata.uid}_${metadata.attempt}`;
      const isTaken = [...sandboxes.values()].some(({ config: other }) => sameSandbox(other.metadata, metadata));
      if (isTaken || underWay.has(name)) {
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
        releasePorts: undefined,
      };
      underWay.add(name);
      try {
        await setUp(sandbox, abortSignal);
      } finally {
        underWay.delete(name);
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
      sandboxes.delete(podSandboxId);
      const isLast = ![...sandboxes.values()].some(({ config }) => config.metadata.uid === sandbox.config.metadata.uid);
      if (isLast) scripting.forget(sandbox.config.metadata.uid);
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
  };
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
