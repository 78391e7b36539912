/**
 * The entry point of a program that is nothing but its controllers: takes time and chance from the machine, the cluster
 * from where kubectl takes it, and stops in good order when it is told to.
 */
import { hostname } from 'node:os';
import { systemClock, systemRandom } from '@kruise/values/system';
import { type ConnectOptions, connect } from './connect.ts';
import type { Controller } from './controller.ts';
import { createControllerMetrics } from './controller-metrics.ts';
import { serveHealth } from './health.ts';
import { isInCluster } from './in-cluster.ts';
import type { Caches } from './informer.ts';
import { jsonLog, type Log } from './log.ts';
import { runControllers } from './manager.ts';
import { addProcessMetrics, createMetrics } from './metrics.ts';

/** How a program runs; everything has a default. */
export type RunOptions = ConnectOptions & {
  /** Runs on one replica only, by a Lease of this name. */
  readonly leaderElection?: { readonly name: string; readonly namespace?: string };
  /** Serves `/healthz`, `/readyz` and `/metrics` on this port: in a Pod to everyone, else to this machine only. */
  readonly healthPort?: number;
  readonly log?: Log;
  /** Ends the program's work; by default SIGINT and SIGTERM do. */
  readonly signal?: AbortSignal;
};

/**
 * Runs controllers on the cluster that kubectl would use, until the process is told to stop.
 *
 * ```ts
 * await run([greeter], { leaderElection: { name: 'greeter' }, healthPort: 8080 });
 * ```
 */
export async function run(controllers: readonly Controller[], options: RunOptions = {}): Promise<void> {
  const { leaderElection, healthPort, signal = untilToldToStop(), ...place } = options;
  const log = options.log ?? jsonLog(systemClock.now, (line) => process.stderr.write(line));
  const { client, namespace, close } = connect(systemClock, place);
  const registry = createMetrics();
  addProcessMetrics(registry, process, systemClock.now());
  let caches: Caches | undefined;
  const running = () => {
    // A replica that waits for its turn is as ready as one that leads.
    if (!caches && !leaderElection) throw new Error('the caches are not filled yet');
  };
  const health =
    healthPort === undefined
      ? undefined
      : await serveHealth({
          host: isInCluster(place) ? '0.0.0.0' : '127.0.0.1',
          port: healthPort,
          ready: { caches: running },
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

/** Aborted by the first signal to stop; the second ends the process at once, as without us. */
function untilToldToStop(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop.signal;
}
