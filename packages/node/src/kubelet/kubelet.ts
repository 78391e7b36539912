/**
 * Kubelet: runs the Pods bound to its node through a container runtime and reports their status to the API server. The
 * kubelet is event-driven; an idle node only renews its lease.
 */
import type { Node, NodeSystemInfo } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import type { Client } from '@kruise/client/client';
import { createDelayingQueue } from '@kruise/client/delaying-queue';
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
import { findRejection, hostPortsOf, insufficientResources, isInsufficientResources } from './admission/admission.ts';
import { createAllocations, type Rejection, requestsOf, withAllocatedResources } from './admission/allocations.ts';
import { isCriticalPod, isMirrorPod } from './admission/critical.ts';
import { selectVictims } from './admission/preemption.ts';
import { createImageManager } from './containers/images.ts';
import { nodeSecretsOf } from './containers/pull-secrets.ts';
import type { NodeSettings } from './containers/sandbox-config.ts';
import { createUserNamespaces } from './containers/user-namespaces.ts';
import { preemptedStatus, preemptionMessage, shutDownStatus } from './eviction/disruption.ts';
import { defaultThresholds, type Observations, systemReservation, type Threshold } from './eviction/eviction.ts';
import { startEviction } from './eviction/eviction-manager.ts';
import { defaultImageGCPolicy, startImageGC } from './eviction/image-gc.ts';
import { type KubeletGates, kubeletFeatureGates } from './feature-gates.ts';
import { createKubeletMetrics } from './kubelet-metrics.ts';
import { type NodeAgent, type NodeDescription, startNodeAgent } from './node/node-agent.ts';
import type { NodeContext } from './node/node-context.ts';
import { isTerminalPhase } from './pods/phase.ts';
import { createPodWorker, type PodWorker } from './pods/pod-worker.ts';
import { type Sources, watchSources } from './pods/sources.ts';
import { type StaticPods, startStaticPods } from './pods/static-pods.ts';
import { createStatusWriter } from './pods/status-writer.ts';
import { createProbeMetrics } from './probes/probe-metrics.ts';
import { removeOrphans } from './runtime/orphaned-pods.ts';
import { createRelists } from './runtime/relists.ts';
import { watchRuntime } from './runtime/runtime-events.ts';
import { createKubeletHandler, type KubeletHandler } from './server/handler.ts';
import { securePodsDirectory } from './volumes/pod-directory.ts';
import { createTokens } from './volumes/tokens.ts';

/** Options of a kubelet. */
export type KubeletOptions = {
  /** Client authenticated as `system:node:<nodeName>` in the group `system:nodes`. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly runtime: NodeRuntime;
  readonly nodeName: string;
  readonly log?: Log;
  /** Informers of the cluster; the kubelet starts its own watches by default. */
  readonly sources?: Sources;
  readonly hostname?: string;
  /** IP addresses of the node. */
  readonly addresses?: readonly string[];
  readonly labels?: { readonly [key: string]: string };
  readonly taints?: NodeDescription['taints'];
  readonly unschedulable?: boolean;
  readonly providerId?: string;
  /** Resource capacity of the node; `pods` defaults to 110. */
  readonly capacity?: ResourceList;
  /** Resources reserved for the system. The hard eviction thresholds are subtracted from allocatable, too. */
  readonly reserved?: ResourceList;
  readonly info?: Partial<NodeSystemInfo>;
  /** Port of the kubelet API. */
  readonly port?: number;
  readonly settings?: Partial<NodeSettings>;
  readonly gates?: KubeletGates;
  /** Rate limit of image pulls; unlimited if absent. */
  readonly pullLimit?: BucketOptions;
  /** Directory of static Pod manifests. */
  readonly staticPodPath?: string;
  /** Hard eviction thresholds. */
  readonly evictionHard?: readonly Threshold[];
  /** Soft eviction thresholds, each with a grace period. */
  readonly evictionSoft?: readonly (Threshold & { readonly patienceSeconds: number })[];
  /** Maximum grace period of Pods evicted because of a soft threshold. */
  readonly evictionMaxPodGraceSeconds?: number;
  /** Observations of the node's resources; by default the capacity minus the usage of the containers. */
  readonly supplies?: () => Promise<Observations>;
  /** Records Warning events only. Three Normal events per Pod are too many in very large clusters. */
  readonly quiet?: boolean;
  /** Metrics registry; by default a new one. */
  readonly metrics?: MetricRegistry;
};

