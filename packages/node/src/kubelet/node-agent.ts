/** Keeps a node's own object in the API: registers it, says how it is, and renews its lease to show that it lives. */
import { type Lease, lease as leaseKind } from '@kruise/api/coordination/lease';
import { type Node, type NodeSystemInfo, node as nodeKind, nodeStatus } from '@kruise/api/core/node';
import type { Client } from '@kruise/client/client';
import { GrpcError } from '@kruise/client/grpc/status';
import type { Log } from '@kruise/client/log';
import { isAtLeast } from '@kruise/client/object-key';
import { findCondition } from '@kruise/machinery/conditions';
import { isSame, type JsonObject } from '@kruise/machinery/json-value';
import type { ResourceList } from '@kruise/machinery/resource-list';
import { isAlreadyExists, isConflict, isNotFound } from '@kruise/machinery/status';
import { createTwoWayMergePatch } from '@kruise/machinery/strategic-merge-diff';
import { mergeTypeOf } from '@kruise/schema/merge-type';
import { after, type Clock, every } from '@kruise/values/clock';
import { formatDuration, fromMilliseconds } from '@kruise/values/duration';
import { jitter, type Random } from '@kruise/values/random';
import { formatMicroTime, type Instant } from '@kruise/values/time';
import type { Image, RuntimeCondition, RuntimeFeatures, RuntimeHandler } from '../cri/messages.ts';
import type { NodeRuntime } from '../cri/runtime.ts';
import {
  eventOfCondition,
  nodeLabels,
  nodeStatusOf,
  type Pressure,
  reconciledNode,
  saysTheSame,
} from './node-status.ts';
import type { Sources } from './sources.ts';

/** What a node is, and what it is made of. */
export type NodeDescription = {
  readonly name: string;
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly labels: { readonly [key: string]: string };
  readonly taints: NonNullable<Node['spec']>['taints'];
  readonly unschedulable: boolean;
  readonly providerId: string | undefined;
  readonly capacity: ResourceList;
  readonly reserved: ResourceList;
  readonly info: Omit<NodeSystemInfo, 'containerRuntimeVersion'>;
  readonly kubeletPort: number;
};

/** The part of a kubelet that speaks for its node. */
export type NodeAgent = {
  /** The node as it is in the API, as far as is known. */
  node(): Node | undefined;
  runtimeName(): string;
  /** Why Pods cannot have a network now. */
  networkFault(): string | undefined;
  /** Whether the runtime can make mounts that are read-only all the way down. */
  supportsRecursiveReadOnly(): boolean;
  /** Reports whether a runtime handler has user namespaces; undefined if the runtime does not know the handler. */
  supportsUserNamespaces(handler: string): boolean | undefined;
  /** Wants that are felt now. */
  pressures(): ReadonlySet<Pressure>;
  setPressures(pressures: ReadonlySet<Pressure>): void;
  /** Whether the runtime tells what happens to containers. */
  setHeard(isHeard: boolean): void;
  /** The machine is about to stop. */
  setShuttingDown(): void;
  /** What the node says of itself may have changed: say it. */
  changed(): void;
  /** Images have come or gone. */
  imagesChanged(): void;
  /** Resolves once the node is in the API. */
  readonly registered: Promise<void>;
};

/** What an agent works with. */
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
const reportMs = 300_000;
const checkMs = 5000;
const downAfterMs = 30_000;
const maxSilenceMs = 180_000;
/** Others may pull images, too. */
const imagesMs = 30_000;
const maxAttempts = 5;
const mergeType = mergeTypeOf(nodeStatus);

