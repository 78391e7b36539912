/**
 * A kubelet: runs the Pods that are bound to its node through the runtime it is given, and tells the API what becomes of
 * them. It does something when something happens; a node at rest costs it a lease to renew.
 */
import type { Node, NodeSystemInfo } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { createDelays } from '@kruise/client/delays';
import { createEventRecorder } from '@kruise/client/event-recorder';
import type { Change } from '@kruise/client/informer';
import { type Log, silentLog } from '@kruise/client/log';
import { createMetrics, type MetricRegistry } from '@kruise/client/metrics';
import type { BucketOptions } from '@kruise/client/rate-limiter';
import type { ResourceList } from '@kruise/machinery/resource-list';
import type { Clock } from '@kruise/values/clock';
import { milliValue, parseQuantity, quantityValue } from '@kruise/values/quantity';
import type { Random } from '@kruise/values/random';
import { parseTime } from '@kruise/values/time';
import type { NodeRuntime } from '../cri/runtime.ts';
import { hostPortsOf, isForWantOfResources, refusalOf, shortfallsOf } from './admission.ts';
import { createAllocations, type Refusal, requestsOf, withGivenResources } from './allocations.ts';
import { isCriticalPod, isMirrorPod } from './critical.ts';
import { preemptedStatus, preemptionMessage, shutDownStatus } from './disruption.ts';
import { defaultThresholds, notForPods, type Supplies, type Threshold } from './eviction.ts';
import { startEviction } from './eviction-manager.ts';
import { type KubeletGates, kubeletFeatureGates } from './feature-gates.ts';
import { defaultLimits, startImageCollection } from './image-collection.ts';
import { createImages } from './images.ts';
import { createKubeletMetrics } from './kubelet-metrics.ts';
import { createListings } from './listings.ts';
import { type NodeAgent, type NodeDescription, startNodeAgent } from './node-agent.ts';
import type { NodeContext } from './node-context.ts';
import { removeOrphans } from './orphans.ts';
import { isFinal } from './phase.ts';
import { securePodsDirectory } from './pod-directory.ts';
import { createPodWorker, type PodWorker } from './pod-worker.ts';
import { victimsFor } from './preemption.ts';
import { createProbeMetrics } from './probe-metrics.ts';
import { nodeSecretsOf } from './pull-secrets.ts';
import { followRuntime } from './runtime-events.ts';
import type { NodeSettings } from './sandbox-config.ts';
import { createKubeletHandler, type KubeletHandler } from './server/handler.ts';
import { ownSources, type Sources } from './sources.ts';
import { type StaticPods, startStaticPods } from './static-pods.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTokens } from './tokens.ts';
import { createUserNamespaces } from './user-namespaces.ts';

/** What a kubelet is told. */
export type KubeletOptions = {
  /** Whoever this is should be `system:node:<nodeName>` of the group `system:nodes`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: NodeRuntime;
  readonly nodeName: string;
  readonly log?: Log;
  /** Where it sees the cluster; by default by watches of its own. */
  readonly sources?: Sources;
  readonly hostname?: string;
  /** Addresses of the node. */
  readonly addresses?: readonly string[];
  readonly labels?: { readonly [key: string]: string };
  readonly taints?: NodeDescription['taints'];
  readonly unschedulable?: boolean;
  readonly providerId?: string;
  /** What the machine has; `pods` is 110 unless it says otherwise. */
  readonly capacity?: ResourceList;
  /** What of it is for the system, and not for Pods; below what they are evicted is not for them, either. */
  readonly reserved?: ResourceList;
  readonly info?: Partial<NodeSystemInfo>;
  /** Where its own API is served. */
  readonly port?: number;
  readonly settings?: Partial<NodeSettings>;
  readonly gates?: KubeletGates;
  /** How often images are pulled; without it, as often as is asked for. */
  readonly pullLimit?: BucketOptions;
  /** A folder of the node whose files are Pods to run. */
  readonly staticPodPath?: string;
  /** Below what Pods are evicted. */
  readonly evictionHard?: readonly Threshold[];
  /** Below what they are evicted if it stays so for a while, and given time. */
  readonly evictionSoft?: readonly (Threshold & { readonly patienceSeconds: number })[];
  /** The most they are then given. */
  readonly evictionMaxPodGraceSeconds?: number;
  /** What the machine has left; by default what it has without what containers use. */
  readonly supplies?: () => Promise<Supplies>;
  /** Records no events but warnings: three for each Pod are much where there are very many. */
  readonly quiet?: boolean;
  /** Where it counts; by default where nobody else does. */
  readonly metrics?: MetricRegistry;
};

