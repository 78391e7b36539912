/** Container runtime in memory: CRI without containers, for any number of nodes. */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from '../runtime.ts';
import { containerCalls } from './container-calls.ts';
import { attach, exec, execSync, portForward } from './exec.ts';
import { hostFiles } from './host-files.ts';
import { createImageService } from './image-service.ts';
import { matchesId } from './inventory.ts';
import { createSimulatedNetwork, type SimulatedNetwork } from './network.ts';
import { createNodeState } from './node-state.ts';
import { createRegistry, type Registry } from './registry.ts';
import { runtimeError } from './runtime-error.ts';
import { sandboxCalls } from './sandbox-calls.ts';
import { createSandboxNetwork } from './sandbox-network.ts';
import { containerStats, sandboxStats } from './stats.ts';

export type SimulatedRuntimeOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Network shared by the nodes whose Pods reach each other. */
  readonly network?: SimulatedNetwork;
  /** Registry, shared for the same images on all nodes. */
  readonly registry?: Registry;
  /** IP of the node, for host-network Pods and host ports. */
  readonly nodeAddress?: string;
  /** Pod CIDRs, comma-separated; without them the network is not ready until the kubelet sets them. */
  readonly podCidr?: string;
  /** Images that are present from the start. */
  readonly images?: readonly string[];
  /** Speed of image pulls, unless a Pod scripts it. */
  readonly pullBytesPerSecond?: number;
  /** Disk quota of the node and its containers. */
  readonly maxFileBytes?: number;
  /** Maximum size of a container log. */
  readonly maxLogBytes?: number;
  /** Powers the node off when aborted: all containers end, and no timer is left. */
  readonly signal?: AbortSignal;
};

const defaultPullBytesPerSecond = 500e6;
const defaultMaxFileBytes = 64 * 1024 * 1024;
const defaultMaxLogBytes = 256 * 1024;
const version = '1.0.0';

export function createSimulatedRuntime(options: SimulatedRuntimeOptions): NodeRuntime {
  const {
    clock,
    random,
    network = createSimulatedNetwork(),
    registry = createRegistry(),
    nodeAddress = '127.0.0.1',
    podCidr = '',
    images: presentImages = [],
    pullBytesPerSecond = defaultPullBytesPerSecond,
    maxFileBytes = defaultMaxFileBytes,
    maxLogBytes = defaultMaxLogBytes,
    signal,
  } = options;
  const sandboxNetwork = createSandboxNetwork({ network, nodeAddress, podCidr });
  const node = createNodeState({
    clock,
    random,
    sandboxNetwork,
    maxFileBytes,
    maxLogBytes,
    ...(signal && { signal }),
  });
  const { sandboxes, containers, images, files, space, events, scripting, host, sandboxOf, containerOf } = node;
  for (const image of presentImages) images.add(registry.resolve(image));
  const { timestamp } = host;

  return {
    async version() {
      return { version: '0.1.0', runtimeName: 'simulated', runtimeVersion: version, runtimeApiVersion: 'v1' };
    },

    async status({ verbose = false }) {
      const isNetworkReady = sandboxNetwork.isReady;
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
      sandboxNetwork.setRanges(runtimeConfig.networkConfig.podCidr);
    },

    async runtimeConfig() {
      return { linux: { cgroupDriver: 'SYSTEMD' } };
    },

    ...sandboxCalls(node),
    ...containerCalls(node),

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
      return { stats: containerStats(containerOf(containerId), timestamp()) };
    },
    async listContainerStats({ filter = {} }) {
      const sampledAt = timestamp();
      const running = containers
        .select(filter)
        .filter(({ state, sandbox }) => state === 'CONTAINER_RUNNING' && matchesId(filter.podSandboxId, sandbox.id));
      return { stats: running.map((container) => containerStats(container, sampledAt)) };
    },
    async podSandboxStats({ podSandboxId }) {
      return { stats: sandboxStats(sandboxOf(podSandboxId), timestamp()) };
    },
    async listPodSandboxStats({ filter = {} }) {
      const sampledAt = timestamp();
      const ready = sandboxes.select(filter).filter(({ state }) => state === 'SANDBOX_READY');
      return { stats: ready.map((sandbox) => sandboxStats(sandbox, sampledAt)) };
    },
    async listMetricDescriptors() {
      return { descriptors: [] };
    },
    async listPodSandboxMetrics() {
      return { podMetrics: [] };
    },

    getContainerEvents: (_, { signal: abortSignal } = {}) => events.subscribe(abortSignal),

    ...createImageService({
      images,
      registry,
      scripting,
      pullBytesPerSecond,
      timestamp,
      fileBytes: () => space.usedBytes,
    }),

    logs: {
      async *read({ containerId, ...request }, { signal: abortSignal } = {}) {
        const container = containerOf(containerId);
        const isOver = container.state === 'CONTAINER_EXITED';
        if (!container.log && (!request.follow || isOver)) return;
        yield* host.logOf(container).read(request, abortSignal);
      },
    },
    files: hostFiles(files),
    network: network.viewFrom(nodeAddress),
  };
}