/** A running kubelet. */
export type Kubelet = {
  readonly nodeName: string;
  readonly node: () => Node | undefined;
  /** Pod workers of all Pods on the node. */
  readonly workers: () => readonly PodWorker[];
  readonly find: (namespace: string, name: string) => PodWorker | undefined;
  /** Resolves once the Node is registered. */
  readonly registered: Promise<void>;
  /** HTTP handler of the kubelet API. */
  readonly handler: KubeletHandler;
  /** Resolves when all pending status updates are written. */
  flushStatuses(): Promise<void>;
  /** Graceful node shutdown: terminates all Pods, critical Pods last, and rejects new ones. */
  shutDown(graceSeconds: number): Promise<void>;
  /** Resolves when the kubelet has stopped after the signal was aborted. */
  readonly stopped: Promise<void>;
};

/** Version that the kubelet reports. */
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

/** Runs a kubelet until the signal is aborted. Containers keep running afterwards. */
export async function runKubelet(options: KubeletOptions, signal: AbortSignal): Promise<void> {
  await createKubelet(options, signal).stopped;
}

/** Starts a kubelet that runs until the signal is aborted. */
export function createKubelet(options: KubeletOptions, signal: AbortSignal): Kubelet {
  const { client, clock, random, runtime, nodeName, log = silentLog } = options;
  const onError = (error: unknown) => {
    if (!signal.aborted) log.warn({ node: nodeName, error }, 'request failed');
  };
  const sources = options.sources ?? watchSources(client, clock, random, { nodeName, onError }, signal);
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
    reserved: systemReservation(capacity, options.reserved ?? {}, options.evictionHard ?? defaultThresholds),
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
  /** True once the initial Pods and the static Pods are known. */
  let hasSynced = false;
  const workers = new Map<string, PodWorker>();
  const byName = new Map<string, PodWorker>();
  const delays = createDelayingQueue<string>(clock, (uid) => workers.get(uid)?.requestSync());
  signal.addEventListener(
    'abort',
    () => {
      delays.clear();
      for (const worker of workers.values()) worker.stop();
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
  const listings = createRelists();
  const context: NodeContext = {
    nodeName,
    runtime,
    runtimeName: agent.runtimeName,
    clock,
    random,
    log,
    sources,
    images: createImageManager(runtime, clock, {
      onChange: agent.refreshImages,
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
    findRejectionFor,
    syncAt: (uid, at) => delays.set(uid, at - clock.now(), 'change'),
    ...(isEvented ? {} : { listings }),
    signal,
  };

  function findRejectionFor(pod: Pod): Rejection | undefined {
    const node = agent.node();
    if (!node) return { reason: 'InvalidNodeInfo', message: 'Kubelet cannot get node info.' };
    const uid = pod.metadata.uid ?? '';
    return findRejection(pod, {
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
    else addPod(pod);
  }

  function addPod(pod: Pod, node = context): PodWorker {
    const { uid = '', namespace, name } = pod.metadata;
    const worker = createPodWorker(node, pod);
    workers.set(uid, worker);
    byName.set(`${namespace}/${name}`, worker);
    void worker.gone.then(() => {
      workers.delete(uid);
      if (byName.get(`${namespace}/${name}`) === worker) byName.delete(`${namespace}/${name}`);
    });
    admit(worker);
    return worker;
  }

  function admit(worker: PodWorker): void {
    const pod = worker.pod();
    const isOver = isTerminalPhase(pod.status?.phase) || pod.metadata.deletionTimestamp != null;
    const refusal = isOver ? undefined : findRejectionFor(withAllocatedResources(pod));
    if (!refusal) {
      allocations.admit(pod);
      worker.update(pod);
    } else if (!isInsufficientResources(refusal) || !isCriticalPod(pod) || !preemptFor(worker)) worker.reject(refusal);
  }

  /** Preempts other Pods to admit a critical Pod; returns false if no set of victims makes enough room. */
  function preemptFor(worker: PodWorker): boolean {
    const pod = worker.pod();
    const node = agent.node();
    if (!node) return false;
    const admissionState = { node, requests: requestsOf(pod), used: allocations.usedByOthers(worker.uid) };
    const missing = new Map(
      insufficientResources(admissionState).map((each) => [each.name, each.used + each.requested - each.capacity]),
    );
    const candidates = [...workers.values()]
      .filter((each) => each !== worker && each.isActive())
      .map((each) => ({ worker: each, pod: each.pod(), requests: requestsOf(each.pod()) }));
    const victims = selectVictims(missing, candidates);
    for (const victim of victims) {
      context.record(victim.pod, 'Warning', 'Preempting', preemptionMessage);
      metrics.countPreemption([...missing.keys()][0] ?? '');
      victim.worker.kill({ verdict: (status) => preemptedStatus(status, clock.now()) });
    }
    if (victims.length > 0) void Promise.all(victims.map((victim) => victim.worker.ended)).then(() => admit(worker));
    return victims.length > 0;
  }

  /** Admits existing Pods in creation order, so that Pods that fit before a restart still fit. */
  async function watchPods(): Promise<void> {
    const initialPods = new Map<string, Pod>();
    let isInitialList = true;
    const synced = sources.watchPods((change) => {
      const uid = change.object.metadata.uid ?? '';
      if (!isInitialList) handle(change);
      else if (change.type === 'deleted') initialPods.delete(uid);
      else initialPods.set(uid, change.object);
    });
    await synced;
    isInitialList = false;
    const createdAt = ({ metadata }: Pod) => parseTime(metadata.creationTimestamp ?? '1970-01-01T00:00:00Z');
    for (const pod of [...initialPods.values()].sort((a, b) => createdAt(a) - createdAt(b))) {
      handle({ type: 'added', object: pod, cause: 'initial' });
    }
    await staticPods?.read;
    hasSynced = true;
    await cleanUpOrphans();
  }

  /** Removes what deleted Pods left behind: their workers no longer exist. */
  const cleanUpOrphans = () => removeOrphans({ runtime, settings, isKnown: (uid) => workers.has(uid) }, signal);

  async function shutDown(graceSeconds: number): Promise<void> {
    isShuttingDown = true;
    agent.setShuttingDown();
    for (const isCritical of [false, true]) {
      const group = [...workers.values()].filter((each) => each.isActive() && isCriticalPod(each.pod()) === isCritical);
      for (const worker of group)
        worker.kill({ graceSeconds, verdict: (status) => shutDownStatus(status, clock.now()) });
      await Promise.all(group.map(({ ended }) => ended));
    }
    await statuses.flush();
  }

  async function run(): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([agent.registered, aborted]);
    if (signal.aborted) return;
    await securePodsDirectory(runtime.files, settings.rootDirectory);
    const watchingRuntime = watchRuntime(
      { runtime, clock, isEvented, onError },
      {
        onPodChange(uid, isThere) {
          const worker = workers.get(uid);
          if (worker) worker.runtimeChanged();
          // A previous kubelet may have created the sandbox and stopped before it saw the sandbox.
          else if (isThere && hasSynced) void cleanUpOrphans().catch(onError);
        },
        onReconnect() {
          for (const worker of workers.values()) worker.requestSync();
        },
        onRelist: listings.recordRelist,
        onHealthChange: agent.setEventsHealthy,
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
          addPod: (pod, writer) => addPod(pod, { ...context, statuses: writer }),
        },
        signal,
      );
    }
    await watchPods().catch((error: unknown) => onError(error));
    await watchingRuntime;
  }

  const imageGC = startImageGC(
    {
      images: runtime,
      clock,
      log,
      capacityBytes: diskCapacity,
      limits: defaultImageGCPolicy,
      usedImages,
      recordNode,
      onChange: agent.refreshImages,
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
      reclaimDisk: imageGC.removeUnused,
      ...(options.supplies ? { supplies: options.supplies } : {}),
      capacity: {
        memoryBytes: memoryCapacity,
        diskBytes: diskCapacity,
      },
      rootDirectory: context.settings.rootDirectory,
      workers: () => [...workers.values()],
      setPressures: agent.setPressures,
      recordPod: context.record,
      countEviction: metrics.countEviction,
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
    flushStatuses: statuses.flush,
    shutDown,
    stopped: run(),
  };
}