/** Starts speaking for a node, until the signal is aborted. */
export function startNodeAgent(context: AgentContext, description: NodeDescription, signal: AbortSignal): NodeAgent {
  const { client, clock, random, log, runtime, sources, record } = context;
  const { name } = description;
  const { promise: registered, resolve: announceRegistered } = Promise.withResolvers<void>();
  let known: Node | undefined;
  let lease: Lease | undefined;
  let version = { runtimeName: '', runtimeVersion: '' };
  let images: readonly Image[] = [];
  let handlers: readonly RuntimeHandler[] = [];
  let features: RuntimeFeatures | undefined;
  let pressures: ReadonlySet<Pressure> = new Set();
  let networkFault: string | undefined = 'container runtime network not ready: unknown';
  let runtimeFault: string | undefined;
  let shutdownFault: string | undefined;
  let unheardSince: Instant | undefined;
  let lastHealthyAt: Instant | undefined;
  let podRanges = '';
  let reportedAt: Instant = 0;
  let saidFaults = '';
  let isReporting = false;
  let isDirty = false;

  const faults = () => [runtimeFault, networkFault, silenceFault(), shutdownFault].filter((each) => each !== undefined);

  /** A node that does not hear what becomes of its containers cannot look after them. */
  function silenceFault(): string | undefined {
    const silentMs = unheardSince === undefined ? 0 : clock.now() - unheardSince;
    if (silentMs < maxSilenceMs) return undefined;
    const [silent, limit] = [silentMs, maxSilenceMs].map((ms) => formatDuration(fromMilliseconds(ms)));
    return `PLEG is not healthy: pleg was last seen active ${silent} ago; threshold is ${limit}`;
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
      learn(await client.create(nodeKind, full, { signal }));
      tellChanges({}, full.status);
      reportedAt = clock.now();
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(nodeKind, { name }, { signal });
      const reconciled = reconciledNode(found, wanted);
      learn(reconciled === found ? found : await client.update(nodeKind, reconciled, { signal }));
      await report();
    }
  }

  function learn(found: Node | undefined): void {
    if (found === undefined) {
      known = undefined;
      return;
    }
    if (
      known &&
      known.metadata.uid === found.metadata.uid &&
      !isAtLeast(found.metadata.resourceVersion, known.metadata.resourceVersion ?? '')
    )
      return;
    tellCordon(found);
    known = found;
    const ranges = (found.spec?.podCIDRs ?? (found.spec?.podCIDR ? [found.spec.podCIDR] : [])).join(',');
    if (ranges === '' || ranges === podRanges) return;
    podRanges = ranges;
    void runtime
      .updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr: ranges } } }, { signal })
      .then(checkRuntime)
      .catch((error: unknown) => {
        if (!isUnimplemented(error)) log.warn({ node: name, error }, 'the runtime was not told the addresses of Pods');
      });
  }

  function tellCordon({ spec }: Node): void {
    const isCordoned = spec?.unschedulable ?? false;
    if (!known || isCordoned === (known.spec?.unschedulable ?? false)) return;
    const event = isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable';
    record('Normal', event, `Node ${name} status is now: ${event}`);
  }

  /** Says how the node is, if that is something else than before or long ago. */
  async function report(): Promise<void> {
    if (!known) return;
    const current = known;
    const status = statusFrom(current);
    const isOld = clock.now() - reportedAt >= reportMs;
    if (!isOld && saysTheSame(current.status ?? {}, status)) return;
    const patch = createTwoWayMergePatch(
      // A status is JSON, like all of an object.
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
    tellChanges(current.status ?? {}, status);
    learn(written);
  }

  function tellChanges(before: NonNullable<Node['status']>, now: NonNullable<Node['status']>): void {
    const bootId = now.nodeInfo?.bootID ?? '';
    if (before.nodeInfo?.bootID && before.nodeInfo.bootID !== bootId) {
      record('Warning', 'Rebooted', `Node ${name} has been rebooted, boot id: ${bootId}`);
    }
    for (const condition of now.conditions ?? []) {
      const event = eventOfCondition(condition);
      if (!event || findCondition(before.conditions, condition.type)?.status === condition.status) continue;
      record('Normal', event, `Node ${name} status is now: ${event}`);
    }
  }

  async function keepReporting(): Promise<void> {
    if (isReporting) return;
    isReporting = true;
    while (isDirty && !signal.aborted) {
      isDirty = false;
      for (let attempt = 1; !signal.aborted; attempt++) {
        try {
          await report();
          break;
        } catch (error) {
          if (signal.aborted) break;
          // Whoever deleted the node had a reason; it comes back when its kubelet starts anew.
          if (isNotFound(error)) {
            known = undefined;
            break;
          }
          if (attempt < maxAttempts) continue;
          log.warn({ node: name, error }, 'the node could not say how it is');
          break;
        }
      }
    }
    isReporting = false;
  }

  function changed(): void {
    isDirty = true;
    if (known) void keepReporting();
  }

  async function checkRuntime(): Promise<void> {
    const before = saidFaults;
    try {
      const answer = await runtime.status({}, { signal });
      const found = (type: string) => answer.status.conditions.find((each) => each.type === type);
      const network = found('NetworkReady');
      networkFault = network?.status ? undefined : `container runtime network not ready: ${faultText(network)}`;
      const ready = found('RuntimeReady');
      handlers = answer.runtimeHandlers;
      features = answer.features;
      if (ready?.status) {
        lastHealthyAt = clock.now();
        runtimeFault = undefined;
      } else runtimeFault = `container runtime not ready: ${faultText(ready)}`;
    } catch (error) {
      if (signal.aborted) return;
      const isDown = lastHealthyAt === undefined || clock.now() - lastHealthyAt > downAfterMs;
      if (isDown) runtimeFault = 'container runtime is down';
      log.warn({ node: name, error }, 'the runtime does not say how it is');
    }
    saidFaults = faults().map(withoutTime).join();
    if (saidFaults !== before || clock.now() - reportedAt >= reportMs) changed();
  }

  async function readImages(): Promise<void> {
    images = (await runtime.listImages({}, { signal })).images;
  }

  const imagesUnknown = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: name, error }, 'images could not be listed');
  };

  async function lookForImages(): Promise<void> {
    const before = images;
    await readImages();
    const names = (all: readonly Image[]) => all.map(({ id, repoTags }) => `${id} ${repoTags.join(' ')}`);
    if (!isSame(names(before), names(images))) changed();
  }

  async function renew(): Promise<void> {
    const renewTime = formatMicroTime(clock.now());
    const spec = { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime };
    for (let attempt = 1; ; attempt++) {
      try {
        if (!known) return;
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
          log.warn({ node: name, error }, 'the lease of the node was not renewed');
          return;
        }
      }
    }
  }

  function createLease(spec: Lease['spec']): Promise<Lease> {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name, uid: known?.metadata.uid ?? '' }];
    const metadata = { name, namespace: leaseNamespace, ownerReferences };
    return client.create(leaseKind, { metadata, spec: spec ?? {} }, { signal });
  }

  async function start(): Promise<void> {
    await untilDone(async () => void (version = await runtime.version({ version: '0.1.0' }, { signal })));
    await checkRuntime();
    await readImages().catch(imagesUnknown);
    await untilDone(register);
    announceRegistered();
    sources.followNode((found) => {
      learn(found);
      changed();
    });
    await renew();
    const repeat = () => {
      // Many nodes that started together are not to write together for ever.
      clock.setTimer(jitter(random, renewMs, 0.04), () => void renew().then(repeat), signal);
    };
    repeat();
    every(clock, checkMs, () => void checkRuntime(), signal);
    every(clock, imagesMs, () => void lookForImages().catch(imagesUnknown), signal);
  }

  /** Tries at growing intervals, as whatever else could be done needs it done. */
  async function untilDone(work: () => Promise<void>): Promise<void> {
    for (let delayMs = 100; !signal.aborted; delayMs = Math.min(2 * delayMs, 7000)) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ node: name, error }, 'the node could not be registered');
        await after(clock, delayMs, signal).catch(() => {});
      }
    }
  }

  void start();

  return {
    node: () => known,
    runtimeName: () => version.runtimeName,
    networkFault: () => networkFault,
    supportsRecursiveReadOnly: () =>
      handlers.find(({ name: handler }) => handler === '')?.features?.recursiveReadOnlyMounts ?? false,
    supportsUserNamespaces(handler) {
      const found = handlers.find((each) => each.name === handler);
      // Older runtimes announce no handlers, and have no user namespaces.
      return found || handler === '' ? (found?.features?.userNamespaces ?? false) : undefined;
    },
    pressures: () => pressures,
    setPressures(next) {
      pressures = next;
      changed();
    },
    setHeard(isHeard) {
      unheardSince = isHeard ? undefined : (unheardSince ?? clock.now());
    },
    setShuttingDown() {
      shutdownFault = 'node is shutting down';
      changed();
    },
    changed,
    imagesChanged: () => void readImages().then(changed, imagesUnknown),
    registered,
  };
}

/** How long something has lasted is no news. */
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