/** A kubelet at work. */
export type Kubelet = {
  readonly nodeName: string;
  readonly node: () => Node | undefined;
  /** The workers of its Pods. */
  readonly workers: () => readonly PodWorker[];
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
  /** Resolves once the node is in the API. */
  readonly registered: Promise<void>;
  /** Its own API. */
  readonly handler: KubeletHandler;
  /** Resolves when what was said of Pods so far has been written. */
  settled(): Promise<void>;
  /** Ends all Pods for the machine is about to stop, those it cannot be without last; no Pod is taken from here on. */
  shutDown(graceSeconds: number): Promise<void>;
  /** Resolves when it has come to a stop after the signal was aborted. */
  readonly stopped: Promise<void>;
};

/** The version a kubelet says it is. */
export const kubeletVersion = 'v1.33.4';

const defaultCapacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
const defaultInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  kubeletVersion,
  kubeProxyVersion: '',
  operatingSystem: 'linux',
  architecture: 'amd64',
} satisfies Partial<NodeSystemInfo>;

const defaultSettings: NodeSettings = {
  cgroupDriver: 'CGROUPFS',
  hasUnifiedCgroups: false,
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: [], searches: [], options: [] },
  rootDirectory: '/var/lib/kubelet',
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
};

/** Runs a kubelet until the signal is aborted. Containers go on running. */
export async function runKubelet(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  await createKubelet(options, signal).stopped;
}

