import { nodeImage } from '@kruise/api/kruise/nodeimage';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import type { ControllerMetrics } from '@kruise/client/controller-metrics';
import { createCaches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { startDaemon } from '@kruise/daemon/daemon';
import type { FeatureGates } from '@kruise/manager/feature-gates';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import { systemClock, systemRandom } from '@kruise/values/system';

export type NodeDaemonOptions = {
  /** How it reaches the cluster; where nothing is said, as kubectl does, or as the Pod it runs in. */
  readonly kubeconfig?: string;
  readonly nodeName: string;
  readonly runtimes: readonly NodeRuntime[];
  readonly gates: FeatureGates;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  readonly maxPulls?: number;
  /** Wraps the API client, for example to limit its rate. */
  readonly tune?: (client: Client) => Client;
};

export type NodeDaemon = {
  /** Whether it knows what it is to do. */
  hasSynced(): boolean;
  /** Resolves when it has come to a stop. */
  readonly stopped: Promise<void>;
};

/** Starts kruise-daemon for one node; it runs until the signal is aborted. */
export async function startNodeDaemon(options: NodeDaemonOptions, signal: AbortSignal): Promise<NodeDaemon> {
  const { kubeconfig, nodeName, runtimes, log, tune, ...rest } = options;
  const place = kubeconfig === undefined ? {} : { path: kubeconfig };
  const { client: plain, close } = connect(systemClock, { ...place, userAgent: 'kruise-daemon' });
  const client = tune?.(plain) ?? plain;
  const onError = (error: unknown) => log.warn({ error }, 'something failed in the background, and is tried again');
  const caches = createCaches(client, systemClock, systemRandom, { newest: true, onError }, signal);
  const means = { client, caches, clock: systemClock, random: systemRandom };
  const daemon = startDaemon({ ...means, ...rest, log, nodeName }, signal);
  await daemon.serve({ name: nodeName, runtimes }, signal);
  log.info({ node: nodeName, runtimes: runtimes.length }, 'kruise-daemon serves the node');
  const nodeImages = caches.informer(nodeImage, { fieldSelector: `metadata.name=${nodeName}` });
  return { hasSynced: nodeImages.hasSynced, stopped: daemon.stopped.finally(close) };
}
