/**
 * Entry point of a program that only runs controllers: uses the system clock and randomness, connects to the cluster
 * that kubectl would use, and shuts down gracefully on SIGINT and SIGTERM.
 */
import { hostname } from 'node:os';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type ConnectOptions, connect } from '../api/connect.ts';
import { isInCluster } from '../api/in-cluster.ts';
import type { Caches } from '../cache/informer.ts';
import { serveHealth } from '../server/health.ts';
import { addProcessMetrics, createMetrics } from '../server/metrics.ts';
import type { Controller } from './controller.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { jsonLog, type Log } from './log.ts';
import { runControllers } from './manager.ts';

/** Options of a controller program; all are optional. */
export type RunOptions = ConnectOptions & {
  /** Enables leader election with a Lease of this name. */
  readonly leaderElection?: { readonly name: string; readonly namespace?: string };
  /**
   * Serves `/healthz`, `/readyz` and `/metrics` on this port: on all interfaces in a Pod, otherwise on loopback only.
   */
  readonly healthPort?: number;
  readonly log?: Log;
  /** Stops the program; defaults to SIGINT and SIGTERM. */
  readonly signal?: AbortSignal;
};

/**
 * Runs controllers on the cluster that kubectl would use, until the process receives SIGINT or SIGTERM.
 *
 * ```ts
 * await run([greeter], { leaderElection: { name: 'greeter' }, healthPort: 8080 });
 * ```
 */
export async function run(controllers: readonly Controller[], options: RunOptions = {}): Promise<void> {
  const { leaderElection, healthPort, signal = createShutdownSignal(), ...connectOptions } = options;
  const log = options.log ?? jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const { client, namespace, close } = connect(systemClock, connectOptions);
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  let caches: Caches | undefined;
  const checkCaches = () => {
    // A standby replica is as ready as the leader.
    if (!caches && !leaderElection) throw new Error('the caches have not synced');
  };
  const health =
    healthPort === undefined
      ? undefined
      : await serveHealth({
          host: isInCluster(connectOptions) ? '0.0.0.0' : '127.0.0.1',
          port: healthPort,
          ready: { caches: checkCaches },
          metrics: registry,
        });
  try {
    await runControllers(
      controllers,
      {
        client,
        clock: systemClock,
        random: systemRandom,
        log,
        metrics: createControllerMetrics(registry),
        onRunning: (filled) => {
          caches = filled;
          log.info({ controllers: controllers.map(({ name }) => name) }, 'controllers are running');
        },
        ...(leaderElection
          ? { leaderElection: { namespace, identity: `${hostname()}_${process.pid}`, ...leaderElection } }
          : {}),
      },
      signal,
    );
  } finally {
    await health?.close();
    close();
  }
}

/** Returns a signal that the first SIGINT or SIGTERM aborts. The second one terminates the process immediately. */
function createShutdownSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop.signal;
}
