import { existsSync } from 'node:fs';
import { nodeImage } from '@kruise/api/kruise/nodeimage';
import { connect } from '@kruise/client/connect';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { serveHealth } from '@kruise/client/health';
import { createCaches } from '@kruise/client/informer';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { startDaemon } from '@kruise/daemon/daemon';
import { findSockets, usableRuntimes } from '@kruise/daemon/runtimes';
import { featureGates, parseFeatureGates } from '@kruise/manager/feature-gates';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { systemClock, systemRandom } from '@kruise/values/system';
import type { DaemonFlags } from '../daemon-flags.ts';
import { parseListenAddress } from '../listen-address.ts';

/** Where a daemon in a container finds the run directory of its host. */
const runDirectory = '/hostvarrun';

/** Runs kruise-daemon on this machine until the process is told to stop. */
export async function daemon(flags: DaemonFlags): Promise<number> {
  const nodeName = process.env['NODE_NAME'];
  if (!nodeName) throw new Error('not found NODE_NAME in environments');
  const log = jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  const { signal } = stop;

  const endpoints = flags.containerRuntimeEndpoint
    ? [flags.containerRuntimeEndpoint]
    : findSockets(runDirectory, existsSync, flags.socketFile).map((path) => `unix://${path}`);
  const candidates = endpoints.map((endpoint) => createGrpcRuntime({ clock: systemClock, endpoint, signal }));
  const runtimes = await usableRuntimes(candidates, (error) =>
    log.warn({ error }, 'a container runtime is passed over'),
  );

  const place = flags.kubeconfig === undefined ? {} : { path: flags.kubeconfig };
  const { client, close } = connect(systemClock, { ...place, userAgent: 'kruise-daemon' });
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  const onError = (error: unknown) => log.warn({ error }, 'something failed in the background, and is tried again');
  const caches = createCaches(client, systemClock, systemRandom, { newest: true, onError }, signal);
  const running = startDaemon(
    {
      client,
      caches,
      clock: systemClock,
      random: systemRandom,
      log,
      gates: featureGates(parseFeatureGates(flags.featureGates)),
      metrics: createControllerMetrics(registry),
      nodeName,
      maxPulls: Number(flags.maxWorkersForPullImage),
    },
    signal,
  );
  const nodeImages = caches.informer(nodeImage, { fieldSelector: `metadata.name=${nodeName}` });
  const nodeImageInformerSynced = () => {
    if (!nodeImages.hasSynced()) throw new Error('not synced');
  };
  const checks = { nodeImageInformerSynced };
  const health = await serveHealth({
    ...parseListenAddress(flags.addr),
    live: checks,
    ready: checks,
    metrics: registry,
  });
  try {
    await running.serve({ name: nodeName, runtimes }, signal);
    log.info({ node: nodeName, runtimes: runtimes.length }, 'the node is served');
    await running.stopped;
  } finally {
    await health.close();
    close();
  }
  return 0;
}
