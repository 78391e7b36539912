/**
 * kruise-daemon: Kruise's agent on nodes. It serves one node, or all nodes of a process: they share one watch, one
 * queue of each kind and one client, so that an additional node costs next to nothing.
 */
import type { Client } from '@kruise/client/client';
import type { ControllerMetrics } from '@kruise/client/controller-metrics';
import { createEventRecorder, type EventRecorder } from '@kruise/client/event-recorder';
import type { Caches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { runControllers } from '@kruise/client/manager';
import type { Selection } from '@kruise/client/reflector';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import { containerMetaController } from './container-meta/controller.ts';
import { createRestarter } from './container-meta/restarter.ts';
import { containerRecreateController } from './container-recreate/controller.ts';
import { createImagePuller } from './image-puller/controller.ts';
import type { DaemonNode } from './node.ts';
import { podProbeController } from './pod-probe/controller.ts';
import { createProber } from './pod-probe/prober.ts';

export type DaemonOptions = {
  /** A client with the permissions of kruise-daemon. */
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly gates: FeatureGates;
  readonly metrics?: ControllerMetrics;
  /** Restricts the daemon to objects of this node. All nodes if omitted. */
  readonly nodeName?: string;
  /** Concurrency limit of image pulls on a node. Unlimited if omitted. */
  readonly maxPulls?: number;
  /** Registry credentials of the node, tried after those of pull Secrets. None if omitted. */
  readonly nodeSecrets?: NodeSecrets;
};

export type Daemon = {
  /** Serves a node until the signal is aborted. */
  serve(node: { readonly name: string; readonly runtimes: readonly NodeRuntime[] }, until: AbortSignal): Promise<void>;
  /** Resolves when all controllers have stopped. */
  readonly stopped: Promise<void>;
};

/** Starts a daemon without nodes. It runs until the signal is aborted. */
export function startDaemon(options: DaemonOptions, signal: AbortSignal): Daemon {
  const { client, caches, clock, random, log, gates, nodeName } = options;
  const nodes = new Map<string, DaemonNode>();
  const own = (field: string): Selection | undefined =>
    nodeName === undefined ? undefined : { fieldSelector: `${field}=${nodeName}` };
  const recorders = new Map<string, EventRecorder>();
  const recorderFor = (component: string, host: string): EventRecorder => {
    const key = `${component}/${host}`;
    let recorder = recorders.get(key);
    if (!recorder) {
      const onError = (error: unknown) => log.warn({ component, node: host, error }, 'failed to write event');
      recorder = createEventRecorder(client, clock, random, { component, host, onError }, signal);
      recorders.set(key, recorder);
    }
    return recorder;
  };

  const puller = createImagePuller({
    nodes,
    selection: own('metadata.name'),
    maxPulls: options.maxPulls,
    ...(options.nodeSecrets ? { nodeSecrets: options.nodeSecrets } : {}),
    recordFor: (host) => recorderFor('kruise-daemon-imagepuller', host).record,
  });
  const restarter = createRestarter({
    nodes,
    recordFor: (host) => recorderFor('kruise-daemon-containermeta', host).record,
  });
  const ofContainers = containerMetaController({ nodes, selection: own('spec.nodeName'), gates, restarter });
  const recreating = containerRecreateController({
    nodes,
    nodeName,
    clock,
    recordFor: (host) => recorderFor('kruise-daemon-crr', host).record,
  });
  const prober = createProber(
    {
      nodes,
      clock,
      random,
      recordFor: (host) => recorderFor('kruise-daemon-podprobe', host).record,
      onError: (error) => log.warn({ error }, 'pod probe failed'),
    },
    signal,
  );
  const probing = podProbeController({ nodes, selection: own('metadata.name'), prober });
  const parts = [
    puller.runnable,
    recreating,
    ...(gates.PodProbeMarkerGate ? [probing] : []),
    ...(gates.DaemonWatchingPod ? [ofContainers, restarter.runnable] : []),
  ];
  const { metrics } = options;
  const run = { client, caches, clock, random, log, ...(metrics ? { metrics } : {}) };

  return {
    async serve({ name, runtimes }, until) {
      const [first] = runtimes;
      if (!first) throw new Error(`node ${name} has no container runtime`);
      const versions = await Promise.all(runtimes.map((runtime) => runtime.version({ version: '0.1.0' })));
      if (until.aborted) return;
      const byName = new Map(runtimes.map((runtime, index) => [versions[index]!.runtimeName, runtime]));
      nodes.set(name, { name, images: first, runtimes: byName });
      const leave = () => {
        nodes.delete(name);
        puller.removeNode(name);
        prober.syncProbes(name, undefined);
      };
      until.addEventListener('abort', leave, { once: true });
      puller.enqueue(name);
      prober.onResult(name);
    },
    stopped: runControllers(parts, run, signal).then(async () => {
      await Promise.all([...recorders.values()].map((recorder) => recorder.flush()));
    }),
  };
}
