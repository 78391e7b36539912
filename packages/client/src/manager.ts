/**
 * Runs controllers together: one client, one set of caches, one event recorder, one lease. Caches are filled on every
 * replica, so that a new leader starts with all it has to know; only the leader's controllers run.
 */
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Client } from './client.ts';
import { type Controller, runController } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { createEventRecorder } from './event-recorder.ts';
import { type Caches, type CachesOptions, createCaches } from './informer.ts';
import { type LeaderElectionOptions, runAsLeader } from './leader-election.ts';
import { type Log, silentLog } from './log.ts';

export type RunOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs the controllers on one replica only; on this one, always, where it is left out. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Caches that exist already, to be shared with others; else they are made. */
  readonly caches?: Caches;
  readonly cacheOptions?: CachesOptions;
  readonly log?: Log;
  readonly metrics?: ControllerMetrics;
  readonly expectationTimeoutMs?: number;
  /** Called once the controllers run, with what they read. */
  readonly onRunning?: (caches: Caches) => void;
};

/** The lease was lost: another leads now, and this process had better start anew. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';

  constructor() {
    super('leader election lost');
  }
}

/**
 * Runs controllers until the signal is aborted: starts the informers they need, waits until they are filled, and runs
 * every controller. Resolves when all have come to a stop; throws `LeadershipLostError` if the lease was lost.
 *
 * ```ts
 * await runControllers([broadcastJobController], { client, clock: systemClock, random: systemRandom }, signal);
 * ```
 */
export async function runControllers(
  controllers: readonly Controller[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, random, leaderElection, metrics, log = silentLog } = options;
  // What serves the controllers outlives them, so that they can stop in good order.
  const served = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'a request of a cache failed; it is tried again');
  const caches =
    options.caches ?? createCaches(client, clock, random, { onError, ...options.cacheOptions }, served.signal);
  for (const { watches, uses } of controllers) {
    for (const { kind, selection } of watches) caches.informer(kind, selection);
    for (const kind of uses) caches.informer(kind);
  }
  const recorderOf = (component: string) =>
    createEventRecorder(
      client,
      clock,
      random,
      { component, onError: (error) => log.warn({ component, error }, 'an event could not be written') },
      served.signal,
    );

  const lead = async (leading: AbortSignal): Promise<void> => {
    const recorders = new Map(controllers.map(({ name }) => [name, recorderOf(`${name}-controller`)]));
    const { expectationTimeoutMs } = options;
    const runs = controllers.map((controller) =>
      runController(
        controller,
        {
          client,
          clock,
          caches,
          log,
          record: (event) => recorders.get(controller.name)?.record(event),
          ...(metrics ? { metrics } : {}),
          ...(expectationTimeoutMs === undefined ? {} : { expectationTimeoutMs }),
        },
        leading,
      ),
    );
    void caches.synced().then(() => leading.aborted || options.onRunning?.(caches));
    await Promise.all(runs);
  };

  try {
    if (leaderElection === undefined) {
      await lead(signal);
    } else if ((await runAsLeader(client, clock, random, leaderElection, lead, signal)) === 'lost') {
      throw new LeadershipLostError();
    }
  } finally {
    served.abort();
  }
}
