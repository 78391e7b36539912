import { nodeImage } from '@kruise/api/kruise/nodeimage';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import type { ControllerMetrics } from '@kruise/client/controller-metrics';
import { createCaches } from '@kruise/client/informer';
import type { Log } from '@kruise/client/log';
import { startDaemon } from '@kruise/daemon/daemon';
import type { FeatureGates } from '@kruise/manager/configuration/feature-gates';
import type { NodeRuntime } from '@kruise/node/cri/runtime';
import type { NodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { systemClock, systemRandom } from '@kruise/values/system';

export type NodeDaemonOptions = {
  /** Path of a kubeconfig; by default the same rules as kubectl, or the in-cluster config. */
  readonly kubeconfig?: string;
  readonly nodeName: string;
  readonly runtimes: readonly NodeRuntime[];
  readonly gates: FeatureGates;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  readonly maxPulls?: number;
  /** Registry credentials of the node. */
  readonly nodeSecrets?: NodeSecrets;
  /** Wraps the API client, for example to limit its rate. */
  readonly tune?: (client: Client) => Client;
};

export type NodeDaemon = {
  /** Returns whether the NodeImage informer has synced. */
  hasSynced(): boolean;
  /** Resolves when kruise-daemon has stopped. */
  readonly stopped: Promise<void>;
};

/** Starts kruise-daemon for one node. It runs until the signal is aborted. */
export async function startNodeDaemon(options: NodeDaemonOptions, signal: AbortSignal): Promise<NodeDaemon> {
  const { kubeconfig, nodeName, runtimes, log, tune, ...rest } = options;
  const place = kubeconfig === undefined ? {} : { path: kubeconfig };
  const { client: plain, close } = connect(systemClock, { ...place, userAgent: 'kruise-daemon' });
  const client = tune?.(plain) ?? plain;
  const onError = (error: unknown) => log.warn({ error }, 'list or watch failed; retrying');
  const caches = createCaches(client, systemClock, systemRandom, { newest: true, onError }, signal);
  const means = { client, caches, clock: systemClock, random: systemRandom };
  const daemon = startDaemon({ ...means, ...rest, log, nodeName }, signal);
  await daemon.serve({ name: nodeName, runtimes }, signal);
  log.info({ node: nodeName, runtimes: runtimes.length }, 'kruise-daemon started');
  const nodeImages = caches.informer(nodeImage, { fieldSelector: `metadata.name=${nodeName}` });
  return { hasSynced: nodeImages.hasSynced, stopped: daemon.stopped.finally(close) };
}
