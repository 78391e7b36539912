/** Node agent: registers the Node, updates its status, and renews its lease as a heartbeat. */
import { type Lease, lease as leaseKind } from '@kruise/api/coordination/lease';
import { type Node, node as nodeKind, nodeStatus } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import { GrpcError } from '@kruise/client/grpc/status';
import type { Log } from '@kruise/client/log';
import { isVersionAtLeast } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import { after, type Clock, every } from '@kruise/values/clock';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import { jitter, type Random } from '@kruise/values/random';
import { formatMicroTime, type Instant } from '@kruise/values/time';
import type { Image, RuntimeCondition, RuntimeFeatures, RuntimeHandler } from '../../cri/messages.ts';
import type { NodeRuntime } from '../../cri/runtime.ts';
import type { Sources } from '../pods/sources.ts';
import type { NodeDescription } from './node-description.ts';
import {
  eventReasonFor,
  isSameNodeStatus,
  nodeLabels,
  nodeStatusOf,
  type Pressure,
  reconciledNode,
} from './node-status.ts';

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
  /** Marks the node status as changed and updates it. */
  markStatusChanged(): void;
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
  readonly record: (type: 'Normal' | 'Warning', reason: string, message: string) => void;
};

const leaseNamespace = 'kube-node-lease';
const leaseSeconds = 40;
const renewMs = 10_000;
const statusReportMs = 300_000;
const checkMs = 5000;
const downAfterMs = 30_000;
const relistThresholdMs = 180_000;
/** Image poll interval: other clients of the runtime may pull images, too. */
const imagesMs = 30_000;
const maxAttempts = 5;
const mergeType = mergeTypeOf(nodeStatus);

