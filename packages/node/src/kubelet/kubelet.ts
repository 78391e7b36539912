/**
 * Kubelet: runs the Pods bound to its node through a container runtime and reports their status to the API server. The
 * kubelet is event-driven; an idle node only renews its lease. This file composes its parts and connects them.
 */
import type { Node } from '@kruise/api/core/node';
import type { Pod } from '@kruise/api/core/pod';
import { createEventRecorder } from '@kruise/client/event-recorder';
import type { Change } from '@kruise/client/informer';
import { silentLog } from '@kruise/client/log';
import { createMetrics } from '@kruise/client/metrics';
import { createAllocations } from './admission/allocations.ts';
import { isMirrorPod } from './admission/critical.ts';
import { createPodAdmission } from './admission/pod-admission.ts';
import { configurationOf } from './configuration/configuration.ts';
import { createImageManager } from './containers/images.ts';
import { createUserNamespaces } from './containers/user-namespaces.ts';
import { createNodeSecrets } from './credentials/node-credentials.ts';
import { startCsiDrivers } from './csi/csi-drivers.ts';
import { defaultThresholds } from './eviction/eviction.ts';
import { startEviction } from './eviction/eviction-manager.ts';
import { defaultImageGCPolicy, startImageGC } from './eviction/image-gc.ts';
import { kubeletFeatureGates } from './feature-gates.ts';
import { createKubeletMetrics } from './kubelet-metrics.ts';
import { capacityOf, describeNode, type KubeletOptions, kubeletVersion, settingsOf } from './kubelet-options.ts';
import { type NodeAgent, startNodeAgent } from './node/node-agent.ts';
import type { NodeContext, RecordPodEvent } from './node/node-context.ts';
import { terminatePods } from './node/shutdown.ts';
import { createPodWorker, type PodWorker } from './pods/pod-worker.ts';
import { createPodWorkers } from './pods/pod-workers.ts';
import { watchSources } from './pods/sources.ts';
import { type StaticPods, startStaticPods } from './pods/static-pods.ts';
import { createStatusWriter } from './pods/status-writer.ts';
import { watchPods } from './pods/watch-pods.ts';
import { createProbeMetrics } from './probes/probe-metrics.ts';
import { removeOrphans } from './runtime/orphaned-pods.ts';
import { createRelists } from './runtime/relists.ts';
import { watchRuntime } from './runtime/runtime-events.ts';
import { createKubeletHandler, type KubeletHandler } from './server/handler.ts';
import { securePodsDirectory } from './volumes/pod-directory.ts';
import { createTokens } from './volumes/tokens.ts';

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
  const record: RecordPodEvent = (about, type, reason, message, fieldPath) => {
    if (options.quiet && type === 'Normal') return;
    recorder.record({ about, type, reason, message, ...(fieldPath === undefined ? {} : { fieldPath }) });
  };

  const description = describeNode(options);
  const capacity = capacityOf(description);
  const settings = settingsOf(options);
  recordNode('Normal', 'Starting', 'Starting kubelet.');
  const tokens = createTokens(client, clock, random);
  const csi = options.hasPlugins
    ? startCsiDrivers(
        {
          client,
          clock,
          log,
          files: runtime.files,
          nodeName,
          rootDirectory: settings.rootDirectory,
          node: () => agent.node(),
          token: tokens.get,
          record,
          registered: () => agent.registered,
          onInUseChange: () => agent.refreshStatus(),
          // The volumes of Pods that an earlier kubelet ran can be unmounted from now on.
          onRegister: () => void (hasSynced && cleanUpOrphans().catch(onError)),
        },
        signal,
      )
    : undefined;
  const agent: NodeAgent = startNodeAgent(
    { client, clock, random, log, runtime, sources, record: recordNode, ...(csi ? { volumesInUse: csi.inUse } : {}) },
    description,
    signal,
  );
  const workers = createPodWorkers(clock, signal);
  const statuses = createStatusWriter(client, clock, log, signal);
  const allocations = createAllocations();
  const probeMetrics = createProbeMetrics();
  const registry = options.metrics ?? createMetrics();
  const metrics = createKubeletMetrics(registry, { nodeName, workers: workers.all });
  const admission = createPodAdmission({ clock, agent, workers, allocations, metrics, record });
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
      nodeSecrets: createNodeSecrets({
        providers: options.credentialProviders,
        files: runtime.files,
        dockerConfig: { ...options.dockerConfig, rootDirectory: settings.rootDirectory },
        log,
      }),
      ...(options.pullLimit ? { limit: options.pullLimit } : {}),
    }),
    tokens,
    ...(csi ? { csi } : {}),
    statuses,
    allocations,
    metrics,
    probeMetrics,
    settings,
    record,
    hostIPs: () => description.addresses,
    allocatable: () => agent.node()?.status?.allocatable ?? {},
    memoryCapacity: () => capacity.memoryBytes,
    networkFault: agent.networkFault,
    supportsRecursiveReadOnly: agent.supportsRecursiveReadOnly,
    userNamespaces: createUserNamespaces({
      files: runtime.files,
      rootDirectory: settings.rootDirectory,
      maxPods: capacity.maxPods,
      supports: agent.supportsUserNamespaces,
    }),
    findRejectionFor: admission.findRejectionFor,
    syncAt: workers.syncAt,
    ...(options.cgroups ? { cgroups: options.cgroups } : {}),
    ...(isEvented ? {} : { listings }),
    signal,
  };
  const imageGC = startImageGC(
    {
      images: runtime,
      clock,
      log,
      capacityBytes: capacity.diskBytes,
      limits: options.imageGC ?? defaultImageGCPolicy,
      usedImages: () => imagesOf(workers.values()),
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
      capacity,
      rootDirectory: settings.rootDirectory,
      workers: workers.all,
      setPressures: agent.setPressures,
      recordPod: record,
      countEviction: metrics.countEviction,
      recordNode,
    },
    signal,
  );

  let staticPods: StaticPods | undefined;
  /** True once the initial Pods and the static Pods are known. */
  let hasSynced = false;

  function addPod(pod: Pod, node = context): PodWorker {
    const worker = createPodWorker(node, pod);
    workers.add(worker);
    admission.admit(worker);
    return worker;
  }

  function handle(change: Change<Pod>): void {
    const { type, object: pod } = change;
    if (isMirrorPod(pod)) {
      staticPods?.mirrorChanged(change);
      return;
    }
    const worker = workers.get(pod.metadata.uid ?? '');
    if (type === 'deleted') worker?.remove();
    else if (worker) worker.update(pod);
    else addPod(pod);
  }

  /** Removes what deleted Pods left behind: their workers no longer exist. */
  const cleanUpOrphans = () =>
    removeOrphans({ runtime, settings, csi, isKnown: (uid) => workers.get(uid) !== undefined }, signal);

  const watchContainers = () =>
    watchRuntime(
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

  const watchStaticPods = (path: string) =>
    startStaticPods(
      {
        client,
        clock,
        log,
        files: runtime.files,
        path,
        nodeName,
        node: agent.node,
        statuses,
        addPod: (pod, writer) => addPod(pod, { ...context, statuses: writer }),
      },
      signal,
    );

  async function syncPods(): Promise<void> {
    await watchPods(sources, handle);
    await staticPods?.read;
    hasSynced = true;
    await cleanUpOrphans();
  }

  async function run(): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([agent.registered, aborted]);
    if (signal.aborted) return;
    if (options.cgroups) {
      await options.cgroups.enforceAllocatable(recordNode, signal);
      if (signal.aborted) return;
    }
    await securePodsDirectory(runtime.files, settings.rootDirectory);
    const watchingRuntime = watchContainers();
    if (options.staticPodPath !== undefined) staticPods = watchStaticPods(options.staticPodPath);
    await syncPods().catch(onError);
    await watchingRuntime;
  }

  return {
    nodeName,
    node: agent.node,
    workers: workers.all,
    find: workers.find,
    handler: createKubeletHandler({
      nodeName,
      runtime,
      clock,
      find: workers.find,
      workers: workers.all,
      metrics: registry,
      configuration: () =>
        options.configuration ??
        configurationOf({ settings, maxPods: capacity.maxPods, port: description.kubeletPort }),
      startedAt: clock.now(),
      version: kubeletVersion,
      probeMetrics: probeMetrics.registry,
      settings,
      machine: { ...capacity, supplies: options.supplies },
      ...(csi ? { volumeStats: csi.statsOf } : {}),
    }),
    registered: agent.registered,
    flushStatuses: statuses.flush,
    async shutDown(graceSeconds) {
      admission.close();
      agent.setShuttingDown();
      await terminatePods(workers, graceSeconds, clock);
      await statuses.flush();
    },
    stopped: run(),
  };
}

/** Returns the images that containers of Pods use. */
function imagesOf(workers: Iterable<PodWorker>): ReadonlySet<string> {
  const used = new Set<string>();
  for (const worker of workers) {
    for (const { image, imageRef } of worker.runtimePod().containers) used.add(image).add(imageRef);
  }
  return used;
}
