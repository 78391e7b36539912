/**
 * Runs several controllers with one client, one set of caches, one event recorder and one leader election Lease. Caches
 * are filled on every replica, for all readers there; controllers run on the leader only.
 */
import { after, type Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Client } from '../api/client.ts';
import { type Caches, type CachesOptions, createCaches } from '../cache/informer.ts';
import { type Controller, type ControllerContext, type Runnable, runController } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';
import { type LeaderElectionOptions, runAsLeader } from './leader-election.ts';
import { type Log, silentLog } from './log.ts';
import type { StuckKeyRegistry } from './stuck-keys.ts';

/** Options of a set of controllers. */
export type RunOptions = {
  readonly client: Client;
  /** Client of a controller, if each has its own permissions; defaults to `client`. */
  readonly clientFor?: (controller: Controller | Runnable) => Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Runs the controllers on the leader only; without it they always run. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Existing caches to share; created if omitted. */
  readonly caches?: Caches;
  readonly cacheOptions?: CachesOptions;
  readonly log?: Log;
  readonly metrics?: ControllerMetrics;
  /** Registry for the functions that list keys that have been retried for more than ten minutes. */
  readonly stuckKeys?: StuckKeyRegistry;
  readonly expectationTimeoutMs?: number;
  /** Wraps or replaces a controller before it runs, for example with an observer or with fault injection in a test. */
  readonly adapt?: (controller: Controller | Runnable) => Controller | Runnable;
  /** Time that controllers have to stop after the signal before they are abandoned. */
  readonly gracePeriodMs?: number;
  /** Called with the caches when the controllers run. */
  readonly onRunning?: (caches: Caches) => void;
};

const defaultGracePeriodMs = 30_000;

/** Time that a stopping process waits for its last Events to be written; Events are informational only. */
const eventFlushTimeoutMs = 5000;

/** The lease was lost: another process leads, and this one should restart. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';

  constructor() {
    super('leader election lost');
  }
}

/**
 * Runs controllers again whenever they lose their Lease, for processes that have other work and therefore cannot exit.
 * `run` creates new controllers, because the state of the old ones may predate the writes of another leader.
 */
export async function restartOnLeadershipLoss(run: () => Promise<void>, onLost: (error: Error) => void): Promise<void> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof LeadershipLostError)) throw error;
      onLost(error);
    }
  }
}

/**
 * Runs controllers until the signal is aborted: starts their informers, waits until the caches have synced, and runs
 * every controller. Resolves when all controllers have stopped; throws `LeadershipLostError` if the lease was lost.
 *
 * ```ts
 * await runControllers([greeter], { client, clock: systemClock, random: systemRandom }, signal);
 * ```
 */
export async function runControllers(
  controllers: readonly (Controller | Runnable)[],
  options: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { client, clock, random, leaderElection, metrics, stuckKeys, log = silentLog } = options;
  // Caches and event recorders outlive the controllers, so that those can stop gracefully.
  const services = new AbortController();
  const onError = (error: unknown) => log.warn({ error }, 'background request failed; it will be tried again');
  // After a crash, the new process must not decide from a cache that is older than the writes of the old one.
  const caches =
    options.caches ??
    createCaches(client, clock, random, { newest: true, onError, ...options.cacheOptions }, services.signal);
  const startInformers = () => {
    for (const { watches, uses } of controllers) {
      for (const { kind, selection } of watches) caches.informer(kind, selection);
      for (const kind of uses) caches.informer(kind);
    }
  };

  const start = async (controller: Controller | Runnable, leading: AbortSignal): Promise<void> => {
    const { component } = controller;
    const controllerClient = options.clientFor?.(controller) ?? client;
    const onEventError = (error: unknown) => log.warn({ component, error }, 'failed to write event');
    const recorder = createEventRecorder(
      controllerClient,
      clock,
      random,
      { component, onError: onEventError },
      services.signal,
    );
    const { expectationTimeoutMs } = options;
    const context: ControllerContext = {
      client: controllerClient,
      clock,
      random,
      caches,
      log,
      record: recorder.record,
      ...(metrics ? { metrics } : {}),
      ...(stuckKeys ? { stuckKeys } : {}),
      ...(expectationTimeoutMs === undefined ? {} : { expectationTimeoutMs }),
    };
    const adapted = options.adapt?.(controller) ?? controller;
    await ('run' in adapted ? adapted.run(context, leading) : runController(adapted, context, leading));
    await flushEvents(recorder);
  };

  const runAll = async (leading: AbortSignal): Promise<void> => {
    startInformers();
    void caches.synced().then(() => leading.aborted || options.onRunning?.(caches));
    const stopped = Promise.all(controllers.map((controller) => start(controller, leading)));
    await Promise.race([stopped, afterGracePeriod(leading, services.signal)]);
  };

  /** Resolves if the controllers have not stopped within the grace period. */
  const afterGracePeriod = (leading: AbortSignal, over: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wait = () => clock.setTimer(options.gracePeriodMs ?? defaultGracePeriodMs, resolve, over);
      if (leading.aborted) wait();
      else leading.addEventListener('abort', wait, { once: true });
    });

  const flushEvents = async (recorder: EventRecorder): Promise<void> => {
    const over = new AbortController();
    const giveUp = after(clock, eventFlushTimeoutMs, over.signal).catch(() => {});
    await Promise.race([recorder.flush(), giveUp]);
    over.abort();
  };

  const runWithLeaderElection = async (election: LeaderElectionOptions): Promise<void> => {
    const { identity, name } = election;
    const recorder = createEventRecorder(client, clock, random, { component: identity, onError }, services.signal);
    metrics?.leading(name, false);
    const lead = async (leading: AbortSignal) => {
      metrics?.leading(name, true);
      // The watch may lag, and the writes of the last leader are unknown: they must not be repeated.
      caches.refresh();
      await runAll(leading).finally(() => metrics?.leading(name, false));
    };
    // A standby replica keeps its caches filled for a fast takeover. The first leader does not list twice.
    const onNewLeader = (leader: string) => {
      if (leader !== identity) startInformers();
      election.onNewLeader?.(leader);
    };
    const end = await runAsLeader(
      client,
      clock,
      random,
      { record: recorder.record, onError, ...election, onNewLeader },
      lead,
      signal,
    );
    if (end === 'lost') throw new LeadershipLostError();
    await flushEvents(recorder);
  };

  try {
    await (leaderElection === undefined ? runAll(signal) : runWithLeaderElection(leaderElection));
  } finally {
    services.abort();
  }
}