/** Starts the node agent, which runs until the signal is aborted. */
export function startNodeAgent(context: AgentContext, description: NodeDescription, signal: AbortSignal): NodeAgent {
  const { client, clock, random, log, runtime, sources, record } = context;
  const { name } = description;
  const { promise: registered, resolve: resolveRegistered } = Promise.withResolvers<void>();
  let currentNode: Node | undefined;
  let lease: Lease | undefined;
  let version = { runtimeName: '', runtimeVersion: '' };
  let images: readonly Image[] = [];
  let handlers: readonly RuntimeHandler[] = [];
  let features: RuntimeFeatures | undefined;
  let pressures: ReadonlySet<Pressure> = new Set();
  let networkFault: string | undefined = 'container runtime network not ready: unknown';
  let runtimeFault: string | undefined;
  let shutdownFault: string | undefined;
  let eventsLostSince: Instant | undefined;
  let lastHealthyAt: Instant | undefined;
  let podRanges = '';
  let reportedAt: Instant = 0;
  let reportedFaults = '';
  let isSyncing = false;
  let isDirty = false;

  const faults = () => [runtimeFault, networkFault, plegFault(), shutdownFault].filter((each) => each !== undefined);

  /** A node that receives no container events cannot manage its containers. */
  function plegFault(): string | undefined {
    const inactiveMs = eventsLostSince === undefined ? 0 : clock.now() - eventsLostSince;
    if (inactiveMs < relistThresholdMs) return undefined;
    const [inactive, limit] = [inactiveMs, relistThresholdMs].map((ms) => formatDuration(fromMilliseconds(ms)));
    return `PLEG is not healthy: pleg was last seen active ${inactive} ago; threshold is ${limit}`;
  }

  const statusFrom = (current: Node) =>
    nodeStatusOf(current.status ?? {}, {
      hostname: description.hostname,
      addresses: description.addresses,
      capacity: description.capacity,
      reserved: description.reserved,
      info: { ...description.info, containerRuntimeVersion: `${version.runtimeName}://${version.runtimeVersion}` },
      images,
      kubeletPort: description.kubeletPort,
      handlers,
      features,
      pressures,
      faults: faults(),
      now: clock.now(),
    });

  async function register(): Promise<void> {
    const { taints = [], unschedulable, providerId } = description;
    const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
    const all = unschedulable && !taints.some(({ key }) => key === cordon.key) ? [...taints, cordon] : taints;
    const wanted: Node = {
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
    const full = { ...wanted, status: statusFrom(wanted) };
    try {
      setNode(await client.create(nodeKind, full, { signal }));
      recordConditionChanges({}, full.status);
      reportedAt = clock.now();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(nodeKind, { name }, { signal });
      const reconciled = reconciledNode(found, wanted);
      setNode(reconciled === found ? found : await client.update(nodeKind, reconciled, { signal }));
      await updateNodeStatus();
    }
  }

  function setNode(found: Node | undefined): void {
    if (found === undefined) {
      currentNode = undefined;
      return;
    }
    if (
      currentNode &&
      currentNode.metadata.uid === found.metadata.uid &&
      !isVersionAtLeast(found.metadata.resourceVersion, currentNode.metadata.resourceVersion ?? '')
    )
      return;
    recordSchedulableChange(found);
    currentNode = found;
    const ranges = (found.spec?.podCIDRs ?? (found.spec?.podCIDR ? [found.spec.podCIDR] : [])).join(',');
    if (ranges === '' || ranges === podRanges) return;
    podRanges = ranges;
    void runtime
      .updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: ranges } } }, { signal })
      .then(checkRuntime)
      .catch((error: unknown) => {
        if (!isUnimplemented(error)) log.warn({ node: name, error }, 'failed to update runtime config with pod CIDR');
      });
  }

  function recordSchedulableChange({ spec }: Node): void {
    const isCordoned = spec?.unschedulable ?? false;
    if (!currentNode || isCordoned === (currentNode.spec?.unschedulable ?? false)) return;
    const event = isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
    record('Normal', event, `Node ${name} status is now: ${event}`);
  }

  /** Updates the node status if it changed or the last update is older than the report interval. */
  async function updateNodeStatus(): Promise<void> {
    if (!currentNode) return;
    const current = currentNode;
    const status = statusFrom(current);
    const isOld = clock.now() - reportedAt >= statusReportMs;
    if (!isOld && isSameNodeStatus(current.status ?? {}, status)) return;
    const patch = createTwoWayMergePatch(
      // The cast is safe: a status is JSON like every API object.
      { original: (current.status ?? {}) as JsonObject, modified: status as JsonObject },
      mergeType,
    );
    const written = await client.patch(
      nodeKind,
      { name },
      { status: patch },
      { type: 'strategic', subresource: 'status', signal },
    );
    reportedAt = clock.now();
    recordConditionChanges(current.status ?? {}, status);
    setNode(written);
  }

  function recordConditionChanges(before: NonNullable<Node['status']>, now: NonNullable<Node['status']>): void {
    const bootId = now.nodeInfo?.bootID ?? '';
    if (before.nodeInfo?.bootID && before.nodeInfo.bootID !== bootId) {
      record('Warning', 'Rebooted', `Node ${name} has been rebooted, boot id: ${bootId}`);
    }
    for (const condition of now.conditions ?? []) {
      const event = eventReasonFor(condition);
      if (!event || findCondition(before.conditions, condition.type)?.status === condition.status) continue;
      record('Normal', event, `Node ${name} status is now: ${event}`);
    }
  }

  async function syncNodeStatus(): Promise<void> {
    if (isSyncing) return;
    isSyncing = true;
    while (isDirty && !signal.aborted) {
      isDirty = false;
      for (let attempt = 1; !signal.aborted; attempt++) {
        try {
          await updateNodeStatus();
          break;
        } catch (error) {
          if (signal.aborted) break;
          // The Node was deleted on purpose; the kubelet registers it again only after a restart.
          if (isNotFound(error)) {
            currentNode = undefined;
            break;
          }
          if (attempt < maxAttempts) continue;
          log.warn({ node: name, error }, 'failed to update node status');
          break;
        }
      }
    }
    isSyncing = false;
  }

  function markStatusChanged(): void {
    isDirty = true;
    if (currentNode) void syncNodeStatus();
  }

  async function checkRuntime(): Promise<void> {
    const before = reportedFaults;
    try {
      const response = await runtime.status({}, { signal });
      const found = (type: string) => response.status.conditions.find((each) => each.type === type);
      const network = found('NetworkReady');
      networkFault = network?.status ? undefined : `container runtime network not ready: ${faultText(network)}`;
      const ready = found('RuntimeReady');
      handlers = response.runtimeHandlers;
      features = response.features;
      if (ready?.status) {
        lastHealthyAt = clock.now();
        runtimeFault = undefined;
      } else runtimeFault = `container runtime not ready: ${faultText(ready)}`;
    } catch (error) {
      if (signal.aborted) return;
      const isDown = lastHealthyAt === undefined || clock.now() - lastHealthyAt > downAfterMs;
      if (isDown) runtimeFault = 'container runtime is down';
      log.warn({ node: name, error }, 'failed to get runtime status');
    }
    reportedFaults = faults().map(withoutTime).join();
    if (reportedFaults !== before || clock.now() - reportedAt >= statusReportMs) markStatusChanged();
  }

  async function readImages(): Promise<void> {
    images = (await runtime.listImages({}, { signal })).images;
  }

  const onImageListError = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: name, error }, 'failed to list images');
  };

  async function pollImages(): Promise<void> {
    const before = images;
    await readImages();
    const names = (all: readonly Image[]) => all.map(({ id, repoTags }) => `${id} ${repoTags.join(' ')}`);
    if (!isSame(names(before), names(images))) markStatusChanged();
  }

  async function renewLease(): Promise<void> {
    const renewTime = formatMicroTime(clock.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    for (let attempt = 1; ; attempt++) {
      try {
        if (!currentNode) return;
        if (lease) lease = await client.update(leaseKind, { ...lease, spec: { ...lease.spec, ...spec } }, { signal });
        else lease = await createLease(spec);
        return;
      } catch (error) {
        if (signal.aborted) return;
        lease = undefined;
        if (isConflict(error) || isNotFound(error) || isAlreadyExists(error)) {
          lease = await client.get(leaseKind, { name, namespace: leaseNamespace }, { signal }).catch(() => undefined);
        }
        if (attempt === maxAttempts) {
          log.warn({ node: name, error }, 'failed to renew node lease');
          return;
        }
      }
    }
  }

  function createLease(spec: Lease['spec']): Promise<Lease> {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: currentNode?.metadata.uid ?? '' }];
    const metadata = { name, namespace: leaseNamespace, ownerReferences };
    return client.create(leaseKind, { metadata, spec: spec ?? {} }, { signal });
  }

  async function start(): Promise<void> {
    await retryUntilDone(async () => void (version = await runtime.version({ version: '0.1.0' }, { signal })));
    await checkRuntime();
    await readImages().catch(onImageListError);
    await retryUntilDone(register);
    resolveRegistered();
    sources.watchNode((found) => {
      setNode(found);
      markStatusChanged();
    });
    await renewLease();
    const repeat = () => {
      // Jitter spreads the lease renewals of nodes that started at the same time.
      clock.setTimer(jitter(random, renewMs, 0.04), () => void renewLease().then(repeat), signal);
    };
    repeat();
    every(clock, checkMs, () => void checkRuntime(), signal);
    every(clock, imagesMs, () => void pollImages().catch(onImageListError), signal);
  }

  /** Retries with exponential backoff until the work succeeds: everything else depends on this step. */
  async function retryUntilDone(work: () => Promise<void>): Promise<void> {
    for (let delayMs = 100; !signal.aborted; delayMs = Math.min(2 * delayMs, 7000)) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ node: name, error }, 'failed to register node');
        await after(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  void start();

  return {
    node: () => currentNode,
    runtimeName: () => version.runtimeName,
    networkFault: () => networkFault,
    supportsRecursiveReadOnly: () =>
      handlers.find(({ name: handler }) => handler === '')?.features?.recursiveReadOnlyMounts ?? false,
    supportsUserNamespaces(handler) {
      const found = handlers.find((each) => each.name === handler);
      // Older runtimes report no handlers and support no user namespaces.
      return found || handler === '' ? (found?.features?.userNamespaces ?? false) : undefined;
    },
    pressures: () => pressures,
    setPressures(next) {
      pressures = next;
      markStatusChanged();
    },
    setEventsHealthy(isHealthy) {
      eventsLostSince = isHealthy ? undefined : (eventsLostSince ?? clock.now());
    },
    setShuttingDown() {
      shutdownFault = 'node is shutting down';
      markStatusChanged();
    },
    markStatusChanged,
    refreshImages: () => void readImages().then(markStatusChanged, onImageListError),
    registered,
  };
}

/** Removes the duration from a fault: an increasing duration is no status change. */
function withoutTime(fault: string): string {
  return fault.replace(/active \S+ ago/, '');
}

function faultText(condition: RuntimeCondition | undefined): string {
  if (!condition) return '<nil>';
  return `${condition.type}=false reason:${condition.reason} message:${condition.message}`;
}

function isUnimplemented(error: unknown): boolean {
  return error instanceof GrpcError && error.code === 'UNIMPLEMENTED';
}
