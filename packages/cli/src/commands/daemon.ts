import { existsSync } from 'node:fs';
import { createControllerMetrics } from '@kruise/client/controller-metrics';
import { serveHealth } from '@kruise/client/health';
import { jsonLog } from '@kruise/client/log';
import { addProcessMetrics, createMetrics } from '@kruise/client/metrics';
import { findSockets, usableRuntimes } from '@kruise/daemon/runtimes';
import { featureGates, parseFeatureGates } from '@kruise/manager/configuration/feature-gates';
import { createGrpcRuntime } from '@kruise/node/cri/grpc/grpc-runtime';
import { machineDockerConfig } from '@kruise/node/kubelet/credentials/docker-config';
import { createNodeSecrets } from '@kruise/node/kubelet/credentials/node-credentials';
import { systemClock } from '@kruise/values/system';
import { tunedClient } from '../client-flags.ts';
import type { DaemonFlags } from '../daemon-flags.ts';
import { parseListenAddress } from '../listen-address.ts';
import { optionalCredentialProviders } from '../machine/credential-providers.ts';
import { startNodeDaemon } from '../node-daemon.ts';
import { serveProfiles } from '../profiler.ts';

/** Mount point of the host's run directory in the container of kruise-daemon. */
const runDirectory = '/hostvarrun';

/** Runs kruise-daemon on this machine until the process receives a signal. */
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
    log.warn({ error }, 'container runtime is not usable; skipping it'),
  );

  const nodeSecrets = createNodeSecrets({
    providers: await optionalCredentialProviders(
      { configFile: flags.pluginConfigFile, binDirectory: flags.pluginBinDir },
      { clock: systemClock, log, environment: process.env },
      signal,
    ),
    // The first runtime pulls the images. Its files are those of this process.
    files: runtimes[0]!.files,
    dockerConfig: machineDockerConfig(process.cwd(), process.env),
    log,
  });
  const stopProfiles = await serveProfiles(flags, 'localhost:10222', log);
  const metrics = createMetrics();
  addProcessMetrics(metrics, process, systemClock.now());
  const running = await startNodeDaemon(
    {
      ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
      nodeName,
      runtimes,
      log,
      gates: featureGates(parseFeatureGates(flags.featureGates)),
      metrics: createControllerMetrics(metrics),
      maxPulls: Number(flags.maxWorkersForPullImage),
      nodeSecrets,
      tune: (client) => tunedClient(client, flags, { clock: systemClock, log }),
    },
    signal,
  );
  const nodeImageInformerSynced = () => {
    if (!running.hasSynced()) throw new Error('not synced');
  };
  const checks = { nodeImageInformerSynced };
  const health = await serveHealth({ ...parseListenAddress(flags.addr), live: checks, ready: checks, metrics });
  try {
    await running.stopped;
  } finally {
    stopProfiles();
    await health.close();
  }
  return 0;
}
