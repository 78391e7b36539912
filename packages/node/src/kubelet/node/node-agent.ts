/**
 * Node agent: registers the Node, updates its status, and renews its lease as a heartbeat. This file composes its parts
 * and starts them in order.
 */
import { type Node, node as nodeKind } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import type { Log } from '@kruise/client/log';
import { isAlreadyExists } from '@kruise/machinery/status';
import { after, type Clock, every } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { Sources } from '../pods/sources.ts';
import { createCurrentNode } from './current-node.ts';
import type { NodeDescription } from './node-description.ts';
import { createNodeHealth, supportsRecursiveReadOnly, supportsUserNamespaces } from './node-health.ts';
import { createNodeImages } from './node-images.ts';
import { createNodeLease } from './node-lease.ts';
import { nodeLabels, nodeStatusOf, type Pressure, reconciledNode } from './node-status.ts';
import { createNodeStatusUpdater } from './node-status-updater.ts';

/** Node agent of a kubelet. */
export type NodeAgent = {
  /** Returns the last known Node object. */
  node(): Node | undefined;
  runtimeName(): string;
  /** Returns why the Pod network is not ready; undefined if it is ready. */
  networkFault(): string | undefined;
  /** Reports whether the runtime supports recursive read-only mounts. */
  supportsRecursiveReadOnly(): boolean;
  /** Reports whether a runtime handler supports user namespaces; undefined if the runtime does not know the handler. */
  supportsUserNamespaces(handler: string): boolean | undefined;
  /** Returns the current node pressures. */
  pressures(): ReadonlySet<Pressure>;
  setPressures(pressures: ReadonlySet<Pressure>): void;
  /** Sets whether the kubelet receives container events from the runtime. */
  setEventsHealthy(isHealthy: boolean): void;
  /** Marks the node as shutting down. */
  setShuttingDown(): void;
  /** Reports a changed status. */
  refreshStatus(): void;
  /** Refreshes the list of images. */
  refreshImages(): void;
  /** Resolves once the Node is registered. */
  readonly registered: Promise<void>;
};

/** Dependencies of the node agent. */
export type AgentContext = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly runtime: NodeRuntime;
  readonly sources: Sources;
  /** Returns the attachable volumes in use; undefined until they are known. */
  readonly volumesInUse?: () => readonly string[] | undefined;
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
};

/** Interval of runtime checks. */
const checkMs = 5000;
/** Image poll interval: other clients of the runtime may pull images, too. */
const imagesMs = 30_000;

/** Starts the node agent, which runs until the signal is aborted. */
export function startNodeAgent(context: AgentContext, description: NodeDescription, signal: AbortSignal): NodeAgent {
  const { client, clock, random, log, runtime, sources, record } = context;
  const { name: nodeName } = description;
  const { promise: registered, resolve: resolveRegistered } = Promise.withResolvers<void>();
  let pressures: ReadonlySet<Pressure> = new Set();

  const health = createNodeHealth(
    {
      runtime,
      clock,
      log,
      nodeName,
      onChecked({ haveFaultsChanged }) {
        if (haveFaultsChanged || updater.isReportOld()) updater.markChanged();
      },
    },
    signal,
  );
  const images = createNodeImages({ runtime, log, nodeName, onChange: () => updater.markChanged() }, signal);
  const node = createCurrentNode({ runtime, log, nodeName, record, onNetworkChange: health.check }, signal);
  const updater = createNodeStatusUpdater({ client, clock, log, nodeName, node, statusFrom, record }, signal);
  const lease = createNodeLease({ client, clock, random, log, nodeName, node: node.get }, signal);

  function statusFrom(current: Node): NonNullable<Node['status']> {
    const { runtimeName, runtimeVersion } = health.runtimeVersion();
    return nodeStatusOf(current.status ?? {}, {
      hostname: description.hostname,
      addresses: description.addresses,
      capacity: description.capacity,
      reserved: description.reserved,
      info: { ...description.info, containerRuntimeVersion: `${runtimeName}://${runtimeVersion}` },
      images: images.images(),
      kubeletPort: description.kubeletPort,
      handlers: health.handlers(),
      features: health.features(),
      pressures,
      volumesInUse: context.volumesInUse?.(),
      faults: health.faults(),
      now: clock.now(),
    });
  }

  async function register(): Promise<void> {
    const wanted = nodeOf(description);
    const full = { ...wanted, status: statusFrom(wanted) };
    try {
      node.set(await client.create(nodeKind, full, { signal }));
      updater.recordCreation(full.status);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(nodeKind, { name: nodeName }, { signal });
      const reconciled = reconciledNode(found, wanted);
      node.set(reconciled === found ? found : await client.update(nodeKind, reconciled, { signal }));
      await updater.update();
    }
  }

  async function start(): Promise<void> {
    await retryUntilDone(health.readVersion);
    await health.check();
    await images.read();
    await retryUntilDone(register);
    resolveRegistered();
    sources.watchNode((found) => {
      node.set(found);
      updater.markChanged();
    });
    await lease.renew();
    lease.startRenewing();
    every(clock, checkMs, () => void health.check(), signal);
    every(clock, imagesMs, images.poll, signal);
  }

  /** Retries with exponential backoff until the work succeeds: everything else depends on this step. */
  async function retryUntilDone(work: () => Promise<void>): Promise<void> {
    for (let delayMs = 100; !signal.aborted; delayMs = Math.min(2 * delayMs, 7000)) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ node: nodeName, error }, 'failed to register node');
        await after(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  void start();

  return {
    node: node.get,
    runtimeName: () => health.runtimeVersion().runtimeName,
    networkFault: health.networkFault,
    supportsRecursiveReadOnly: () => supportsRecursiveReadOnly(health.handlers()),
    supportsUserNamespaces: (handler) => supportsUserNamespaces(health.handlers(), handler),
    pressures: () => pressures,
    setPressures(next) {
      pressures = next;
      updater.markChanged();
    },
    setEventsHealthy: health.setEventsHealthy,
    setShuttingDown() {
      health.setShuttingDown();
      updater.markChanged();
    },
    refreshStatus: () => updater.markChanged(),
    refreshImages: images.refresh,
    registered,
  };
}

/** Returns the Node object that a kubelet registers, without its status. */
function nodeOf(description: NodeDescription): Node {
  const { name, taints = [], unschedulable, providerId } = description;
  const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
  const all = unschedulable && !taints.some(({ key }) => key === cordon.key) ? [...taints, cordon] : taints;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...nodeLabels(description.hostname, { ...description.info, containerRuntimeVersion: '' }),
        ...description.labels,
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...(all.length > 0 ? { taints: all } : {}),
      ...(unschedulable ? { unschedulable } : {}),
      ...(providerId ? { providerID: providerId } : {}),
    },
  };
}