/** Starts a kubelet, which works until the signal is aborted. */
export function createKubelet(options: KubeletOptions, signal: AbortSignal): Kubelet {
  const { client, clock, random, runtime, nodeName, log = silentLog } = options;
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: nodeName, error }, 'a request failed');
  };
  const sources = options.sources ?? ownSources(client, clock, random, { nodeName, onError }, signal);
  const recorder = createEventRecorder(
    client,
    clock,
    random,
    { component: 'kubelet', host: nodeName, onError },
    signal,
  );
  const nodeReference = { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName, uid: nodeName } };
  const recordNode = (type: 'Normal' | 'Warning', reason: string, message: string) =>
    recorder.record({ about: nodeReference, type, reason, message });

  const capacity = { ...defaultCapacity, ...options.capacity };
  const description: NodeDescription = {
    name: nodeName,
    hostname: options.hostname ?? nodeName,
    addresses: options.addresses ?? [],
    labels: options.labels ?? {},
    taints: options.taints ?? [],
    unschedulable: options.unschedulable ?? false,
    providerId: options.providerId,
    capacity,
    reserved: notForPods(capacity, options.reserved ?? {}, options.evictionHard ?? defaultThresholds),
    info: { ...defaultInfo, ...options.info },
    kubeletPort: options.port ?? 10250,
  };
  recordNode('Normal', 'Starting', 'Starting kubelet.');
  const agent: NodeAgent = startNodeAgent(
    { client, clock, random, log, runtime, sources, record: recordNode },
    description,
    signal,
  );

  let staticPods: StaticPods | undefined;
  let isShuttingDown = false;
  /** Whether all Pods are known that there were at first. */
  let hasFollowed = false;
  const workers = new Map<string, PodWorker>();
  const byName = new Map<string, PodWorker>();
  const delays = createDelays<string>(clock, (uid) => workers.get(uid)?.wake());
  signal.addEventListener(
    'abort',
    () => {
      delays.clear();
      for (const worker of workers.values()) worker.halt();
    },
    { once: true },
  );
  const statuses = createStatusWriter(client, clock, log, signal);
  const allocations = createAllocations();
  const memoryCapacity = quantityValue(parseQuantity(capacity.memory));
  const diskCapacity = quantityValue(parseQuantity(capacity['ephemeral-storage']));
  const probeMetrics = createProbeMetrics();
  const registry = options.metrics ?? createMetrics();
  const metrics = createKubeletMetrics(registry, { nodeName, workers: () => [...workers.values()] });
  const settings = { ...defaultSettings, ...options.settings };
  const { EventedPLEG: isEvented } = options.gates ?? kubeletFeatureGates();
  const listings = createListings();
  const context: NodeContext = {
    nodeName,
    runtime,
    runtimeName: agent.runtimeName,
    clock,
    random,
    log,
    sources,
    images: createImages(runtime, clock, {
      onChange: agent.imagesChanged,
      nodeSecrets: () => nodeSecretsOf(runtime.files, settings.rootDirectory),
      ...(options.pullLimit ? { limit: options.pullLimit } : {}),
    }),
    tokens: createTokens(client, clock, random),
    statuses,
    allocations,
    metrics,
    probeMetrics,
    settings,
    record(about, type, reason, message, fieldPath) {
      if (options.quiet && type === 'Normal') return;
      recorder.record({ about, type, reason, message, ...(fieldPath === undefined ? {} : { fieldPath }) });
    },
    hostIPs: () => description.addresses,
    allocatable: () => agent.node()?.status?.allocatable ?? {},
    memoryCapacity: () => memoryCapacity,
    networkFault: agent.networkFault,
    supportsRecursiveReadOnly: agent.supportsRecursiveReadOnly,
    userNamespaces: createUserNamespaces({
      files: runtime.files,
      rootDirectory: settings.rootDirectory,
      maxPods: Number(capacity.pods),
      supports: agent.supportsUserNamespaces,
    }),
    admits,
    wakeAt: (uid, at) => delays.set(uid, at - clock.now(), 'change'),
    ...(isEvented ? {} : { listings }),
    signal,
  };

  function admits(pod: Pod): Refusal | undefined {
    const node = agent.node();
    if (!node) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
    const uid = pod.metadata.uid ?? '';
    return refusalOf(pod, {
      node,
      requests: requestsOf(pod),
      used: allocations.usedByOthers(uid),
      hostPorts: hostPortsExcept(uid),
      pressures: [...agent.pressures()],
      isShuttingDown,
    });
  }

  function* hostPortsExcept(uid: string): Generator<string> {
    for (const worker of workers.values())
      if (worker.uid !== uid && worker.isActive()) yield* hostPortsOf(worker.pod());
  }

  function handle(change: Change<Pod>): void {
    const { type, object: pod } = change;
    const uid = pod.metadata.uid ?? '';
    if (isMirrorPod(pod)) {
      staticPods?.mirrorChanged(change);
      return;
    }
    const worker = workers.get(uid);
    if (type === 'deleted') worker?.remove();
    else if (worker) worker.update(pod);
    else begin(pod);
  }

  function begin(pod: Pod, node = context): PodWorker {
    const { uid = '', namespace, name } = pod.metadata;
    const worker = createPodWorker(node, pod);
    workers.set(uid, worker);
    byName.set(`${namespace}/${name}`, worker);
    void worker.gone.then(() => {
      workers.delete(uid);
      if (byName.get(`${namespace}/${name}`) === worker) byName.delete(`${namespace}/${name}`);
    });
    letIn(worker);
    return worker;
  }

  function letIn(worker: PodWorker): void {
    const pod = worker.pod();
    const isOver = isFinal(pod.status?.phase) || pod.metadata.deletionTimestamp != null;
    const refusal = isOver ? undefined : admits(withGivenResources(pod));
    if (!refusal) {
      allocations.admit(pod);
      worker.update(pod);
    } else if (!isForWantOfResources(refusal) || !isCriticalPod(pod) || !makeRoom(worker)) worker.reject(refusal);
  }

  /** Ends others so that there is room for a Pod the node cannot be without; whether that is possible. */
  function makeRoom(worker: PodWorker): boolean {
    const pod = worker.pod();
    const node = agent.node();
    if (!node) return false;
    const facts = { node, requests: requestsOf(pod), used: allocations.usedByOthers(worker.uid) };
    const missing = new Map(shortfallsOf(facts).map((each) => [each.name, each.used + each.requested - each.capacity]));
    const candidates = [...workers.values()]
      .filter((each) => each !== worker && each.isActive())
      .map((each) => ({ worker: each, pod: each.pod(), requests: requestsOf(each.pod()) }));
    const victims = victimsFor(missing, candidates);
    for (const victim of victims) {
      context.record(victim.pod, 'Warning', 'Preempting', preemptionMessage);
      metrics.preempted([...missing.keys()][0] ?? '');
      victim.worker.end({ verdict: (status) => preemptedStatus(status, clock.now()) });
    }
    if (victims.length > 0) void Promise.all(victims.map((victim) => victim.worker.ended)).then(() => letIn(worker));
    return victims.length > 0;
  }

  /** Pods that were there before are let in as they came, so that those who had room have it still. */
  async function followPods(): Promise<void> {
    const early = new Map<string, Pod>();
    let isEarly = true;
    const followed = sources.followPods((change) => {
      const uid = change.object.metadata.uid ?? '';
      if (!isEarly) handle(change);
      else if (change.type === 'deleted') early.delete(uid);
      else early.set(uid, change.object);
    });
    await followed;
    isEarly = false;
    const createdAt = ({ metadata }: Pod) => parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
    for (const pod of [...early.values()].sort((a, b) => createdAt(a) - createdAt(b))) {
      handle({ type: 'added', object: pod, cause: 'initial' });
    }
    await staticPods?.read;
    hasFollowed = true;
    await clearAway();
  }

  /** What Pods left that are gone has nobody else to clear it away. */
  const clearAway = () => removeOrphans({ runtime, settings, isKnown: (uid) => workers.has(uid) }, signal);

  async function shutDown(graceSeconds: number): Promise<void> {
    isShuttingDown = true;
    agent.setShuttingDown();
    for (const isCritical of [false, true]) {
      const group = [...workers.values()].filter((each) => each.isActive() && isCriticalPod(each.pod()) === isCritical);
      for (const worker of group)
        worker.end({ graceSeconds, verdict: (status) => shutDownStatus(status, clock.now()) });
      await Promise.all(group.map(({ ended }) => ended));
    }
    await statuses.settled();
  }

  async function run(): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([agent.registered, aborted]);
    if (signal.aborted) return;
    await securePodsDirectory(runtime.files, settings.rootDirectory);
    const following = followRuntime(
      { runtime, clock, isEvented, onError },
      {
        changed(uid, isThere) {
          const worker = workers.get(uid);
          if (worker) worker.runtimeChanged();
          // A kubelet before this one may have had it made, and not have lived to see it.
          else if (isThere && hasFollowed) void clearAway().catch(onError);
        },
        missed() {
          for (const worker of workers.values()) worker.wake();
        },
        listed: listings.listed,
        heard: agent.setHeard,
      },
      signal,
    );
    if (options.staticPodPath !== undefined) {
      staticPods = startStaticPods(
        {
          client,
          clock,
          log,
          files: runtime.files,
          path: options.staticPodPath,
          nodeName,
          node: agent.node,
          statuses,
          begin: (pod, writer) => begin(pod, { ...context, statuses: writer }),
        },
        signal,
      );
    }
    await followPods().catch((error: unknown) => onError(error));
    await following;
  }

  const imageCollection = startImageCollection(
    {
      images: runtime,
      clock,
      log,
      capacityBytes: diskCapacity,
      limits: defaultLimits,
      usedImages,
      recordNode,
      onChange: agent.imagesChanged,
    },
    signal,
  );
  startEviction(
    {
      runtime,
      clock,
      log,
      thresholds: [...(options.evictionHard ?? defaultThresholds), ...(options.evictionSoft ?? [])],
      maxGraceSeconds: options.evictionMaxPodGraceSeconds ?? 0,
      freeDisk: imageCollection.removeUnused,
      ...(options.supplies ? { supplies: options.supplies } : {}),
      capacity: {
        memoryBytes: memoryCapacity,
        diskBytes: diskCapacity,
      },
      rootDirectory: context.settings.rootDirectory,
      workers: () => [...workers.values()],
      setPressures: agent.setPressures,
      recordPod: context.record,
      evicted: metrics.evicted,
      recordNode,
    },
    signal,
  );
  function usedImages(): ReadonlySet<string> {
    const used = new Set<string>();
    for (const worker of workers.values()) {
      for (const { image, imageRef } of worker.runtimePod().containers) used.add(image).add(imageRef);
    }
    return used;
  }

  const find = (namespace: string, name: string) => byName.get(`${namespace}/${name}`);
  const handler = createKubeletHandler({
    nodeName,
    runtime,
    clock,
    find,
    workers: () => [...workers.values()],
    metrics: registry,
    configuration: () => ({ ...context.settings, maxPods: Number(capacity.pods), port: description.kubeletPort }),
    startedAt: clock.now(),
    version: kubeletVersion,
    probeMetrics: probeMetrics.registry,
    settings: context.settings,
    machine: {
      cores: milliValue(parseQuantity(capacity.cpu)) / 1000,
      memoryBytes: memoryCapacity,
      diskBytes: diskCapacity,
      supplies: options.supplies,
    },
  });

  return {
    nodeName,
    node: agent.node,
    workers: () => [...workers.values()],
    find,
    handler,
    registered: agent.registered,
    settled: statuses.settled,
    shutDown,
    stopped: run(),
  };
}
